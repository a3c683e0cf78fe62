"""Files and answers from people who mean harm, made at random, and what must hold of whatever reads them."""

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from mcp_tef.api.score_lines import scored_line
from mcp_tef.api.serializers.runs import verdict_to_json
from mcp_tef.errors import InputError
from mcp_tef.formats.cases.case_formats import FORMS, form_to_read
from mcp_tef.formats.cases.entries import CannotHoldError, CaseSource, Item
from mcp_tef.formats.cases.texts import read_text, to_json
from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import CaseDraft, expectation_from_json, expectation_to_json
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.transfer import CaseFileFormat, ImportStatus
from mcp_tef.prompts.answer_parsing import LONGEST_WORDS, ParsedAnswer, WrittenCall, read_native, read_structured
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.scoring.judge import judge
from mcp_tef.storage.columns import dump, storable
from mcp_tef.workflows.transfer import planned
from tests.support.case_factories import TOOL, stored

LONGEST_SENTENCE = 1_000
LINES = (CaseFileFormat.BFCL, CaseFileFormat.RECORDING)
SUFFIXES = {CaseFileFormat.CSV: (".csv",), **dict.fromkeys(LINES, (".jsonl",))}
DESK = ServerSpec(name="desk", transport=Transport.FILE, path="desk.json")
OFFERED = offer([TOOL])


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": [value]}
    return value


HOSTILE: tuple[Any, ...] = (
    None, True, False, -1, 0, 0.5, 5, 101, 10**30, 1e308, float("nan"), float("inf"),
    "", " ", "0", "x" * 5_000, "\n" * 3_000, "\ud800", "\u202e", "\x1b[2J", "\0", "\x85", "=cmd()", "file://x", "{{x}}",
    "{%", "a*", "a,b", ";", "$any", [], [[]], [None], {}, {"": None}, {"$any": True}, {"$regex": "("}, {"$regex": 1},
    {"$approx": "x"}, {"$any_of": 1}, {"$datetime": "soon"}, {"$optional": {"$optional": 1}}, {"$literal": [1]},
    {"$nothing": 1}, {"$tolerance": 1}, {"$unordered": {}}, {"$contains": None}, {"tool": 1}, {"tool": "find"},
    _deep(20), _deep(48), _deep(60), _deep(100),
)  # fmt: skip
SPLINTERS: tuple[bytes, ...] = (
    b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\n\n  ", b"\t", b'"', b"'", b",",
    b";", b":", b": ", b"- ", b"? ", b"{", b"}", b"[", b"]", b"&a ", b"*a", b"<<: ", b"<<: *a", b"| ", b"> ",
    b"%YAML 9.9\n", b"--- ", b"...\n", b"!!bool ", b'!!int "" ', b"!!float ''", b"!!timestamp x",
    b"!!binary ", b"!!set ", b"!!omap ", b"!!python/name:os.system ", b"!foo ", b"\\ud800", b"\\u0000",
    b"\xc2\x85", b"\xe2\x80\xa8", b"NaN", b"-Infinity",
    b"1e999", b"9" * 5_000, b"0x1F", b"{" * 300, b"[" * 300, b"- " * 300, b'{"a":' * 400, b"\n" * 2_000, b"''" * 500,
)  # fmt: skip

