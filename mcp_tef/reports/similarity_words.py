"""Where a pair of tools stands, in words."""

from mcp_tef.model.similarity import Observation, Standing
from mcp_tef.reports.page import counted

STANDINGS = {
    Standing.ALIKE_AND_CONFUSED: "alike, and confused in runs",
    Standing.CONFUSED_NOT_ALIKE: "confused in runs, though not alike",
    Standing.ALIKE_NOT_CONFUSED: "alike, not confused so far",
    Standing.ALIKE_UNTRIED: "alike, not tried in runs",
}


def observed_words(observation: Observation | None) -> str:
    """`3 of 12 runs`, or a dash where no run tells."""
    return f"{observation.confused} of {counted(observation.runs, 'run')}" if observation and observation.runs else "–"
