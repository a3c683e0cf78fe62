"""Tests of a promptfoo configuration, wherever they are listed, and their assertions, read as expected calls."""

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import an_object, literal
from mcp_tef.formats.cases.promptfoo_templates import TEMPLATE, filled
from mcp_tef.formats.cases.texts import SCHEME, FilesBeside, parse_json
from mcp_tef.model.cases import ExpectedCall
from mcp_tef.model.json import Json
from mcp_tef.model.limits import LARGEST_FILE_BYTES

WILDCARD = re.compile(r"[*?]")
MOST_CALLS = 100

_ASSERTION_HINT = "Say which tools are right with tool-call-f1 or trajectory:tool-args-match."

_ONLY_VALID = {"is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call"}
_TYPED = re.compile(
    r"(?P<kind>[a-z][a-z0-9-]*(?::[a-z]+(?:-[a-z]+)+)?)(?:\((?P<threshold>\d+(?:\.\d+)?)\))?:(?P<value>.*)", re.DOTALL
)


def assertion_from_text(text: str) -> Json:
    """Return the assertion that a CSV cell writes as TYPE(THRESHOLD):VALUE; text without a type is the answer."""
    found = _TYPED.fullmatch(text.strip())
    if found is None:
        return {"type": text.strip() if text.strip() in _ONLY_VALID else "equals", "value": text}
    threshold = {"threshold": float(found["threshold"])} if found["threshold"] else {}
    return {"type": found["kind"], "value": found["value"].strip(), **threshold}


def kinds_of(assertions: Sequence[Json]) -> str:
    """Return the types of assertions, each once, for messages."""
    return ", ".join(dict.fromkeys(map(_kind, assertions))) or "there are none"


def _kind(assertion: Json) -> str:
    kind = assertion.get("type") if isinstance(assertion, Mapping) else None
    return kind if isinstance(kind, str) else "one without a type"


def counted_names(names: Sequence[str]) -> list[str]:
    """Return each name once, with the number of times where it is there more than once."""
    return [name if number == 1 else f"{name} ({number} times)" for name, number in Counter(names).items()]


