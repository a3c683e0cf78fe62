"""Candidates by rules, sentences that can be left out, and tools that say the same."""

import pytest

from mcp_tef.model.ids import CaseId
from mcp_tef.model.improvements import WorkingFailure
from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.candidate_texts import (
    added_sentences,
    rule_candidates,
    say_the_same,
    without_sentence,
)
from mcp_tef.scoring.differentiation.tool_pair import PairedTool

CHANGES = {"type": "object", "properties": {"loan_bike": {"type": "boolean"}, "note": {"type": "string"}}}


def tool(name: str, description: str, **properties: object) -> PairedTool:
    schema = {"type": "object", "properties": properties}
    raw = {"name": name, "description": description, "inputSchema": schema}
    made = Tool(server="shop", name=name, description=description, input_schema=schema, raw=raw)
    return PairedTool(ComparedTool(name, made))


UPDATE = tool("update_booking", "Updates a booking.", booking_id={"type": "string"}, changes=CHANGES)
BOOK = tool("book_repair", "Book a new repair for a customer.", customer={"type": "string"})
TOOLS = {one.name: one for one in (UPDATE, BOOK)}
REQUESTS = {
    "update_booking": ["Put a courtesy bicycle on R-2041 for Tomas.", "Courtesy bicycle for R-2042, please."],
    "book_repair": ["Book a repair of brakes and gears."],
}


def failure(query: str, expected: str = "update_booking", selected: str | None = "book_repair") -> WorkingFailure:
    return WorkingFailure(case_id=CaseId(query), name=query, query=query, expected=expected, selected=selected)


def test_rules_name_parameters_request_words_and_other_tools() -> None:
    found = list(rule_candidates([failure(REQUESTS["update_booking"][0])], TOOLS, REQUESTS))
    texts = [one.texts["update_booking"] for one in found if "update_booking" in one.texts]
    assert any("Takes booking id, changes (loan bike, note)." in text for text in texts)
    assert any("bicycle" in text and "courtesy" in text for text in texts)
    assert any("use `book_repair`" in text for text in texts)
    assert all(text.startswith("Updates a booking.") for text in texts)
    assert not any("tomas" in text.lower() or "2041" in text for text in texts)
    assert len(texts) == len(set(texts)) >= 3


def test_several_failing_tools_are_first_changed_together() -> None:
    failures = [failure("one"), failure("two", "book_repair", "update_booking"), failure("three", "nobody")]
    first, *_ = rule_candidates(failures, TOOLS, REQUESTS)
    assert set(first.texts) == {"update_booking", "book_repair"}
    assert list(rule_candidates([failure("three", "nobody")], TOOLS, REQUESTS)) == []


def test_a_sentence_is_left_out_and_the_rest_stays_as_it_is() -> None:
    before = "Book a repair.\n\n- one day\n- two days"
    after = f"{before} Takes a day. For brakes and gears."
    assert added_sentences("Book a repair. Takes a day.", "Takes a day. Book a repair. New.") == ("New.",)
    assert without_sentence("Book a repair. Takes a day. For brakes.", "Takes a day.") == "Book a repair. For brakes."
    assert without_sentence(after, "For brakes and gears.") == f"{before} Takes a day."


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            tool("get_weather", "Get the weather of a city."),
            tool("fetch_weather", "Fetch the weather of a city."),
            True,
        ),
        (tool("create_page", "Create a page."), tool("delete_page", "Delete a page."), False),
        (tool("get_weather", "Get the weather.", city={}), tool("fetch_weather", "Fetch the weather.", day={}), False),
        (tool("get_rain", "Get the rain of a city."), tool("get_wind", "Get the wind of a city."), False),
    ],
)
def test_tools_say_the_same_only_where_no_telling_word_differs(one: PairedTool, other: PairedTool, same: bool) -> None:
    assert say_the_same(one, other) is same
