"""Which form and which name a file of results has."""

import asyncio
from pathlib import Path

import pytest

from app.dialogs.export import FORMS, LONGEST_NAME, Ways, Write, file_name, way_of
from mcp_tef import ReportFormat


def ways() -> Ways:
    """A way for each ending that runs can have, told apart by what it returns."""

    def made(ending: str) -> Write:
        async def write(_: Path) -> str:
            return ending

        return write

    return {f"*.{ending}": (ending, made(ending)) for ending in ("html", "pdf", "csv", "json", "xml")}


def ending_of(name: str, chosen: str) -> object:
    async def written() -> object:
        return await way_of(Path(name), chosen, ways())(Path(name))

    return asyncio.run(written())


@pytest.mark.parametrize(("name", "ending"), [("a.html", "html"), ("a.CSV", "csv"), ("a.pdf", "pdf"), ("a.xml", "xml")])
def test_the_ending_says_the_form_whatever_was_chosen(name: str, ending: str) -> None:
    assert ending_of(name, "*.json") == ending


def test_an_ending_that_means_nothing_leaves_it_to_what_was_chosen() -> None:
    assert ending_of("a.txt", "*.csv") == "csv"
    assert ending_of("a", "") == "html"


def test_every_form_can_be_chosen() -> None:
    assert {form for form, _ in FORMS.values()} == set(ReportFormat)


def test_a_title_becomes_a_name_that_every_system_takes() -> None:
    assert file_name("Expected on docs: “a/b” \\ …") == "expected-on-docs-a-b"
    assert file_name("../..") == "results"
    assert len(file_name("x" * 500)) == LONGEST_NAME
