"""Tests of a promptfoo configuration, wherever they are listed: in it, or in CSV, JSON and YAML files beside it."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.promptfoo_assertions import assertion_from_text
from mcp_tef.formats.cases.texts import SCHEME, FilesBeside, parse_json
from mcp_tef.model.files import LARGEST_FILE_BYTES
from mcp_tef.model.json import Json

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
