"""Whom a form asks, and what it says where nobody can be asked."""

import pytest

from app.core_link.model_requests import AskForm, Blank, KeyNeed, read
from mcp_tef import ModelSettings


def test_a_form_says_who_is_asked() -> None:
    reading = read(AskForm(model="openai/gpt-4.1-mini", base_url=" http://localhost:1/v1 "))
    assert reading.model == ModelSettings(provider="openai", model="gpt-4.1-mini", base_url="http://localhost:1/v1")
    assert not reading.problems


@pytest.mark.parametrize(
    ("form", "where", "word"),
    [
        (AskForm(), Blank.MODEL, "Choose a model"),
        (AskForm(model="gpt"), Blank.MODEL, "PROVIDER/NAME"),
        (AskForm(model="offline/retrieval"), Blank.MODEL, "cannot write"),
        (AskForm(model="openai/gpt-4.1-mini", base_url="localhost"), Blank.BASE_URL, "http://"),
        (AskForm(model="openai/gpt-4.1-mini", base_url="http://ines:hush@h"), Blank.BASE_URL, "a password or a key"),
    ],
)
def test_whoever_cannot_be_asked_is_refused_with_a_reason(form: AskForm, where: Blank, word: str) -> None:
    reading = read(form)
    assert reading.model is None
    assert word in reading.problems[where]


def test_every_fault_has_its_place() -> None:
    assert set(read(AskForm(base_url="localhost")).problems) == {Blank.MODEL, Blank.BASE_URL}


def test_a_missing_key_is_named_with_the_variable_that_would_do() -> None:
    need = KeyNeed(provider="openai", variable="OPENAI_API_KEY", needed=True)
    assert "openai" in need.missing(" ")
    assert "OPENAI_API_KEY" in need.missing(" ")
    assert "OPENAI_API_KEY" in need.hint
