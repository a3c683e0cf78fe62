"""Drafts: steps over a listing, the patch of them, and what happens when the listing has changed meanwhile."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.model.draft_edits import ParameterEdit, ToolEdit, edited_tool, rebased
from mcp_tef.model.drafts import (
    INSTRUCTIONS,
    Draft,
    DraftStep,
    difference,
    instructions_after,
    require_draft_name,
    require_sound_set,
)
from mcp_tef.model.ids import DraftId
from mcp_tef.model.json import canonical
from mcp_tef.model.json_patch import apply_patch

NOW = datetime(2026, 11, 24, tzinfo=UTC)


def tool(name: str, description: str = "Looks.", **changes: Any) -> dict[str, Any]:
    """A raw definition with two parameters."""
    properties = {"query": {"type": "string", "description": "Words."}, "limit": {"type": "integer", "default": 5}}
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    return {"name": name, "description": description, "inputSchema": schema, **changes}


BASE = (tool("search"), tool("read", "Reads."), tool("list", "Lists."))


def draft(*steps: list[dict[str, Any]], base: Any = BASE) -> Draft:
    """A draft over three tools after some steps."""
    made = tuple(DraftStep(number, tuple(step), NOW) for number, step in enumerate(steps, 1))
    return Draft(
        id=DraftId("1"),
        name="d",
        listing={"tools": list(base)},
        steps=made,
        step=len(made),
        created_at=NOW,
        updated_at=NOW,
    )


def describe(place: int, text: str) -> dict[str, Any]:
    """The operation that gives a tool another description."""
    return {"op": "replace", "path": f"/tools/{place}/description", "value": text}


def test_steps_build_on_each_other_and_the_listing_stays() -> None:
    made = draft([describe(0, "Finds.")], [describe(0, "Finds pages.")], [{"op": "remove", "path": "/tools/1"}])
    assert [one["description"] for one in made.tools] == ["Finds pages.", "Lists."]
    assert made.changed_tools() == ("search", "read")
    assert made.base == BASE
    undone = replace(made, step=1)
    assert ([one["description"] for one in undone.tools], undone.changed_tools()) == (
        ["Finds.", "Reads.", "Lists."],
        ("search",),
    )


def test_the_patch_is_the_shortest_and_names_the_tools_it_is_about() -> None:
    made = draft([describe(1, "Fetches.")], [describe(1, "Fetches a page.")])
    assert made.patch == (
        {"op": "test", "path": "/tools/1/name", "value": "read"},
        {"op": "replace", "path": "/tools/1/description", "value": "Fetches a page."},
    )
    assert draft([describe(1, "Fetches.")], [describe(1, "Reads.")]).patch == ()


def test_a_renamed_and_moved_tool_keeps_its_identity() -> None:
    rename = {"op": "replace", "path": "/tools/2/name", "value": "enumerate"}
    made = draft([rename], [{"op": "move", "from": "/tools/2", "path": "/tools/0"}], [describe(0, "Enumerates.")])
    (one,) = made.revisions
    assert (one.before, one.name, sorted(one.fields)) == (BASE[2], "enumerate", [("description",), ("name",)])
    assert apply_patch(made.listing, made.patch) == {"tools": list(made.tools)}


def test_a_list_that_is_replaced_as_a_whole_keeps_tools_by_name() -> None:
    made = draft([{"op": "replace", "path": "/tools", "value": [tool("list", "Lists all."), BASE[0]]}])
    assert made.changed_tools() == ("read", "list")
    assert apply_patch(made.listing, made.patch) == {"tools": list(made.tools)}


@pytest.mark.parametrize("value", [5, [5], {"tools": []}])
def test_what_is_no_list_of_tools_any_more_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="After the patch there is no list of tools"):
        _ = draft([{"op": "replace", "path": "/tools", "value": value}]).tools


NAMES = st.sampled_from(["search", "read", "list", "new", "other"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("describe"), st.integers(0, 9), st.text("ab", max_size=3)),
        st.tuples(st.just("rename"), st.integers(0, 9), NAMES),
        st.tuples(st.just("require"), st.integers(0, 9), st.booleans()),
        st.tuples(st.just("remove"), st.integers(0, 9), st.none()),
        st.tuples(st.just("add"), st.integers(0, 9), NAMES),
        st.tuples(st.just("move"), st.integers(0, 9), st.integers(0, 9)),
    ),
    max_size=7,
)


def operations(kind: str, place: int, value: Any, tools: Any) -> list[dict[str, Any]]:
    """The operations of a made-up step."""
    count = len(tools)
    if kind == "add" or not count:
        return [{"op": "add", "path": f"/tools/{place % (count + 1)}", "value": tool(str(value))}]
    at = f"/tools/{place % count}"
    if kind == "remove":
        return [{"op": "remove", "path": at}]
    if kind == "move":
        return [{"op": "move", "from": at, "path": f"/tools/{value % count}"}]
    edit = {
        "describe": ToolEdit(description=str(value)),
        "rename": ToolEdit(rename=str(value)),
        "require": ToolEdit(parameters=[ParameterEdit(name="limit", required=bool(value), description=str(value))]),
    }[kind]
    return [{"op": "replace", "path": at, "value": edited_tool(tools[place % count], edit)}]


@given(STEPS)
def test_the_patch_applied_to_the_listing_gives_the_tools_of_the_draft(steps: list[tuple[str, int, Any]]) -> None:
    made = draft()
    for kind, place, value in steps:
        made = draft(
            *(list(map(dict, one.operations)) for one in made.steps), operations(kind, place, value, made.tools)
        )
    patch = json.loads(json.dumps(made.patch))
    assert canonical(apply_patch(made.listing, patch)) == canonical({"tools": list(made.tools)})
    assume(all(len({raw["name"] for _, raw in state}) == len(state) for state in made.states))
    again = rebased(made, made.listing)
    assert (canonical(again.draft.tools), again.conflicts) == (canonical(in_order(made)), ())


def in_order(made: Draft) -> list[Any]:
    """Tools as a rebase leaves them: in the order of the listing, then the added ones."""
    placed = ((key if isinstance(key, int) else len(made.base), raw) for key, raw in made.keyed)
    return [raw for _, raw in sorted(placed, key=lambda one: one[0])]


def test_a_draft_follows_a_listing_that_changed_elsewhere() -> None:
    made = draft(
        [describe(0, "Finds.")],
        [{"op": "remove", "path": "/tools/1"}],
        [{"op": "add", "path": "/tools/-", "value": tool("new")}],
    )
    now = [tool("extra"), BASE[1], {**BASE[0], "title": "Search"}, tool("list", "Lists all.")]
    found = rebased(
        replace(made, steps=(*made.steps, DraftStep(4, ({"op": "remove", "path": "/tools/0"},), NOW))), {"tools": now}
    )
    assert found.conflicts == ()
    assert [(one["name"], one["description"]) for one in found.draft.tools] == [
        ("extra", "Looks."),
        ("search", "Finds."),
        ("list", "Lists all."),
        ("new", "Looks."),
    ]
    assert found.draft.tools[1]["title"] == "Search"
    assert [len(replace(found.draft, step=step).tools) for step in range(4)] == [4, 4, 3, 4]


def test_instructions_follow_their_steps_and_a_listing_that_changed_them_too() -> None:
    steps = [{"op": "add", "path": "/instructions", "value": text} for text in ("Ask.", "Ask first.")]
    told = {"tools": list(BASE), "instructions": "Guess."}
    made = replace(draft([steps[0]], [describe(0, "Finds.")], [steps[1]]), listing=told)
    assert made.instructions_states == ("Guess.", "Ask.", "Ask.", "Ask first.")
    assert apply_patch(told, made.patch) == {"tools": list(made.tools), "instructions": "Ask first."}
    same = rebased(made, {"tools": list(BASE), "instructions": "Guess."})
    assert (same.draft.instructions_states, same.conflicts) == (made.instructions_states, ())
    now = {"tools": list(BASE), "instructions": "Try."}
    mine, theirs = rebased(made, now), rebased(made, now, keep_draft=False)
    (conflict,) = mine.conflicts
    assert (conflict.tool, conflict.was, conflict.now, conflict.draft) == (INSTRUCTIONS, "Guess.", "Try.", "Ask first.")
    assert (mine.draft.instructions, theirs.draft.instructions) == ("Ask first.", "Try.")
    other = rebased(draft([describe(0, "Finds.")]), now).draft
    assert (other.instructions, other.changed_tools()) == ("Try.", ("search",))
    emptied = replace(draft([{"op": "remove", "path": "/instructions"}]), listing=told)
    assert (emptied.instructions, emptied.patch) == ("", ({"op": "remove", "path": "/instructions"},))
    for value, number in ((5, 1), ("x" * 100_001, 1)):
        with pytest.raises(InputError, match="the instructions are not a text"):
            instructions_after("", DraftStep(number, ({"op": "add", "path": "/instructions", "value": value},), NOW))


def test_texts_that_both_changed_are_named_with_three_columns() -> None:
    made = draft([describe(0, "Finds."), describe(1, "Fetches.")], [{"op": "remove", "path": "/tools/2"}])
    now = {"tools": [tool("search", "Seeks."), BASE[1], tool("list", "Lists all.")]}
    mine, theirs = rebased(made, now), rebased(made, now, keep_draft=False)
    assert mine.conflicts == theirs.conflicts
    first, second = mine.conflicts
    assert (first.tool, first.field, first.was, first.now, first.draft) == (
        *("search", "description"),
        *("Looks.", "Seeks.", "Finds."),
    )
    assert (second.tool, second.field, second.was, second.now, second.draft) == (
        *("list", "the whole tool"),
        *(BASE[2], now["tools"][2], None),
    )
    assert [one["description"] for one in mine.draft.tools] == ["Finds.", "Fetches."]
    assert [one["description"] for one in theirs.draft.tools] == ["Seeks.", "Fetches.", "Lists all."]


def test_a_changed_tool_that_is_gone_and_an_added_one_that_is_there_are_conflicts() -> None:
    made = draft([describe(0, "Finds."), {"op": "add", "path": "/tools/-", "value": tool("new", "Mine.")}])
    now = {"tools": [BASE[1], BASE[2], tool("new", "Theirs.")]}
    mine, theirs = rebased(made, now), rebased(made, now, keep_draft=False)
    assert [(one.tool, one.path) for one in mine.conflicts] == [("search", ()), ("new", ())]
    assert [one["description"] for one in mine.draft.tools] == ["Reads.", "Lists.", "Finds.", "Mine."]
    assert [one["description"] for one in theirs.draft.tools] == ["Reads.", "Lists.", "Theirs."]


def test_a_text_that_the_listing_took_over_is_no_change_any_more() -> None:
    made = draft([describe(0, "Finds.")], [describe(1, "Fetches.")])
    found = rebased(made, {"tools": [tool("search", "Finds."), *BASE[1:]]})
    assert (found.conflicts, found.draft.changed_tools(), len(found.draft.steps)) == ((), ("read",), 1)


def test_parameters_are_renamed_described_and_required() -> None:
    edit = ToolEdit(
        title="Search",
        annotations={"readOnlyHint": True},
        parameters=[
            ParameterEdit(name="query", rename="text", description="", enum=["a", 5]),
            ParameterEdit(name="limit", required=True, without_default=True),
        ],
    )
    made = edited_tool(BASE[0], edit)
    assert (made["title"], made["annotations"]) == ("Search", {"readOnlyHint": True})
    assert made["inputSchema"]["properties"] == {
        "text": {"type": "string", "enum": ["a", 5]},
        "limit": {"type": "integer"},
    }
    assert made["inputSchema"]["required"] == ["text", "limit"]
    assert BASE[0]["inputSchema"]["required"] == ["query"]
    back = edited_tool(
        made,
        ToolEdit(
            title="",
            annotations={"readOnlyHint": None},
            parameters=[
                ParameterEdit(name="text", required=False, enum=[]),
                ParameterEdit(name="limit", required=False, has_default=True, default=7),
            ],
        ),
    )
    assert "title" not in back
    assert ("annotations" in back, "required" in back["inputSchema"]) == (False, False)
    assert back["inputSchema"]["properties"]["limit"]["default"] == 7


def test_nested_parameters_have_paths_and_unknown_ones_name_the_nearest() -> None:
    inner = {"type": "object", "properties": {"name": {"type": "string"}}}
    nested = {
        "name": "find",
        "inputSchema": {"type": "object", "properties": {"filters": {"type": "array", "items": inner}}},
    }
    made = edited_tool(nested, ToolEdit(parameters=[ParameterEdit(name="filters.name", description="Whose.")]))
    assert made["inputSchema"]["properties"]["filters"]["items"]["properties"]["name"]["description"] == "Whose."
    with pytest.raises(NotFoundError, match=r"no parameter “qery”") as caught:
        edited_tool(BASE[0], ToolEdit(parameters=[ParameterEdit(name="qery")]))
    assert "query" in caught.value.hint
    with pytest.raises(InputError, match="a parameter “limit” already"):
        edited_tool(BASE[0], ToolEdit(parameters=[ParameterEdit(name="query", rename="limit")]))


def test_a_set_needs_a_tool_and_different_names() -> None:
    with pytest.raises(InputError, match="no tool would be left"):
        require_sound_set(BASE, ())
    with pytest.raises(InputError, match="2 tools would be named “read”"):
        require_sound_set(BASE, (BASE[1], tool("read")))
    require_sound_set((BASE[0], BASE[0]), (BASE[0], BASE[0]))


@pytest.mark.parametrize("name", ["", " ", "a" * 101, "a\x00b"])
def test_names_that_cannot_be_shown_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="1 to 100 characters"):
        require_draft_name(name)


def test_equal_sets_differ_in_nothing() -> None:
    assert difference(tuple(enumerate(BASE)), tuple(enumerate(BASE))) == ()
