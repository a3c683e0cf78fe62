"""Parser of model answers into calls, text and confidence; malformed answers never raise."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.json import Json, RepeatedKeys, bounded_int, deeper_than, loads_noting_duplicates
from mcp_tef.model.tools import OfferedTool
from mcp_tef.prompts.selection_prompt import resolve

LONGEST_WORDS = 4_000
MOST_OPENINGS = 200
MOST_PYTHON_LIKE = 10
LONGEST_PYTHON_LIKE = 20_000
DEEPEST = 100
MOST_KEYS = 10
LONGEST_KEY = 80

_CONFIDENCE = re.compile(
    r"^[\s*_>#\"“-]{0,20}confidence[\s*_]{0,9}(?:score)?[\s*_]{0,9}[:=][\s*_]{0,9}"
    r"(?P<number>-?\d{1,20}(?:\.\d{1,20})?|-?\.\d{1,20})\s{0,9}(?P<percent>%?)"
    r"(?:\s{0,9}/\s{0,9}(?P<of>\d{1,20}))?[\s*_.\"”]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)
_THOUGHT = re.compile(
    r"\A(?:\s*+<think(?:ing)?>)?.*?</think(?:ing)?>|\A\s*+<think(?:ing)?>.*", re.IGNORECASE | re.DOTALL
)
_TAG = r"(?:<\|?(?:tool|function)_?calls?\|?>|<\|python_tag\|>|\[TOOL_CALLS\])"
_TAGGED = re.compile(rf"{_TAG}\s*+(?:```\w*+\s*+)?\[?\s*+$", re.IGNORECASE)
_TAGGED_NAME = re.compile(r"(?:<function=|\[TOOL_CALLS\]\s*+)(?P<name>[\w.-]{1,64})(?:>|\[ARGS\])?\s*+$")
_TAG_LENGTH = 200
_AT_START = re.compile(r"(?:```\w*+\s*+)?\[?\s*+")
_WRITTEN_CALL = re.compile(
    rf"(?:```\w*+\s*+)?(?:<tool_call>|<function|\[TOOL_CALLS\]|\{{|\[\s*+\{{)|.*{_TAG}\s*+[\[{{<]",
    re.IGNORECASE | re.DOTALL,
)
_OPENING = re.compile(r"\{\s*+[\"']")
_TOKEN = re.compile(
    r"""\s*+("[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+'|[{}\[\]:,]|-?\d[\d.eE+-]*+"""
    r"""|(?:True|true|False|false|None|null)\b)""",
    re.DOTALL,
)
_ESCAPES = re.compile(r'\\.|"', re.DOTALL)
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}
_CALL_KEYS = ("arguments", "parameters", "calls", "tool_calls")
_LISTS = ("calls", "tool_calls")
_NAMES = ("tool", "name", "function", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_BESIDE = frozenset({"reasoning", "confidence", "server", "id", "type"})


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A native tool call as it came: an offered name, and arguments as JSON text or already as an object."""

    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """Calls, text and confidence of an answer. `calls` is None if unreadable, `()` if no tool was picked.

    `read_from_text` is True if a model that was offered tools natively wrote its calls into its text.
    """

    calls: tuple[ActualCall, ...] | None
    words: str = ""
    confidence: float | None = None
    read_from_text: bool = False


def read_native(text: str | None, written: Sequence[WrittenCall], offered: Sequence[OfferedTool]) -> ParsedAnswer:
    """Read an answer to native tool calling; a call whose arguments are no JSON object makes it unreadable.

    Without a native call, calls of any usual form are read from the text.
    """
    words, confidence = _without_confidence(text or "")
    if not written:
        return _read_words(words, confidence, offered)
    try:
        calls = tuple(_called(item, offered) for item in written)
    except (ValueError, RecursionError):
        return ParsedAnswer(None, _clipped(words), confidence)
    return ParsedAnswer(calls, _clipped(words), confidence)


def read_structured(text: str | None, offered: Sequence[OfferedTool]) -> ParsedAnswer:
    """Read an answer of the shape `{"calls": […], "reasoning", "confidence"}`, or with calls of any usual form."""
    given = (text or "").strip()
    if not given:
        return ParsedAnswer(())
    return _read_text(given, offered, asked_for_json=True) or ParsedAnswer(None, _clipped(given))


def _read_words(words: str, confidence: float | None, offered: Sequence[OfferedTool]) -> ParsedAnswer:
    """Read an answer without a native call."""
    answer = _read_text(words, offered, asked_for_json=False)
    if answer is None:
        return ParsedAnswer(None if _botched_call(words) else (), _clipped(words), confidence)
    sure = confidence if answer.confidence is None else answer.confidence
    return ParsedAnswer(answer.calls, answer.words or _clipped(words), sure, read_from_text=bool(answer.calls))


def _read_text(text: str, offered: Sequence[OfferedTool], *, asked_for_json: bool) -> ParsedAnswer | None:
    """Read the calls that a text holds; None if it holds none. Thoughts before the answer do not count.

    A model that was not asked for JSON may show an example: amid its words only offered names make a call.
    """
    said = _spoken(text)
    try:
        calls, first, end = _text_calls(said, offered, asked_for_json=asked_for_json)
        if first is None:
            return None
        broken_off = "calls" not in first.value and _OPENING.search(said, end)
        read = None if broken_off else tuple(_called(call, offered) for call in calls)
    except (ValueError, RecursionError):
        return ParsedAnswer(None, _clipped(text))
    words = first.value.get("reasoning")
    return ParsedAnswer(
        _noting(read, first.repeated),
        _clipped(words) if isinstance(words, str) else "",
        _share(first.value.get("confidence")),
    )


def _text_calls(
    said: str, offered: Sequence[OfferedTool], *, asked_for_json: bool
) -> tuple[list[WrittenCall], "_TextObject | None", int]:
    """Return the calls in a text, the first object that stands for calls, and the end of the last object."""
    calls: list[WrittenCall] = []
    first: _TextObject | None = None
    end = 0
    for item, before, certain in _marked_objects(said, asked_for_json=asked_for_json):
        end = item.end
        found = _calls_in(item.value, before, offered, certain=certain)
        if found is not None:
            first = first or item
            calls += found
            if "calls" in item.value:
                break
    return calls, first, end


def _marked_objects(said: str, *, asked_for_json: bool) -> Iterator[tuple["_TextObject", str, bool]]:
    """Yield each object with the text before it, and True if it is certain that it is meant as an answer."""
    end, certain = 0, asked_for_json
    for item in _objects(said):
        before, end = said[end : item.start], item.end
        certain = asked_for_json or _is_marked(before, certain, at_start=item.start == len(before))
        yield item, before, certain


def _spoken(text: str) -> str:
    """Return a text without the thoughts before it."""
    return _THOUGHT.sub("", text, count=1).strip()


def _is_marked(before: str, certain: bool, *, at_start: bool) -> bool:
    """Return True if the text before an object marks it as a call: a tag, nothing, or another marked call."""
    if _TAGGED.search(before[-_TAG_LENGTH:]):
        return True
    return bool(_AT_START.fullmatch(before)) if at_start else certain and not before.strip(" \t\r\n,;")


def _calls_in(
    item: Mapping[str, Any], before: str, offered: Sequence[OfferedTool], *, certain: bool
) -> list[WrittenCall] | None:
    """Return the calls that an object stands for; None if it stands for something else.

    Raises:
        ValueError: it can only be meant as calls, but cannot be read.
    """
    if named := _TAGGED_NAME.search(before[-_TAG_LENGTH:]):
        return [WrittenCall(named["name"], item)]
    key = _first_key(item, _LISTS)
    if key:
        return _listed_calls(item[key], offered, certain=certain)
    call = _call_in(item, offered, certain=certain)
    return None if call is None else [call]


def _listed_calls(listed: Json, offered: Sequence[OfferedTool], *, certain: bool) -> list[WrittenCall] | None:
    items = listed or []
    if not isinstance(items, list):
        items = [items]
    calls = [call for one in items if (call := _call_in(one, offered, certain=certain)) is not None]
    is_whole = len(calls) == len(items)
    if certain and not is_whole:
        raise ValueError("a list of calls that holds something else")
    return calls if is_whole else None


def _call_in(item: Json, offered: Sequence[OfferedTool], *, certain: bool) -> WrittenCall | None:
    """Return the one call that an object stands for; None if it stands for something else.

    A name that was offered makes a call. If the form is `certain`, so do other names, and arguments without a name.
    """
    item = _unwrapped(item)
    name_key, key = _first_key(item, _NAMES), _first_key(item, _ARGUMENTS)
    if not _is_like_a_call(item, name_key, key):
        return None
    name = item.get(name_key, "")
    tool = next((one for one in offered if name in (one.offered_name, one.tool.name)), None)
    if tool is None and not certain:
        return None
    if not key:
        return _without_arguments(item, name_key, tool) if certain else None
    return WrittenCall(name, item[key])


def _first_key(item: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((key for key in keys if key in item), "")


def _is_like_a_call(item: Mapping[str, Any], name_key: str, key: str) -> bool:
    """Return True for a name, or arguments without one, that are no definition of a tool."""
    name, given = item.get(name_key, ""), item.get(key)
    if not isinstance(name, str) or not (name or isinstance(given, Mapping)):
        return False
    return name_key != "name" or key == "arguments" or not ("description" in item or _is_schema(given))


def _is_schema(given: Json) -> bool:
    return isinstance(given, Mapping) and given.get("type") == "object" and "properties" in given


def _unwrapped(item: Json) -> Mapping[str, Any]:
    """Return the call inside `{"function": {…}}`, else the object itself; nothing where it is none."""
    inner = item.get("function_call", item.get("function")) if isinstance(item, Mapping) else None
    whole = inner if isinstance(inner, Mapping) else item
    return whole if isinstance(whole, Mapping) else {}


def _without_arguments(item: Mapping[str, Any], name_key: str, tool: OfferedTool | None) -> WrittenCall | None:
    """Return the call of an object without an object of arguments; they may stand beside the name."""
    beside = {key: value for key, value in item.items() if key != name_key and key not in _BESIDE}
    if tool is not None:
        return WrittenCall(item[name_key], beside if _parameters(tool).issuperset(beside) else {})
    return WrittenCall(item["tool"], {}) if item.get("tool") and not beside else None


def _parameters(tool: OfferedTool) -> frozenset[str]:
    schema = tool.tool.input_schema
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return frozenset(properties) if isinstance(properties, Mapping) else frozenset()


def _without_confidence(text: str) -> tuple[str, float | None]:
    found = list(_CONFIDENCE.finditer(text))
    if not found:
        return text.strip(), None
    last = found[-1]
    value = float(last["number"])
    scale = 100.0 if last["percent"] else float(last["of"] or 1)
    rest = text[: last.start()] + text[last.end() :]
    return rest.strip(), _share(value / scale if scale else None)


def _share(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None


def _clipped(words: str) -> str:
    return words if len(words) <= LONGEST_WORDS else f"{words[: LONGEST_WORDS - 1]}…"


def _botched_call(words: str) -> bool:
    """Return True if the text is a tool call, whole or broken off, that went into the words instead."""
    said = _spoken(words)
    if not _WRITTEN_CALL.match(said):
        return False
    whole = next(objects(said), None)
    return whole is None or any(key in whole for key in _CALL_KEYS)


def _called(call: WrittenCall, offered: Sequence[OfferedTool]) -> ActualCall:
    """Return the call of an offered name; ValueError where its arguments are no object."""
    given = call.arguments
    value, repeated = _loads(given.strip() or "{}") if isinstance(given, str) else (given or {}, ())
    if not isinstance(value, Mapping):
        raise ValueError("arguments are not an object")
    found = resolve(call.name.strip(), offered, value)
    return replace(found, repeated=_named(repeated)) if repeated else found


def _noting(calls: tuple[ActualCall, ...] | None, repeated: Sequence[str]) -> tuple[ActualCall, ...] | None:
    """Return the calls of one JSON text; keys that it repeats anywhere are noted at the first call."""
    if not calls or not repeated:
        return calls
    return (replace(calls[0], repeated=_named((*calls[0].repeated, *repeated))), *calls[1:])


def _named(repeated: Sequence[str]) -> tuple[str, ...]:
    return tuple(name[:LONGEST_KEY] for name in repeated[:MOST_KEYS])


@dataclass(frozen=True, slots=True)
class _TextObject:
    """A JSON object in a text, from `start` to `end`, with the keys that it repeats."""

    value: dict[str, Any]
    repeated: tuple[str, ...]
    start: int
    end: int


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in a text, in order, with any text around them; give up after many openings."""
    return (item.value for item in _objects(text))


def _objects(text: str) -> Iterator[_TextObject]:
    start = text.find("{")
    for attempt in range(MOST_OPENINGS):
        if start < 0:
            return
        keys = RepeatedKeys()
        decoder = json.JSONDecoder(
            object_pairs_hook=keys.as_object,
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=bounded_int,
            strict=False,
        )
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value, end = _python_like(text, start, decoder) if attempt < MOST_PYTHON_LIKE else (None, start + 1)
        if isinstance(value, dict) and not deeper_than(value, DEEPEST):
            yield _TextObject(_storable(value, text), keys.names, start, end)
        start = text.find("{", end)


def _python_like(text: str, start: int, decoder: json.JSONDecoder) -> tuple[Json, int]:
    """Return an object in Python's notation (single quotes, True, a last comma) and its end; None for other texts."""
    parts: list[str] = []
    place, depth = start, 0
    while token := _TOKEN.match(text, place, start + LONGEST_PYTHON_LIKE):
        place, written = token.end(), token[1]
        depth += (written in ("{", "[")) - (written in ("}", "]"))
        if written in ("}", "]") and parts[-1] == ",":
            parts.pop()
        parts.append(_json_token(written))
        if depth == 0:
            with suppress(ValueError, RecursionError):
                return decoder.decode("".join(parts)), place
            break
    return None, start + 1


def _json_token(written: str) -> str:
    if not written.startswith("'"):
        return _CONSTANTS.get(written, written)
    inner = _ESCAPES.sub(lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), written[1:-1])
    return f'"{inner}"'


def loads(text: str) -> Json:
    """Read JSON that can be stored as it is: no NaN or infinity, no depths (ValueError), no lone surrogates (`?`)."""
    return _loads(text)[0]


def loads_with_notes(text: str) -> tuple[Json, tuple[str, ...]]:
    """Read JSON as `loads` does, with a sentence on keys that it repeats."""
    value, repeated = _loads(text)
    names = ", ".join(f"“{name}”" for name in _named(repeated))
    return value, (f"The JSON of the answer gives {names} more than once; the last value counts.",) if names else ()


def _loads(text: str) -> tuple[Json, tuple[str, ...]]:
    value, repeated = loads_noting_duplicates(text, parse_constant=_refuse, parse_float=_finite)
    # Text with fewer brackets than that needs no walk.
    if text.count("{") + text.count("[") > DEEPEST - 1 and deeper_than(value, DEEPEST):
        raise ValueError(f"it nests deeper than {DEEPEST} levels")
    return _storable(value, text), repeated


def _storable(value: Json, text: str) -> Json:
    """Return `value`, read from `text`, with a question mark for each lone surrogate."""
    if text.isascii() and "\\ud" not in text and "\\uD" not in text:
        return value
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
