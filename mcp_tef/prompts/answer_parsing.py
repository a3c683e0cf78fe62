"""Parser of model answers into calls, text and confidence; malformed answers never raise."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.json import Json, RepeatedKeys, deeper_than, loads_noting_duplicates
from mcp_tef.model.tools import OfferedTool
from mcp_tef.prompts.tool_aliases import resolve

LONGEST_WORDS = 4_000
MOST_OPENINGS = 200
DEEPEST = 100
MOST_KEYS = 10
LONGEST_KEY = 80

_CONFIDENCE = re.compile(
    r"^[\s*_>#\"“-]{0,20}confidence[\s*_]{0,9}(?:score)?[\s*_]{0,9}[:=][\s*_]{0,9}"
    r"(?P<number>-?\d{1,20}(?:\.\d{1,20})?|-?\.\d{1,20})\s{0,9}(?P<percent>%?)"
    r"(?:\s{0,9}/\s{0,9}(?P<of>\d{1,20}))?[\s*_.\"”]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)
_WRITTEN_CALL = re.compile(r"\s*(?:```(?:json)?\s*)?(?:<tool_call>|<function|\[TOOL_CALLS\]|\{|\[\s*\{)", re.IGNORECASE)
_CALL_KEYS = ("arguments", "parameters", "calls", "tool_calls")


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A native tool call as it came: an offered name, and arguments as JSON text or already as an object."""

    name: str
    arguments: Json


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """Calls, text and confidence of an answer. `calls` is None if unreadable, `()` if no tool was picked."""

    calls: tuple[ActualCall, ...] | None
    words: str = ""
    confidence: float | None = None


def read_native(text: str | None, written: Sequence[WrittenCall], offered: Iterable[OfferedTool]) -> ParsedAnswer:
    """Read an answer to native tool calling; a call whose arguments are no JSON object makes it unreadable."""
    words, confidence = _without_confidence(text or "")
    if not written:
        return ParsedAnswer(None if _botched_call(words) else (), _clipped(words), confidence)
    try:
        calls = tuple(_called(item.name, item.arguments, offered) for item in written)
    except (ValueError, RecursionError):
        return ParsedAnswer(None, _clipped(words), confidence)
    return ParsedAnswer(calls, _clipped(words), confidence)


def read_structured(text: str | None, offered: Sequence[OfferedTool]) -> ParsedAnswer:
    """Read an answer of the shape `{"calls": […], "reasoning", "confidence"}`, fenced or with words around it."""
    given = (text or "").strip()
    if not given:
        return ParsedAnswer(())
    found = (item for item in _objects(given) if "calls" in item[0] or "tool" in item[0])
    answer, repeated = next(found, (None, ()))
    if answer is None:
        return ParsedAnswer(None, _clipped(given))
    words = answer.get("reasoning")
    return ParsedAnswer(
        _noting(_structured_calls(answer, offered), repeated),
        _clipped(words) if isinstance(words, str) else "",
        _share(answer.get("confidence")),
    )


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
    if not _WRITTEN_CALL.match(words):
        return False
    whole = next(objects(words), None)
    return whole is None or any(key in whole for key in _CALL_KEYS)


def _called(name: str, given: Json, offered: Iterable[OfferedTool]) -> ActualCall:
    """Return the call of an offered name; ValueError where its arguments are no object."""
    value, repeated = _loads(given.strip() or "{}") if isinstance(given, str) else (given or {}, ())
    if not isinstance(value, Mapping):
        raise ValueError("arguments are not an object")
    return replace(resolve(name, offered, value), repeated=_named(repeated))


def _noting(calls: tuple[ActualCall, ...] | None, repeated: Sequence[str]) -> tuple[ActualCall, ...] | None:
    """Return the calls of one JSON text; keys that it repeats anywhere are noted at the first call."""
    if not calls or not repeated:
        return calls
    return (replace(calls[0], repeated=_named((*calls[0].repeated, *repeated))), *calls[1:])


def _named(repeated: Sequence[str]) -> tuple[str, ...]:
    return tuple(name[:LONGEST_KEY] for name in repeated[:MOST_KEYS])


def _structured_calls(answer: Mapping[str, Any], offered: Sequence[OfferedTool]) -> tuple[ActualCall, ...] | None:
    items = answer.get("calls", [answer])
    if items is None:
        return ()
    if not isinstance(items, list):
        return None
    try:
        return tuple(_structured_call(item, offered) for item in items)
    except (ValueError, RecursionError):
        return None


def _structured_call(item: Json, offered: Sequence[OfferedTool]) -> ActualCall:
    if not isinstance(item, Mapping) or not isinstance(item.get("tool"), str) or not item["tool"]:
        raise ValueError("a call without a tool")
    return _called(item["tool"], item.get("arguments"), offered)


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the outermost JSON objects in a text, in order, with any text around them; give up after many openings."""
    return (value for value, _ in _objects(text))


def _objects(text: str) -> Iterator[tuple[dict[str, Any], tuple[str, ...]]]:
    """Yield the same, each with the keys that it repeats."""
    start = text.find("{")
    for _ in range(MOST_OPENINGS):
        if start < 0:
            return
        keys = RepeatedKeys()
        decoder = json.JSONDecoder(object_pairs_hook=keys.as_object, parse_constant=_refuse, parse_float=_finite)
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            if not deeper_than(value, DEEPEST):
                yield _storable(value, text), keys.names
        start = text.find("{", end)


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
    if deeper_than(value, DEEPEST):
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
