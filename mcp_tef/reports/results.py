"""Content of every report: runs under a title, and their metrics."""

import re
from dataclasses import dataclass

from mcp_tef.model.ids import BatchId
from mcp_tef.model.metrics import MetricsOverview
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.model.verdicts import Classification

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


def legal(text: str) -> str:
    """Return the text with a mark for each character that XML and HTML do not allow; it comes from strangers."""
    return _ILLEGAL.sub("\ufffd", text)