class ExpectedCallReading:
    """Gathers the calls that assertions ask for, one assertion after the other."""

    def __init__(self, values: Mapping[str, Json], shared: Mapping[str, Json], files: FilesBeside) -> None:
        self.calls: list[ExpectedCall] = []
        self.ordered = False
        self.says_which = False
        self.not_taken: list[str] = []
        self._values = values
        self._shared = shared
        self._files = files
        self._readers: dict[str, Callable[[Mapping[str, Json]], None]] = {
            "tool-call-f1": self._f1,
            "trajectory:tool-used": self._used,
            "trajectory:tool-args-match": self._arguments,
            "trajectory:tool-sequence": self._sequence,
            "trajectory:step-count": self._count,
        }

    def take(self, assertion: Json) -> None:
        """Take an assertion over, or name it in `not_taken`. Raises InputError for one that has no expected calls."""
        for one in self._single(self._resolved(assertion)):
            kind = _kind(one)
            if kind not in self._readers or one.get("weight") == 0:
                self.not_taken += [] if kind in _ONLY_VALID else [kind]
                continue
            self._readers[kind](an_object(self._rendered(one)))
            self.says_which = True

    def _single(self, assertion: Json) -> Iterator[Json]:
        """Yield the assertions of a set, all of which must hold, or the assertion itself."""
        match assertion:
            case {"type": "assert-set", "assert": [*inner]} if assertion.get("threshold", 1) == 1:
                yield from map(self._resolved, inner)
            case _:
                yield assertion

    def _resolved(self, assertion: Json) -> Json:
        """Return what a reference into the configuration stands for."""
        reference = assertion.get("$ref") if isinstance(assertion, Mapping) else None
        if not isinstance(reference, str):
            return assertion
        value: Json = self._shared
        for key in reference.removeprefix("#/").split("/"):
            value = value.get(key) if isinstance(value, Mapping) else None
        if not isinstance(value, Mapping):
            raise InputError(f"Its assertion refers to {reference}, which is not there.", hint=_ASSERTION_HINT)
        return {**value, **{key: one for key, one in assertion.items() if key != "$ref"}}

    def _f1(self, assertion: Mapping[str, Json]) -> None:
        if assertion.get("threshold", 1) != 1:
            raise InputError(
                "Its tool-call-f1 accepts partly right answers (a threshold below 1).", hint=_ASSERTION_HINT
            )
        self._require(names_of(assertion.get("value"), "tool-call-f1"))

    def _used(self, assertion: Mapping[str, Json]) -> None:
        value = assertion.get("value")
        if isinstance(value, Mapping):
            times = value.get("min", 1)
            most = value.get("max", times)
            if not isinstance(times, int) or not isinstance(most, int) or not 1 <= times <= min(most, MOST_CALLS):
                raise InputError("Its trajectory:tool-used asks for a number of calls of no use.", hint=_ASSERTION_HINT)
            value = [value.get("pattern")] * times
        self._require(names_of(value, "trajectory:tool-used"))

    def _arguments(self, assertion: Mapping[str, Json]) -> None:
        value = an_object(assertion.get("value"))
        [tool] = names_of([value.get("name", value.get("pattern"))], "trajectory:tool-args-match")
        parameters = self._parameters(tool, value)
        call = ExpectedCall(tool=tool, parameters=parameters or None, exact=value.get("mode") == "exact")
        bare = ExpectedCall(tool=tool)
        if bare in self.calls:
            self.calls[self.calls.index(bare)] = call
        else:
            self.calls.append(call)

    def _parameters(self, tool: str, value: Mapping[str, Json]) -> dict[str, Json]:
        wanted = value.get("args", value.get("arguments")) or {}
        if not isinstance(wanted, Mapping):
            raise InputError(f"The arguments expected of {tool} are not an object.", hint=_ASSERTION_HINT)
        defaults = an_object(value.get("defaults") or {})
        ignored = value.get("ignore") or []
        names = names_of([ignored] if isinstance(ignored, str) else ignored, "trajectory:tool-args-match")
        parameters = {name: literal(one) for name, one in wanted.items()}
        parameters |= {name: {"$optional": literal(one)} for name, one in defaults.items()}
        return parameters | {name: {"$any": True} for name in names}

    def _sequence(self, assertion: Mapping[str, Json]) -> None:
        value = assertion.get("value")
        self._require(names_of(value.get("steps") if isinstance(value, Mapping) else value, "trajectory:tool-sequence"))
        self.ordered = True

    def _count(self, assertion: Mapping[str, Json]) -> None:
        value = an_object(assertion.get("value"))
        if value.get("type") != "tool" or value.get("max") != 0:
            raise InputError("Its trajectory:step-count counts something else than no tools.", hint=_ASSERTION_HINT)

    def _require(self, names: Sequence[str]) -> None:
        """Have at least as many calls of each tool as it is named, in this order where there were none."""
        for name in dict.fromkeys(names):
            missing = names.count(name) - sum(call.tool == name for call in self.calls)
            if self.calls or missing <= 0:
                self.calls += [ExpectedCall(tool=name)] * max(missing, 0)
                continue
            self.calls = [ExpectedCall(tool=one) for one in names]

    def _rendered(self, value: Json, *, from_file: bool = False) -> Json:
        """Return the value with placeholders filled in, and files read; a file that a file names is not."""
        if isinstance(value, str):
            return self._rendered_text(value, from_file=from_file)
        if isinstance(value, Mapping):
            return {name: self._rendered(inner, from_file=from_file) for name, inner in value.items()}
        if isinstance(value, list):
            return [self._rendered(item, from_file=from_file) for item in value]
        return value

    def _rendered_text(self, text: str, *, from_file: bool) -> Json:
        if text.startswith(SCHEME) and not from_file:
            return self._rendered(self._files.document(self._files.matching(text)[0]), from_file=True)
        return filled(text, self._values) if TEMPLATE.search(text) else text


