"""Case files of the Berkeley Function Calling Leaderboard: JSON lines with a question, functions and accepted calls.

A row brings its own functions. Each parameter has a list of accepted values, where "" means that it may be left
out; the same holds for each field inside an object. Parameters that are not listed must not be given.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.entries import (
    CannotHoldError,
    CaseEntry,
    CaseSource,
    Item,
    an_object,
    beside,
    entries_of,
    first_line,
    literal,
    only_answer,
    with_beside,
)
from mcp_tef.formats.cases.texts import TOO_DEEP_HINT, parse_json, read_text
from mcp_tef.model.cases import CaseDraft, EarlierMessage, ExpectedCall, Speaker, messages_to_json
from mcp_tef.model.json import Json
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.matchers import is_matcher


def accepted(values: Json) -> Json:
    """Return an expected value from a list of accepted ones; "" in it means that none need be given."""
    if not isinstance(values, list):
        return _inside(values)
    if not values:
        return {"$any": True}
    given = [_inside(value) for value in values if value != ""] or [""]
    value = given[0] if len(given) == 1 else {"$any_of": given}
    return {"$optional": value} if "" in values else value


def _inside(value: Json) -> Json:
    if isinstance(value, Mapping):
        looks_marked = bool(value) and all(key.startswith("$") for key in value)
        return literal(value) if looks_marked else {name: accepted(inner) for name, inner in value.items()}
    return [_inside(item) for item in value] if isinstance(value, list) else value


def choices(expected: Json, name: str) -> list[Json]:
    """Return the list of accepted values that `accepted` reads back; CannotHoldError where there is none."""
    if not is_matcher(expected):
        return [_outside(expected, name)]
    if set(expected) == {"$optional"}:
        inner = expected["$optional"]
        return [""] if inner == "" else [*choices(inner, name), ""]
    if set(expected) == {"$any_of"} and expected["$any_of"]:
        return [_outside(value, name) for value in expected["$any_of"]]
    if expected == {"$any": True}:
        return []
    raise CannotHoldError(f"BFCL has no word for {', '.join(expected)}, which is expected of {name}.")


def _outside(value: Json, name: str) -> Json:
    if value == "":
        raise CannotHoldError(f"An empty text is expected of {name}, which means “nothing” in BFCL.")
    if is_matcher(value):
        raise CannotHoldError(f"BFCL has no word for {', '.join(value)} inside what is expected of {name}.")
    if isinstance(value, Mapping):
        return {key: choices(inner, f"{name}.{key}") for key, inner in value.items()}
    return [_outside(item, name) for item in value] if isinstance(value, list) else value


LONGEST_ID = 200
_LIVE_ID = re.compile(r"(live_\w+?)_\d+-(\d+)-\d+$")
ANSWERS_FOLDER = "possible_answer"
_HINT = "Each line is an object with question, function and ground_truth."
_OUR_TYPES = {
    "dict": "object",
    "hashmap": "object",
    "float": "number",
    "double": "number",
    "tuple": "array",
    "list": "array",
    "int": "integer",
    "bool": "boolean",
    "str": "string",
}
_TOO_DEEP = "It nests too deep."
_THEIR_TYPES = {"object": "dict", "number": "float"}


def read(source: CaseSource) -> tuple[CaseEntry, ...]:
    """Return the entries of a file; accepted calls may stand in the file of the same name in `possible_answer`."""
    answers = _answers(source.path)
    return entries_of(_rows(source, answers), _entry)


def _rows(source: CaseSource, answers: Mapping[str, Json]) -> list[tuple[str, Json]]:
    rows = [(f"line {number}", _parsed(line, f"line {number}")) for number, line in _lines(source.text)]
    if not any(isinstance(row, Mapping) and {"question", "function", "query"} & row.keys() for _, row in rows):
        raise InputError(f"{source.name} holds no BFCL rows.", hint=_HINT)
    return [(place, _with_answer(row, answers)) for place, row in rows]


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())


def _parsed(line: str, place: str) -> Json:
    try:
        return parse_json(line, "It")
    except InputError as error:
        return error.message if error.hint == TOO_DEEP_HINT else f"{place} is not JSON"


def _answers(path: Path | None) -> dict[str, Json]:
    """Return the accepted calls by row id, where BFCL's own folder of answers lies beside the file."""
    companion = path.parent / ANSWERS_FOLDER / path.name if path else None
    if companion is None or not companion.is_file():
        return {}
    rows = [_parsed(line, "") for _, line in _lines(read_text(companion))]
    return {str(row["id"]): row.get("ground_truth") for row in rows if isinstance(row, dict) and "id" in row}


def _with_answer(row: Json, answers: Mapping[str, Json]) -> Json:
    if not isinstance(row, dict) or "ground_truth" in row or str(row.get("id")) not in answers:
        return row
    return {**row, "ground_truth": answers[str(row["id"])]}


def _entry(item: Json) -> CaseEntry:
    if isinstance(item, str):
        raise InputError(item if item == _TOO_DEEP else "It is not JSON.", hint=_HINT)
    row = an_object(item)
    before, query, notes = _question(row)
    name = row.get("name") or row.get("id")
    label = str(name) if name else first_line(query)
    draft = CaseDraft(name=label, query=query, before=before, family=_family(str(row.get("id") or "")))
    entry = CaseEntry(label=draft.name, draft=draft, notes=notes, tools=_tools(row.get("function")))
    return with_beside(entry, row, _calls(row), ordered=row.get("ordered") is True)


