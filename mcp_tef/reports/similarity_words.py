"""Labels for the status of a pair of tools."""

from mcp_tef.model.similarity import PairObservation, PairStatus
from mcp_tef.reports.page import counted

STANDINGS = {
    PairStatus.SIMILAR_AND_CONFUSED: "alike, and confused in runs",
    PairStatus.CONFUSED_NOT_SIMILAR: "confused in runs, though not alike",
    PairStatus.SIMILAR_NOT_CONFUSED: "alike, not confused so far",
    PairStatus.SIMILAR_UNTESTED: "alike, not tried in runs",
}


def observed_words(observation: PairObservation | None) -> str:
    """`3 of 12 runs`, or a dash where no run tells."""
    return f"{observation.confused} of {counted(observation.runs, 'run')}" if observation and observation.runs else "–"