def names_of(value: Json, kind: str) -> list[str]:
    """Return names from a list, or from text with commas; none of them may be a pattern."""
    values = value.split(",") if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(one, str) and one.strip() for one in values):
        raise InputError(f"Its {kind} names no tools.", hint=_ASSERTION_HINT)
    if WILDCARD.search("".join(values)):
        raise InputError(f"Its {kind} has a pattern instead of a name.", hint=_ASSERTION_HINT)
    return [one.strip() for one in values]


_HINT = "Write the tests as a list, or as a CSV, JSON, JSON lines or YAML file beside the configuration."
_METADATA = "__metadata:"


@dataclass(frozen=True, slots=True)
class ListedTest:
    """A test and its place; `base` is the folder of the file that lists it, `problem` why that cannot be read."""

    place: str
    item: Json = None
    base: Path | None = None
    problem: str = ""


def listed_tests(tests: Json, files: FilesBeside) -> Iterator[ListedTest]:
    """Yield the tests in order. InputError where a single file is named that cannot be read."""
    if isinstance(tests, str):
        yield from _from_files(tests, files)
        return
    if not isinstance(tests, list):
        raise InputError("Its tests are no list.", hint=_HINT)
    for number, item in enumerate(tests, 1):
        named = item.get("path") if isinstance(item, Mapping) and set(item) <= {"path", "config"} else item
        if not isinstance(named, str):
            yield ListedTest(f"case {number}", item)
            continue
        try:
            yield from list(_from_files(named, files))
        except InputError as error:
            yield ListedTest(f"case {number}", {"description": named}, problem=error.message)


def _from_files(reference: str, files: FilesBeside) -> Iterator[ListedTest]:
    name = reference.removeprefix(SCHEME)
    if "://" in name:
        raise InputError(f"Its tests at {name} are not on this machine.", hint=_HINT)
    reader = _READERS.get(Path(name).suffix.lower())
    if reader is None:
        raise InputError(f"Its tests are in {name}, a kind of file that is not read.", hint=_HINT)
    for path in files.matching(name):
        for number, item in enumerate(reader(path, files), 1):
            yield ListedTest(f"{path.name}, test {number}", item, path.parent)


def _document(path: Path, files: FilesBeside) -> Iterator[Json]:
    document = files.document(path)
    if isinstance(document, Mapping) and isinstance(document.get("tests"), list):
        document = document["tests"]
    yield from document if isinstance(document, list) else [document]


def _json_lines(path: Path, files: FilesBeside) -> Iterator[Json]:
    lines = files.text(path).split("\n")
    return (parse_json(line, f"{path.name}, line {n}") for n, line in enumerate(lines, 1) if line.strip())


def _table(path: Path, files: FilesBeside) -> Iterator[Json]:
    csv.field_size_limit(LARGEST_FILE_BYTES)
    try:
        yield from map(_test_of_row, list(csv.DictReader(io.StringIO(files.text(path), newline=""), strict=True)))
    except csv.Error as error:
        raise InputError(f"{path.name} is not a CSV file: {error}.", hint="Quote cells that hold commas.") from error


_READERS = {
    ".csv": _table,
    ".json": _document,
    ".yaml": _document,
    ".yml": _document,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
}


def _test_of_row(row: Mapping[str | None, str | list[str] | None]) -> Json:
    """Return the test of a row. Columns that begin with two underscores are no variables; unknown ones stay as keys."""
    test: dict[str, Json] = {"vars": {}, "assert": [], "options": {}, "metadata": {}}
    for column, cell in row.items():
        if not isinstance(column, str) or not isinstance(cell, str):
            continue
        if not column.startswith("__"):
            test["vars"][column] = cell
        elif cell.strip():
            _add_special(test, column, cell)
    return {key: value for key, value in test.items() if value}


def _add_special(test: dict[str, Json], column: str, cell: str) -> None:
    if column.startswith("__expected"):
        test["assert"].append(assertion_from_text(cell))
    elif column.startswith(_METADATA):
        key = column.removeprefix(_METADATA)
        test["metadata"][key.removesuffix("[]")] = cell.split(",") if key.endswith("[]") else cell
    elif column in ("__prefix", "__suffix"):
        test["options"][column.removeprefix("__")] = cell
    else:
        test["description" if column == "__description" else column] = cell
