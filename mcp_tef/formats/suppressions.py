"""Files of findings that somebody accepted, and earlier quality reports as a baseline."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_json, parse_yaml, read_text, to_json, write_text
from mcp_tef.model.json import Json
from mcp_tef.model.quality import Suppression

_HINT = "Write {“ignore”: [{“tool”, “rule”, “reason”, “date”, “definition”}]}, or let --ignore with --reason write it."
_FIELDS = tuple(one.name for one in fields(Suppression))
IN_BASELINE = "in the baseline"


def read_suppressions(path: Path) -> tuple[Suppression, ...]:
    """Return the entries of a file; InputError for one without tool, rule, reason, date or definition."""
    document = _document(path)
    entries = document.get("ignore") if isinstance(document, Mapping) else None
    if not isinstance(entries, list):
        raise InputError(f"{path} holds no list of ignored findings.", hint=_HINT)
    return tuple(_entry(path, number, value) for number, value in enumerate(entries, 1))


def _entry(path: Path, number: int, value: Json) -> Suppression:
    if not isinstance(value, Mapping):
        raise InputError(f"Entry {number} of {path} is not an object.", hint=_HINT)
    if problem := next(_problems(value), None):
        raise InputError(f"Entry {number} of {path} {problem}.", hint=_HINT)
    return Suppression(**{name: str(text) for name, text in value.items()})


def _problems(value: Mapping[str, Json]) -> Iterator[str]:
    texts = {name for name, text in value.items() if isinstance(text, str) and text}
    yield from (f"has no {name}" for name in _FIELDS if name not in texts | {"place"})
    yield from (f"has an unknown key, {name}" for name in value if name not in _FIELDS)


def write_suppressions(path: Path, entries: Iterable[Suppression]) -> None:
    """Write a file that `read_suppressions` reads."""
    rows = [{name: text for name, text in asdict(one).items() if text} for one in entries]
    write_text(path, to_json({"ignore": rows}))


def read_baseline(path: Path) -> tuple[Suppression, ...]:
    """Return the findings of an earlier report (`quality --json`) as entries that hold for any definition."""
    document = _document(path)
    tools = document.get("tools") if isinstance(document, Mapping) else None
    try:
        return tuple(
            Suppression(tool=tool["id"], rule=one["rule"], place=one["place"], reason=IN_BASELINE)
            for tool in _list(tools)
            for one in _list(tool["findings"])
        )
    except (KeyError, TypeError) as error:
        hint = "Write one with: mcp-tef quality … --json > baseline.json"
        raise InputError(f"{path} is no quality report.", hint=hint) from error


def _list(value: Json) -> Sequence[Mapping[str, Json]]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _document(path: Path) -> Json:
    text = read_text(path)
    return parse_yaml(text, path.name) if path.suffix.lower() in (".yaml", ".yml") else parse_json(text, path.name)
