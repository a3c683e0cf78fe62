"""State of the cases screen and its calls into the core; knows no Qt."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import Flag, auto
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.screens.cases.calls import CallForm, ToolChoice, Tools, read_servers, with_tool
from app.screens.cases.editor_state import CaseEditorState
from app.screens.cases.form import CaseForm, case_form, with_selected_tool
from app.screens.cases.rows import (
    NO_REVIEW,
    RECENT,
    SUITE,
    CaseTableRow,
    DraftReview,
    filtered_rows,
    rejudged_answers,
    row_of,
    row_of_new_case,
)
from app.screens.kit import ViewState
from mcp_tef import (
    BatchesChanged,
    CaseDraft,
    CaseId,
    CasesChanged,
    ChangedMeanwhileError,
    Event,
    RunEnded,
    RunsChanged,
    RunStatus,
    RunSummary,
    Server,
    ServersChanged,
    ServerStateChanged,
    TefError,
    TestCase,
    ToolLabel,
    changed_fields,
)

if TYPE_CHECKING:
    pass


BY: Final = "cases screen"
FINISHED: Final = (RunStatus.COMPLETED, RunStatus.FAILED)


class StaleData(Flag):
    """Parts of the screen's data that must be read again."""

    NONE = 0
    CASES = auto()
    RUNS = auto()
    SERVERS = auto()


EVERYTHING: Final = StaleData.CASES | StaleData.RUNS | StaleData.SERVERS


