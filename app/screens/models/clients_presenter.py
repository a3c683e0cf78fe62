"""State of the Clients tab: which cases lose their tool in which client, with runs and sources; knows no Qt."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.text.formatting import count, model_name
from mcp_tef import (
    NOT_OFFERED_CODE,
    PLAIN_API,
    BatchEnded,
    CasesChanged,
    CaseVisibility,
    ClientCase,
    ClientCheck,
    ClientProfile,
    ClientResult,
    Event,
    ImportedItem,
    RunFilter,
    RunMark,
    RunSummary,
    ServersChanged,
    ServerStateChanged,
    TefError,
    TestCase,
    Tool,
    ToolSource,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

VIA: Final = " via "
MOST_BATCHES: Final = 5
NO_TOOLS: Final = "No server has listed its tools yet. Connect one on the Servers screen."
NO_CASES: Final = "No test case expects a tool. Write one on the Test cases screen."


@dataclass(frozen=True, slots=True)
class GridRow:
    """A case: its visibility in each client by name, and the newest run of each model in each client."""

    case: TestCase
    cells: Mapping[str, ClientCase]
    runs: Mapping[str, Sequence[RunSummary]]

    @property
    def differs(self) -> bool:
        """True if some client treats the tool otherwise than another."""
        return len({one.visibility for one in self.cells.values()}) > 1 or len(self._outcomes()) > 1

    def _outcomes(self) -> set[object]:
        return {run.mark for runs in self.runs.values() for run in runs}


@dataclass(slots=True)
class ClientsPresenter:
    """The state of the tab. Everything that is asked of the core goes through `ask`; `problem` is a broken profile."""

    ask: CoreCall
    clients: dict[str, ClientProfile] = field(default_factory=dict)
    checks: dict[str, ClientCheck] = field(default_factory=dict)
    rows: dict[str, GridRow] = field(default_factory=dict)
    results: tuple[ClientResult, ...] = ()
    problem: str = ""
    empty: str = ""

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        match event:
            case CasesChanged() | ServersChanged() | ServerStateChanged():
                return Refresh.LATER
            case BatchEnded(batch) if any(VIA in model for model in batch.models):
                return Refresh.LATER
            case _:
                return Refresh.NONE

    async def load(self) -> None:
        """Read the profiles, and compute offline what each client shows of the tool that each case expects."""
        try:
            found = await self.ask(_profiles)
        except TefError as error:
            self.problem = f"{error.message} {error.hint}".strip()
            return
        self.problem = ""
        self.clients = {one.name: one for one in found}
        cases, tools = await self.ask(_cases), await self.ask(_tools)
        checks = [await self.ask(partial(_checked, profile=one, tools=tools, cases=cases)) for one in found]
        self.checks = {one.view.profile.name: one for one in checks}
        self.empty = NO_CASES if tools else NO_TOOLS
        await self._load_rows(cases)

    async def _load_rows(self, cases: Sequence[TestCase]) -> None:
        runs, self.results = await self.ask(_runs)
        rows = [self._row(case, runs) for case in cases]
        rows = sorted((row for row in rows if row.cells), key=lambda row: not row.differs)
        self.rows = {row.case.id: row for row in rows}
        self.empty = "" if rows else self.empty

    def _row(self, case: TestCase, runs: Mapping[tuple[str, str], Mapping[str, RunSummary]]) -> GridRow:
        cells = {name: one for name, check in self.checks.items() for one in check.cases if one.case_id == case.id}
        asked = {name: tuple(runs[case.id, name].values()) for name in self.clients if (case.id, name) in runs}
        return GridRow(case, cells, asked)

    async def preview(self, file: Path) -> tuple[ImportedItem, ClientProfile, str]:
        """Return what a file's profile would change, with its text. InputError says what is wrong with the file."""
        return await self.ask(partial(_preview, file=file))

    async def keep(self, profile: ClientProfile, text: str) -> str:
        """Keep the text of a profile; return the text that it replaces, or ""."""
        return await self.ask(partial(_keep, profile=profile, text=text))

    async def put_back(self, name: str, text: str, seen: str) -> None:
        """Undo `keep`."""
        await self.ask(partial(_put_back, name=name, text=text, seen=seen))

    # ------------------------------------------------------------ texts

    def shown_clients(self) -> tuple[ClientProfile, ...]:
        """Return the clients of the grid; the plain API shows every tool as it is, so only its runs tell anything."""
        plain = any(PLAIN_API in row.runs for row in self.rows.values())
        return tuple(one for one in self.clients.values() if plain or one.name != PLAIN_API)

    def headline(self) -> str:
        """Return in how many clients every expected tool is shown whole, and which loses most."""
        lost = {check.view.profile.title: _lost(check) for check in self.checks.values()}
        whole = sum(not number for number in lost.values())
        worst = max(lost, key=lambda title: lost[title], default="")
        if not worst or not lost[worst]:
            return f"Every expected tool is shown whole in {count(len(lost), 'client')}."
        number = count(lost[worst], "case")
        return f"Every expected tool is shown whole in {whole} of {count(len(lost), 'client')}; {worst} loses {number}."

    def legend(self) -> dict[CaseVisibility, int]:
        """Return the number of cells of each kind."""
        shown = {one.name for one in self.shown_clients()}
        cells = [one.visibility for row in self.rows.values() for name, one in row.cells.items() if name in shown]
        return {kind: Counter(cells)[kind] for kind in CaseVisibility}

    def short_text(self, name: str) -> str:
        """Return in a few words what a client does to the tools."""
        check = self.checks.get(name)
        if check is None or not check.tools:
            return f"checked {self.clients[name].checked}"
        rule = check.view.profile.search
        sent = f"{rule.results} found by search" if rule else f"{len(check.view.shown):,} of {check.tools:,} shown"
        lost = _lost(check)
        return f"{sent}, {count(lost, 'case')} lost" if lost else sent

    def cell_text(self, row: GridRow, name: str) -> str:
        """Return one sentence on the expected tool of a case in a client."""
        cell, title = row.cells[name], self.clients[name].title
        if cell.visibility is CaseVisibility.SHOWN:
            by = self.checks[name].by
            return f"{title} shows the expected tool" + (f"; its search reads {by}." if by else ".")
        return cell.reason

    def run_text(self, run: RunSummary) -> str:
        """Return the outcome of a run: never shown, or shown and not selected."""
        model = run_model(run)
        if run.failure is not None and run.failure.code == NOT_OFFERED_CODE:
            return f"{model}: not asked, since the tool was not shown."
        if run.failure is not None:
            return f"{model}: {run.failure.message}"
        if run.mark is None:
            return f"{model}: no answer yet."
        if run.mark is not RunMark.WRONG:
            return f"{model}: shown and selected."
        return f"{model}: shown, not selected; it selected {run.selected or 'no tool'}."

    def result_text(self, name: str) -> str:
        """Return how runs in a client did in the newest batch with clients; "" without one."""
        found = [one for one in self.results if one.client.partition("@")[0] == name]
        words = {True: "works", False: "worse than the plain API", None: "cannot tell yet"}
        return " ".join(
            f"{model_name(one.model)}: {one.right:,} of {one.runs:,} correct, {one.not_shown:,} not shown, "
            f"{words[one.works]}."
            for one in found
        )


