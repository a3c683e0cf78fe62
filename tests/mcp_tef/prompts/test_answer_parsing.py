"""Parsing of models' answers, sound and hostile."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.tools import Tool
from mcp_tef.prompts.answer_parsing import ParsedAnswer, WrittenCall, loads, read_native, read_structured
from mcp_tef.prompts.selection_prompt import offer
from tests.support.text_calls import text_calls

OFFERED = offer([Tool(server="shop", name="find.parts", description="", input_schema={}, raw={})])
TYPED = offer(
    [
        Tool(
            server="shop",
            name="find.parts",
            description="",
            input_schema={"properties": {"kind": {"type": "string"}}},
            raw={},
        )
    ]
)
FORMS = text_calls("find_parts", {"kind": "chain"})
FOUND = ActualCall(tool="find.parts", server="shop", arguments={"kind": "chain"})


def test_a_native_call_is_the_real_tool_with_its_arguments() -> None:
    reading = read_native("It looks for parts.\nConfidence: 0.85", [_written('{"kind": "chain"}')], OFFERED)
    assert reading == ParsedAnswer((FOUND,), "It looks for parts.", 0.85)


def test_several_calls_stay_in_order_and_repeated_ones_are_kept() -> None:
    calls = [_written('{"kind": "chain"}'), WrittenCall("other", ""), _written('{"kind": "chain"}')]
    assert read_native(None, calls, OFFERED).calls == (FOUND, ActualCall(tool="other"), FOUND)


@pytest.mark.parametrize(
    "arguments", ['{"kind": "ch', "[1]", '"text"', "NaN", '{"a": NaN}', '{"a": 1e999}', "{" * 9000]
)
def test_arguments_that_are_no_json_object_make_the_answer_unreadable(arguments: str) -> None:
    assert read_native("", [_written(arguments)], OFFERED).calls is None


@pytest.mark.parametrize("arguments", ["", "  ", "{}", None, {}])
def test_a_call_without_arguments_has_none(arguments: object) -> None:
    assert read_native("", [_written(arguments)], OFFERED).calls == (ActualCall(tool="find.parts", server="shop"),)


@pytest.mark.parametrize("text", [None, "", "None of these tools fits.", "{} is an empty object in JSON."])
def test_words_without_a_call_pick_no_tool(text: str | None) -> None:
    assert read_native(text, (), OFFERED).calls == ()


@pytest.mark.parametrize("form", FORMS)
def test_a_call_in_the_text_is_read_in_every_usual_form(form: tuple[str, str]) -> None:
    native = read_native(FORMS[form], (), OFFERED)
    structured = read_structured(FORMS[form], OFFERED)
    assert (native.calls, native.read_from_text) == ((FOUND,), True)
    assert (structured.calls, structured.read_from_text) == ((FOUND,), False)


@pytest.mark.parametrize(
    "text",
    [
        '<function=find_parts>{"kind": "chain"}</function>',
        '[TOOL_CALLS]find_parts[ARGS]{"kind": "chain"}',
        '<|python_tag|>{"type": "function", "name": "find_parts", "parameters": {"kind": "chain"}}',
        '{"tool_calls": [{"id": "1", "type": "function", "function": {"name": "find_parts", "arguments": "{\\"kind\\":'
        ' \\"chain\\"}"}}]}',
        "So I think.</think>{'tool': 'find_parts', 'kind': 'chain',}",
        "{'name': \"find.parts\", 'arguments': {'kind': 'chain'}, 'sure': True, 'why': 'it\\'s a \"part\"', 'x': None}",
    ],
)
def test_less_usual_forms_are_read_too(text: str) -> None:
    (call,) = read_native(text, (), TYPED).calls or ()
    assert (call.tool, call.arguments) == ("find.parts", {"kind": "chain"})


def test_several_calls_in_the_text_stay_in_order() -> None:
    one, other = '{"name": "find_parts", "arguments": {"kind": "chain"}}', '{"name": "other", "arguments": {}}'
    for text in (
        f"[{one}, {other}]",
        f"<tool_call>{one}</tool_call>\n<tool_call>{other}</tool_call>",
        f"{one}\n{other}",
    ):
        assert read_native(text, (), OFFERED).calls == (FOUND, ActualCall(tool="other"))


def test_reason_and_confidence_of_a_call_in_the_text_count() -> None:
    text = '{"tool": "find_parts", "arguments": {"kind": "chain"}, "reasoning": "Fits.", "confidence": 0.7}'
    assert read_native(text, (), OFFERED) == ParsedAnswer((FOUND,), "Fits.", 0.7, read_from_text=True)
    assert read_native('{"name": "find_parts", "arguments": {}}\nConfidence: 0.4', (), OFFERED).confidence == 0.4


@pytest.mark.parametrize(
    "text",
    [
        "I would call find_parts with kind set to chain.",
        'find_parts takes {"kind": "chain"}.',
        'The user may mean find_parts or {"name": "find_parts"}; I cannot tell.',
        'An example is {"name": "no_such_tool", "arguments": {"a": 1}}, but no tool fits.',
        'Its definition {"name": "find_parts", "description": "", "parameters": {"a": 1}} is near.',
        'Its definition {"name": "find_parts", "parameters": {"type": "object", "properties": {"kind": {}}}} is near.',
        '<think>{"name": "find_parts", "arguments": {"kind": "chain"}}</think>None of these tools fits.',
        '<think>I might answer {"name": "find_parts", "arguments": {"kind": "chain"}}',
        'Calls were made: {"calls": 3}.',
    ],
)
def test_text_that_only_mentions_a_tool_picks_none(text: str) -> None:
    assert read_native(text, (), OFFERED).calls == ()


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "find_parts", "argum',
        '{"name": "find_parts", "arguments": "chain"}',
        '[{"name": "find_parts", "arguments": {}}, {"name": "find_pa',
        '<think>So.</think> Now: <tool_call>{"name": "find_parts", "argum',
        "[TOOL_CALLS] find_parts",
        "<function=find_parts><parameter=kind>chain</parameter></function>",
        '{"calls": [{"tool": "find_parts"}, 3]}',
    ],
)
def test_a_call_in_the_text_that_cannot_be_read_is_unreadable(text: str) -> None:
    assert read_native(text, (), OFFERED).calls is None


@pytest.mark.parametrize(
    "text",
    ['{"calls": [{"arguments": {"a": 1}}]}', '{"name": "", "arguments": {"a": 1}}', '{"tool": " ", "args": {"a": 1}}'],
)
def test_a_call_without_a_name_is_a_call(text: str) -> None:
    nameless = (ActualCall(tool="", arguments={"a": 1}),)
    assert read_native(text, (), OFFERED).calls == read_structured(text, OFFERED).calls == nameless
    assert read_native(None, [WrittenCall("", {"a": 1})], OFFERED).calls == nameless


@pytest.mark.parametrize(
    "text",
    ["{" * 400_000, "{'" * 200_000, '{"a"' * 100_000, " " * 400_000 + "x{", "<tool_call> " * 40_000, "'" * 400_000],
)
def test_very_long_nonsense_is_read_without_a_long_search(text: str) -> None:
    assert not read_native(text, (), OFFERED).calls
    assert not read_structured(text, OFFERED).calls


@pytest.mark.parametrize(
    ("line", "confidence"),
    [
        ("Confidence: 0.9", 0.9),
        ("**Confidence:** 0.9", 0.9),
        ("confidence = 85%", 0.85),
        ("Confidence: 8/10", 0.8),
        ("“Confidence: 1”", 1.0),
        ("Confidence: .5", 0.5),
        ("Confidence: 7", None),
        ("Confidence: -0.2", None),
        ("Confidence: 3/0", None),
        ("Confidence: high", None),
        ("My confidence is not low.", None),
    ],
)
def test_confidence_is_read_where_it_is_given_and_in_range(line: str, confidence: float | None) -> None:
    assert read_native(f"Because.\n{line}", (), OFFERED).confidence == confidence


def test_the_confidence_line_is_no_part_of_the_words() -> None:
    assert read_native("Because.\nConfidence: 0.4\n", (), OFFERED).words == "Because."


def test_very_long_words_are_cut() -> None:
    assert len(read_native("word " * 100_000, (), OFFERED).words) == 4_000


@pytest.mark.parametrize(
    "text",
    [
        '{"calls": [{"tool": "find_parts", "arguments": {"kind": "chain"}}], "reasoning": "Fits.", "confidence": 0.7}',
        'Sure:\n```json\n{"calls": [{"tool": "find_parts", "arguments": {"kind": "chain"}}], "reasoning": "Fits.",'
        ' "confidence": 0.7}\n```',
        '{"think": {"a": 1}} {"calls": [{"tool": "find_parts", "arguments": "{\\"kind\\": \\"chain\\"}"}],'
        ' "reasoning": "Fits.", "confidence": 0.7}',
    ],
)
def test_a_structured_answer_is_read_bare_fenced_or_amid_words(text: str) -> None:
    assert read_structured(text, OFFERED) == ParsedAnswer((FOUND,), "Fits.", 0.7)


@pytest.mark.parametrize("text", ["", None, '{"calls": []}', '{"calls": null, "reasoning": 3}'])
def test_a_structured_answer_may_pick_no_tool(text: str | None) -> None:
    assert read_structured(text, OFFERED).calls == ()


@pytest.mark.parametrize(
    "text",
    [
        "I would use find_parts.",
        '{"calls": [{"tool": "find_parts", "argu',
        '{"calls": "find_parts"}',
        '{"calls": [{"tool": 3}]}',
        '{"calls": ["find_parts"]}',
        '{"calls": [{"tool": "find_parts", "arguments": [1]}]}',
        "{" * 50_000,
        '{"a":' * 50_000,
        "null",
    ],
)
def test_a_structured_answer_of_another_shape_is_unreadable(text: str) -> None:
    assert read_structured(text, OFFERED).calls is None


@pytest.mark.parametrize("confidence", ["true", "7", "-1", '"0.8"', "null"])
def test_a_structured_confidence_out_of_range_or_no_number_is_none(confidence: str) -> None:
    assert read_structured(f'{{"calls": [], "confidence": {confidence}}}', OFFERED).confidence is None


def test_what_is_read_can_always_be_written_to_a_file() -> None:
    value = loads('{"a": "\\ud83d\\ude00 \\ud800"}')
    assert value == {"a": "😀 ?"}
    json.dumps(value, ensure_ascii=False).encode()


@pytest.mark.parametrize("levels", [101, 480, 986])
def test_arguments_deeper_than_anything_of_use_make_the_answer_unreadable(levels: int) -> None:
    deep = '{"a":' * levels + '"\\ud800"' + "}" * levels
    assert read_native("", [_written(deep)], OFFERED).calls is None
    assert read_structured(f'{{"calls": [{{"tool": "find_parts", "arguments": {deep}}}]}}', OFFERED).calls is None


def test_a_surrogate_that_came_unescaped_is_a_question_mark_too() -> None:
    reading = read_structured('{"calls": [{"tool": "find_parts", "arguments": {"kind": "\ud800"}}]}', OFFERED)
    assert reading.calls == (ActualCall(tool="find.parts", server="shop", arguments={"kind": "?"}),)


@given(st.text(max_size=300))
def test_no_text_whatever_raises(text: str) -> None:
    read_structured(text, OFFERED)
    read_native(text, [WrittenCall(text, text)], OFFERED)
    read_native(text, (), OFFERED)


def _written(arguments: object) -> WrittenCall:
    return WrittenCall("find_parts", arguments)


@pytest.mark.parametrize(
    ("arguments", "last", "repeated"),
    [
        ('{"kind": "chain"}', {"kind": "chain"}, ()),
        ('{"kind": "bell", "kind": "chain"}', {"kind": "chain"}, ("kind",)),
        ('{"a": {"x": 1, "x": 2}, "b": 1, "b": 2}', {"a": {"x": 2}, "b": 2}, ("x", "b")),
        ('{"a": "\\ud800", "a": 1}', {"a": 1}, ("a",)),
    ],
)
def test_arguments_that_are_given_twice_are_noted_and_the_last_counts(
    arguments: str, last: dict[str, object], repeated: tuple[str, ...]
) -> None:
    (call,) = read_native("", [_written(arguments)], OFFERED).calls or ()
    assert (call.arguments, call.repeated) == (last, repeated)


def test_keys_that_a_structured_answer_repeats_are_noted_at_its_first_call() -> None:
    text = '{"calls": [{"tool": "find.parts", "arguments": {"kind": 1, "kind": 2}}, {"tool": "find.parts"}]}'
    first, second = read_structured(text, OFFERED).calls or ()
    assert (first.arguments, first.repeated, second.repeated) == ({"kind": 2}, ("kind",), ())


def test_of_many_repeated_keys_ten_are_noted_and_long_ones_are_cut() -> None:
    text = "{" + ",".join(f'"{str(number) * 100}": 1' for number in [*range(20), *range(20)]) + "}"
    (call,) = read_native("", [_written(text)], OFFERED).calls or ()
    assert len(call.repeated) == 10
    assert {len(name) for name in call.repeated} == {80}
