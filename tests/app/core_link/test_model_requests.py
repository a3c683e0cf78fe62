"""Whom a form asks, and what it says where nobody can be asked."""

import pytest

from app.core_link.model_requests import KeyNeed, ModelForm, ModelFormField, parse_model_form
from mcp_tef import WRITING_TIMEOUT_S, ModelSettings


def test_a_form_says_who_is_asked() -> None:
    reading = parse_model_form(ModelForm(model="openai/gpt-4.1-mini", base_url=" http://localhost:1/v1 "))
    assert reading.model == ModelSettings(
        provider="openai", model="gpt-4.1-mini", timeout=WRITING_TIMEOUT_S, base_url="http://localhost:1/v1"
    )
    assert not reading.problems


@pytest.mark.parametrize(
    ("form", "where", "word"),
    [
        (ModelForm(), ModelFormField.MODEL, "Select a model"),
        (ModelForm(model="gpt"), ModelFormField.MODEL, "PROVIDER/NAME"),
        (ModelForm(model="openai/gpt-4.1-mini", cost_cap="0"), ModelFormField.COST, "cost cap above 0"),
        (ModelForm(model="openai/gpt-4.1-mini", price="1"), ModelFormField.PRICE, "IN,OUT"),
        (ModelForm(model="offline/retrieval"), ModelFormField.MODEL, "cannot write"),
        (ModelForm(model="openai/gpt-4.1-mini", base_url="localhost"), ModelFormField.BASE_URL, "http://"),
        (
            ModelForm(model="openai/gpt-4.1-mini", base_url="http://ines:hush@h"),
            ModelFormField.BASE_URL,
            "a password or a key",
        ),
    ],
)
def test_whoever_cannot_be_asked_is_refused_with_a_reason(form: ModelForm, where: ModelFormField, word: str) -> None:
    reading = parse_model_form(form)
    assert reading.model is None
    assert word in reading.problems[where]


def test_every_fault_has_its_place() -> None:
    assert set(parse_model_form(ModelForm(base_url="localhost")).problems) == {
        ModelFormField.MODEL,
        ModelFormField.BASE_URL,
    }


def test_a_missing_key_is_named_with_the_variable_that_would_do() -> None:
    need = KeyNeed(provider="openai", variable="OPENAI_API_KEY", needed=True)
    assert "openai" in need.missing(" ")
    assert "OPENAI_API_KEY" in need.missing(" ")
    assert "OPENAI_API_KEY" in need.hint
