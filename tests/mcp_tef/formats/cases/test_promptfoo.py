"""promptfoo configurations, as its documentation writes them."""

import pytest

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import CaseEntry
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.transfer import CaseFileFormat
from tests.support.case_factories import one_call, read, there_and_back

CONFIG = """
description: Weather and flights
prompts: ['{{query}}']
providers:
  - id: openai:gpt-4.1
    config:
      tools:
        - type: function
          function: {name: get_weather, parameters: {type: object, properties: {city: {type: string}}}}
tests:
  - description: both
    vars: {query: "What's the weather in NYC, and book me a flight to LA?", order_id: '123'}
    assert:
"""


def entry_of(assertions: str) -> CaseEntry:
    lines = "\n".join(f"      {line}" for line in assertions.strip().splitlines())
    [entry] = read(CaseFileFormat.PROMPTFOO, CONFIG + lines)
    return entry


def expected(assertions: str) -> Expectation:
    entry = entry_of(assertions)
    assert entry.draft, entry.refused
    return entry.draft.expectation


@pytest.mark.parametrize("value", ["[get_weather, book_flight]", "'get_weather, book_flight'"])
def test_the_set_of_tools_is_taken_over(value: str) -> None:
    assert expected(f"- {{type: tool-call-f1, value: {value}}}") == Expectation(
        ((ExpectedCall(tool="get_weather"), ExpectedCall(tool="book_flight")),)
    )


def test_arguments_join_the_call_that_was_named_before() -> None:
    found = expected("""
- {type: is-valid-openai-tools-call}
- {type: tool-call-f1, value: [search_orders]}
- type: trajectory:tool-args-match
  value: {name: search_orders, args: {order_id: '{{ order_id }}'}}
""")
    assert found == Expectation(((ExpectedCall(tool="search_orders", parameters={"order_id": "123"}),),))


def test_exact_arguments_with_defaults_and_ignored_ones_become_matchers() -> None:
    found = expected("""
- type: trajectory:tool-args-match
  value: {name: orders, mode: exact, args: {status: Q}, defaults: {page: 1}, ignore: cursor}
""")
    parameters = {"status": "Q", "page": {"$optional": 1}, "cursor": {"$any": True}}
    assert found == Expectation(((ExpectedCall(tool="orders", parameters=parameters, exact=True),),))


def test_a_sequence_is_in_order() -> None:
    found = expected("- {type: 'trajectory:tool-sequence', value: {steps: [search, reply]}}")
    assert found == Expectation(((ExpectedCall(tool="search"), ExpectedCall(tool="reply")),), ordered=True)


def test_no_tool_step_at_all_means_no_tool() -> None:
    assert expected("- {type: 'trajectory:step-count', value: {type: tool, max: 0}}").no_tool


def test_what_is_not_about_tools_is_noted_where_something_else_is() -> None:
    others = "- {type: latency, threshold: 5000}\n- {type: javascript, value: x}"
    entry = entry_of("- {type: tool-call-f1, value: [a]}\n" + others)
    assert entry.notes == ("Not taken over: latency.", "Not taken over: javascript.")


@pytest.mark.parametrize(
    ("assertions", "says"),
    [
        ("- {type: contains-json}", "None of its assertions says which tool is right (contains-json)"),
        ("- {type: javascript, value: 'output.length'}", "(javascript)"),
        ("- {type: is-valid-openai-tools-call}", "(is-valid-openai-tools-call)"),
        ("- {type: tool-call-f1, value: [a], threshold: 0.8}", "partly right answers"),
        ("- {type: 'trajectory:tool-used', value: 'search*'}", "a pattern instead of a name"),
        ("- {type: 'trajectory:step-count', value: {type: command, max: 3}}", "something else than no tools"),
        ("- {type: 'trajectory:tool-args-match', value: {name: a, args: {x: '{{ y | upper }}'}}}", "is a template"),
        ("- {type: 'not-tool-call-f1', value: [a]}", "(not-tool-call-f1)"),
        ("- {type: 'trajectory:tool-used', value: {pattern: a, min: two}}", "a number of calls of no use"),
        ("- {type: 'trajectory:tool-used', value: {pattern: a, max: many}}", "a number of calls of no use"),
    ],
)
def test_what_cannot_be_mapped_is_refused_with_the_reason(assertions: str, says: str) -> None:
    assert says in (entry_of(assertions).refused or "")


def test_the_tools_of_the_provider_come_with_the_case() -> None:
    [tool] = entry_of("- {type: tool-call-f1, value: [get_weather]}").tools
    assert tool["name"] == "get_weather"


def test_the_question_is_the_filled_prompt_where_no_variable_is_called_one() -> None:
    test = "{vars: {city: Lisbon, day: today}, assert: [{type: tool-call-f1, value: [w]}]}"
    text = f"prompts: ['Weather in {{{{city}}}} {{{{day}}}}?']\ntests: [{test}]"
    [entry] = read(CaseFileFormat.PROMPTFOO, text)
    assert entry.draft
    assert entry.draft.query == "Weather in Lisbon today?"


def test_a_provider_whose_tools_are_no_list_brings_none() -> None:
    test = "{vars: {query: x}, assert: [{type: tool-call-f1, value: [w]}]}"
    [entry] = read(CaseFileFormat.PROMPTFOO, f"providers: [{{config: {{tools: 5}}}}]\ntests: [{test}]")
    assert entry.draft
    assert entry.tools == ()


def test_what_stands_beside_the_tests_must_be_json_too() -> None:
    with pytest.raises(InputError, match=r"beside its tests\. It has a number that is not finite"):
        read(CaseFileFormat.PROMPTFOO, '{"defaultTest": {"vars": {"x": NaN}}, "tests": []}', "cases.json")


def test_tests_in_another_file_are_refused_as_such() -> None:
    with pytest.raises(InputError, match="keeps its tests in another file"):
        read(CaseFileFormat.PROMPTFOO, "tests: file://tests.yaml")


@pytest.mark.parametrize("value", [{"$regex": "a"}, "{{ it }}", {"$optional": 1}, {"in": {"$any": True}}])
def test_what_promptfoo_has_no_word_for_is_left_out(value: object) -> None:
    assert there_and_back(CaseFileFormat.PROMPTFOO, one_call(parameters={"q": value})) is None
