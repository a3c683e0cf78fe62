"""What a run was judged before, in words: when it was judged again, what changed, and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.screens.runs.words import MARKS, Mark, Span, sentence_spans
from app.text.formatting import OUTCOME_WORDS
from mcp_tef import Classification, PastVerdict, RejudgeReason, RunDetail, Verdict

REASONS: Mapping[RejudgeReason, str] = {
    RejudgeReason.EXPECTATION_CHANGED: "the case expects something else now",
    RejudgeReason.RULES_CHANGED: "the rules of judging changed",
}
WRONG_VALUES = "right tool, with wrong parameters"


@dataclass(frozen=True, slots=True, kw_only=True)
class PastView:
    """One earlier verdict: what changed in a line, the judge's sentence then, and what was expected then."""

    mark: Mark
    line: str
    sentence: tuple[Span, ...]
    expected: str


def past_views(detail: RunDetail) -> tuple[PastView, ...]:
    """The earlier verdicts of a run, newest first."""
    later = (detail.verdict, *(past.verdict for past in detail.past_verdicts))
    return tuple(_view(past, verdict) for past, verdict in zip(detail.past_verdicts, later, strict=False))


def _view(past: PastVerdict, later: Verdict | None) -> PastView:
    return PastView(
        mark=MARKS[past.verdict.classification],
        line=f"Judged again on {_moment(past.replaced_at)}: {_change(past.verdict, later)}{REASONS[past.reason]}.",
        sentence=sentence_spans(past.verdict.explanation),
        expected=f"Expected then: {past.expectation.label}",
    )


def _moment(at: datetime) -> str:
    local = at.astimezone()
    return f"{local.day} {local:%b %Y, %H:%M}"


def _change(before: Verdict, after: Verdict | None) -> str:
    was, now = said(before), said(after) if after else ""
    return f"was “{was}”, is “{now}”, because " if now and was != now else f"“{was}” as before, though "


def said(verdict: Verdict) -> str:
    """The outcome of a verdict, and whether its parameters were wrong."""
    if verdict.classification is Classification.TP and verdict.parameters_ok is False:
        return WRONG_VALUES
    return OUTCOME_WORDS[verdict.classification]
