"""Earlier results as a batch that can be compared: the JSON document that a run printed."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from mcp_tef.errors import InputError
from mcp_tef.model.comparison import PairableRun
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.json import Json
from mcp_tef.model.runs import Batch, BatchStatus, RunSummary
from mcp_tef.model.verdicts import RunMark

_NO_TOOL = "no tool"
_TEXTS = ("case", "query", "model")


def earlier_batch(
    document: Json, runs: Mapping[RunId, RunSummary], outcomes: Sequence[PairableRun]
) -> tuple[Batch, tuple[PairableRun, ...]]:
    """Return the batch of a document with its runs, under the case ids of the present batch.

    A case is matched by its name; by name and query where several cases share the name.

    Args:
        document: what `run --json` printed.
        runs: the runs of the present batch.
        outcomes: the same runs, for pairing.

    Raises:
        InputError: the document is not one of a batch.
    """
    rows = _rows(document)
    matched = _MatchedCases([runs[one.id] for one in outcomes])
    posed = {one.case_id: one.posed for one in outcomes}
    shared = {name for name, queries in _queries(rows).items() if len(queries) > 1}
    repeats: Counter[tuple[CaseId, str]] = Counter()
    old = []
    for number, row in enumerate(rows):
        case_id, same = matched.of(row, exact=row["case"] in shared)
        repeats[case_id, row["model"]] += 1
        old.append(
            PairableRun(
                id=RunId(f"earlier-{number}"),
                case_id=case_id,
                model=row["model"],
                repeat=repeats[case_id, row["model"]],
                mark=RunMark(row["mark"]) if row.get("mark") else None,
                posed=posed[case_id] if same else "",
            )
        )
    models = tuple(dict.fromkeys(run.model for run in old))
    batch = Batch(
        id=BatchId(str(document["batch"])),
        name="baseline",
        status=BatchStatus.COMPLETED,
        models=models,
        total=len(old),
        created_at=datetime.now(UTC),
    )
    return batch, tuple(old)


class _MatchedCases:
    """The cases of the present batch, to be found by name, or by name and query."""

    def __init__(self, runs: Sequence[RunSummary]) -> None:
        self._named: defaultdict[str, dict[str, RunSummary]] = defaultdict(dict)
        for run in runs:
            self._named[run.case_name][run.query] = run

    def of(self, row: Mapping[str, Any], *, exact: bool) -> tuple[CaseId, bool]:
        """Return the id of a case, one of its own where there is none now; True if it was posed as it is now."""
        named = self._named.get(row["case"], {})
        found = named.get(row["query"])
        if found is None and len(named) == 1 and not exact:
            (found,) = named.values()
        if found is None:
            return CaseId(f"earlier: {row['case']}\0{row['query']}"), False
        same = (row["query"], row.get("expected") or _NO_TOOL) == (found.query, found.expected or _NO_TOOL)
        return found.case_id, same


def _rows(document: Json) -> list[dict[str, Any]]:
    rows = document.get("runs") if isinstance(document, Mapping) else None
    if not isinstance(rows, list) or "batch" not in document or not all(map(_is_row, rows)):
        raise InputError(
            "The baseline is not a result of a batch.", hint="Take what mcp-tef run --json printed, as it is."
        )
    return rows


def _is_row(row: Json) -> bool:
    marks = (None, *RunMark)
    return (
        isinstance(row, Mapping) and all(isinstance(row.get(key), str) for key in _TEXTS) and row.get("mark") in marks
    )


def _queries(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, set[str]]:
    queries: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        queries[row["case"]].add(row["query"])
    return queries
