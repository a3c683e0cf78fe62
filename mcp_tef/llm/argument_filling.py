"""Arguments of a tool call, filled from the values in a query by rules on type, format, enum and parameter name."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from mcp_tef.model.json import Json
from mcp_tef.scoring.tfidf_weights import spaced, stems

_QUOTED = re.compile(r"\"([^\"]+)\"|“([^“”]+)”|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)|‘([^‘’]+)’|«([^«»]+)»")
_URL = re.compile(r"https?://[^\s\"'<>“”]+[^\s\"'<>“”.,;:!?)\]]")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+")
_PATH = re.compile(
    r"(?<![\w:/.\\-])(?:~?/|\.{1,2}/|[A-Za-z]:\\)[\w./\\-]*\w|\b[\w-]{1,200}+\.(?:[a-z]{2,4}|json|html|yaml)\b"
)
_TIME = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?\b")
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?))?")
_YEAR = "january february march april may june july august september october november december"
_MONTHS = _YEAR.split()
_MONTH = "|".join([*_MONTHS, *(month[:3] for month in _MONTHS), "sept"])
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?,? (\d{{4}})\b", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.IGNORECASE)
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_NUMBER = re.compile(
    r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.])-?\d+(?:\.\d+)?(?!\w|\.\d)|(?<![\w.])-?\d+(?:\.\d+)?(?=[a-z%°]{1,3}\b)"
)
_COUNT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen twenty"
)
_NUMBER_WORDS = _COUNT.split()
_SPELLED = re.compile(rf"\b({'|'.join(_NUMBER_WORDS[2:])})\b", re.IGNORECASE)
_NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b[A-Z][\w’'-]*(?:(?:,? (?:of |the |de )?)(?!(?:Can|Could|I|Please|What|The)\b)[A-Z][\w’'-]*)*"
)
_CODE = re.compile(r"\b(?=[\w-]{0,100}\d)(?=[\w-]{0,100}[A-Za-z])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*\b")
_BRACKETED = re.compile(r"\[([^\[\]]+)\]")
_NOT_NAMES = frozenset({"I", "I'm", "I’m", "I'd", "I've", "OK", "Please", "What", "Can", "Could", "The"})


@dataclass(frozen=True, slots=True)
class Clue:
    """A value that a query holds, and where it starts."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Clues:
    """Everything in a query that can be a value, by kind, in reading order."""

    query: str
    quoted: tuple[Clue, ...] = ()
    urls: tuple[Clue, ...] = ()
    emails: tuple[Clue, ...] = ()
    paths: tuple[Clue, ...] = ()
    dates: tuple[Clue, ...] = ()
    moments: tuple[Clue, ...] = ()
    times: tuple[Clue, ...] = ()
    numbers: tuple[Clue, ...] = ()
    names: tuple[Clue, ...] = ()
    codes: tuple[Clue, ...] = ()
    lists: tuple[Clue, ...] = ()
    words: tuple[Clue, ...] = field(default=())


@lru_cache(maxsize=256)
def find_clues(query: str) -> Clues:
    """Read a query; the last are kept. Dates become ISO dates; numbers in words and with thousands become digits."""
    urls, emails = _whole(_URL, query), _whole(_EMAIL, query)
    rest = _blanked(query, (*urls, *emails))
    dates, moments = _dates(rest)
    times = _whole(_TIME, _blanked_dates(rest))
    plain = _blanked(_blanked_dates(rest), times)
    quoted = tuple(Clue(next(filter(None, match.groups())), match.start()) for match in _QUOTED.finditer(query))
    return Clues(
        query,
        quoted=quoted,
        urls=urls,
        emails=emails,
        paths=_whole(_PATH, rest),
        dates=dates,
        moments=moments,
        times=times,
        numbers=_numbers(plain),
        names=tuple(clue for clue in _whole(_NAME, _blanked_dates(rest)) if clue.text not in _NOT_NAMES),
        codes=_whole(_CODE, plain),
        lists=tuple(Clue(match[1], match.start()) for match in _BRACKETED.finditer(query)),
        words=tuple(Clue(match.group(), match.start()) for match in re.finditer(r"[^\W_]+", query.lower())),
    )


def _whole(pattern: re.Pattern[str], text: str) -> tuple[Clue, ...]:
    return tuple(Clue(match.group(), match.start()) for match in pattern.finditer(text))


def _blanked(text: str, clues: tuple[Clue, ...]) -> str:
    for clue in clues:
        text = text[: clue.at] + " " * len(clue.text) + text[clue.at + len(clue.text) :]
    return text


def _blanked_dates(text: str) -> str:
    for pattern in (_ISO, _DAY_FIRST, _MONTH_FIRST, _SLASHED):
        text = pattern.sub(lambda match: " " * len(match.group()), text)
    return text


