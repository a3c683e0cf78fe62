"""Runs as columns of numbers, where they come from no store."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mcp_tef.model.ids import BatchId
from mcp_tef.model.runs import Batch, RunStatus, RunSummary
from mcp_tef.model.tools import ToolLabel
from mcp_tef.model.verdicts import Classification, VerdictKind
from mcp_tef.statistics.history import History, PastBatch, PastCase
from mcp_tef.statistics.run_codes import CATEGORIES, CLASSIFICATIONS, COMPLETED, FAILED, SOURCES, outcome_codes

_STATUS = {RunStatus.COMPLETED: COMPLETED, RunStatus.FAILED: FAILED}
_NONE_EXPECTED = (VerdictKind.NO_CALL_EXPECTED, VerdictKind.UNEXPECTED_CALL)
_SOURCE_NAMES = [None if source is None else source.value for source in SOURCES]
_WHOLE = (
    *("case", "batch", "model", "expected", "selected", "status", "classification", "parameters_ok", "conformance"),
    *("hallucinated", "invented", "category", "source", "rank", "mark", "unreadable", "failure"),
)
_MEASURED = ("confidence", "correctness", "completeness", "latency", "tokens", "cost")


class _Numbers(dict[Any, int]):
    """A number from 1 for each value that is asked for."""

    def __missing__(self, value: Any) -> int:
        self[value] = len(self) + 1
        return self[value]

    def of(self, value: Any) -> int:
        """Return the number of a value, 0 for none."""
        return self[value] if value else 0

    def by_number(self) -> dict[int, Any]:
        return {number: value for value, number in self.items()}


def history_of(runs: Sequence[RunSummary], batches: Sequence[Batch] = ()) -> History:
    """Return the history of some runs; a tool is told from others of its name by its server, where that is known."""
    cases, models, tools, numbered = _Numbers(), _Numbers(), _Numbers(), _Numbers()
    rows = [
        {
            "case": cases[run.case_id, run.case_name],
            "batch": numbered.of(run.batch_id),
            "model": models[run.model],
            "expected": tools.of(_expected(run)),
            "selected": tools.of(_selected(run)),
            **_codes(run),
        }
        for run in runs
    ]
    started = {batch.id: PastBatch(batch.id, batch.name, batch.created_at) for batch in batches}
    return History(
        **_columns(rows),
        cases={number: PastCase(*case) for number, case in cases.by_number().items()},
        batches={number: started[key] for number, key in numbered.by_number().items() if BatchId(key) in started},
        models=models.by_number(),
        tools={number: ToolLabel(*name) for number, name in tools.by_number().items()},
    )


def _columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    kinds = {**dict.fromkeys(_WHOLE, np.int64), **dict.fromkeys(_MEASURED, np.float64)}
    return {name: np.array([row[name] for row in rows], dtype=kind) for name, kind in kinds.items()}


def _expected(run: RunSummary) -> tuple[str, str] | None:
    """Return the expected tool; where the run is right, the selected one."""
    if run.kind in _NONE_EXPECTED or (not run.expected_tool and run.classification is not Classification.TP):
        return None
    if run.classification is Classification.TP and run.selected_tool:
        return _selected(run)
    return (run.expected_tool or "", run.expected_server or "")


def _selected(run: RunSummary) -> tuple[str, str] | None:
    return (run.selected_tool, run.selected_server or "") if run.selected_tool else None


def _codes(run: RunSummary) -> dict[str, float]:
    mark, unreadable, failure = outcome_codes(run.mark, int(run.unreadable), run.failure_code or None)
    return {
        "status": _STATUS.get(run.status, 0),
        "classification": CLASSIFICATIONS.index(run.classification),
        "parameters_ok": _truth(run.parameters_ok),
        "conformance": _truth(run.type_conformance),
        "hallucinated": bool(run.hallucinated),
        "invented": run.kind is VerdictKind.INVENTED_TOOL,
        "category": CATEGORIES.index(run.confidence_category),
        "source": _SOURCE_NAMES.index(run.confidence_source),
        "rank": run.expected_rank or 0,
        "mark": mark,
        "unreadable": unreadable,
        "failure": failure,
        "confidence": _measure(run.confidence),
        "correctness": _measure(run.correctness),
        "completeness": _measure(run.completeness),
        "latency": _measure(run.execution_time_ms),
        "tokens": _measure(run.tokens),
        "cost": _measure(run.cost_usd),
    }


def _truth(value: bool | None) -> int:
    return 0 if value is None else 1 + value


def _measure(value: float | None) -> float:
    return math.nan if value is None else value
