"""Cells that no spreadsheet runs, and that come back as the text that they were made of."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.formats.csv_tables import from_spreadsheet_cell, to_spreadsheet_cell

FORMULAS = (
    *("=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", " =1+1", "\u00a0=1", "\n=1", "\u200b=1", "\ufeff \u3000=1"),
    *("＝1+1", "＋1", "－1", "＠sum", " ＝1", "﹦1", "⁼1", "﹢1", "₊1", "﹣1", "﹫x"),
)
ODD = (
    "'=1",
    "''",
    "'",
    '"',
    '\'"a"',
    "a\x1b[31m",
    "\x1b=1",
    "'\x00",
    "\x85",
    "back\\slash \\u001b",
    "é\x07 ☃",
    "\ud800\x01",
)


@pytest.mark.parametrize("text", FORMULAS)
def test_what_a_spreadsheet_could_run_gets_an_apostrophe(text: str) -> None:
    assert to_spreadsheet_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "1=1", "a-b", "Where is @home?", "C:\\temp", "two\nlines", "x = 1"])
def test_ordinary_text_is_its_own_cell(text: str) -> None:
    assert to_spreadsheet_cell(text) == from_spreadsheet_cell(text) == text


@pytest.mark.parametrize("cell", ["'tis", '\'"quoted"', "'\"half", '\'"a" and "b"'])
def test_cells_that_others_wrote_with_an_apostrophe_are_read_as_they_are(cell: str) -> None:
    assert from_spreadsheet_cell(cell) == cell


@given(st.text(st.characters() | st.sampled_from("'\"=+-@\\\x1b\x00\t ＝")) | st.sampled_from((*FORMULAS, *ODD)))
def test_every_text_comes_back_and_no_cell_holds_a_control_character(text: str) -> None:
    cell = to_spreadsheet_cell(text)
    assert from_spreadsheet_cell(cell) == text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", cell)
    assert not re.match(r"\s*[=+\-@＝＋－＠]", cell)