def _dates(text: str) -> tuple[tuple[Clue, ...], tuple[Clue, ...]]:
    found: list[Clue] = []
    moments: list[Clue] = []
    for match in _ISO.finditer(text):
        found += _date(match.start(), int(match[1]), int(match[2]), int(match[3]))
        moments += [Clue(match.group(), match.start())] if match[4] else []
    for match in _DAY_FIRST.finditer(text):
        found += _date(match.start(), int(match[3]), _month(match[2]), int(match[1]))
    for match in _MONTH_FIRST.finditer(text):
        found += _date(match.start(), int(match[3]), _month(match[1]), int(match[2]))
    for match in _SLASHED.finditer(text):
        found += _date(match.start(), int(match[3]), int(match[1]), int(match[2]))
    return tuple(sorted(found, key=lambda clue: clue.at)), tuple(moments)


def _month(text: str) -> int:
    start = text[:3].lower()
    return next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(start))


def _date(at: int, year: int, month: int, day: int) -> list[Clue]:
    try:
        return [Clue(date(year, month, day).isoformat(), at)]
    except ValueError:
        return []


def _numbers(text: str) -> tuple[Clue, ...]:
    digits = [Clue(clue.text.replace(",", ""), clue.at) for clue in _whole(_NUMBER, text)]
    spelled = [
        Clue(str(_NUMBER_WORDS.index(match.group().lower())), match.start()) for match in _SPELLED.finditer(text)
    ]
    return tuple(sorted(digits + spelled, key=lambda clue: clue.at))


_DEEPEST = 4
_NEAR = 40
_BESIDE = 20
_IS_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WHOLE_QUERY = frozenset(stems("query question prompt search input request sentence text message content keyword"))
_INSTEAD: Mapping[str, str] = {"moments": "dates", "codes": "numbers"}
_NEGATIONS = re.compile(r"\b(?:no|not|don't|without|never|disable|off|exclude|skip)\b", re.IGNORECASE)
_KINDS: Mapping[str, str] = {
    "email": "emails", "mail": "emails", "recipient": "emails", "url": "urls", "uri": "urls", "link": "urls",
    "website": "urls", "webpage": "urls", "date": "dates", "day": "dates", "birthday": "dates", "deadline": "dates",
    "time": "times", "path": "paths", "file": "paths", "filename": "paths", "folder": "paths", "directory": "paths",
    "id": "codes", "code": "codes", "number": "codes", "sku": "codes",
}  # fmt: skip
_FORMATS: Mapping[str, str] = {
    "email": "emails", "uri": "urls", "url": "urls", "date": "dates", "date-time": "moments", "time": "times",
}  # fmt: skip


def fill(query: str, schema: Mapping[str, Any]) -> dict[str, Json]:
    """Arguments for the object that `schema` describes, from what `query` says; what it does not say is left out."""
    return _Filler(query, schema).object(schema, 0)


