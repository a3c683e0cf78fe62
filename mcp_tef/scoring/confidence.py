"""Meaning of a model's confidence together with the outcome."""

from mcp_tef.model.verdicts import Classification, ConfidenceCategory

HIGH = 0.7


def usable(confidence: float | None) -> float | None:
    """Return the confidence where it is a number from 0 to 1; None for anything else."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return None
    return float(confidence) if 0 <= confidence <= 1 else None


def categorise(classification: Classification, confidence: float | None) -> ConfidenceCategory | None:
    """Return robust (high and right), needs clarity (right), misleading (high and wrong), or None.

    High is 0.7 and more.
    """
    if confidence is None:
        return None
    if classification in (Classification.TP, Classification.TN):
        return ConfidenceCategory.ROBUST if confidence >= HIGH else ConfidenceCategory.NEEDS_CLARITY
    return ConfidenceCategory.MISLEADING if confidence >= HIGH else None
