"""Judge the last answers by an edited expectation and compare with the stored verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.screens.cases.rows import LastResult
from mcp_tef import RunSummary, Verdict, VerdictKind


class JudgementChange(StrEnum):
    """Change of an answer's verdict under the edited expectation."""

    NONE = "none"
    BETTER = "better"
    WORSE = "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgedAnswer:
    """One answer: its new verdict, its date, the selected tool, and the reason."""

    last: LastResult
    when: str
    selected: str
    words: str
    change: JudgementChange


@dataclass(frozen=True, slots=True)
class RejudgedAnswers:
    """Rejudged answers with a summary of the changes."""

    lines: tuple[RejudgedAnswer, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class DraftReview:
    """Review of a draft by the core: warnings about its names, and its verdicts on the last answers."""

    warnings: tuple[str, ...] = ()
    tried: RejudgedAnswers = field(default_factory=RejudgedAnswers)


NO_REVIEW: Final = DraftReview()


def rejudged_answers(results: Sequence[tuple[RunSummary, Verdict]], now: datetime) -> RejudgedAnswers:
    """Return the list below the editor; the summary counts answers with correct tool and values."""
    if not results:
        return RejudgedAnswers()
    before = sum(_was_right(run) for run, _ in results)
    after = sum(_is_right(verdict) for _, verdict in results)
    word = f"{before} correct before, {after} now" if before != after else f"{after} of {len(results)} correct"
    return RejudgedAnswers(tuple(_line(run, verdict, now) for run, verdict in results), word)


def _was_right(run: RunSummary) -> bool:
    return run.classification in ("TP", "TN") and run.parameters_ok is not False


def _is_right(verdict: Verdict) -> bool:
    return verdict.right and verdict.parameters_ok is not False


def _line(run: RunSummary, verdict: Verdict, now: datetime) -> RejudgedAnswer:
    change = _change(_was_right(run), _is_right(verdict))
    return RejudgedAnswer(
        last=LastResult(verdict.classification.value),
        when=relative_day(run.completed_at or run.created_at, now),
        selected=_picked(run),
        words=_words(verdict, change),
        change=change,
    )


def _picked(run: RunSummary) -> str:
    single = run.selected is None or " + " not in run.selected
    return (run.selected_tool if single else run.selected) or "no tool"


def _change(before: bool, after: bool) -> JudgementChange:
    if before == after:
        return JudgementChange.NONE
    return JudgementChange.BETTER if after else JudgementChange.WORSE


def _words(verdict: Verdict, change: JudgementChange) -> str:
    if not verdict.right:
        return _WRONG.get(verdict.kind, verdict.explanation)
    findings = [finding for match in verdict.matches for finding in match.findings]
    if verdict.parameters_ok is False and findings:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        return f"{findings[0].sentence}{more}"
    if change is JudgementChange.BETTER:
        return "Now accepted"
    if verdict.kind is VerdictKind.NO_CALL_EXPECTED:
        return "Correctly called no tool"
    return "Correct tool and values" if verdict.parameters_ok else "Correct tool"


_WRONG: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.WRONG_TOOL: "Another tool than expected",
    VerdictKind.NO_TOOL: "No tool was called",
    VerdictKind.INVENTED_TOOL: "A tool that does not exist",
    VerdictKind.EXTRA_CALL: "One call too many",
    VerdictKind.UNEXPECTED_CALL: "Called a tool although none was expected",
}


def relative_day(moment: datetime | None, now: datetime) -> str:
    """Format a date relative to now: the time today, “Yesterday”, otherwise the day."""
    if moment is None:
        return ""
    local = moment.astimezone(now.tzinfo)
    if local.date() == now.date():
        return f"{local:%H:%M}"
    if local.date() == (now - timedelta(days=1)).date():
        return "Yesterday"
    day = f"{local.day} {local:%b}"
    return day if local.year == now.year else f"{day} {local.year}"
