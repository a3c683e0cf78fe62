"""Datasets of mcp-eval and configurations of promptfoo, in the shape of their documentation."""

import pytest

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import CaseEntry
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.transfer import CaseFileFormat
from tests.support.case_factories import one_call, read, there_and_back

DATASET = """
name: Basic Fetch Dataset
server_name: fetch
cases:
  - name: simple_fetch
    inputs: Fetch https://example.com
    evaluators:
"""


def entry_of(evaluators: str) -> CaseEntry:
    lines = "\n".join(f"      {line}" for line in evaluators.strip().splitlines())
    [entry] = read(CaseFileFormat.MCP_EVAL, DATASET + lines)
    return entry


def expected(evaluators: str) -> Expectation:
    entry = entry_of(evaluators)
    assert entry.draft, entry.refused
    return entry.draft.expectation


def test_a_documented_dataset_becomes_a_case_with_what_was_left_noted() -> None:
    entry = entry_of('- ToolWasCalled: {tool_name: fetch}\n- ResponseContains: {text: "Example Domain"}')
    assert entry.draft
    assert entry.draft.servers == ("fetch",)
    assert entry.draft.expectation == Expectation(((ExpectedCall(tool="fetch"),),))
    assert entry.notes == ("Not taken over: ResponseContains.",)


def test_a_tool_that_was_called_and_its_arguments_are_one_call() -> None:
    called_with = "ToolCalledWith: {tool_name: fetch, expected_args: {url: x}}"
    found = expected(f"- ToolWasCalled: {{tool_name: fetch}}\n- {called_with}")
    assert found == Expectation(((ExpectedCall(tool="fetch", parameters={"url": "x"}),),))


def test_several_calls_of_a_tool_are_counted() -> None:
    found = expected("- ToolWasCalled: {tool_name: fetch, min_times: 2}")
    assert found == Expectation(((ExpectedCall(tool="fetch"),) * 2,))


def test_a_sequence_is_in_order_and_an_empty_one_means_no_tool() -> None:
    found = expected("- ToolSequence: {expected_sequence: [fetch, save]}")
    assert found == Expectation(((ExpectedCall(tool="fetch"), ExpectedCall(tool="save")),), ordered=True)
    assert expected("- ToolSequence: {expected_sequence: [], allow_other_calls: false}").no_tool


@pytest.mark.parametrize(
    ("evaluators", "says"),
    [
        ("- ResponseContains: {text: x}", "None of its evaluators says which tool is right (ResponseContains)"),
        ("- LLMJudge: {rubric: x}", "(LLMJudge)"),
        ("- ExactToolCount: {tool_name: fetch, expected_count: 0}", "asks for 0 calls of fetch"),
        ("- ToolWasCalled: {}", "no tool_name"),
        ("- ToolCalledWith: {tool_name: fetch, expected_args: [1]}", "not an object"),
    ],
)
def test_what_cannot_be_mapped_is_refused_with_the_reason(evaluators: str, says: str) -> None:
    assert says in (entry_of(evaluators).refused or "")


def test_inputs_that_are_not_text_are_refused() -> None:
    [entry] = read(CaseFileFormat.MCP_EVAL, "cases: [{name: a, inputs: {x: 1}}]")
    assert "no text as inputs" in (entry.refused or "")


def test_what_stands_beside_the_cases_must_be_json_too() -> None:
    with pytest.raises(InputError, match=r"beside its cases\. It has a value of a kind that JSON has not"):
        read(CaseFileFormat.MCP_EVAL, "evaluators: [{X: !!set {a}}]\ncases: []")


def test_a_file_without_cases_is_refused() -> None:
    with pytest.raises(InputError, match="holds no list of cases"):
        read(CaseFileFormat.MCP_EVAL, "name: x")


def test_matchers_are_left_out() -> None:
    assert there_and_back(CaseFileFormat.MCP_EVAL, one_call(parameters={"q": {"$any": True}})) is None


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


def promptfoo_entry(assertions: str) -> CaseEntry:
    lines = "\n".join(f"      {line}" for line in assertions.strip().splitlines())
    [entry] = read(CaseFileFormat.PROMPTFOO, CONFIG + lines)
    return entry


def promptfoo_expected(assertions: str) -> Expectation:
    entry = promptfoo_entry(assertions)
    assert entry.draft, entry.refused
    return entry.draft.expectation


@pytest.mark.parametrize("value", ["[get_weather, book_flight]", "'get_weather, book_flight'"])
def test_the_set_of_tools_is_taken_over(value: str) -> None:
    assert promptfoo_expected(f"- {{type: tool-call-f1, value: {value}}}") == Expectation(
        ((ExpectedCall(tool="get_weather"), ExpectedCall(tool="book_flight")),)
    )


def test_arguments_join_the_call_that_was_named_before() -> None:
    found = promptfoo_expected("""
- {type: is-valid-openai-tools-call}
- {type: tool-call-f1, value: [search_orders]}
- type: trajectory:tool-args-match
  value: {name: search_orders, args: {order_id: '{{ order_id }}'}}
""")
    assert found == Expectation(((ExpectedCall(tool="search_orders", parameters={"order_id": "123"}),),))


def test_exact_arguments_with_defaults_and_ignored_ones_become_matchers() -> None:
    found = promptfoo_expected("""
- type: trajectory:tool-args-match
  value: {name: orders, mode: exact, args: {status: Q}, defaults: {page: 1}, ignore: cursor}
""")
    parameters = {"status": "Q", "page": {"$optional": 1}, "cursor": {"$any": True}}
    assert found == Expectation(((ExpectedCall(tool="orders", parameters=parameters, exact=True),),))


def test_a_sequence_is_in_order() -> None:
    found = promptfoo_expected("- {type: 'trajectory:tool-sequence', value: {steps: [search, reply]}}")
    assert found == Expectation(((ExpectedCall(tool="search"), ExpectedCall(tool="reply")),), ordered=True)


def test_no_tool_step_at_all_means_no_tool() -> None:
    assert promptfoo_expected("- {type: 'trajectory:step-count', value: {type: tool, max: 0}}").no_tool


def test_what_is_not_about_tools_is_noted_where_something_else_is() -> None:
    others = "- {type: latency, threshold: 5000}\n- {type: javascript, value: x}"
    entry = promptfoo_entry("- {type: tool-call-f1, value: [a]}\n" + others)
    assert entry.notes[:2] == ("Not taken over: latency.", "Not taken over: javascript.")


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
def test_what_promptfoo_cannot_map_is_refused_with_the_reason(assertions: str, says: str) -> None:
    assert says in (promptfoo_entry(assertions).refused or "")


def test_the_tools_of_the_provider_come_with_the_case() -> None:
    [tool] = promptfoo_entry("- {type: tool-call-f1, value: [get_weather]}").tools
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


@pytest.mark.parametrize("value", [{"$regex": "a"}, "{{ it }}", {"$optional": 1}, {"in": {"$any": True}}])
def test_what_promptfoo_has_no_word_for_is_left_out(value: object) -> None:
    assert there_and_back(CaseFileFormat.PROMPTFOO, one_call(parameters={"q": value})) is None
