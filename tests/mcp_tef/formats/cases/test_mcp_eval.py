"""Datasets of mcp-eval, as its documentation writes them."""

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
