"""Rows of the case table with recent results, and past answers rejudged by an edited expectation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.screens.cases.editor_state import CaseEditorState
from app.screens.kit import FilterField, FilterFields, ViewState, matches_all_words
from mcp_tef import (
    CaseDraft,
    CaseId,
    CaseOrigin,
    Expectation,
    RunMark,
    RunStatus,
    RunSummary,
    TestCase,
    ToolLabel,
    Verdict,
    VerdictKind,
)

RECENT: Final = 5


class LastResult(StrEnum):
    """Result of the last run of a case."""

    CORRECT_CALL = RunMark.CORRECT_CALL.value
    WRONG_ARGUMENTS = RunMark.WRONG_ARGUMENTS.value
    WRONG = RunMark.WRONG.value
    FAILED = "failed"
    NEVER = "never"


LAST_RESULT_TEXTS: Final[Mapping[LastResult, str]] = {
    LastResult.CORRECT_CALL: "Correct call",
    LastResult.WRONG_ARGUMENTS: "Correct tool, wrong arguments",
    LastResult.WRONG: "Wrong",
    LastResult.FAILED: "The run failed",
    LastResult.NEVER: "Not run yet",
}


@dataclass(frozen=True, slots=True)
class RecentRun:
    """One recent run of a case: its result and a text about it."""

    result: LastResult
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTableRow:
    """A case as the table shows it: `expected` in full, `server` (where all calls share one) and `tools` in short."""

    id: CaseId
    name: str
    query: str
    expected: str
    server: str = ""
    tools: str = ""
    recent_runs: tuple[RecentRun, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    unsaved: str = ""
    called: tuple[ToolLabel, ...] = ()
    origin: CaseOrigin = CaseOrigin.WRITTEN

    @property
    def generated(self) -> bool:
        """True if no person wrote the case."""
        return self.origin is CaseOrigin.GENERATED

    @property
    def last_result(self) -> LastResult:
        """Result of the last run."""
        return self.recent_runs[-1].result if self.recent_runs else LastResult.NEVER

    @property
    def suite(self) -> str:
        """The suites in one line."""
        return ", ".join(self.suites)

    @property
    def tag(self) -> str:
        """The tags in one line."""
        return ", ".join(self.tags)

    @property
    def no_tool(self) -> bool:
        """True if no tool should be called."""
        return self.expected == "no tool"


def tool_key(label: ToolLabel) -> str:
    """Return a tool as the value of a filter."""
    return f"{label.server or ''} / {label.tool or ''}"


CALLED: Final[FilterField[CaseTableRow]] = FilterField(
    name="called",
    label="Expects",
    fits=lambda row, value: value in map(tool_key, row.called),
    saved=False,
)
LAST_RUN: Final[FilterField[CaseTableRow]] = FilterField(
    name="last",
    texts={last.value: f"Last run: {text[0].lower()}{text[1:]}" for last, text in LAST_RESULT_TEXTS.items()},
    fits=lambda row, value: row.last_result == value,
)
SUITE: Final[FilterField[CaseTableRow]] = FilterField(
    name="suite", label="Suite", fits=lambda row, value: value in row.suites
)
TAG: Final[FilterField[CaseTableRow]] = FilterField(name="tag", label="Tag", fits=lambda row, value: value in row.tags)
SERVER: Final[FilterField[CaseTableRow]] = FilterField(
    name="server", label="Server", fits=lambda row, value: value in row.servers
)
ORIGIN: Final[FilterField[CaseTableRow]] = FilterField(
    name="origin",
    texts={CaseOrigin.WRITTEN.value: "Written cases", CaseOrigin.GENERATED.value: "Generated cases"},
    fits=lambda row, value: value == row.origin,
)
FIELDS: Final = FilterFields((CALLED, LAST_RUN, ORIGIN, SUITE, TAG, SERVER))


def row_of(case: TestCase, runs: Sequence[RunSummary] = (), unsaved: str = "") -> CaseTableRow:
    """Return the row of a stored case."""
    return row_of_draft(case.id, case.draft, runs, unsaved)


def row_of_draft(case_id: CaseId, draft: CaseDraft, runs: Sequence[RunSummary] = (), unsaved: str = "") -> CaseTableRow:
    """Return the row of a draft."""
    server, tools = _in_short(draft.expectation)
    return CaseTableRow(
        id=case_id,
        name=draft.name,
        query=" ".join(draft.query.split()),
        expected=draft.expectation.label,
        server=server,
        tools=tools,
        recent_runs=tuple(map(recent_run, runs[-RECENT:])),
        suites=draft.suites,
        tags=draft.tags,
        servers=draft.servers,
        unsaved=unsaved,
        called=tuple(_called(draft)),
        origin=draft.origin,
    )


def row_of_new_case(edited: CaseEditorState) -> CaseTableRow:
    """Return the row of a case that was never saved."""
    form = edited.form
    unsaved = edited.problem_text or "Not saved yet."
    if edited.parsed.draft is not None:
        return row_of_draft(edited.case_id, edited.parsed.draft, unsaved=unsaved)
    call = form.calls[0]
    return CaseTableRow(
        id=edited.case_id,
        name=form.name,
        query=form.query or "New case",
        expected=call.tool,
        server=call.server or "",
        tools=call.tool,
        suites=form.suites,
        tags=form.tags,
        servers=form.servers,
        unsaved=unsaved,
    )


def _called(draft: CaseDraft) -> Iterable[ToolLabel]:
    """Yield the expected tools; one per server of the case if the expectation names no server."""
    for call in (call for calls in draft.expectation.alternatives for call in calls):
        servers = (call.server,) if call.server else draft.servers
        yield from (ToolLabel(tool=call.tool, server=server) for server in servers)


def _in_short(expectation: Expectation) -> tuple[str, str]:
    servers = {call.server or "" for calls in expectation.alternatives for call in calls}
    answers = (" + ".join(call.tool for call in calls) or "no tool" for calls in expectation.alternatives)
    return (servers.pop() if len(servers) == 1 else ""), " or ".join(answers)


def recent_run(run: RunSummary) -> RecentRun:
    """Return the result and text of a finished run."""
    if run.status is RunStatus.COMPLETED and run.mark is not None:
        last = LastResult(run.mark.value)
        return RecentRun(last, run.explanation or LAST_RESULT_TEXTS[last])
    return RecentRun(LastResult.FAILED, run.failure.message if run.failure else LAST_RESULT_TEXTS[LastResult.FAILED])


def filtered_rows(rows: Iterable[CaseTableRow], view: ViewState) -> tuple[CaseTableRow, ...]:
    """Return the rows that pass search and filters, in the given order.

    Unsaved rows always pass, so that nothing typed disappears.
    """
    return tuple(row for row in rows if row.unsaved or (FIELDS.fits(row, view.filters) and _matches(row, view.text)))


def _matches(row: CaseTableRow, query: str) -> bool:
    return matches_all_words("\n".join((row.query, row.name, row.expected, row.suite, row.tag)), query)


_TROUBLE: Final = (
    LastResult.WRONG,
    LastResult.WRONG_ARGUMENTS,
    LastResult.FAILED,
    LastResult.CORRECT_CALL,
    LastResult.NEVER,
)


def failure_sort_key(row: CaseTableRow) -> float:
    """Return the sort key of the recent runs: the worst last result first, then the most wrong ones."""
    wrong = sum(mark.result in (LastResult.WRONG, LastResult.WRONG_ARGUMENTS) for mark in row.recent_runs)
    return _TROUBLE.index(row.last_result) * 10 - wrong


def neighbour(shown: Sequence[str], gone: Sequence[str]) -> str:
    """Return the row to select after deletions: the next one that stays, else the one before, else ""."""
    first = min((place for place, row_id in enumerate(shown) if row_id in gone), default=0)
    candidates = (*shown[first:], *reversed(shown[:first]))
    return next((row_id for row_id in candidates if row_id not in gone), "")


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
    text: str
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
    """Return the list below the editor; the summary counts correct calls."""
    if not results:
        return RejudgedAnswers()
    before = sum(run.passes for run, _ in results)
    after = sum(_passes(verdict) for _, verdict in results)
    word = f"{before} correct before, {after} now" if before != after else f"{after} of {len(results)} correct calls"
    return RejudgedAnswers(tuple(_line(run, verdict, now) for run, verdict in results), word)


def _passes(verdict: Verdict) -> bool:
    return verdict.mark is RunMark.CORRECT_CALL


def _line(run: RunSummary, verdict: Verdict, now: datetime) -> RejudgedAnswer:
    change = _change(run.passes, _passes(verdict))
    return RejudgedAnswer(
        last=LastResult(verdict.mark.value),
        when=relative_day(run.completed_at or run.created_at, now),
        selected=_picked(run),
        text=_verdict_text(verdict, change),
        change=change,
    )


def _picked(run: RunSummary) -> str:
    single = run.selected is None or " + " not in run.selected
    return (run.selected_tool if single else run.selected) or "no tool"


def _change(before: bool, after: bool) -> JudgementChange:
    if before == after:
        return JudgementChange.NONE
    return JudgementChange.BETTER if after else JudgementChange.WORSE


def _verdict_text(verdict: Verdict, change: JudgementChange) -> str:
    if verdict.unreadable:
        return "The answer could not be read"
    if not verdict.mark.correct_tool:
        return _WRONG.get(verdict.kind, verdict.explanation)
    if verdict.parameters_ok is False and (problem := _findings_text(verdict)):
        return problem
    if change is JudgementChange.BETTER:
        return "Now accepted"
    if verdict.kind is VerdictKind.NO_CALL_EXPECTED:
        return "Correctly called no tool"
    return "Correct tool and arguments" if verdict.parameters_ok else "Correct tool"


def _findings_text(verdict: Verdict) -> str:
    first, *others = [finding.sentence for match in verdict.matches for finding in match.findings] or [""]
    return f"{first} (and {len(others)} more)" if others else first


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
