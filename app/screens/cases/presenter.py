"""What the screen of test cases knows and does; plain Python, so that it can be tried without a window."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from app.screens.cases.calls import CallForm, ToolChoice, Tools, typed_choice, with_tool
from app.screens.cases.editor_state import Desk
from app.screens.cases.form import CaseForm, case_form, with_call
from app.screens.cases.past_answers import Tried, tried
from app.screens.cases.rows import RECENT, SUITE, CaseRow, draft_row, filtered_rows, row_of
from app.screens.cases.stale_data import BY, EVERYTHING, Stale
from app.screens.kit import ViewState
from mcp_tef import (
    CaseDraft,
    CaseId,
    Event,
    Listing,
    RunEnded,
    RunsChanged,
    RunStatus,
    RunSummary,
    Server,
    TefError,
    TestCase,
    ToolLabel,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

FINISHED: Final = (RunStatus.COMPLETED, RunStatus.FAILED)
T = TypeVar("T")


class Call(Protocol):
    """Runs a piece of work in the core and gives back what comes of it."""

    async def __call__(self, work: "Callable[[Engine], Awaitable[T]]", /) -> T: ...


@dataclass(frozen=True, slots=True)
class Review:
    """What the core says of a draft: names that look mistyped, and how it would judge the last answers."""

    warnings: tuple[str, ...] = ()
    tried: Tried = field(default_factory=Tried)


NO_REVIEW: Final = Review()


class CasesPresenter:
    """The cases, the one on the desk, and everything that a user does to them."""

    def __init__(self, call: Call, now: Callable[[], datetime] = lambda: datetime.now().astimezone()) -> None:
        self._call = call
        self._now = now
        self._cases: dict[CaseId, TestCase] = {}
        self._recent: dict[CaseId, tuple[RunSummary, ...]] = {}
        self._desks: dict[CaseId, Desk] = {}
        self._removed: dict[CaseId, Desk] = {}
        self._turn = asyncio.Lock()
        self._made = 0
        self.loaded = False
        self.servers: tuple[Server, ...] = ()
        self._suites: tuple[str, ...] = ()
        self.tools = Tools()
        self.view = ViewState()
        self.current: CaseId | None = None

    # ------------------------------------------------------------ reading

    async def load(self) -> None:
        """Read everything that the screen shows."""
        await self.refresh(EVERYTHING)

    async def refresh(self, stale: Stale) -> None:
        """Read again what is out of date; what is typed and not saved stays. One at a time with saving."""
        async with self._turn:
            await self._refresh(stale)
            self.loaded = True

    async def _refresh(self, stale: Stale) -> None:
        if stale.servers:
            self.servers, self.tools = await self._call(_read_servers)
        if stale.cases:
            cases = await self._call(lambda core: core.cases.list())
            self._suites = await self._call(lambda core: core.cases.suites())
            self._cases = {case.id: case for case in cases}
        if stale.runs or stale.cases:
            self._recent = dict(await self._call(lambda core: core.cases.recent(RECENT)))
        self._renew_desks(stale)

    def _renew_desks(self, stale: Stale) -> None:
        for case_id, desk in list(self._desks.items()):
            case = self._cases.get(case_id)
            if case is not None and stale.cases:
                desk.renew(case.draft, self.tools.find)
            elif case is None and desk.saved is not None:
                del self._desks[case_id]
            if stale.servers:
                desk.refit(self.tools.find)
        if self.current is not None and self.current not in self._cases and self.current not in self._desks:
            self.current = None

    def take_runs(self, events: Iterable[Event]) -> tuple[CaseId, ...]:
        """Add runs that just ended to the last ones of their cases; which cases have others now."""
        heard = tuple(events)
        ended = [event.run for event in heard if isinstance(event, RunEnded) and event.run.status in FINISHED]
        for run in ended:
            others = (known for known in self._recent.get(run.case_id, ()) if known.id != run.id)
            self._recent[run.case_id] = (*others, run)[-RECENT:]
        judged = [run for event in heard if isinstance(event, RunsChanged) for run in event.runs]
        self._mend(judged)
        return tuple(dict.fromkeys(run.case_id for run in (*ended, *judged) if run.case_id in self._cases))

    def _mend(self, judged: Sequence[RunSummary]) -> None:
        """Runs that were judged again stay where they are among the last ones."""
        now = {run.id: run for run in judged}
        for case_id in {run.case_id for run in judged} & self._recent.keys():
            self._recent[case_id] = tuple(now.get(run.id, run) for run in self._recent[case_id])

    # ------------------------------------------------------------ the table

    @property
    def total(self) -> int:
        """How many cases there are."""
        return len(self._cases)

    def rows(self) -> tuple[CaseRow, ...]:
        """Return the rows that pass search and filters; cases that are not saved yet come last."""
        stored = [self._row(case) for case in self._cases.values()]
        fresh = [self._fresh_row(desk) for desk in self._desks.values() if desk.saved is None]
        return filtered_rows([*stored, *fresh], self.view)

    def row(self, case_id: CaseId) -> CaseRow | None:
        """One row as it is now."""
        if case_id in self._cases:
            return self._row(self._cases[case_id])
        return self._fresh_row(self._desks[case_id]) if case_id in self._desks else None

    def _row(self, case: TestCase) -> CaseRow:
        runs = self._recent.get(case.id, ())
        desk = self._desks.get(case.id)
        return row_of(case, runs, desk.sentence) if desk else row_of(case, runs)

    @staticmethod
    def _fresh_row(desk: Desk) -> CaseRow:
        form = desk.form
        unsaved = desk.sentence or "Not saved yet."
        if desk.reading.draft is not None:
            return draft_row(desk.case_id, desk.reading.draft, unsaved=unsaved)
        call = form.calls[0]
        return CaseRow(
            id=desk.case_id,
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

    def all_suites(self) -> tuple[str, ...]:
        """Every suite's name."""
        used = {suite for case in self._cases.values() for suite in case.draft.suites}
        return tuple(sorted({*self._suites, *used}, key=str.lower))

    def all_tags(self) -> tuple[str, ...]:
        """Every tag in use."""
        return tuple(sorted({tag for case in self._cases.values() for tag in case.draft.tags}, key=str.lower))

    def server_names(self) -> tuple[str, ...]:
        """Every server's name."""
        return tuple(server.name for server in self.servers)

    def runnable(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        """Those of the ids that are saved cases."""
        return tuple(case_id for case_id in ids if case_id in self._cases)

    def queries(self, ids: Sequence[CaseId]) -> str:
        """What the users say in these cases, a line each."""
        return "\n".join(draft.query for draft in self.drafts(ids).values())

    def drafts(self, ids: Sequence[CaseId]) -> dict[CaseId, CaseDraft]:
        """What is saved of these cases."""
        return {case_id: self._cases[case_id].draft for case_id in self.runnable(ids)}

    # ------------------------------------------------------------ the desk

    def open(self, case_id: CaseId | None) -> Desk | None:
        """Put a case on the desk; what was typed into it before is still there. An empty new case is dropped."""
        left = self.desk
        self.current = case_id
        if left is not None and left.case_id != case_id and left.untouched:
            self._desks.pop(left.case_id, None)
        if case_id is not None and case_id not in self._desks and case_id in self._cases:
            draft = self._cases[case_id].draft
            self._desks[case_id] = Desk(case_id, case_form(draft, self.tools.find), draft)
        return self.desk

    @property
    def desk(self) -> Desk | None:
        """The case being edited."""
        return self._desks.get(self.current) if self.current is not None else None

    def new(self, expected: ToolLabel | None = None) -> Desk:
        """Put an empty case on the desk, with the suites of the one before it, and its servers or that of the tool."""
        before = self.desk
        self._made += 1
        case_id = CaseId(f"new case {self._made}")
        servers = before.form.servers if before else ()
        suites = self.view.filters.of(SUITE.name) or (before.form.suites if before else ())
        form = CaseForm(servers=servers or self.server_names(), suites=suites)
        if expected is not None:
            call = with_tool(CallForm(), expected.server, expected.tool or "", self.tools.find)
            form = replace(form, servers=(expected.server or "",), calls=(call,))
        self.open(case_id)
        self._desks[case_id] = Desk(case_id, form)
        return self._desks[case_id]

    def new_for(self, tools: Sequence[ToolLabel]) -> None:
        """A case for each tool, still to be typed; the first of them comes to the desk."""
        desks = [self.new(tool) for tool in tools]
        self.open(desks[0].case_id)

    def choices(self) -> tuple[ToolChoice, ...]:
        """The tools that the case on the desk offers."""
        return self.tools.of(self.desk.form.servers) if self.desk else ()

    def pick(self, number: int, choice: ToolChoice | str) -> None:
        """Expect another tool in one of the calls: one of the list, or whatever was typed."""
        if self.desk is None:
            return
        picked = (
            (choice.server, choice.name) if isinstance(choice, ToolChoice) else typed_choice(self.choices(), choice)
        )
        form = self.desk.form
        self.desk.edit(with_call(form, number, with_tool(form.calls[number], *picked, self.tools.find)))

    def go_back(self, desk: Desk) -> bool:
        """Show an earlier form of a case on its desk, to be saved next; False where there is none."""
        if self._desks.get(desk.case_id) is not desk or not desk.can_go_back:
            return False
        desk.go_back(self.tools.find)
        return True

    def go_forward(self, desk: Desk) -> bool:
        """Show again on its desk what was taken back, to be saved next; False where nothing was."""
        return self._desks.get(desk.case_id) is desk and desk.go_forward(self.tools.find)

    @property
    def desks(self) -> tuple[Desk, ...]:
        """Every case that was put on the desk, and what is typed there."""
        return tuple(self._desks.values())

    def unsaved(self) -> tuple[Desk, ...]:
        """The desks on which something is typed that can and should be saved."""
        return tuple(desk for desk in self._desks.values() if desk.due() is not None)

    async def save(self) -> None:
        """Save every desk that is due; a draft that is refused stays typed, with the reason."""
        async with self._turn:
            await self._save_all()

    async def _save_all(self) -> None:
        for desk in self.unsaved():
            draft = desk.due()
            if draft is not None and not desk.refused:
                await self._save(desk, draft)

    async def _save(self, desk: Desk, draft: CaseDraft) -> None:
        try:
            case = await self._stored(desk, draft)
        except TefError as error:
            desk.refused = f"{error.message} {error.hint}".strip()
            return
        self._cases[case.id] = case
        desk.keep(draft)
        self._move(desk, case.id)

    async def _stored(self, desk: Desk, draft: CaseDraft) -> TestCase:
        case_id = desk.case_id
        if desk.saved is not None:
            return await self._call(lambda core: core.cases.edit(case_id, draft, by=BY))
        return (await self._call(lambda core: core.cases.add([draft], by=BY)))[0]

    def _move(self, desk: Desk, case_id: CaseId) -> None:
        if desk.case_id == case_id:
            return
        self._desks.pop(desk.case_id, None)
        if self.current == desk.case_id:
            self.current = case_id
        desk.case_id = case_id
        self._desks[case_id] = desk

    async def review(self) -> Review:
        """What the core says of the draft on the desk."""
        desk = self.desk
        draft = desk.reading.draft if desk else None
        if desk is None or draft is None:
            return NO_REVIEW
        warnings = await self._call(lambda core: core.cases.warnings(draft))
        if desk.saved is None:
            return Review(warnings)
        case_id = desk.case_id
        results = await self._call(lambda core: core.cases.try_on_last(case_id, draft))
        return Review(warnings, tried(results, self._now()))

    # ------------------------------------------------------------ many at once

    async def duplicate(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        """Copy cases; the ids of the copies."""
        wanted = self.runnable(ids)
        if not wanted:
            return ()
        async with self._turn:
            await self._save_all()
            copies = await self._call(lambda core: core.cases.duplicate(wanted, by=BY))
            self._cases.update((case.id, case) for case in copies)
        return tuple(case.id for case in copies)

    async def remove(self, ids: Sequence[CaseId]) -> tuple[CaseId, ...]:
        """Delete cases, and drop new ones that were never saved; the ids that `restore` brings back."""
        async with self._turn:
            there = tuple(case_id for case_id in ids if case_id in self._cases or case_id in self._desks)
            stored = self.runnable(there)
            if stored:
                await self._call(lambda core: core.cases.remove(stored, by=BY))
            for case_id in there:
                self._cases.pop(case_id, None)
                if case_id in self._desks:
                    self._removed[case_id] = self._desks.pop(case_id)
        if self.current in there:
            self.current = None
        return there

    async def edit_all(self, drafts: Mapping[CaseId, CaseDraft]) -> None:
        """Store other drafts of many cases at once, and show them; what is typed and not saved stays."""
        async with self._turn:
            await self._save_all()
            await self._call(lambda core: core.cases.edit_all(drafts, by=BY))
            await self._refresh(Stale(cases=True))

    async def rename_suite(self, name: str, wanted: str) -> None:
        """Call a suite otherwise, also in what is typed and not saved, and where the cases are narrowed to it."""
        async with self._turn:
            await self._save_all()
            await self._call(lambda core: core.cases.rename_suite(name, wanted, by=BY))
            for desk in (*self._desks.values(), *self._removed.values()):
                desk.rename_suite(name, wanted)
            if name in self.view.filters.of(SUITE.name):
                self.view = replace(self.view, filters=self.view.filters.with_values(SUITE.name, wanted))
            await self._refresh(Stale(cases=True))

    async def restore(self, ids: Sequence[CaseId]) -> None:
        """Bring deleted cases back, with what was typed into them."""
        desks = {case_id: self._removed.pop(case_id) for case_id in ids if case_id in self._removed}
        stored = [case_id for case_id in ids if case_id not in desks or desks[case_id].saved is not None]
        async with self._turn:
            if stored:
                await self._call(lambda core: core.cases.restore(stored, by=BY))
            self._desks.update(desks)
            await self._refresh(Stale(cases=True))


async def _read_servers(core: "Engine") -> tuple[tuple[Server, ...], Tools]:
    servers = await core.servers.list()
    listings: dict[str, Listing] = {}
    for server in servers:
        listing = await core.servers.known_tools(server.id)
        if listing is not None:
            listings[server.name] = listing
    return servers, Tools(listings)
