"""Facts: a narrow row for each run, by which runs are filtered, counted and measured without reading wide rows.

Code that changes a run or its verdict calls `refresh_facts` in the same transaction. `run_metrics` reads them.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import Any

from sqlalchemy import FromClause, Table, Text, bindparam, insert, select, update
from sqlmodel import Session

from mcp_tef.model.runs import RunStatus
from mcp_tef.model.verdicts import Classification, VerdictKind
from mcp_tef.statistics.run_codes import CATEGORIES, CLASSIFICATIONS, COMPLETED, FAILED, SOURCES, outcome_codes
from mcp_tef.storage.columns import mark_of, one_of, one_of_bound, row_of
from mcp_tef.storage.database import PreparedStatement, chunks
from mcp_tef.storage.run_tables import (
    ASKED_LABEL,
    FACT_KEYS,
    FACTS,
    MODEL_SETTINGS,
    RESULTS,
    RUNS,
    SNAPSHOT_TOOLS,
    TOOL_NAMES,
    TOOLS,
)

KEYS = ("case", "batch", "model", "expected", "selected")
CODES = ("status", "classification", "parameters_ok", "conformance", "hallucinated", "invented", "category", "source")
OUTCOME_CODES = ("mark", "unreadable", "failure")
SHARES = ("confidence", "correctness", "completeness")
AMOUNTS = ("latency", "tokens")
RECORD = (
    *((name, "I") for name in KEYS),
    *((name, "B") for name in CODES),
    ("rank", "I"),
    *((name, "I") for name in (*SHARES, *AMOUNTS)),
    ("cost", "q"),
    *((name, "B") for name in OUTCOME_CODES),
)
"""The columns of `History` that `metrics` holds of one run, each with its format in `struct` and numpy, big-endian."""
_PACKED = Struct(f">{''.join(code for _, code in RECORD)}")
MISSING = 0xFFFFFFFF
SHARE_UNIT = 1e9
COST_UNIT = 1e12
_MOST_COST = 9e6
_STATUS_CODES = {RunStatus.COMPLETED.value: COMPLETED, RunStatus.FAILED.value: FAILED}
_WITHOUT_EXPECTED_TOOL = (VerdictKind.NO_CALL_EXPECTED.value, VerdictKind.UNEXPECTED_CALL.value)

_ToolName = tuple[str, str]
"""A tool's name and its server's, which is empty where none is known."""
_Offers = Mapping[tuple[str | None, str], set[str]]
"""The servers that offered a tool of some name, by snapshot and name."""

_RUN_COLUMNS = (
    *(RUNS.c.id, RUNS.c.test_case_id, RUNS.c.batch_id, RUNS.c.snapshot_id, RUNS.c.status, RUNS.c.classification),
    *(RUNS.c.expected_server_name, RUNS.c.expected_tool_name, RUNS.c.selected_server_name, RUNS.c.selected_tool_name),
    *(RUNS.c.confidence_score, RUNS.c.confidence_source, RUNS.c.expected_rank, RUNS.c.execution_time_ms),
    *(RUNS.c.tokens_in, RUNS.c.tokens_out, RUNS.c.cost_usd, RUNS.c.created_at, RUNS.c.position),
    ASKED_LABEL.label("model"),
    *(RESULTS.c.kind, RESULTS.c.parameters_ok, RESULTS.c.parameter_type_conformance, RESULTS.c.hallucinated_parameters),
    *(RESULTS.c.parameter_correctness, RESULTS.c.parameter_completeness, RESULTS.c.confidence_category),
    *(RESULTS.c.unreadable, RUNS.c.error_code, RUNS.c.selected_tool_id),
)
_KEYS = {
    name: (FACT_KEYS.alias(f"{name}_keys"), text)
    for name, text in (
        ("case", RUNS.c.test_case_id),
        ("batch", RUNS.c.batch_id),
        ("snapshot", RUNS.c.snapshot_id),
        ("model", ASKED_LABEL),
    )
}


def _runs() -> PreparedStatement:
    """Return the query of some runs, each with the numbers of its texts as far as they have any."""
    found: FromClause = RUNS.outerjoin(MODEL_SETTINGS, MODEL_SETTINGS.c.id == RUNS.c.model_settings_id)
    found = found.outerjoin(RESULTS, RESULTS.c.test_run_id == RUNS.c.id)
    for keys, text in _KEYS.values():
        found = found.outerjoin(keys, keys.c.value == text)
    columns = (*_RUN_COLUMNS, *(keys.c.id.label(f"{name}_key") for name, (keys, _) in _KEYS.items()))
    return PreparedStatement(select(*columns).select_from(found).where(RUNS.c.id.in_(one_of_bound("ids"))))


_RUNS = _runs()
# Values are copied as they stand in other rows.
_REPLACE = PreparedStatement(
    insert(FACTS).prefix_with("OR REPLACE").values({each.name: bindparam(each.name, type_=Text) for each in FACTS.c})
)
_RUNNING = PreparedStatement(
    update(FACTS).where(FACTS.c.run_id.in_(one_of_bound("ids"))).values(status=RunStatus.RUNNING.value)
)
_NONE_LISTED = (None, "[]")


def refresh_facts(session: Session, run_ids: Iterable[str]) -> None:
    """Write the facts of some runs anew from their rows."""
    runs = _RUNS.run(session, ids=json.dumps(list(run_ids))).all()
    if not runs:
        return
    offers = _offers(session, runs)
    tools = {run.id: (_expected_tool(run, offers), _selected_tool(run, offers)) for run in runs}
    names = {name for pair in tools.values() for name in pair if name}
    tool_keys = _keys(session, TOOL_NAMES, ("tool", "server"), names) if names else {}
    keys = _text_keys(session, runs)
    cells = [_cells(run, tools[run.id], keys, tool_keys, offers) for run in runs]
    for run, row in zip(runs, cells, strict=True):
        row["metrics"] = _PACKED.pack(*_record(run, row))
    _REPLACE.run_many(session, cells)


def add_missing_facts(session: Session) -> None:
    """Write the facts of runs that have none: those of a recovered workspace."""
    missing = select(RUNS.c.id).where(RUNS.c.id.not_in(select(FACTS.c.run_id)))
    for piece in chunks(session.execute(missing).scalars().all()):
        refresh_facts(session, piece)


def mark_facts_running(session: Session, run_ids: Iterable[str]) -> None:
    """Note in the facts of some runs that they left the queue, which changes nothing else of them."""
    _RUNNING.run(session, ids=json.dumps(list(run_ids)))


def _offers(session: Session, runs: Sequence[Any]) -> _Offers:
    """Return the servers that offered tools, by snapshot and name, where the row of a run does not name them."""
    names = {name for run in runs if run.snapshot_id for name in _doubtful_names(run)}
    if not names:
        return {}
    tools = SNAPSHOT_TOOLS.join(TOOLS, TOOLS.c.id == SNAPSHOT_TOOLS.c.tool_id)
    of_runs = SNAPSHOT_TOOLS.c.snapshot_id.in_(one_of({run.snapshot_id for run in runs if run.snapshot_id}))
    found = select(SNAPSHOT_TOOLS.c.snapshot_id, TOOLS.c.name, TOOLS.c.server_name).select_from(tools)
    offers: defaultdict[tuple[str | None, str], set[str]] = defaultdict(set)
    for snapshot_id, name, server in session.execute(found.where(of_runs, TOOLS.c.name.in_(names))):
        offers[snapshot_id, name].add(server)
    return offers


def _doubtful_names(run: Any) -> list[str]:
    """Return the tools of a run whose server, or whether they were offered at all, is not in its row."""
    expected = run.expected_tool_name if run.expected_server_name is None else None
    known = run.selected_server_name is not None and run.selected_tool_id is not None
    if run.classification == Classification.TP and run.selected_tool_name is not None:
        expected = None
    return [name for name in (expected, None if known else run.selected_tool_name) if name]


def _expected_tool(run: Any, offers: _Offers) -> _ToolName | None:
    """Return the tool that counts as expected: where the run is right, the one that was selected."""
    if run.kind in _WITHOUT_EXPECTED_TOOL:
        return None
    if run.classification == Classification.TP and run.selected_tool_name is not None:
        return _selected_tool(run, offers)
    return _tool_name(run, run.expected_tool_name, run.expected_server_name, offers)


def _selected_tool(run: Any, offers: _Offers) -> _ToolName | None:
    return _tool_name(run, run.selected_tool_name, run.selected_server_name, offers)


def _tool_name(run: Any, name: str | None, server: str | None, offers: _Offers) -> _ToolName | None:
    """Return a tool with its server; where that was left open, with the only one that offered the tool."""
    if name is None or server is not None:
        return None if name is None or server is None else (name, server)
    servers = offers.get((run.snapshot_id, name), set())
    return name, min(servers) if len(servers) == 1 else ""


def _is_invented(run: Any, offers: _Offers) -> bool:
    if run.selected_tool_name is None:
        return False
    if run.selected_server_name is not None and run.selected_tool_id is not None:
        return False
    if run.snapshot_id is None:
        return bool(run.kind == VerdictKind.INVENTED_TOOL)
    servers = offers.get((run.snapshot_id, run.selected_tool_name), set())
    return not servers if run.selected_server_name is None else run.selected_server_name not in servers


def _text_keys(session: Session, runs: Sequence[Any]) -> dict[Any, int]:
    """Return the number of each text of the runs; those without one get it."""
    found = {(run.test_case_id,): run.case_key for run in runs}
    found |= {(run.batch_id,): run.batch_key for run in runs}
    found |= {(run.snapshot_id,): run.snapshot_key for run in runs}
    found |= {(run.model,): run.model_key for run in runs}
    missing = {text for text, key in found.items() if key is None and text[0]}
    return found | _keys(session, FACT_KEYS, ("value",), missing) if missing else found


def _keys(session: Session, table: Table, columns: tuple[str, ...], wanted: set[Any]) -> dict[Any, int]:
    """Return the number of each row with these values; rows that are missing are added."""
    # Bound one by one: json_each, behind one_of, cuts a text off at a NUL character.
    present = table.c[columns[0]].in_({row[0] for row in wanted})
    statement = select(table.c.id, *(table.c[name] for name in columns)).where(present)

    def known() -> dict[Any, int]:
        return {tuple(row[1:]): row[0] for row in session.execute(statement)}

    found = known()
    missing = [dict(zip(columns, row, strict=True)) for row in sorted(wanted - found.keys())]
    if missing:
        session.execute(insert(table), missing)
        found = known()
    return found


@row_of("test_runs")
def _cells(
    run: Any,
    tools: tuple[_ToolName | None, _ToolName | None],
    keys: Mapping[Any, int],
    tool_keys: Mapping[Any, int],
    offers: _Offers,
) -> dict[str, Any]:
    expected, selected = (tool_keys[tool] if tool else None for tool in tools)
    return {
        "run_id": run.id,
        "batch_key": keys.get((run.batch_id,)),
        "case_key": keys[(run.test_case_id,)],
        "model_key": keys.get((run.model,)),
        "snapshot_key": keys.get((run.snapshot_id,)),
        "status": run.status,
        "classification": run.classification,
        "kind": run.kind,
        "expected_tool_key": expected,
        "selected_tool_key": selected,
        "invented_tool": int(_is_invented(run, offers)),
        "confidence_score": run.confidence_score,
        "created_at": run.created_at,
        "position": run.position,
        "mark": mark_of(run.classification, run.parameters_ok, run.unreadable),
        "unreadable": int(bool(run.unreadable)),
        "failure_code": run.error_code,
    }


@row_of("test_runs")
def _record(run: Any, cells: Mapping[str, Any]) -> tuple[int, ...]:
    tokens = None if run.tokens_in is None and run.tokens_out is None else (run.tokens_in or 0) + (run.tokens_out or 0)
    return (
        cells["case_key"],
        cells["batch_key"] or 0,
        cells["model_key"] or 0,
        cells["expected_tool_key"] or 0,
        cells["selected_tool_key"] or 0,
        _STATUS_CODES.get(run.status, 0),
        CLASSIFICATIONS.index(run.classification),
        _answer(run.parameters_ok),
        _answer(run.parameter_type_conformance),
        int(run.hallucinated_parameters not in _NONE_LISTED),
        cells["invented_tool"],
        CATEGORIES.index(run.confidence_category),
        SOURCES.index(run.confidence_source),
        min(max(run.expected_rank or 0, 0), MISSING),
        _share(run.confidence_score),
        _share(run.parameter_correctness),
        _share(run.parameter_completeness),
        _amount(run.execution_time_ms),
        _amount(tokens),
        -1 if run.cost_usd is None else round(min(max(run.cost_usd, 0.0), _MOST_COST) * COST_UNIT),
        *outcome_codes(cells["mark"], cells["unreadable"], cells["failure_code"]),
    )


def _answer(flag: int | None) -> int:
    """Return 0 for "not judged", 1 for no and 2 for yes."""
    return 0 if flag is None else flag + 1


def _share(share: float | None) -> int:
    return MISSING if share is None else round(share * SHARE_UNIT)


def _amount(amount: int | None) -> int:
    return MISSING if amount is None else min(max(amount, 0), MISSING - 1)
