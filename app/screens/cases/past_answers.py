"""How an expectation would judge the last answers: one line each, beside how it was judged then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.screens.cases.rows import LastResult
from mcp_tef import RunSummary, Verdict, VerdictKind


class JudgementChange(StrEnum):
    """What the expectation as it is now changes about an answer's verdict."""

    NONE = "none"
    BETTER = "better"
    WORSE = "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgedAnswer:
    """One answer: how it would be judged now, when it was given, what was picked, and why."""

    last: LastResult
    when: str
    selected: str
    words: str
    change: JudgementChange


@dataclass(frozen=True, slots=True)
class RejudgedAnswers:
    """The answers, and the sentence that sums up what changed."""

    lines: tuple[RejudgedAnswer, ...] = ()
    summary: str = ""


def rejudged_answers(results: Sequence[tuple[RunSummary, Verdict]], now: datetime) -> RejudgedAnswers:
    """The list under the editor; the summary counts whole answers, tool and values."""
    if not results:
        return RejudgedAnswers()
    before = sum(_was_right(run) for run, _ in results)
    after = sum(_is_right(verdict) for _, verdict in results)
    word = f"right in {before} before, {after} now" if before != after else f"right in {after} of {len(results)}"
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
        return "Rightly called none"
    return "Right, values too" if verdict.parameters_ok else "Right tool"


_WRONG: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.WRONG_TOOL: "Another tool than expected",
    VerdictKind.NO_TOOL: "No tool was called",
    VerdictKind.INVENTED_TOOL: "A tool that does not exist",
    VerdictKind.EXTRA_CALL: "A call too many",
    VerdictKind.UNEXPECTED_CALL: "Called a tool where none was right",
}


def relative_day(moment: datetime | None, now: datetime) -> str:
    """A moment as people say it: the time today, yesterday, otherwise the day."""
    if moment is None:
        return ""
    local = moment.astimezone(now.tzinfo)
    if local.date() == now.date():
        return f"{local:%H:%M}"
    if local.date() == (now - timedelta(days=1)).date():
        return "Yesterday"
    day = f"{local.day} {local:%b}"
    return day if local.year == now.year else f"{day} {local.year}"