_CALL = {"tool": "find", "server": "desk", "parameters": {"kind": {"$any_of": ["a", 1]}, "n": 2}, "exact": True}
_FUNCTION = {
    "name": "find",
    "description": "Finds.",
    "parameters": {"type": "dict", "properties": {"n": {"type": "any"}}},
}
_TEF = {
    "version": 1,
    "cases": [
        {"id": "c1", "name": "One", "query": "Find it", "servers": ["desk"], "expected": [_CALL], "tags": ["a"]},
        {"query": "Both", "expected": {"any_of": [[_CALL], []], "ordered": True}, "suites": ["s"]},
        {"query": "None", "expected": None},
        {"query": "Two", "servers": ["desk"], "expected": {"ordered": True, "calls": [_CALL, {"tool": "other"}]}},
    ],
}
_BFCL = [
    {"id": "simple_1", "question": [[{"role": "user", "content": "Find it"}]], "function": [_FUNCTION],
     "ground_truth": [{"find": {"n": [1, ""], "o": [{"p": [2]}], "q": []}}], "calls": [{"server": "desk"}]},
    {"id": "irrelevance_1", "query": "Nothing", "function": _FUNCTION, "servers": ["desk"], "ordered": True},
]  # fmt: skip
_PROMPTFOO = {
    "prompts": ["{{query}} and {{more}}"],
    "providers": [{"config": {"tools": [{"type": "function", "function": _FUNCTION}]}}],
    "defaultTest": {"vars": {"more": "b"}, "assert": [{"type": "is-json"}]},
    "tests": [
        {"vars": {"query": "Find it"}, "assert": [{"type": "tool-call-f1", "value": ["find"], "threshold": 1}]},
        {"vars": {"query": "Use"}, "assert": [
            {"type": "trajectory:tool-used", "value": {"pattern": "find", "min": 2, "max": 3}},
        ]},
        {"vars": {"query": "Args"}, "metadata": {"servers": ["desk"], "calls": [{"exact": True}]}, "assert": [
            {"type": "trajectory:tool-args-match", "value": {
                "name": "find", "args": {"n": "{{more}}"}, "defaults": {"o": 1}, "ignore": ["p"], "mode": "exact"}},
            {"type": "trajectory:tool-sequence", "value": {"steps": ["find", "other"]}},
        ]},
        {"vars": {"query": "None"}, "assert": [{"type": "trajectory:step-count", "value": {"type": "tool", "max": 0}}]},
    ],
}  # fmt: skip
_MCP_EVAL = {
    "server_name": "desk",
    "evaluators": [{"LLMJudge": {"rubric": "good"}}],
    "cases": [
        {"name": "One", "inputs": "Find it", "metadata": {"tags": ["a"]}, "evaluators": [
            {"ToolWasCalled": {"tool_name": "find", "min_times": 2}},
            {"ToolCalledWith": {"tool_name": "find", "expected_args": {"n": 1}}},
            {"ExactToolCount": {"tool_name": "other", "expected_count": 1}},
        ]},
        {"inputs": "Two", "expected_output": "x", "evaluators": [
            {"ToolSequence": {"expected_sequence": ["find", "other"]}},
        ]},
    ],
}  # fmt: skip
_CSV = [
    {"id": "c1", "name": "One", "query": "Find it", "servers": "desk", "expected_tool": "find",
     "expected_parameters": '{"n": 1, "o": {"$any_of": [1, 2]}}', "suites": "a; b", "tags": '["c"]'},
    {"id": "", "name": "", "query": "Two", "expected": '{"any_of": [[{"tool": "find"}], []]}', "expected_server": ""},
]  # fmt: skip
_ASKED = [{"role": "user", "parts": [{"type": "text", "content": "Find Ann"}]}]
_CALLED = {"type": "tool_call", "name": "find", "arguments": {"who": "Ann", "deep": [1, {"a": None}]}}
_RECORDING: Any = [
    {
        "name": "chat",
        "context": {"span_id": "1"},
        "attributes": {
            "gen_ai.input.messages": _ASKED,
            "gen_ai.output.messages": [{"role": "assistant", "parts": [_CALLED]}],
            "gen_ai.tool.definitions": [{"type": "function", "name": "find", "parameters": {"type": "object"}}],
        },
    },
    {"spanId": "2", "eventName": "gen_ai.user.message", "body": {"content": "Find Bob"}, "attributes": []},
    {"request": {"messages": [{"role": "user", "content": "Find Eve"}]}, "response": {"output": [_CALLED]}},
    {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "Find Zoe"}},
    {"type": "assistant", "sessionId": "s", "message": {"role": "assistant", "content": [_CALLED]}},
]
DOCUMENTS: dict[CaseFileFormat, Any] = {
    CaseFileFormat.TEF: _TEF,
    CaseFileFormat.CSV: _CSV,
    CaseFileFormat.BFCL: _BFCL,
    CaseFileFormat.RECORDING: _RECORDING,
    CaseFileFormat.PROMPTFOO: _PROMPTFOO,
    CaseFileFormat.MCP_EVAL: _MCP_EVAL,
}
ANSWER = {"calls": [{"tool": "find", "arguments": {"kind": "chain", "n": 2}}], "reasoning": "So.", "confidence": 0.8}
LINE = {
    "id": "1",
    "query": "Find it",
    "tools": [{"name": "find", "description": "Finds.", "server": "desk", "inputSchema": {
        "type": "object", "properties": {"kind": {"type": "string", "pattern": "^c"}, "n": {"$ref": "#/$defs/n"}},
        "required": ["kind"], "$defs": {"n": {"type": ["integer", "null"], "minimum": 1}}}}],
    "expected": {"any_of": [[_CALL], [{"tool": "find", "parameters": {"kind": {"$regex": "^ch"}}}]]},
    "calls": [{"tool": "find", "server": "desk", "arguments": {"kind": "chain", "n": 2}}],
    "confidence": 0.7,
}  # fmt: skip
WORDS = (
    "Confidence: 0.9", "confidence", "**Confidence:** ", "85%", " / 10", "= ", "-", ".5", "9" * 400, "\n", " ", "\t",
    "> ", "```json\n", "```", "<tool_call>", "</tool_call>", "[TOOL_CALLS]", "<function", '{"calls": [',
    '{"tool": "find"', '"arguments": ', "}", "]}", "{", "[", '"', "\\", "\\ud800", "\ud800", "NaN", "Infinity",
    "1e999", "None of these",
    '{"tool": "find", "arguments": "{\\"n\\": 1}"}', '{"a":[' * 45 + "1" + "]}" * 45,
    '{"calls":[{"tool":"find","arguments":' + '{"a":' * 986 + '"\\ud800"' + "}" * 986 + "}]}", '{"a":' * 990,
)  # fmt: skip


