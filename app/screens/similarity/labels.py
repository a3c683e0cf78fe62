"""Labels of scores, work list states and embedders."""

from collections.abc import Mapping
from enum import StrEnum
from math import floor
from typing import Final

from app.text.formatting import count, percent
from app.text.glossary import explain
from mcp_tef import EmbedderKind, MatrixKind, PairObservation, PairStatus, confusability_level
from mcp_tef import interval_text as bounds_text

ROUNDING: Final = 1e-4


class MapKind(StrEnum):
    """One way to colour the map."""

    CONFUSABILITY = "confusability"
    SIMILARITY = "similarity"
    FULL = "full"
    LEXICAL = "lexical"
    OVERLAP = "overlap"
    OBSERVED = "observed"

    @property
    def scored(self) -> MatrixKind | None:
        """The matrix of the analysis that it shows; None where it is worked out otherwise."""
        return None if self in (MapKind.OVERLAP, MapKind.OBSERVED) else MatrixKind(self.value)


MAP_LABELS: Final[Mapping[MapKind, str]] = {
    MapKind.CONFUSABILITY: "Confusability",
    MapKind.SIMILARITY: "Similarity",
    MapKind.FULL: "With parameters",
    MapKind.LEXICAL: "Wording",
    MapKind.OVERLAP: "Overlap",
    MapKind.OBSERVED: "Confused in runs",
}
MAP_HELP: Final[Mapping[MapKind, str]] = {
    MapKind.CONFUSABILITY: explain("confusability"),
    MapKind.SIMILARITY: explain("similarity"),
    MapKind.FULL: explain("similarity with parameters"),
    MapKind.LEXICAL: explain("wording"),
    MapKind.OVERLAP: explain("overlap"),
    MapKind.OBSERVED: explain("confused in runs"),
}
SCORE_HELP: Final[Mapping[MatrixKind, str]] = {
    MatrixKind.SIMILARITY: explain("similarity", explain("percentile")),
    MatrixKind.FULL: explain("similarity with parameters"),
    MatrixKind.LEXICAL: explain("wording"),
    MatrixKind.NAMES: explain("names"),
    MatrixKind.PARAMETERS: explain("shared parameters"),
    MatrixKind.CONFUSABILITY: explain("confusability"),
}
STATUS_LABELS: Final[Mapping[PairStatus, str]] = {
    PairStatus.SIMILAR_AND_CONFUSED: "similar and confused",
    PairStatus.SIMILAR_NOT_CONFUSED: "similar, not confused so far",
    PairStatus.CONFUSED_NOT_SIMILAR: "confused although not similar",
    PairStatus.SIMILAR_UNTESTED: "similar, not tested",
}
STATUS_HELP: Final[Mapping[PairStatus, str]] = {
    PairStatus.SIMILAR_AND_CONFUSED: "At or above the threshold, and confused in runs. Start with these.",
    PairStatus.SIMILAR_NOT_CONFUSED: "At or above the threshold, but never confused in runs so far.",
    PairStatus.CONFUSED_NOT_SIMILAR: "Below the threshold, but confused in runs. Check the test cases too.",
    PairStatus.SIMILAR_UNTESTED: "At or above the threshold, but no run was offered both.",
}
EMBEDDER_LABELS: Final[Mapping[EmbedderKind, str]] = {
    EmbedderKind.TFIDF: "By words",
    EmbedderKind.FASTEMBED: "Local model",
    EmbedderKind.FOLDER: "Model folder",
    EmbedderKind.LITELLM: "Provider's model",
    EmbedderKind.HTTP: "Your endpoint",
}


def confusability_text(score: float) -> str:
    """Return the level of a confusability with the number that orders pairs: "low 0.18"."""
    rounded_down = floor(100 * score + ROUNDING) / 100  # 0.249 is low and must not read as 0.25, which is medium
    return f"{confusability_level(score)} {rounded_down:.2f}"


def flagged_text(flagged: int, pairs: int) -> str:
    """Return the number of flagged pairs: "12 of 1,770 pairs flagged"."""
    return f"{flagged:,} of {count(pairs, 'pair')} flagged"


def interval_text(observation: PairObservation) -> str:
    """Return the rate of confusion with its interval: "22 % (16–31)"."""
    rate = observation.rate
    if rate.value is None or rate.low is None or rate.high is None:
        return "–"
    return f"{percent(rate.value)} ({bounds_text(rate.low, rate.high)})"


def confusion_text(observation: PairObservation) -> str:
    """Return the number of confused runs: "Confused in 26 of 117 runs"."""
    if not observation.confused:
        return f"Never confused in {count(observation.runs, 'run')}"
    return f"Confused in {observation.confused:,} of {count(observation.runs, 'run')}"


def embedder_label(label: str) -> str:
    """Return the name of an embedder by its label, such as `fastembed:MODEL`."""
    kind = label.partition(":")[0]
    return EMBEDDER_LABELS[EmbedderKind(kind)] if kind in {str(one) for one in EmbedderKind} else label
