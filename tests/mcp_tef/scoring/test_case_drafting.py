"""Drafted requests: the rules that all of them keep, and what they expect."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.model.cases import CaseOrigin
from mcp_tef.model.drafted_cases import DraftedCase, DraftKind
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.call_pairing import argument_problems
from mcp_tef.scoring.case_drafting.offline_drafts import (
    is_near_duplicate,
    names_tool,
    near_misses,
    no_tool_drafts,
    product_of,
    tool_drafts,
    why_refused,
)

VERBS = ("Get", "List", "Searches", "Create", "Updates", "Delete", "Send", "Calculate", "Archive", "Returns")
THINGS = ("a page", "all issues", "the orders of a customer", "an invoice for a project", "notes from the archive")
PARAMETERS: dict[str, dict[str, Any]] = {
    "page_id": {"type": "string"},
    "order_id": {"type": "string"},
    "query": {"type": "string", "description": "Text to look for"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 6},
    "title": {"type": "string"},
    "customerId": {"type": "integer"},
    "format": {"enum": ["short", "long", "tabular"]},
    "paths": {"type": "array", "items": {"type": "string"}},
    "issue_key": {"type": "string", "description": "Key of the issue, e.g. 'PROJ-12'"},
    "start_date": {"type": "string", "format": "date"},
    "options": {"type": "object"},
}


def told(name: str, description: str, required: tuple[str, ...] = (), *names: str) -> Tool:
    schema = {"type": "object", "properties": {key: PARAMETERS[key] for key in (*required, *names)}}
    return Tool(
        server="desk", name=name, description=description, input_schema={**schema, "required": [*required]}, raw={}
    )


tools = st.builds(
    lambda name, verb, thing, required, optional: told(name, f"{verb} {thing}.", tuple(required), *optional),
    st.sampled_from(["get_page", "search", "listIssues", "send-note", "create invoice"]),
    st.sampled_from(VERBS),
    st.sampled_from(THINGS),
    st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=2, unique=True),
    st.lists(st.sampled_from(sorted(PARAMETERS)), max_size=2, unique=True),
)


def calls(draft: DraftedCase) -> dict[str, Any]:
    call = draft.draft.expectation.first_call
    return dict(call.parameters or {}) if call else {}


@settings(max_examples=30, deadline=None)
@given(tools, tools, st.integers(0, 3))
def test_every_draft_keeps_the_rules_and_expects_arguments_that_fit(one: Tool, other: Tool, seed: int) -> None:
    drafts = [*tool_drafts(one, seed), *near_misses(one, other, seed)]
    assert [*tool_drafts(one, seed), *near_misses(one, other, seed)] == drafts
    for place, draft in enumerate(drafts):
        against = [one, other] if draft.kind is DraftKind.NEAR_MISS else [one]
        assert why_refused(draft.draft.query, against) is None
        same_kind = [each.draft.query for each in drafts[:place] if (each.other == "") == (draft.other == "")]
        assert not is_near_duplicate(draft.draft.query, same_kind)
        assert draft.draft.origin is CaseOrigin.GENERATED
        assert "options" not in calls(draft)
        exact = {name: value for name, value in calls(draft).items() if not isinstance(value, dict)}
        assert {problem.parameter for problem in argument_problems(one, exact)}.isdisjoint(exact)
        for value in exact.values():
            for item in value if isinstance(value, list) else [value]:
                assert str(item).lower() in draft.draft.query.lower()


def requests_for(name: str, description: str, **properties: dict[str, Any]) -> list[str]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    tool = Tool(server="desk", name=name, description=description, input_schema=schema, raw={})
    return [draft.draft.query for draft in tool_drafts(tool, 1)]


def test_a_tool_that_sets_a_new_thing_gets_no_request_to_change_one() -> None:
    queries = requests_for("add_alarm", "This function sets a new alarm.", alarm_time={"type": "string"})
    assert queries
    assert not [query for query in queries if re.search("change|correct|out of date|not right", query)]


def test_places_and_plain_numbers_stand_without_the_noun_of_their_parameter() -> None:
    weather = requests_for("get_weather", "Get the weather for a specified location.", location={"type": "string"})
    factorial = requests_for("compute", "Calculate the factorial of a number.", number={"type": "integer"})
    assert weather
    assert not [query for query in weather if "location" in query]
    assert factorial
    assert all(re.search(r"factorial of \d+\b", query) for query in factorial)


def test_no_name_is_invented_for_a_thing_that_has_real_names() -> None:
    assert not requests_for("get_instrument", "Get the details of an instrument.", instrument_name={"type": "string"})
    assert requests_for("get_task", "Get the details of a task.", task_name={"type": "string"})


def test_a_usual_tool_gets_five_direct_and_five_indirect_requests() -> None:
    drafts = tool_drafts(told("get_page", "Get a page by its ID.", ("page_id",)), 0)
    kinds = [draft.kind for draft in drafts]
    assert (kinds.count(DraftKind.DIRECT), kinds.count(DraftKind.INDIRECT)) == (5, 5)
    assert all(calls(draft)["page_id"] in draft.draft.query for draft in drafts)


def test_requests_for_the_same_call_are_one_family() -> None:
    drafts = tool_drafts(told("get_page", "Get a page by its ID.", ("page_id",)), 0)
    families = {draft.draft.family: calls(draft)["page_id"] for draft in drafts}
    assert all(calls(draft)["page_id"] == families[draft.draft.family] for draft in drafts)
    assert len(set(families.values())) == len(families) > 1


@pytest.mark.parametrize(
    "tool",
    [
        told("save", "Save the settings.", ("options",)),
        told("get_page", "Get a page."),
        told("get_page", "Get page details."),
        told("create_page", "Create a page."),
        told("remove_pages", "Remove one or more pages."),
        told("rename", "Update a page.", ("page_id",)),
        told("list_rows", "List the rows of a customer.", ("page_id",)),
        told("frob", "Frobnicates."),
        told("x", "获取页面。"),
    ],
    ids=[
        "an object that nobody types",
        "no way to say which page",
        "details of nothing",
        "nothing to create it with",
        "no way to say which pages",
        "no change",
        "an ID of another thing",
        "no object",
        "not English",
    ],
)
def test_where_nothing_sensible_can_be_said_nothing_is_drafted(tool: Tool) -> None:
    assert tool_drafts(tool, 0) == ()


def test_a_request_names_its_product_unless_it_names_one_or_a_place() -> None:
    listed = told("list_pages", "Lists all pages.")
    tools = [told(name, "Sends a note to Confluence.") for name in ("one", "two", "three")]
    assert product_of(listed, tools) == "desk"
    assert product_of(told("confluence_list_pages", "Lists all pages."), tools) == "Confluence"
    assert all("in Confluence" in one.draft.query for one in tool_drafts(listed, 0, "Confluence"))
    jira = told("list_pages", "Lists all Jira pages.")
    assert not any("Confluence" in one.draft.query for one in tool_drafts(jira, 0, "Confluence"))


def test_a_change_states_what_is_new_and_no_request_states_what_nobody_asked_for() -> None:
    drafts = tool_drafts(told("rename_page", "Updates a page.", ("page_id", "title"), "format", "customerId"), 0)
    assert drafts
    for draft in drafts:
        assert "The new title is" in draft.draft.query
        assert calls(draft).keys() == {"page_id", "title"}


def test_another_seed_gives_other_requests() -> None:
    tool = told("list_issues", "Lists all issues.", ())
    assert {one.draft.query for one in tool_drafts(tool, 0)} != {one.draft.query for one in tool_drafts(tool, 1)}


def test_a_near_miss_expects_its_tool_and_mentions_the_other_action() -> None:
    stop, delete = (told(f"{verb.lower()}_order", f"{verb} an order.", ("order_id",)) for verb in ("Cancel", "Archive"))
    drafts = near_misses(stop, delete, 0)
    assert drafts
    for draft in drafts:
        assert (draft.tool, draft.other) == ("cancel_order", "archive_order")
        assert "archive" in draft.draft.query.lower()
        assert draft.draft.expectation.first_call is not None


def test_requests_for_no_tool_share_no_topic_with_the_tools_of_the_server() -> None:
    listed = (told("tell_joke", "Tells a joke about penguins."), told("list_cakes", "Lists birthday cakes."))
    drafts = no_tool_drafts("desk", listed, 0)
    assert len(drafts) == 10
    assert all(draft.draft.expectation.no_tool for draft in drafts)
    assert not any(word in draft.draft.query.lower() for draft in drafts for word in ("joke", "cake"))


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("Use get_page for this.", "names the tool"),
        ("Please get page 7.", "names the tool"),
        ("I want to get a page by hand.", "description"),
        ("", "empty"),
        ("a " * 400, "longer"),
    ],
)
def test_a_request_that_gives_the_tool_away_is_refused(query: str, reason: str) -> None:
    assert reason in (why_refused(query, [told("get_page", "Get a page by its ID.")]) or "")


@pytest.mark.parametrize(
    ("query", "named"), [("Call readFile now", True), ("Read the file", False), ("READ FILE", True)]
)
def test_a_tool_is_named_as_an_identifier_or_in_words(query: str, named: bool) -> None:
    assert names_tool(query, "readFile") is named


def test_methods_of_http_and_plain_nouns_are_no_products() -> None:
    tool = replace(told("get_time", "Send a GET request for the time."), server="time")
    assert product_of(tool, [tool, tool, tool]) == ""
    assert product_of(replace(tool, server="Redis - GongRzhe"), [tool]) == "Redis"
