"""Cases as CSV, one a line, for people with a spreadsheet."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence

from mcp_tef.errors import InputError
from mcp_tef.formats.cases import tef
from mcp_tef.formats.cases.entries import CaseEntry, CaseSource, Item, entries_of, shortened
from mcp_tef.formats.cases.texts import TOO_DEEP_HINT, require_plain
from mcp_tef.formats.csv_tables import csv_text, from_spreadsheet_cell
from mcp_tef.model.json import Json, loads_bounded
from mcp_tef.model.limits import LARGEST_FILE_BYTES
from mcp_tef.model.search import nearest

COLUMNS = (
    "id",
    "name",
    "query",
    "servers",
    "expected_tool",
    "expected_server",
    "expected_parameters",
    "expected",
    "suites",
    "tags",
    "family",
    "before",
    "origin",
    "held_back",
)
_TEXTS = ("id", "name", "query", "family", "origin")
_LISTS = ("servers", "suites", "tags")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_DELIMITERS = (",", ";", "\t")


def read(source: CaseSource) -> tuple[CaseEntry, ...]:
    """Return the entries of a file; the delimiter is the one that its first line shows."""
    lines = list(_lines(source))
    if not lines:
        raise InputError(f"{source.name} is empty.", hint=f"Its first line names columns: {', '.join(COLUMNS)}.")
    heads = [head.strip().casefold() for head in lines[0][1]]
    _require_known(heads, source.name)
    rows = [(f"line {number}", _fields(heads, cells)) for number, cells in lines[1:] if any(cells)]
    return entries_of(rows, _entry)


def _lines(source: CaseSource) -> Iterator[tuple[int, list[str]]]:
    """Yield every line with the number that it begins at."""
    csv.field_size_limit(LARGEST_FILE_BYTES)
    head = source.text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(source.text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for cells in reader:
            yield begins, cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise InputError(
            f"{source.name} is not valid CSV at line {begins}: {error}.", hint="Quotes open and close around a cell."
        ) from error


def _require_known(heads: Sequence[str], name: str) -> None:
    allowed = f"The columns are {', '.join(COLUMNS)}; query and expected_tool or expected are needed."
    if "query" not in heads:
        shown = ", ".join(head or "an empty name" for head in heads)[:200]
        raise InputError(f"{name} has no column named query; its first line says: {shown}.", hint=allowed)
    if (unknown := next((head for head in heads if head not in COLUMNS), None)) is not None:
        close = nearest(shortened(unknown), COLUMNS)
        meant = f" Did you mean {close}?" if close else ""
        raise InputError(f"{name} has a column that means nothing here: {shortened(unknown)!r}.{meant}", hint=allowed)
    if twice := next((head for head in heads if heads.count(head) > 1), None):
        raise InputError(f"{name} has the column {twice} twice.", hint=allowed)
    if not {"expected", "expected_tool"} & set(heads):
        raise InputError(f"{name} has no column expected_tool or expected.", hint="Leave its cells empty for no tool.")


def _fields(heads: Sequence[str], cells: Sequence[str]) -> Json:
    """Return the cells by column; None under "" where there are more cells than columns."""
    fields: dict[str, Json] = {head: from_spreadsheet_cell(cell) for head, cell in zip(heads, cells, strict=False)}
    return {**fields, "too many": len(cells)} if len(cells) > len(heads) else fields


def _entry(fields: Mapping[str, str]) -> CaseEntry:
    if "too many" in fields:
        raise InputError("It has more cells than there are columns.", hint="Put quotes around text with commas.")
    item: dict[str, Json] = {key: fields[key] for key in _TEXTS if key in fields}
    item |= {key: _names(fields[key] or "", key) for key in _LISTS if key in fields}
    item["expected"] = _expected(fields)
    if "before" in fields:
        item["before"] = _json(before, "before") if (before := fields["before"].strip()) else None
    if held_back := fields.get("held_back", "").strip().casefold():
        item["held_back"] = _TRUTHS.get(held_back, held_back)
    return tef.entry(item)


def _expected(fields: Mapping[str, str]) -> Json:
    whole, tool, parameters = (
        (fields.get(column) or "").strip() for column in ("expected", "expected_tool", "expected_parameters")
    )
    server = fields.get("expected_server")
    if whole and tool:
        raise InputError("It has both an expected_tool and an expected.", hint="Fill one of the two.")
    if whole:
        return _json(whole, "expected")
    return _calls(tool, server, parameters)


def _calls(tool: str, server: str | None, parameters: str) -> Json:
    if not tool and (server or parameters):
        raise InputError("It expects a server or parameters, but no tool.", hint="Fill expected_tool.")
    return [_call(tool, server, parameters)] if tool else None


def _call(tool: str, server: str | None, parameters: str) -> Json:
    call: dict[str, Json] = {"tool": tool, "server": server or None}
    return {**call, "parameters": _json(parameters, "expected_parameters")} if parameters else call


def _json(text: str, column: str) -> Json:
    try:
        value = loads_bounded(text)
    except RecursionError as error:
        raise InputError(f"Its {column} nests too deep.", hint=TOO_DEEP_HINT) from error
    except ValueError as error:
        raise InputError(f"Its {column} is not JSON.", hint='Write for example {"city": "Lisbon"}.') from error
    require_plain(value)
    return value


def _names(text: str, column: str) -> Json:
    """Return a JSON list, or names between semicolons."""
    if text.lstrip().startswith("["):
        return _json(text, column)
    return [name.strip() for name in text.split(";") if name.strip()]


def row(item: Item) -> Json:
    """Return one case as the cells of a line."""
    value = tef.as_json(item.case)
    cells: dict[str, str] = {key: value.get(key, "") for key in _TEXTS}
    cells |= {key: _joined(value[key]) for key in _LISTS} | _expected_cells(value["expected"])
    cells["before"] = _compact(value["before"]) if "before" in value else ""
    cells["held_back"] = "yes" if value.get("held_back") else "no"
    return [cells.get(column, "") for column in COLUMNS]


def _expected_cells(expected: Json) -> dict[str, str]:
    match expected:
        case None:
            return {}
        case [call] if _is_simple(call):
            cells = {"expected_tool": call["tool"], "expected_server": call.get("server") or ""}
            parameters = _compact(call["parameters"]) if "parameters" in call else ""
            return {**cells, "expected_parameters": parameters}
    return {"expected": _compact(expected)}


def _is_simple(call: Mapping[str, Json]) -> bool:
    return "exact" not in call and str(call["tool"]) == str(call["tool"]).strip()


def _joined(names: Sequence[str]) -> str:
    simple = all(name == name.strip() and ";" not in name and not name.startswith("[") for name in names)
    return "; ".join(names) if simple else _compact(list(names))


def _compact(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


def text(rows: Sequence[Json], _suffix: str) -> str:
    """Return a whole file."""
    return csv_text(COLUMNS, rows)
