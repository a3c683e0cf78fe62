"""Two batches beside each other as reports tell of them: words, the order of pairs, JSON and CSV."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT, comparison_to_json
from mcp_tef.model.comparison import BatchComparison, ComparedRuns, PairChange, RunPair
from mcp_tef.model.json import Json
from mcp_tef.model.runs import Batch, RunSummary
from mcp_tef.reports.cells import csv_text

CHANGES: Final[Mapping[PairChange, str]] = {
    PairChange.REGRESSED: "Regressed",
    PairChange.FIXED: "Fixed",
    PairChange.UNCHANGED_WRONG: "Wrong in both",
    PairChange.NOT_COMPARABLE: "Not comparable",
    PairChange.NEW: "New",
    PairChange.GONE: "Gone",
    PairChange.UNCHANGED_RIGHT: "Right in both",
}
_ORDER: Final = tuple(CHANGES)
_HEADS: Final = (
    "change",
    "parameters",
    "case",
    "query",
    "model",
    "expected",
    "before",
    "after",
    "run_before",
    "run_after",
)


@dataclass(frozen=True, slots=True)
class ComparedBatches:
    """A comparison with both runs of each pair."""

    comparison: BatchComparison
    rows: tuple[ComparedRuns, ...]

    def told(self) -> list[ComparedRuns]:
        """The pairs as people want to read them: what regressed first, what was right all along last."""
        return sorted(self.rows, key=lambda one: (_ORDER.index(one.pair.change), not parameters_changed(one.pair)))


def parameters_changed(pair: RunPair) -> bool:
    """Return True if the right tool was called with right values in only one of the batches."""
    return pair.parameters in (PairChange.FIXED, PairChange.REGRESSED)


def change_words(pair: RunPair) -> str:
    """Return the change of a run pair as text, or that only its parameters changed."""
    words = CHANGES[pair.change]
    if pair.parameters and parameters_changed(pair):
        return f"{words}, parameters {CHANGES[pair.parameters].lower()}"
    return words


def choice(run: RunSummary | None) -> str:
    """Return the tool that a run of a pair picked, or why it picked none."""
    if run is None:
        return "not run"
    return run.selected or (NO_TOOL_TEXT if run.classification else run.status.value)


def batch_name(batch: Batch) -> str:
    """A batch by its name and when it ran."""
    return f"{batch.name or 'Test runs'}, {batch.created_at:%Y-%m-%d %H:%M} UTC"


def comparison_json(compared: ComparedBatches) -> str:
    """The same as a document."""
    return json.dumps(comparison_to_json(compared.comparison), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def comparison_csv(compared: ComparedBatches) -> str:
    """A head and a line for each pair, in the order of the later batch."""
    return csv_text(_HEADS, map(_cells, compared.rows))


def _cells(one: ComparedRuns) -> list[Json]:
    pair, run = one.pair, one.after or one.before
    told: list[Json] = [run.case_name, run.query, run.model, run.expected] if run else [None] * 4
    parameters = pair.parameters.value if pair.parameters else None
    return [pair.change.value, parameters, *told, choice(one.before), choice(one.after), pair.before, pair.after]