def _containers(value: Any) -> Iterator[Any]:
    """Every list and object in a value, not inside what is hostile already for its depth."""
    waiting = [value]
    while waiting and (found := waiting.pop()) is not None:
        if isinstance(found, dict | list) and found:
            yield found
            waiting += list(found.values() if isinstance(found, dict) else found)


def mutated(document: Any, chance: random.Random) -> Any:
    """The document with up to four of its values exchanged, dropped, repeated, renamed, or made hostile."""
    document = copy.deepcopy(document)
    for _ in range(chance.randint(0, 4)):
        places = list(_containers(document))
        if not places:
            break
        _change(chance.choice(places), chance.choice(places), chance)
    return document


def _change(place: Any, other: Any, chance: random.Random) -> None:
    """Change one entry of a container."""
    key = chance.choice(list(place) if isinstance(place, dict) else range(len(place)))
    kind = chance.randrange(5)
    if kind == 0:
        del place[key]
    elif kind == 1 and isinstance(place, dict):
        names = list(other) if isinstance(other, dict) else ["", "$any", "tool", "version"]
        place[chance.choice(names)] = place.pop(key)
    elif kind == 2 and isinstance(place, list):
        place.extend(copy.deepcopy(place[key]) for _ in range(chance.choice((1, 2, 40))))
    elif kind == 3:
        place[key] = copy.deepcopy(chance.choice(list(other.values() if isinstance(other, dict) else other)))
    else:
        place[key] = copy.deepcopy(chance.choice(HOSTILE))


def _spelled(form: CaseFileFormat, name: str, document: Any, chance: random.Random) -> str:
    """The document as text of the form, as well as what it holds can be written."""
    escaped = chance.random() < 0.5
    if form is CaseFileFormat.CSV:
        return _as_csv(document, chance.choice(",;\t"))
    if form in LINES:
        return "\n".join(json.dumps(row, ensure_ascii=escaped) for row in document)
    if name.endswith(".yaml") and chance.random() < 0.5:
        return yaml.safe_dump(document, allow_unicode=not escaped, sort_keys=False)
    return json.dumps(document, ensure_ascii=escaped, indent=chance.choice((None, 1)))


