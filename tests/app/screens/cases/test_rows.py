"""What the table says of a case, and which row is looked at next."""

from dataclasses import replace

import pytest

from app.screens.cases.rows import (
    CaseRow,
    Last,
    Wanted,
    draft_row,
    filters_to_keep,
    neighbour,
    wanted_of,
)
from mcp_tef import CaseDraft, CaseId, Json, expectation_from_json


def row(expectation: Json) -> CaseRow:
    draft = CaseDraft(name="n", query="One\n  two", expectation=expectation_from_json(expectation))
    return draft_row(CaseId("c"), draft)


@pytest.mark.parametrize(
    ("expectation", "server", "tools"),
    [
        (None, "", "no tool"),
        ([{"tool": "search", "server": "docs"}], "docs", "search"),
        ([{"tool": "search"}], "", "search"),
        ([{"tool": "search", "server": "docs"}, {"tool": "read", "server": "docs"}], "docs", "search + read"),
        ([{"tool": "search", "server": "docs"}, {"tool": "read", "server": "web"}], "", "search + read"),
        ({"any_of": [[{"tool": "search"}], []]}, "", "search or no tool"),
    ],
)
def test_what_is_expected_is_told_in_short(expectation: Json, server: str, tools: str) -> None:
    found = row(expectation)
    assert (found.server, found.tools) == (server, tools)


def test_a_query_of_several_lines_is_one_line_in_the_table() -> None:
    assert row(None).query == "One two"


@pytest.mark.parametrize(
    ("gone", "next_one"),
    [(["a"], "b"), (["b", "c"], "d"), (["d"], "c"), (["c", "d"], "b"), (["a", "b", "c", "d"], ""), ([], "a")],
)
def test_after_a_deletion_the_next_row_that_stays_is_looked_at(gone: list[str], next_one: str) -> None:
    assert neighbour(["a", "b", "c", "d"], gone) == next_one


def test_filters_are_kept_and_what_was_searched_for_stays_with_its_field() -> None:
    wanted = Wanted(text="bike", suite="Smoke", tag="slow", server="shop", last=Last.FN)
    assert wanted_of(filters_to_keep(wanted)) == replace(wanted, text="")
    assert wanted_of({"suite": 3, "last": "often"}) == Wanted()
