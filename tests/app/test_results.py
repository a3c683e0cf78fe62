"""Which form and which name a file of results has."""

from pathlib import Path

import pytest

from app.results import FORMS, LONGEST_NAME, file_name, form_of
from mcp_tef import ReportForm


@pytest.mark.parametrize(
    ("name", "form"), [("a.html", "html"), ("a.CSV", "csv"), ("a.json", "json"), ("a.xml", "junit")]
)
def test_the_ending_says_the_form_whatever_was_chosen(name: str, form: str) -> None:
    assert form_of(Path(name), "Table (*.csv)") is ReportForm(form)


def test_an_ending_that_means_nothing_leaves_it_to_what_was_chosen() -> None:
    assert form_of(Path("a.txt"), "Table (*.csv)") is ReportForm.CSV
    assert form_of(Path("a"), "") is ReportForm.HTML


def test_every_form_can_be_chosen() -> None:
    assert {form for form, _ in FORMS.values()} == set(ReportForm)


def test_a_title_becomes_a_name_that_every_system_takes() -> None:
    assert file_name("Expected on docs: “a/b” \\ …") == "expected-on-docs-a-b"
    assert file_name("../..") == "results"
    assert len(file_name("x" * 500)) == LONGEST_NAME
