"""Content of every report: runs under a title, and their metrics."""

import re
from dataclasses import dataclass
from datetime import datetime

from mcp_tef.model.ids import BatchId
from mcp_tef.model.json import Json
from mcp_tef.model.metrics import MetricsOverview
from mcp_tef.model.runs import Batch, RunStatus, RunSummary
from mcp_tef.model.verdicts import Classification

NO_TOOL_TEXT = "no tool"
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Results:
    """Runs in their order with all figures over them; `batch_id` where they are those of one batch."""

    title: str
    runs: tuple[RunSummary, ...]
    overview: MetricsOverview
    batch_id: BatchId | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The labels of the models, in the order in which they first occur."""
        return tuple(dict.fromkeys(run.model for run in self.runs))

    @property
    def failed(self) -> int:
        """Number of runs without a verdict because a server or a model did not respond."""
        return sum(run.status is RunStatus.FAILED for run in self.runs)

    @property
    def unfinished_sentence(self) -> str:
        """Count of cancelled or interrupted runs, as one sentence; empty where every run has finished."""
        unfinished = sum(run.status not in (RunStatus.COMPLETED, RunStatus.FAILED) for run in self.runs)
        if not unfinished:
            return ""
        were = "was" if unfinished == 1 else "were"
        return f"{unfinished:,} of {len(self.runs):,} runs {were} not finished, and count in no rate."


def passed(run: RunSummary) -> bool:
    """Return True if the right tools were chosen and no judged parameter is wrong."""
    return run.classification in (Classification.TP, Classification.TN) and run.parameters_ok is not False


def run_to_json(run: RunSummary) -> dict[str, Json]:
    """One run in the shape that the command line promises."""
    failure = run.failure
    return {
        "id": run.id,
        "case": run.case_name,
        "query": run.query,
        "model": run.model,
        "status": run.status.value,
        "classification": run.classification.value if run.classification else None,
        "kind": run.kind.value if run.kind else None,
        "expected": _label(run.expected),
        "selected": _label(run.selected),
        "parameters_ok": run.parameters_ok,
        "completeness": run.completeness,
        "correctness": run.correctness,
        "type_conformance": run.type_conformance,
        "hallucinated": list(run.hallucinated),
        "confidence": run.confidence,
        "confidence_source": run.confidence_source,
        "confidence_category": run.confidence_category.value if run.confidence_category else None,
        "explanation": run.explanation,
        "execution_time_ms": run.execution_time_ms,
        "tokens": run.tokens,
        "cost_usd": run.cost_usd,
        "error": {"code": failure.code, "message": failure.message, "hint": failure.hint} if failure else None,
    }


def batch_to_json(batch: Batch) -> dict[str, Json]:
    """A batch with its counts."""
    return {
        "id": batch.id,
        "name": batch.name,
        "status": batch.status.value,
        "models": list(batch.models),
        "total": batch.total,
        "counts": dict(batch.counts),
        "interrupted": batch.interrupted,
        "cost_usd": batch.cost_usd,
        "created_at": moment(batch.created_at),
        "completed_at": moment(batch.completed_at),
    }


def moment(value: datetime | None) -> str | None:
    """A moment as programs read it."""
    return None if value is None else value.isoformat()


def _label(label: str | None) -> str | None:
    return None if label in (None, "", NO_TOOL_TEXT) else label


def legal(text: str) -> str:
    """The text with a mark for each character that XML and HTML do not allow; it comes from strangers."""
    return _ILLEGAL.sub("\ufffd", text)
