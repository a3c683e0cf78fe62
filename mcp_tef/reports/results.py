"""Content of every report: runs under a title, and their metrics."""

import re
from dataclasses import dataclass

from mcp_tef.model.ids import BatchId
from mcp_tef.model.metrics import MetricsOverview
from mcp_tef.model.runs import RunStatus, RunSummary, is_baseline

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
    def sentences(self) -> tuple[str, ...]:
        """The two shares in one sentence, or one for each model where there are several, the baseline last."""
        models = sorted(self.overview.models, key=lambda one: one.baseline)
        if len(models) < 2:
            return (f"{self.overview.metrics.sentence}.",)
        return tuple(f"{model_name(one.model)}: {one.metrics.sentence}." for one in models)

    @property
    def unfinished_sentence(self) -> str:
        """Count of cancelled or interrupted runs, as one sentence; empty where every run has finished."""
        unfinished = sum(run.status not in (RunStatus.COMPLETED, RunStatus.FAILED) for run in self.runs)
        if not unfinished:
            return ""
        were = "was" if unfinished == 1 else "were"
        return f"{unfinished:,} of {len(self.runs):,} runs {were} not finished, and count in no rate."


def model_name(label: str) -> str:
    """Return a model's label; a baseline is named as one."""
    return f"{label} (a baseline, not a model)" if is_baseline(label) else label


def legal(text: str) -> str:
    """Return the text with a mark for each character that XML and HTML do not allow; it comes from strangers."""
    return _ILLEGAL.sub("\ufffd", text)