class CasesPresenter:
    """Cases of the workspace, their editor states, and the operations on them."""

    def __init__(self, call: CoreCall, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        self._call = call
        self._now = now
        self._cases: dict[CaseId, TestCase] = {}
        self._recent: dict[CaseId, tuple[RunSummary, ...]] = {}
        self._editor_states: dict[CaseId, CaseEditorState] = {}
        self._removed: dict[CaseId, CaseEditorState] = {}
        self._changed_cases: dict[CaseId, None] = {}
        self.stale = EVERYTHING  # events may come before the first read
        self._turn = asyncio.Lock()
        self._made = 0
        self.servers: tuple[Server, ...] = ()
        self._suites: tuple[str, ...] = ()
        self.tools = Tools()
        self.view = ViewState()
        self.current: CaseId | None = None

    # ------------------------------------------------------------ reading

    def handle(self, event: Event) -> Refresh:
        """Show ended and rejudged runs at once; for other events, decide which data to read again."""
        match event:
            case CasesChanged(by=by) if by == BY:
                return Refresh.NONE
            case RunEnded(run=run):
                self._add_run(run)
                return Refresh.LATER
            case RunsChanged(runs=runs):
                self._replace_runs(runs)
                return Refresh.LATER
            case CasesChanged():
                stale = StaleData.CASES
            case BatchesChanged():
                stale = StaleData.RUNS
            case ServersChanged() | ServerStateChanged():
                stale = StaleData.SERVERS
            case _:
                return Refresh.NONE
        self.stale |= stale
        return Refresh.NOW

    async def refresh(self, stale: StaleData | None = None) -> None:
        """Read `stale` again, else what events made stale, else everything; unsaved typing stays."""
        if stale is None:
            stale, self.stale = self.stale or EVERYTHING, StaleData.NONE
        async with self._turn:
            await self._refresh(stale)

    async def _refresh(self, stale: StaleData) -> None:
        if StaleData.SERVERS in stale:
            self.servers, self.tools = await self._call(read_servers)
        if StaleData.CASES in stale:
            cases = await self._call(lambda core: core.cases.list())
            self._suites = await self._call(lambda core: core.cases.suites())
            self._cases = {case.id: case for case in cases}
        if stale & (StaleData.RUNS | StaleData.CASES):
            self._recent = dict(await self._call(lambda core: core.cases.recent(RECENT)))
        self._update_editor_states(stale)
        if self.current not in self._cases and self.current not in self._editor_states:
            self.current = None

    def _update_editor_states(self, stale: StaleData) -> None:
        for case_id, edited in list(self._editor_states.items()):
            case = self._cases.get(case_id)
            if case is not None and StaleData.CASES in stale:
                edited.update_stored(case.draft, self.tools.find)
            elif case is None and edited.saved is not None:
                del self._editor_states[case_id]
            if StaleData.SERVERS in stale:
                edited.update_tools(self.tools.find)

    def _add_run(self, run: RunSummary) -> None:
        if run.status in FINISHED:
            others = (known for known in self._recent.get(run.case_id, ()) if known.id != run.id)
            self._recent[run.case_id] = (*others, run)[-RECENT:]
            self._changed_cases[run.case_id] = None

    def _replace_runs(self, rejudged: Sequence[RunSummary]) -> None:
        """Replace rejudged runs at their place among the recent runs."""
        by_id = {run.id: run for run in rejudged}
        for case_id in {run.case_id: None for run in rejudged}:
            self._recent[case_id] = tuple(by_id.get(run.id, run) for run in self._recent.get(case_id, ()))
            self._changed_cases[case_id] = None

    def take_changed_cases(self) -> tuple[CaseId, ...]:
        """Return the cases whose recent runs changed since the last call."""
        changed = tuple(case_id for case_id in self._changed_cases if case_id in self._cases)
        self._changed_cases.clear()
        return changed

    # ------------------------------------------------------------ the table

    @property
    def total(self) -> int:
        """Number of stored cases."""
        return len(self._cases)

    def rows(self) -> tuple[CaseTableRow, ...]:
        """Return the rows that pass search and filters; cases that are not saved yet come last."""
        stored = map(self._row, self._cases.values())
        fresh = [row_of_new_case(edited) for edited in self._editor_states.values() if edited.saved is None]
        return filtered_rows([*stored, *fresh], self.view)

    def row(self, case_id: CaseId) -> CaseTableRow | None:
        """Return the current row of a case; None if it was deleted."""
        if case_id in self._cases:
            return self._row(self._cases[case_id])
        return row_of_new_case(self._editor_states[case_id]) if case_id in self._editor_states else None

    def _row(self, case: TestCase) -> CaseTableRow:
        edited = self._editor_states.get(case.id)
        return row_of(case, self._recent.get(case.id, ()), edited.problem_text if edited else "")

    def all_suites(self) -> tuple[str, ...]:
        """Return the names of all suites."""
        used = {suite for case in self._cases.values() for suite in case.draft.suites}
        return tuple(sorted({*self._suites, *used}, key=str.lower))

    def all_tags(self) -> tuple[str, ...]:
        """Return all tags in use."""
        return tuple(sorted({tag for case in self._cases.values() for tag in case.draft.tags}, key=str.lower))

    def server_names(self) -> tuple[str, ...]:
        """Return the names of all servers."""
        return tuple(server.name for server in self.servers)

    def runnable(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        """Return the ids of saved cases among `ids`."""
        return tuple(case_id for case_id in ids if case_id in self._cases)

    def queries(self, ids: Sequence[CaseId]) -> str:
        """Return the queries of these cases, one per line."""
        return "\n".join(draft.query for draft in self.drafts(ids).values())

    def drafts(self, ids: Sequence[CaseId]) -> dict[CaseId, CaseDraft]:
        """Return the stored drafts of these cases."""
        return {case_id: self._cases[case_id].draft for case_id in self.runnable(ids)}

    # ------------------------------------------------------------ editing

    def open(self, case_id: CaseId | None) -> CaseEditorState | None:
        """Edit a case, with the edits typed before; the empty new case left behind is dropped."""
        left = self.edited
        self.current = case_id
        if left is not None and left.case_id != case_id and left.is_empty:
            self._editor_states.pop(left.case_id, None)
        if case_id is not None and case_id not in self._editor_states and case_id in self._cases:
            draft = self._cases[case_id].draft
            self._editor_states[case_id] = CaseEditorState(case_id, case_form(draft, self.tools.find), draft)
        return self.edited

    @property
    def edited(self) -> CaseEditorState | None:
        """The case being edited."""
        return self._editor_states.get(self.current) if self.current is not None else None

    def new(self, expected: ToolLabel | None = None) -> CaseEditorState:
        """Edit an empty case, with the suites and servers of the one before it, or the server of the tool."""
        before = self.edited
        self._made += 1
        case_id = CaseId(f"new case {self._made}")
        servers = before.form.servers if before else ()
        suites = self.view.filters.of(SUITE.name) or (before.form.suites if before else ())
        form = CaseForm(servers=servers or self.server_names(), suites=suites)
        if expected is not None:
            call = with_tool(CallForm(), expected.server, expected.tool or "", self.tools.find)
            form = replace(form, servers=(expected.server or "",), calls=(call,))
        self.open(case_id)
        self._editor_states[case_id] = CaseEditorState(case_id, form)
        return self._editor_states[case_id]

    def new_for(self, tools: Sequence[ToolLabel]) -> None:
        """Start a new case for each tool and edit the first."""
        first, *_ = [self.new(tool) for tool in tools]
        self.open(first.case_id)

    def choices(self) -> tuple[ToolChoice, ...]:
        """Return the tools that the edited case can expect, those of its own servers first."""
        return self.tools.selectable(self.edited.form.servers) if self.edited else ()

    def pick(self, number: int, choice: ToolChoice | str) -> None:
        """Set the expected tool of a call to one of the list or a typed text."""
        if self.edited is not None:
            self.edited.edit(with_selected_tool(self.edited.form, number, choice, self.tools))

    def go_back(self, edited: CaseEditorState) -> bool:
        """Restore an earlier form of a case, to be saved next; return False if there is none."""
        if self._editor_states.get(edited.case_id) is not edited or not edited.can_go_back:
            return False
        edited.go_back(self.tools.find)
        return True

    def go_forward(self, edited: CaseEditorState) -> bool:
        """Restore the form that was undone last, to be saved next; return False if there is none."""
        return self._editor_states.get(edited.case_id) is edited and edited.go_forward(self.tools.find)

    @property
    def editor_states(self) -> tuple[CaseEditorState, ...]:
        """Editor states of all cases that were opened."""
        return tuple(self._editor_states.values())

    def unsaved(self) -> tuple[CaseEditorState, ...]:
        """Return the editor states with edits to save."""
        return tuple(edited for edited in self._editor_states.values() if edited.draft_to_save() is not None)

    async def save(self) -> None:
        """Save all edits; a refused draft stays in its form, with the reason."""
        async with self._turn:
            await self._save_all()

    async def _save_all(self) -> None:
        for edited in self.unsaved():
            draft = edited.draft_to_save()
            if draft is not None and not edited.refusal_text:
                await self._save(edited, draft)

    async def _save(self, edited: CaseEditorState, draft: CaseDraft) -> None:
        try:
            case = await self._stored(edited, draft)
        except ChangedMeanwhileError:
            case = await self._call(lambda core: core.cases.get(edited.case_id))
            self._cases[case.id] = case
            edited.update_stored(case.draft, self.tools.find)
            return
        except TefError as error:
            edited.refusal_text = f"{error.message} {error.hint}".strip()
            return
        self._cases[case.id] = case
        edited.mark_saved(draft)
        if changed_fields(draft, case.draft) - {"name"}:  # the core names a case that has no name
            edited.update_stored(case.draft, self.tools.find)
        self._move(edited, case.id)

    async def _stored(self, edited: CaseEditorState, draft: CaseDraft) -> TestCase:
        case_id, seen = edited.case_id, edited.saved
        if seen is not None:
            return await self._call(lambda core: core.cases.edit(case_id, draft, seen=seen, by=BY))
        return (await self._call(lambda core: core.cases.add([draft], by=BY)))[0]

    def _move(self, edited: CaseEditorState, case_id: CaseId) -> None:
        if edited.case_id == case_id:
            return
        self._editor_states.pop(edited.case_id, None)
        if self.current == edited.case_id:
            self.current = case_id
        edited.case_id = case_id
        self._editor_states[case_id] = edited

    async def stored_drafts(self) -> dict[CaseId, CaseDraft]:
        """Read the drafts of all cases."""
        return {case.id: case.draft for case in await self._call(lambda core: core.cases.list())}

    async def open_sample(self) -> None:
        """Add the sample servers and cases."""
        await self._call(lambda core: core.open_sample())

    async def review(self) -> DraftReview:
        """Return the core's review of the edited draft."""
        edited = self.edited
        draft = edited.parsed.draft if edited else None
        if edited is None or draft is None:
            return NO_REVIEW
        warnings = await self._call(lambda core: core.cases.warnings(draft))
        if edited.saved is None:
            return DraftReview(warnings)
        case_id = edited.case_id
        results = await self._call(lambda core: core.cases.try_on_last(case_id, draft))
        return DraftReview(warnings, rejudged_answers(results, self._now()))

    # ------------------------------------------------------------ many at once

    async def duplicate(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        """Duplicate cases and return the ids of the copies."""
        wanted = self.runnable(ids)
        if not wanted:
            return ()
        async with self._turn:
            await self._save_all()
            copies = await self._call(lambda core: core.cases.duplicate(wanted, by=BY))
            self._cases.update((case.id, case) for case in copies)
        return tuple(case.id for case in copies)

    async def remove(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        """Delete cases, and drop new ones that were never saved; return the ids for `restore`."""
        async with self._turn:
            there = tuple(case_id for case_id in ids if case_id in self._cases or case_id in self._editor_states)
            stored = self.runnable(there)
            if stored:
                await self._call(lambda core: core.cases.remove(stored, by=BY))
            for case_id in there:
                self._cases.pop(case_id, None)
                if case_id in self._editor_states:
                    self._removed[case_id] = self._editor_states.pop(case_id)
        if self.current in there:
            self.current = None
        return there

    async def edit_all(self, drafts: Mapping[CaseId, CaseDraft], seen: Mapping[CaseId, CaseDraft]) -> None:
        """Store new drafts of many cases at once, in place of those seen; unsaved typing stays."""
        async with self._turn:
            await self._save_all()
            await self._call(lambda core: core.cases.edit_all(drafts, seen=seen, by=BY))
            await self._refresh(StaleData.CASES)

    async def rename_suite(self, name: str, wanted: str) -> None:
        """Rename a suite, also in unsaved forms and in the filter."""
        async with self._turn:
            await self._save_all()
            await self._call(lambda core: core.cases.rename_suite(name, wanted, by=BY))
            for edited in (*self._editor_states.values(), *self._removed.values()):
                edited.rename_suite(name, wanted)
            if name in self.view.filters.of(SUITE.name):
                self.view = replace(self.view, filters=self.view.filters.with_values(SUITE.name, wanted))
            await self._refresh(StaleData.CASES)

    async def restore(self, ids: Sequence[CaseId]) -> None:
        """Restore deleted cases with their editor states."""
        editor_states = {case_id: self._removed.pop(case_id) for case_id in ids if case_id in self._removed}
        unsaved = {case_id for case_id, edited in editor_states.items() if edited.saved is None}
        stored = [case_id for case_id in ids if case_id not in unsaved]
        async with self._turn:
            if stored:
                await self._call(lambda core: core.cases.restore(stored, by=BY))
            self._editor_states.update(editor_states)
            await self._refresh(StaleData.CASES)