class _Filler:
    """Takes each clue of a query for one parameter only."""

    def __init__(self, query: str, root: Mapping[str, Any]) -> None:
        self._clues = find_clues(query)
        self._root = root
        self._taken: set[int] = set()

    def object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Json]:
        properties = schema.get("properties")
        if not isinstance(properties, Mapping) or depth > _DEEPEST:
            return {}
        named = schema.get("required")
        required = frozenset(named) if isinstance(named, Sequence) else frozenset[str]()
        filled: dict[str, Json] = {}
        for name in sorted(properties, key=lambda name: name not in required):
            value = self._value(name, self._resolved(properties[name]), name in required, depth)
            if value is not None:
                filled[name] = value
        return {name: filled[name] for name in properties if name in filled}

    def _resolved(self, schema: Json) -> Mapping[str, Any]:
        """Return the schema behind a local reference, or the first alternative that is not null."""
        for _ in range(_DEEPEST):
            if not isinstance(schema, Mapping):
                return {}
            reference = schema.get("$ref")
            options = schema.get("anyOf") or schema.get("oneOf")
            if isinstance(reference, str):
                schema = _at(self._root, reference)
            elif isinstance(options, Sequence) and options:
                schema = next((one for one in options if one != {"type": "null"}), {})
            else:
                return schema
        return {}

    def _value(self, name: str, schema: Mapping[str, Any], required: bool, depth: int) -> Json:
        kind = _type(schema)
        if isinstance(schema.get("enum"), list):
            return self._choice(schema["enum"])
        if kind == "boolean":
            return self._yes_or_no(name)
        if kind in ("integer", "number"):
            return self._number(name, kind, required)
        if kind == "array":
            return self._list(name, self._resolved(schema.get("items", {})), required) or None
        if kind == "object":
            return self.object(schema, depth + 1) or None if required else None
        return self._text(name, schema, required)

    def _choice(self, options: Sequence[Json]) -> Json:
        asked = self._clues.query.lower()
        said = [option for option in options if isinstance(option, str) and option and _says(asked, option)]
        return max(said, key=len, default=None)

    def _yes_or_no(self, name: str) -> bool | None:
        words = _naming(name)
        place = next((clue.at for clue in self._clues.words if _stems_of(clue.text) & words), None)
        if place is None:
            return None
        return not _NEGATIONS.search(self._clues.query[max(0, place - 20) : place])

    def _number(self, name: str, kind: str, required: bool) -> Json:
        free = [clue for clue in self._free(self._clues.numbers) if kind == "number" or "." not in clue.text]
        near = self._nearest(name, free)
        clue = near or (free[0] if free and required else None)
        if clue is None:
            return None
        self._taken.add(clue.at)
        return float(clue.text) if "." in clue.text else int(clue.text)

    def _list(self, name: str, items: Mapping[str, Any], required: bool) -> list[Json]:
        if isinstance(items.get("enum"), list):
            asked = self._clues.query.lower()
            return [option for option in items["enum"] if isinstance(option, str) and _says(asked, option)]
        kind = _type(items)
        lists = self._free(self._clues.lists)
        if lists and kind in ("integer", "number", "string"):
            return self._members(self._nearest(name, lists) or lists[0], kind)
        if kind in ("integer", "number"):
            return [_as_number(clue) for clue in self._take_all(self._clues.numbers)] if required else []
        return self._string_list(name, items, required) if kind == "string" else []

    def _string_list(self, name: str, items: Mapping[str, Any], required: bool) -> list[Json]:
        found = self._pool(name, items) or (self._clues.quoted or self._clues.names if required else ())
        return [clue.text for clue in self._take_all(found)]

    def _members(self, bracketed: Clue, kind: str) -> list[Json]:
        """Return the items between brackets, divided by commas; numbers among them serve no other parameter."""
        self._taken.update(range(bracketed.at, bracketed.at + len(bracketed.text) + 2))
        parts = [part.strip(" '\"“”") for part in bracketed.text.split(",")]
        if kind == "string":
            return [part for part in parts if part]
        return [_as_number(Clue(part, 0)) for part in parts if _IS_NUMBER.fullmatch(part)]

    def _text(self, name: str, schema: Mapping[str, Any], required: bool) -> str | None:
        pool = self._free(self._pool(name, schema))
        if pool:
            return self._take(pool[0])
        beside = self._nearest(name, self._free(self._clues.quoted), reach=_BESIDE)
        if beside is not None:
            return self._take(beside)
        said = self._said_with_name(name)
        if said is not None:
            return said
        if not required or schema.get("format") in _FORMATS:
            return None
        return self._required_text(name)

    def _required_text(self, name: str) -> str | None:
        words = _naming(name)
        quoted = self._free(self._clues.quoted)
        if quoted:
            return self._take(self._nearest(name, quoted) or quoted[0])
        if words and words <= _WHOLE_QUERY:
            return self._clues.query
        named = self._free(self._clues.names)
        return self._take(named[0]) if named else None

    def _pool(self, name: str, schema: Mapping[str, Any]) -> tuple[Clue, ...]:
        """Return clues of the kind that the format or the name asks for."""
        kind = _FORMATS.get(str(schema.get("format")))
        if kind is None:
            kind = next((_KINDS[word] for word in reversed(spaced(name).lower().split()) if word in _KINDS), None)
        found: tuple[Clue, ...] = getattr(self._clues, kind) if kind else ()
        return found or getattr(self._clues, _INSTEAD.get(kind or "", "nothing"), ())

    def _said_with_name(self, name: str) -> str | None:
        """Return the value after `name: value`, `name = value` or `name is "value"`."""
        said = re.escape(spaced(name)).replace(r"\ ", r"[ _-]")
        found = re.search(rf"(?i)\b{said}\s*(?:[:=]|\bis\b|\bof\b)\s*[\"'“]?([\w@.:/+-]+)", self._clues.query)
        return found[1].rstrip(".:") if found else None

    def _nearest(self, name: str, clues: Sequence[Clue], reach: int = _NEAR) -> Clue | None:
        """Return the clue nearest to a word of the name, if one is near at all."""
        words = _naming(name)
        places = [clue.at for clue in self._clues.words if _stems_of(clue.text) & words]
        gaps = [(abs(clue.at - place), clue.at, clue) for clue in clues for place in places]
        return min((gap for gap in gaps if gap[0] <= reach), default=(0, 0, None))[2]

    def _free(self, clues: Iterable[Clue]) -> list[Clue]:
        return [clue for clue in clues if clue.at not in self._taken]

    def _take(self, clue: Clue) -> str:
        self._taken.add(clue.at)
        return clue.text

    def _take_all(self, clues: Iterable[Clue]) -> list[Clue]:
        free = self._free(clues)
        self._taken.update(clue.at for clue in free)
        return free


@lru_cache(maxsize=4_096)
def _stems_of(word: str) -> frozenset[str]:
    return frozenset(stems(word))


def _type(schema: Mapping[str, Any]) -> str:
    given = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(given, list):
        given = next((kind for kind in given if kind != "null"), "string")
    return str(given)


def _at(root: Mapping[str, Any], reference: str) -> Json:
    value: Json = root
    for step in reference.removeprefix("#/").split("/"):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _says(asked: str, option: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(spaced(option).lower())}(?!\w)", spaced(asked)) is not None


def _naming(name: str) -> set[str]:
    return set(stems(name))


def _as_number(clue: Clue) -> int | float:
    return float(clue.text) if "." in clue.text else int(clue.text)
