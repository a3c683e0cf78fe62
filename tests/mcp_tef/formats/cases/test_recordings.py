"""Recorded conversations: every shape gives the query, the tools that were offered, and the call as a proposal."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import InputError
from mcp_tef.formats.cases import recordings
from mcp_tef.formats.cases.case_formats import form_to_read
from mcp_tef.formats.cases.entries import CaseEntry, CaseSource
from mcp_tef.model.cases import CaseOrigin, EarlierMessage, ExpectedCall, Speaker
from mcp_tef.model.secrets import MASK
from mcp_tef.model.transfer import CaseFileFormat

QUERY, ARGUMENTS = "What is the weather in Lima?", {"city": "Lima"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "get_weather", "description": "The weather now.", "parameters": SCHEMA}
OPENAI_TOOL = {"type": "function", "function": FUNCTION}
OPENAI_CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)}}
ASKED = [{"role": "user", "parts": [{"type": "text", "content": QUERY}]}]
ANSWERED = [{"role": "assistant", "parts": [{"type": "tool_call", "name": "get_weather", "arguments": ARGUMENTS}]}]
DETAILS = {
    "gen_ai.input.messages": ASKED,
    "gen_ai.output.messages": ANSWERED,
    "gen_ai.tool.definitions": [{"type": "function", **FUNCTION}],
}
OPENAI_REQUEST = {"model": "gpt", "messages": [{"role": "user", "content": QUERY}], "tools": [OPENAI_TOOL]}
OPENAI_RESPONSE = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}}]}
RESPONSES_CALL = {"type": "function_call", "name": "get_weather", "arguments": '{"city": "Lima"}'}
ANTHROPIC_TOOL = {"name": "get_weather", "description": "The weather now.", "input_schema": SCHEMA}
ANTHROPIC_ANSWER = [
    {"type": "text", "text": "Let me look."},
    {"type": "tool_use", "id": "t", "name": "get_weather", "input": ARGUMENTS},
]


def otlp_value(value: Any) -> dict[str, Any]:
    match value:
        case dict():
            return {"kvlistValue": {"values": otlp_attributes(value)}}
        case list():
            return {"arrayValue": {"values": list(map(otlp_value, value))}}
    return {"stringValue": value}


def otlp_attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": otlp_value(value)} for key, value in values.items()]


def as_text(values: dict[str, Any]) -> dict[str, Any]:
    return {key: json.dumps(value) for key, value in values.items()}


def otlp_spans(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def otlp_logs(*records: dict[str, Any]) -> dict[str, Any]:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


def of_session(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"type": role, "sessionId": "s", "message": {"role": role, "content": content, **more}}


USER_EVENT = {"name": "gen_ai.user.message", "attributes": {"content": QUERY, "role": "user"}}
CHOICE = {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [OPENAI_CALL]}}
CHOICE_EVENT = {"name": "gen_ai.choice", "attributes": {"gen_ai.event.content": json.dumps(CHOICE)}}
# Each shape, and whether the definitions of tools stand in it.
SHAPES: dict[str, tuple[Sequence[Any], bool]] = {
    "OTLP span, structured": (
        [otlp_spans({"name": "chat", "spanId": "a", "attributes": otlp_attributes(DETAILS)})],
        True,
    ),
    "OTLP span, JSON in text": ([otlp_spans({"name": "chat", "attributes": otlp_attributes(as_text(DETAILS))})], True),
    "OTLP event with details": (
        [otlp_logs({"eventName": "gen_ai.client.inference.operation.details", "attributes": otlp_attributes(DETAILS)})],
        True,
    ),
    "span event with details": (
        [otlp_spans({"name": "chat", "events": [{"name": "gen_ai.x", "attributes": otlp_attributes(DETAILS)}]})],
        True,
    ),
    "span of the console exporter": (
        [{"name": "chat", "context": {"span_id": "a"}, "attributes": as_text(DETAILS)}],
        True,
    ),
    "older span events": (
        [{"name": "chat", "attributes": {}, "events": [USER_EVENT, CHOICE_EVENT], "context": {"trace_id": "x"}}],
        False,
    ),
    "older log events": (
        [
            otlp_logs(
                {"eventName": "gen_ai.user.message", "spanId": "a", "body": otlp_value({"content": QUERY})},
                {"eventName": "gen_ai.user.message", "spanId": "b", "body": otlp_value({"content": "Never answered"})},
            ),
            otlp_logs({"eventName": "gen_ai.choice", "spanId": "a", "body": otlp_value(CHOICE | {"index": "0"})}),
        ],
        False,
    ),
    "OpenAI request and response": ([{"request": OPENAI_REQUEST, "response": OPENAI_RESPONSE}], True),
    "OpenAI batch": ([{"custom_id": "1", "body": OPENAI_REQUEST, "response": {"body": OPENAI_RESPONSE}}], True),
    "OpenAI messages": (
        [{**OPENAI_REQUEST, "messages": [*OPENAI_REQUEST["messages"], OPENAI_RESPONSE["choices"][0]["message"]]}],
        True,
    ),
    "OpenAI responses": (
        [
            {
                "request": {"input": QUERY, "tools": [{"type": "function", **FUNCTION}]},
                "response": {
                    "output": [{"type": "function_call", "name": "get_weather", "arguments": '{"city": "Lima"}'}]
                },
            }
        ],
        True,
    ),
    "Anthropic": (
        [
            {
                "request": {"messages": [{"role": "user", "content": QUERY}], "tools": [ANTHROPIC_TOOL]},
                "response": {"role": "assistant", "content": ANTHROPIC_ANSWER},
            }
        ],
        True,
    ),
    "Claude Code": (
        [
            {"type": "summary", "summary": "Weather", "leafUuid": "u"},
            {"type": "user", "sessionId": "s", "isMeta": True, "message": {"role": "user", "content": "Caveat"}},
            {
                "type": "user",
                "sessionId": "s",
                "message": {"role": "user", "content": f"{QUERY}<system-reminder>x</system-reminder>"},
            },
            {
                "type": "assistant",
                "sessionId": "s",
                "message": {"id": "m", "role": "assistant", "content": ANTHROPIC_ANSWER[:1]},
            },
            {
                "type": "assistant",
                "sessionId": "s",
                "message": {"id": "m", "role": "assistant", "content": ANTHROPIC_ANSWER[1:]},
            },
            {
                "type": "user",
                "sessionId": "s",
                "message": {"role": "user", "content": [{"type": "tool_result", "content": "rain"}]},
            },
        ],
        False,
    ),
}


def read(*records: Any) -> tuple[CaseEntry, ...]:
    text = "\n".join(map(json.dumps, records))
    source = CaseSource(text, "trace.jsonl")
    assert form_to_read(Path("trace.jsonl"), source) is CaseFileFormat.RECORDING
    return recordings.read(source)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_gives_the_query_the_tools_and_the_call(shape: str) -> None:
    records, has_tools = SHAPES[shape]
    [entry] = read(*records)
    assert entry.draft
    assert (entry.draft.query, entry.draft.origin, entry.draft.tags) == (QUERY, CaseOrigin.GENERATED, ("recorded",))
    assert entry.draft.expectation.alternatives == ((ExpectedCall(tool="get_weather", parameters=ARGUMENTS),),)
    definition = {"name": "get_weather", "description": "The weather now.", "inputSchema": SCHEMA}
    assert entry.tools == ((definition,) if has_tools else ())


def test_one_document_is_read_as_well_as_lines() -> None:
    source = CaseSource(json.dumps(SHAPES["OTLP span, structured"][0][0], indent=2), "trace.json")
    assert form_to_read(Path("trace.json"), source) is CaseFileFormat.RECORDING
    assert len(recordings.read(source)) == 1


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), **more}


def said(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def test_only_the_first_answer_of_each_turn_counts_and_repeated_requests_come_once() -> None:
    first = [said("system", "Be brief."), said("user", QUERY), said("assistant", "", tool_calls=[OPENAI_CALL])]
    after = [
        said("tool", "rain"),
        said("assistant", "", tool_calls=[{"function": {"name": "umbrella", "arguments": "{}"}}]),
    ]
    thanks = [said("tool", "ok"), said("assistant", "It rains."), said("user", "Thanks"), said("assistant", "Bye")]
    weather, thank = read(chat(*first), chat(*first, *after), chat(*first, *after, *thanks))
    assert weather.draft
    assert thank.draft
    assert weather.draft.expectation.label == "get_weather"
    assert thank.draft.expectation.no_tool
    assert thank.draft.before == (EarlierMessage(Speaker.USER, QUERY), EarlierMessage(Speaker.ASSISTANT, "It rains."))


def test_different_calls_for_one_request_are_noted() -> None:
    asked = said("user", QUERY)
    [entry] = read(
        chat(asked, said("assistant", "", tool_calls=[OPENAI_CALL])), chat(asked, said("assistant", "No idea"))
    )
    assert entry.notes == ("Another recording of this request made another call.",)


def test_rows_of_one_conversation_are_one_family() -> None:
    records = [
        {"attributes": {"gen_ai.conversation.id": "talk", "gen_ai.input.messages": [said("user", text)],
                        "gen_ai.output.messages": [said("assistant", "Yes")]}}
        for text in ("One?", "Two?")
    ]  # fmt: skip
    assert [entry.draft.family for entry in read(*records) if entry.draft] == ["talk", "talk"]
    assert [entry.draft.family for entry in read(records[0]) if entry.draft] == [""]


def test_secrets_are_masked_and_never_expected() -> None:
    key = "sk-" + "a1B2" * 8
    arguments = {"city": "Lima", "api_key": key, "note": f"Bearer {key}"}
    call = {"function": {"name": "get_weather", "arguments": json.dumps(arguments)}}
    [entry] = read(chat(said("user", f"Use {key} for Lima"), said("assistant", "", tool_calls=[call])))
    assert key not in repr(entry)
    assert entry.draft
    assert entry.draft.query == f"Use {MASK} for Lima"
    assert entry.notes == ("A secret in it is masked.",)
    [[expected]] = entry.draft.expectation.alternatives
    assert expected.parameters == {"city": "Lima", "api_key": {"$any": True}, "note": {"$any": True}}


def test_names_of_clients_are_split_into_server_and_tool() -> None:
    call = {"type": "tool_use", "name": "mcp__weather__get_weather", "input": {"$like": "a matcher"}}
    [entry] = read(chat(said("user", QUERY), {"role": "assistant", "content": [call]}))
    assert entry.draft
    assert entry.draft.servers == ("weather",)
    [[expected]] = entry.draft.expectation.alternatives
    assert (expected.server, expected.tool) == ("weather", "get_weather")


def test_arguments_that_are_no_object_are_left_out_with_a_note() -> None:
    call = {"function": {"name": "get_weather", "arguments": '{"city": '}}
    [entry] = read(chat(said("user", QUERY), said("assistant", "", tool_calls=[call])))
    assert entry.notes == ("The arguments of a call are no object and are left out.",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"messages": []}\nno JSON', r"trace\.jsonl, line 2 is no JSON object"),
        ('{"resourceSpans": []}', "no request of a user that a model answered"),
        ('{"messages": [{"role": "user", "content": "x"}]}', "no request of a user that a model answered"),
    ],
)
def test_what_holds_no_conversation_is_refused(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        recordings.read(CaseSource(text, "trace.jsonl"))


@pytest.mark.parametrize(
    "record",
    [{"question": "x", "function": []}, {"query": "x", "expected": None}, {"cases": []}, {"tests": [], "prompts": []}],
)
def test_other_case_files_are_no_recordings(record: Any) -> None:
    source = CaseSource(json.dumps(record), "a.json")
    assert form_to_read(Path("a.json"), source) is not CaseFileFormat.RECORDING