def _family(row_id: str) -> str:
    """Return the group of a row of BFCL's live categories, whose ids end in row, group of functions, and query."""
    found = _LIVE_ID.search(row_id[:LONGEST_ID])
    return f"{found[1]} {found[2]}" if found else ""


def _question(row: Mapping[str, Json]) -> tuple[tuple[EarlierMessage, ...], str, tuple[str, ...]]:
    """Return earlier messages and the last user message of the only turn, with a note on what is not taken over."""
    question = row.get("question", row.get("query"))
    if isinstance(question, str) and question.strip():
        return (), question, ()
    messages = _only_turn(question)
    said = list(filter(_is_said, messages))
    while said and said[-1]["role"] != Speaker.USER:
        said.pop()
    if not said:
        raise InputError("It has no question.", hint=_HINT)
    *before, query = [EarlierMessage(Speaker(message["role"]), message["content"]) for message in said]
    notes = ("Messages of the system, and those after the question, are not taken over.",)
    return tuple(before), query.content, notes if len(said) < len(messages) else ()


def _is_said(message: Json) -> bool:
    match message:
        case {"role": "user" | "assistant", "content": str() as content}:
            return bool(content.strip())
    return False


def _only_turn(question: Json) -> list[Json]:
    turns = question if isinstance(question, list) else []
    if not (turns and isinstance(turns[0], list)):
        return turns
    if len(turns) > 1:
        raise InputError("It has several turns, and a case has one question.", hint=_HINT)
    return turns[0]


def _calls(row: Mapping[str, Json]) -> tuple[ExpectedCall, ...]:
    truth = row.get("ground_truth")
    if not truth:
        _require_no_call(row)
        return ()
    if not isinstance(truth, list):
        raise InputError("Its ground_truth is not a list of calls.", hint=_HINT)
    return tuple(_call(value) for value in truth)


def _require_no_call(row: Mapping[str, Json]) -> None:
    """Raise InputError for a row without accepted calls whose category does not say that no call is right."""
    category = str(row.get("category") or row.get("id") or "")
    if "live_relevance" in category:
        raise InputError("It says that some call is right, but not which one.", hint=_HINT)
    if "ground_truth" not in row and "irrelevance" not in category:
        raise InputError("It has no ground_truth.", hint=f"Put BFCL's folder {ANSWERS_FOLDER} beside the file.")


def _call(value: Json) -> ExpectedCall:
    if not isinstance(value, Mapping) or len(value) != 1:
        raise InputError("Its ground_truth has something else than {function: parameters}.", hint=_HINT)
    [(tool, parameters)] = value.items()
    if not tool:
        raise InputError("Its ground_truth has a call without a name.", hint=_HINT)
    if not isinstance(parameters, Mapping):
        raise InputError(f"The parameters of {tool} are not an object.", hint=_HINT)
    expected = {name: accepted(values) for name, values in parameters.items()}
    return ExpectedCall(tool=tool, parameters=expected or None, exact=True)


def _tools(functions: Json) -> tuple[Mapping[str, Json], ...]:
    """Return the row's functions as tool definitions."""
    values = [functions] if isinstance(functions, Mapping) else functions
    if not isinstance(values, list) or not all(isinstance(one, Mapping) and one.get("name") for one in values):
        raise InputError("It has no list of functions with names.", hint=_HINT)
    return tuple(map(_tool, values))


def _tool(function: Mapping[str, Json]) -> Mapping[str, Json]:
    return {
        "name": str(function["name"]),
        "description": str(function.get("description") or ""),
        "inputSchema": _renamed(function.get("parameters") or {"type": "object"}, _OUR_TYPES),
    }


def _renamed(schema: Json, types: Mapping[str, str]) -> Json:
    """Return the schema with its types called otherwise, at every level; `any` says nothing."""
    if not isinstance(schema, Mapping):
        return schema
    known = dict(schema)
    if isinstance(known.get("type"), str):
        name = known["type"]
        known["type"] = types.get(name.casefold(), name)
        if name.casefold() == "any":
            del known["type"]
    if isinstance(known.get("properties"), Mapping):
        known["properties"] = {key: _renamed(value, types) for key, value in known["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in known:
            known[key] = _renamed(known[key], types)
    return known


def row(item: Item) -> Json:
    """Return one case as BFCL writes it, with what our cases have more in fields of its own."""
    if item.tools is None:
        raise CannotHoldError("The tools of its servers were never seen, and BFCL writes them out. Check the servers.")
    draft = item.case.draft
    calls = only_answer(draft.expectation)
    truth = [{call.tool: _choices(call)} for call in calls]
    value: dict[str, Json] = {**beside(item, calls, exact=True), "name": draft.name}
    value |= {"question": [[*(messages_to_json(draft.before) or ()), {"role": "user", "content": draft.query}]]}
    value |= {"function": [_function(tool) for tool in item.tools], "ground_truth": truth or None}
    return {**value, "ordered": True} if draft.expectation.ordered else value


def _choices(call: ExpectedCall) -> dict[str, Json]:
    return {name: choices(value, name) for name, value in (call.parameters or {}).items()}


def _function(tool: Tool) -> Json:
    parameters = _renamed(tool.input_schema, _THEIR_TYPES)
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def text(rows: Sequence[Json], _suffix: str) -> str:
    """Return a whole file."""
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows)
