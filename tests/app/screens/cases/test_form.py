"""Forms of a case: the tools to select, and the form as a draft and back."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arguments.values import UnreadableError
from app.screens.cases.calls import (
    ToolChoice,
    Tools,
    call_of,
    first_sentence,
    typed_choice,
    with_field,
    with_json_shown,
    with_tool,
)
from app.screens.cases.form import (
    CaseForm,
    Mode,
    case_form,
    messages_text,
    name_from,
    read_form,
    read_messages,
    refitted_form,
    with_call,
    with_call_added,
    with_mode,
    without_call,
)
from app.screens.cases.matchers import Matcher, ParameterField, with_text
from mcp_tef import (
    CaseDraft,
    EarlierMessage,
    Expectation,
    ExpectedCall,
    Json,
    Listing,
    Speaker,
    Tool,
    canonical,
    expectation_from_json,
    expectation_to_json,
)

CHOICES = (
    ToolChoice("docs", "search_code", "Search source code by text or pattern"),
    ToolChoice("docs", "read_file", "Read one file"),
    ToolChoice("github", "code_owners", "Who owns the code"),
    ToolChoice("github", "read_file", "Read one file of a repository"),
)


def listing(server: str, *names: str) -> Listing:
    tools = (Tool(server=server, name=name, description=f"Do {name}. More.", input_schema={}, raw={}) for name in names)
    return Listing(server=server, tools=tuple(tools))


def test_a_free_text_names_the_server_where_only_one_has_the_tool() -> None:
    assert typed_choice(CHOICES, "search_code") == ("docs", "search_code")
    assert typed_choice(CHOICES, "read_file") == (None, "read_file")
    assert typed_choice(CHOICES, "github / read_file") == ("github", "read_file")
    assert typed_choice(CHOICES, "nobody/has_it") == (None, "nobody/has_it")


def test_the_tools_offered_are_those_of_the_chosen_servers_in_their_order() -> None:
    tools = Tools({"docs": listing("docs", "a", "b"), "github": listing("github", "c")})
    assert [choice.name for choice in tools.of(["github", "docs", "gone"])] == ["c", "a", "b"]
    assert len(tools.of([])) == 3


def test_a_tool_is_found_by_server_and_name_or_by_name_alone() -> None:
    tools = Tools({"docs": listing("docs", "a")})
    assert tools.find("docs", "a") is not None
    assert tools.find(None, "a") is not None
    assert tools.find("github", "a") is None


def test_only_the_first_sentence_of_a_description_is_shown() -> None:
    assert first_sentence("Search the docs.\nReturns v1.2 pages. And more.") == "Search the docs"
    assert first_sentence("word " * 100).endswith("word…")


SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "order": {"enum": ["asc", "desc"]},
        "paths": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["query"],
}
FILES = {"type": "object", "properties": {"query": {"type": "string"}, "folder": {"type": "string"}}}
SCHEMAS = {"search_code": SEARCH, "search_files": FILES}


def find(server: str | None, name: str) -> Tool | None:
    schema = SCHEMAS.get(name)
    if schema is None or server not in (None, "docs"):
        return None
    return Tool(server="docs", name=name, description="", input_schema=schema, raw={})


def draft(expectation: Json, query: str = "Where are retry headers parsed?") -> CaseDraft:
    return CaseDraft(name=name_from(query), query=query, expectation=expectation_from_json(expectation))


def expected(form: CaseForm) -> Json:
    reading = read_form(form)
    assert reading.draft is not None, reading.problems
    return expectation_to_json(reading.draft.expectation)


def field(form: CaseForm, name: str, call: int = 0) -> ParameterField:
    return next(field for field in form.calls[call].fields if field.parameter.name == name)


def typed(form: CaseForm, name: str, text: str) -> CaseForm:
    return with_call(form, 0, with_field(form.calls[0], with_text(field(form, name), text)))


@pytest.mark.parametrize(
    ("expectation", "mode"),
    [
        (None, Mode.NONE),
        ([{"tool": "search_code"}], Mode.ONE),
        ([{"tool": "search_code", "server": "docs", "parameters": {}, "exact": True}], Mode.ONE),
        ([{"tool": "search_code"}, {"tool": "search_files"}], Mode.SEVERAL),
        ({"ordered": True, "calls": [{"tool": "search_code"}, {"tool": "search_files"}]}, Mode.SEVERAL),
        ({"ordered": True, "calls": [{"tool": "search_code"}]}, Mode.SEVERAL),
        ({"any_of": [[{"tool": "search_code"}], [{"tool": "search_files"}]]}, Mode.ANY_ONE),
        ({"any_of": [[{"tool": "search_code"}], []]}, Mode.JSON),
        ({"any_of": [[{"tool": "search_code"}, {"tool": "search_files"}], [{"tool": "search_code"}]]}, Mode.JSON),
        ({"ordered": True, "any_of": [[{"tool": "search_code"}], [{"tool": "search_files"}]]}, Mode.JSON),
    ],
)
def test_each_kind_of_expectation_has_its_own_answer_to_what_should_happen(expectation: Json, mode: Mode) -> None:
    form = case_form(draft(expectation), find)
    assert form.mode is mode
    assert expected(form) == expectation


def test_every_parameter_of_the_schema_has_a_row_and_those_not_named_are_not_judged() -> None:
    form = case_form(draft([{"tool": "search_code", "parameters": {"limit": 20}}]), find)
    shown = [(row.parameter.name, row.matcher, row.text) for row in form.calls[0].fields]
    assert shown == [
        ("query", Matcher.NOT_JUDGED, ""),
        ("limit", Matcher.EQUALS, "20"),
        ("order", Matcher.NOT_JUDGED, ""),
        ("paths", Matcher.NOT_JUDGED, ""),
    ]


def test_a_parameter_that_the_tool_does_not_have_is_kept_and_told_apart() -> None:
    form = case_form(draft([{"tool": "search_code", "parameters": {"querry": "retry"}}]), find)
    assert not field(form, "querry").parameter.known
    assert expected(form) == [{"tool": "search_code", "parameters": {"querry": "retry"}}]


def test_what_is_typed_into_the_rows_is_what_is_expected() -> None:
    form = case_form(draft([{"tool": "search_code", "server": "docs"}]), find)
    form = typed(typed(typed(form, "query", "retry"), "limit", "20"), "paths", "src, lib")
    assert expected(form) == [
        {
            "tool": "search_code",
            "server": "docs",
            "parameters": {"query": "retry", "limit": 20, "paths": ["src", "lib"]},
        }
    ]


def test_clearing_every_row_leaves_no_parameters_expected() -> None:
    form = typed(case_form(draft([{"tool": "search_code"}]), find), "query", "retry")
    assert expected(typed(form, "query", "")) == [{"tool": "search_code"}]


def test_an_invalid_value_stays_in_its_row_and_says_why_the_case_is_not_saved() -> None:
    form = typed(case_form(draft([{"tool": "search_code"}]), find), "limit", "many")
    reading = read_form(form)
    assert reading.draft is None
    assert reading.problem_at("call0.limit") == "Write a number such as 20."
    assert field(form, "limit").text == "many"


def test_another_tool_keeps_the_values_that_it_also_has_a_parameter_for() -> None:
    form = typed(case_form(draft([{"tool": "search_code", "server": "docs"}]), find), "query", "retry")
    form = with_call(form, 0, with_tool(form.calls[0], "docs", "search_files", find))
    assert [row.parameter.name for row in form.calls[0].fields] == ["query", "folder"]
    assert expected(form) == [{"tool": "search_files", "server": "docs", "parameters": {"query": "retry"}}]


def test_values_that_the_other_tool_has_no_parameter_for_stay_and_are_marked() -> None:
    form = typed(case_form(draft([{"tool": "search_code"}]), find), "limit", "20")
    form = with_call(form, 0, with_tool(form.calls[0], None, "search_files", find))
    assert not field(form, "limit").parameter.known
    assert expected(form) == [{"tool": "search_files", "parameters": {"limit": 20}}]


def test_rows_appear_when_the_tools_become_known_and_nothing_typed_is_lost() -> None:
    unseen = case_form(draft([{"tool": "search_code", "parameters": {"limit": 20}}]), lambda server, name: None)
    assert not unseen.calls[0].known
    seen = refitted_form(unseen, find)
    assert field(seen, "limit").text == "20"
    assert len(seen.calls[0].fields) == 4


def test_parameters_can_be_written_as_json_and_are_rows_again_afterwards() -> None:
    call = case_form(draft([{"tool": "search_code", "parameters": {"limit": 20}}]), find).calls[0]
    as_json = with_json_shown(call, True, find)
    assert as_json.json_text == '{\n  "limit": 20\n}'
    changed = with_json_shown(replace(as_json, json_text='{"query": "retry"}'), False, find)
    assert call_of(changed).parameters == {"query": "retry"}
    assert not changed.as_json


def test_json_that_cannot_be_read_stays_as_it_was_typed() -> None:
    call = case_form(draft([{"tool": "search_code"}]), find).calls[0]
    broken = replace(with_json_shown(call, True, find), json_text='{"query": ')
    with pytest.raises(UnreadableError, match="This is not JSON yet"):
        with_json_shown(broken, False, find)


def test_changing_what_should_happen_and_back_loses_no_call() -> None:
    form = typed(case_form(draft([{"tool": "search_code"}]), find), "query", "retry")
    there = with_mode(with_mode(with_mode(form, Mode.NONE, find), Mode.ANY_ONE, find), Mode.ONE, find)
    assert expected(there) == expected(form)


def test_a_second_call_that_is_not_picked_yet_does_not_keep_the_first_from_being_saved() -> None:
    form = with_mode(case_form(draft([{"tool": "search_code"}]), find), Mode.SEVERAL, find)
    assert len(form.calls) == 2
    assert expected(form) == [{"tool": "search_code"}]


def test_calls_are_added_and_taken_away() -> None:
    form = with_call_added(case_form(draft([{"tool": "search_code"}, {"tool": "search_files"}]), find))
    form = with_call(form, 2, with_tool(form.calls[2], None, "search_code", find))
    assert expected(without_call(form, 0)) == [{"tool": "search_files"}, {"tool": "search_code"}]


def test_order_counts_only_where_several_calls_are_expected() -> None:
    form = case_form(draft({"ordered": True, "calls": [{"tool": "search_code"}, {"tool": "search_files"}]}), find)
    assert form.ordered
    assert expected(with_mode(form, Mode.ONE, find)) == [{"tool": "search_code"}]


def test_a_case_without_a_tool_or_a_query_says_what_is_missing() -> None:
    sentences = [problem.sentence for problem in read_form(CaseForm()).problems]
    assert sentences == ["Write what the user says.", "Select the tool that should be called."]


def test_an_expectation_as_json_is_read_again_and_its_mistakes_are_told() -> None:
    form = case_form(draft({"any_of": [[{"tool": "search_code"}], []]}), find)
    assert expected(replace(form, json_text='[{"tool": "search_files"}]')) == [{"tool": "search_files"}]
    reading = read_form(replace(form, json_text="[{}]"))
    assert reading.problem_at("json") == 'An expected call has no tool name. Give each call a "tool".'


def test_the_name_follows_the_query_until_one_is_given() -> None:
    form = case_form(draft(None, query="Say hello"), find)
    assert form.name == ""
    renamed = read_form(replace(form, query="Say good night")).draft
    assert renamed is not None
    assert renamed.name == "Say good night"


def test_a_name_made_from_a_query_is_the_beginning_of_its_first_line() -> None:
    assert name_from("\n  Say hello\nand good-bye") == "Say hello"
    assert len(name_from("word " * 40)) == 80
    assert name_from("  ") == ""


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "$any_of", "$any", "$regex", "$literal"]), inner, max_size=2)
    ),
    max_leaves=4,
)
CALLS = st.builds(
    ExpectedCall,
    tool=st.sampled_from(["search_code", "search_files", "nobody_has_it"]),
    server=st.sampled_from([None, "docs", "github"]),
    parameters=st.none()
    | st.dictionaries(st.sampled_from(["query", "limit", "order", "paths", "x"]), VALUES, max_size=3),
    exact=st.booleans(),
)
EXPECTATIONS = st.builds(
    Expectation,
    st.lists(st.lists(CALLS, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple),
    ordered=st.booleans(),
)


@settings(max_examples=40)
@given(expectation=EXPECTATIONS)
def test_any_expectation_comes_back_as_it_was(expectation: Expectation) -> None:
    form = case_form(CaseDraft(name="n", query="q", expectation=expectation), find)
    assert canonical(expected(form)) == canonical(expectation_to_json(expectation))
    assert canonical(expected(refitted_form(form, find))) == canonical(expectation_to_json(expectation))


@settings(max_examples=40)
@given(expectation=EXPECTATIONS)
def test_any_call_comes_back_from_being_shown_as_json(expectation: Expectation) -> None:
    for call in case_form(CaseDraft(name="n", query="q", expectation=expectation), find).calls:
        if call.tool:
            there_and_back = with_json_shown(with_json_shown(call, True, find), False, find)
            assert _json(there_and_back.fields) == _json(call.fields)


def _json(fields: tuple[ParameterField, ...]) -> Mapping[str, tuple[Matcher, str]]:
    return {row.parameter.name: (row.matcher, row.text) for row in fields}


@given(
    st.lists(
        st.builds(
            EarlierMessage,
            st.sampled_from(Speaker),
            st.one_of(st.text(), st.sampled_from(["User: I", "a\nAssistant: b", " x ", "[1]"])).filter(str.strip),
        ),
        max_size=3,
    ).map(tuple)
)
def test_earlier_messages_are_read_back_as_they_were(messages: tuple[EarlierMessage, ...]) -> None:
    assert read_messages(messages_text(messages)) == messages