def _as_csv(rows: Any, delimiter: str) -> str:
    rows = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    heads = list(dict.fromkeys(str(key) for row in rows for key in row))
    lines = [heads, *([str(row.get(head, "")) for head in heads] for row in rows)]
    return "\n".join(delimiter.join(f'"{cell}"' if "\n" in cell else _quoted(cell) for cell in line) for line in lines)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(mark in cell for mark in '",;\t') else cell


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with up to three places struck: a splinter put in, a piece cut out, repeated, or a byte turned."""
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        start = chance.randint(0, len(data))
        end = min(len(data), start + chance.choice((0, 1, 3, 20)))
        middle = chance.choice((chance.choice(SPLINTERS), b"", data[start:end] * 3, bytes([chance.randrange(256)])))
        data = data[:start] + middle + data[end:]
    return data


@st.composite
def case_files(draw: st.DrawFn, form: CaseFileFormat) -> tuple[str, bytes]:
    """A file of a form, by name and bytes: a sound one changed in its values and its bytes, or bytes of any kind."""
    name = "cases" + draw(st.sampled_from(SUFFIXES.get(form, (".json", ".yaml"))))
    if draw(st.integers(0, 9)) == 0:
        return name, draw(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
    chance = random.Random(draw(st.integers(0, 2**32)))
    encoding = chance.choice(("utf-8",) * 8 + ("utf-8-sig", "utf-16"))
    text = _spelled(form, name, mutated(DOCUMENTS[form], chance), chance)
    return name, damaged(text.encode(encoding, "surrogatepass"), chance)


@st.composite
def answers(draw: st.DrawFn) -> str:
    """What a model may write: a sound answer with its values changed, among pieces of others."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    whole = json.dumps(mutated(ANSWER, chance), ensure_ascii=chance.random() < 0.5)
    pieces = draw(st.lists(st.sampled_from(WORDS) | st.text(max_size=10), max_size=8))
    pieces = [piece * chance.choice((1, 1, 1, 3, 2_000 // max(1, len(piece)))) for piece in pieces]
    if chance.random() < 0.7:
        pieces.insert(chance.randint(0, len(pieces)), whole)
    text = "".join(pieces)
    return text[: chance.randint(0, len(text))] if chance.random() < 0.3 else text


@st.composite
def score_lines(draw: st.DrawFn) -> bytes:
    """A line for `score`: a sound one, changed in its values and its bytes."""
    chance = random.Random(draw(st.integers(0, 2**32)))
    text = json.dumps(mutated(LINE, chance), ensure_ascii=chance.random() < 0.5)
    return damaged(text.encode("utf-8", "surrogatepass"), chance).replace(b"\n", b" ")


def check_import(form: CaseFileFormat, name: str, data: bytes, folder: Path) -> int:
    """Read a file as an import does; the number of cases that may come in, each of which can be kept and written.

    What cannot be read must be refused in one sentence: InputError for the file, `refused` for a case.
    """
    path = folder / name
    path.write_bytes(data)
    try:
        source = CaseSource(read_text(path), name, path)
        form_to_read(path, source)
        entries = FORMS[form].read(source)
    except InputError as error:
        require_sentence(error.message)
        return 0
    plan = planned(entries, [], [DESK], folder)
    for refused in (case for case in plan.cases if case.fate is ImportStatus.REFUSED):
        require_sentence(refused.reason)
    for server in plan.servers:
        to_json({"tools": list(server.tools)}).encode("utf-8", "backslashreplace")
    drafts = [case.draft for case in plan.cases if case.draft and case.fate is ImportStatus.ADDED]
    for draft in drafts:
        _require_keepable(draft)
    again = planned(entries, [stored(draft, number) for number, draft in enumerate(drafts)], [DESK], folder)
    assert {case.fate for case in again.cases} <= {ImportStatus.UNCHANGED, ImportStatus.CHANGED, ImportStatus.REFUSED}
    return len(drafts)


def require_sentence(message: str) -> None:
    """Fail unless a refusal says something that can be read."""
    assert message.strip()
    assert len(message) <= LONGEST_SENTENCE, len(message)


def _require_keepable(draft: CaseDraft) -> None:
    """The case can be stored, reads back as it was, and every form can write it or says why not."""
    kept = json.loads(dump(expectation_to_json(draft.expectation)), parse_constant=_refuse)
    assert expectation_from_json(kept) == draft.expectation
    for text in (draft.name, draft.query, *draft.servers, *draft.suites, *draft.tags):
        storable(text).encode("utf-8")
    for way in FORMS.values():
        try:
            text = way.text([way.row(Item(stored(draft), (TOOL,)))], ".yaml")
        except CannotHoldError:
            continue
        text.encode("utf-8", "backslashreplace")


def _refuse(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


def check_answer(text: str) -> int:
    """Read an answer both ways; the number of calls found, each of which can be kept, sent and judged."""
    written = [WrittenCall("find", text)] if text else []
    found = (read_structured(text, OFFERED), read_native(text, (), OFFERED), read_native(None, written, OFFERED))
    return sum(map(_sound, found))


def _sound(reading: ParsedAnswer) -> int:
    assert len(reading.words) <= LONGEST_WORDS
    assert reading.confidence is None or 0 <= reading.confidence <= 1
    calls: tuple[ActualCall, ...] = reading.calls or ()
    for call in calls:
        json.dumps(call.arguments, allow_nan=False, ensure_ascii=False).encode("utf-8")
        storable(call.tool)
    verdict = judge(expectation_from_json([_CALL]), [TOOL], reading.calls, reading.confidence)
    json.dumps(verdict_to_json(verdict))
    return len(calls)


def check_line(line: bytes) -> int:
    """Judge a line; 1 for a verdict, 0 for an error in its place."""
    verdict = scored_line(line).result
    assert ("classification" in verdict) != ("error" in verdict)
    json.dumps(verdict, ensure_ascii=False).encode("utf-8", "backslashreplace")
    if "error" in verdict:
        require_sentence(str(verdict["error"]))
        return 0
    return 1