def run_model(run: RunSummary) -> str:
    """Return the name of the model that a run asked."""
    return model_name(run.model.partition(VIA)[0])


def _lost(check: ClientCheck) -> int:
    return sum(one.visibility is not CaseVisibility.SHOWN for one in check.cases)


async def _profiles(core: "Engine") -> tuple[ClientProfile, ...]:
    return core.clients.profiles()


async def _preview(core: "Engine", file: Path) -> tuple[ImportedItem, ClientProfile, str]:
    return core.clients.preview(file)


async def _keep(core: "Engine", profile: ClientProfile, text: str) -> str:
    return core.clients.keep(profile, text)


async def _put_back(core: "Engine", name: str, text: str, seen: str) -> None:
    core.clients.put_back(name, text, seen=seen)


async def _cases(core: "Engine") -> tuple[TestCase, ...]:
    return await core.cases.list()


async def _tools(core: "Engine") -> tuple[Tool, ...]:
    """Return the tools that servers listed last; no server is started."""
    seen = [one.name for one in await core.servers.list() if await core.servers.known_tools(one.id)]
    found = await core.tools.gather(ToolSource(names=tuple(seen)), at_least=0) if seen else None
    return tuple(one.tool for one in found.tools) if found else ()


async def _checked(
    core: "Engine", profile: ClientProfile, tools: Sequence[Tool], cases: Sequence[TestCase]
) -> ClientCheck:
    return await core.clients.check(profile, tools, cases)


Runs = dict[tuple[str, str], dict[str, RunSummary]]


async def _runs(core: "Engine") -> tuple[Runs, tuple[ClientResult, ...]]:
    """Return the newest run of each case, client and model, and the results of the newest batch with clients."""
    batches = [one for one in await core.runs.batches() if any(VIA in model for model in one.models)][:MOST_BATCHES]
    found: Runs = {}
    for batch in reversed(batches):
        for run in await core.runs.list(RunFilter(batch_id=batch.id)):
            model, via, client = run.model.partition(VIA)
            if via:
                found.setdefault((run.case_id, client.partition("@")[0]), {})[model] = run
    return found, await core.compare.clients(batches[0].id) if batches else ()
