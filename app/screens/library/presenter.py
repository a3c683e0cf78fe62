"""State and actions of the Library screen: tools, typed designs, versions, executions, files; knows no Qt."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from app.arguments.parameters import parameters_of
from app.arguments.values import ParsedArguments, dumps, errors_by_parameter
from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.screens.kit import ViewState, in_order, matches_all_words
from app.screens.library.design_draft import DesignDraft
from app.screens.library.library_rows import (
    FIELDS,
    NO_CATEGORY,
    ORDERS,
    STATUSES,
    CategoryRow,
    LibraryRow,
    PickedShare,
    category_path,
    category_tree,
    picked_shares,
)
from app.text.formatting import count
from mcp_tef import (
    NEXT_STATUSES,
    BatchEnded,
    CaseId,
    ComparedTool,
    ConsentAnswer,
    ConsentRequest,
    Draft,
    DraftId,
    Event,
    Execution,
    ExecutionStatus,
    ExecutorKind,
    InputError,
    Json,
    LibraryChanged,
    LibraryExecuted,
    LibraryTool,
    LibraryToolId,
    RunFilter,
    RunsChanged,
    ServersChanged,
    Severity,
    SourceKind,
    TakenTools,
    TefError,
    TestCase,
    Tool,
    ToolCategory,
    ToolDesign,
    ToolLabel,
    ToolSet,
    ToolSource,
    ToolStatus,
    ToolVersion,
    apply_consent_answer,
    write_text,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

BY: Final = "library"
MOST_RUNS: Final = 5_000


@dataclass(slots=True)
class ToolDetail:
    """Versions and executions of the selected tool, newest first, and how often each version was selected."""

    versions: tuple[ToolVersion, ...] = ()
    picked: Mapping[int, PickedShare] = field(default_factory=dict)
    executions: tuple[Execution, ...] = ()
    cases: tuple[CaseId, ...] = ()
    finding: str = ""


@dataclass(slots=True)
class LibraryPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    ask: CoreCall
    view: ViewState = field(default_factory=ViewState)
    rows: dict[str, LibraryRow] = field(default_factory=dict)
    categories: tuple[ToolCategory, ...] = ()
    server: str = "Library"
    drafts: dict[str, DesignDraft] = field(default_factory=dict)
    selected: str = ""
    detail: ToolDetail = field(default_factory=ToolDetail)
    execution_statuses: tuple[ExecutionStatus, ...] = ()
    execution_text: str = ""
    _loading: int = 0

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        match event:
            case LibraryChanged() | ServersChanged():
                return Refresh.NOW
            case LibraryExecuted(execution) if execution.tool_id == self.selected:
                return Refresh.LATER
            case RunsChanged() | BatchEnded():
                return Refresh.LATER
            case _:
                return Refresh.NONE

    # ------------------------------------------------------------ the list

    async def load(self) -> bool:
        """Read the tools and the details of the selected one; return False if a later call has replaced this one."""
        self._loading += 1
        mine = self._loading
        tools, categories, server = await self.ask(_read)
        if mine != self._loading:
            return False
        self.categories, self.server = categories, server
        parents = {one.name: one.parent for one in categories}
        self.rows = {
            one.id: LibraryRow(tool=one, categories=category_path(one.design.category, parents)) for one in tools
        }
        self.drafts = {key: draft for key, draft in self.drafts.items() if key in self.rows}
        return True

    def shown(self) -> tuple[LibraryRow, ...]:
        """Return the tools that pass search and filters, sorted."""
        found = (row for row in self.rows.values() if FIELDS.fits(row, self.view.filters) and self._matches(row))
        return tuple(in_order(found, ORDERS, self.view.sort.name))

    def _matches(self, row: LibraryRow) -> bool:
        design = row.tool.design
        words = (design.name, design.display_name, design.description, *design.tags)
        return matches_all_words(" ".join(words), self.view.text)

    def category_rows(self) -> tuple[CategoryRow, ...]:
        """Return all tools, then each category below its parent, then the tools without one."""
        counted = {one.name: sum(one.name in row.categories for row in self.rows.values()) for one in self.categories}
        rows = [CategoryRow(key="", title="All tools", tools=len(self.rows))]
        rows += category_tree(self.categories, counted, None, 0)
        without = sum(not row.categories for row in self.rows.values())
        if self.categories and without:
            rows.append(CategoryRow(key=NO_CATEGORY, title="No category", tools=without))
        return tuple(rows)

    def status_counts(self) -> Mapping[ToolStatus, int]:
        """Return the number of tools of each status."""
        return {one: sum(row.tool.status is one for row in self.rows.values()) for one in STATUSES}

    def summary(self) -> str:
        """Return the totals: "14 tools, 8 active"."""
        active = self.status_counts()[ToolStatus.ACTIVE]
        return f"{count(len(self.rows), 'tool')}, {active:,} active" if self.rows else ""

    @property
    def tool(self) -> LibraryTool | None:
        """The selected tool."""
        row = self.rows.get(self.selected)
        return row.tool if row else None

    @property
    def label(self) -> ToolLabel | None:
        """The selected tool as other screens know it; None while it is disabled, since none lists it then."""
        tool = self.tool
        if tool is None or tool.status is ToolStatus.DISABLED:
            return None
        return ToolLabel(tool=tool.name, server=self.server)

    def id_of(self, name: str) -> str:
        """Return the id of a tool by its name; "" if there is none."""
        return next((key for key, row in self.rows.items() if row.tool.name == name), "")

    def next_statuses(self) -> tuple[ToolStatus, ...]:
        """Return the statuses that the selected tool can get."""
        return NEXT_STATUSES[self.tool.status] if self.tool else ()

    # ------------------------------------------------------------ the selected tool

    async def select(self, tool_id: str) -> bool:
        """Read the details of a tool; return False if another one was selected meanwhile."""
        if tool_id != self.selected:
            self.selected, self.detail = tool_id, ToolDetail()
        row = self.rows.get(tool_id)
        if row is None:
            return True
        name, statuses, text, server = row.tool.name, self.execution_statuses, self.execution_text, self.server

        async def read(core: "Engine") -> ToolDetail:
            cases = [one.id for one in await core.cases.list() if _expects(one, name, server)]
            history = await core.library_runs.history(name, statuses=statuses, text=text)
            versions = await core.library.versions(name)
            runs = await core.runs.list(RunFilter(expected=ToolLabel(tool=name, server=server)), limit=MOST_RUNS)
            shares = picked_shares(name, server, versions, runs)
            return ToolDetail(versions, shares, history, tuple(cases))

        try:
            detail = await self.ask(read)
        except TefError:
            return False
        if self.selected != tool_id:
            return False
        self.detail = replace(detail, finding=self.detail.finding)
        return True

    @property
    def draft(self) -> DesignDraft:
        """The design of the selected tool as typed."""
        tool = self.tool
        kept = self.drafts.get(self.selected)
        return kept or (DesignDraft.of(tool.design) if tool else DesignDraft())

    def type(self, draft: DesignDraft) -> None:
        """Keep what was typed; a design that is as it was needs no saving."""
        tool = self.tool
        if tool is None:
            return
        if draft == DesignDraft.of(tool.design):
            self.drafts.pop(self.selected, None)
        else:
            self.drafts[self.selected] = draft

    @property
    def unsaved(self) -> bool:
        """True if the selected tool has a design that is not saved."""
        return self.selected in self.drafts

    async def fault(self) -> str:
        """Return one sentence about the design as typed, of what keeps it from being saved; "" if nothing does."""
        try:
            design = self.draft.design()
            await self.ask(lambda core: core.library.require_sound(design))
        except InputError as error:
            return f"{error.message} {error.hint}".strip()
        return ""

    async def worst_finding(self) -> str:
        """Return the worst finding of Quality on the design as typed; "" if there is none, or it cannot be read."""
        try:
            tool = self.draft.design().tool
        except InputError:
            return ""
        judged = ToolSet(tools=(ComparedTool(id=tool.name, tool=tool),))
        report = await self.ask(lambda core: core.quality.review(judged))
        order = list(Severity)
        found = sorted(report.tools[0].findings, key=lambda one: (order.index(one.rule.severity), -one.penalty))
        return f"{found[0].rule.title}: {found[0].sentence}".replace("`", "") if found else ""

    async def save(self, changelog: str) -> LibraryTool | None:
        """Keep the typed design as a new version; InputError for one that is not sound."""
        tool = self.tool
        if tool is None or not self.unsaved:
            return tool
        typed, design = self.draft, self.draft.design()
        saved = await self.ask(lambda core: core.library.edit(tool.name, design, seen=tool, changelog=changelog, by=BY))
        if self.drafts.get(tool.id) == typed:
            self.drafts.pop(tool.id)
        return saved

    def discard(self) -> None:
        """Drop what was typed."""
        self.drafts.pop(self.selected, None)

    async def add(self, design: ToolDesign) -> LibraryTool:
        """Keep a new tool as a draft."""
        return await self.ask(lambda core: core.library.add(design, by=BY))

    async def set_status(self, status: ToolStatus) -> LibraryTool | None:
        """Give the selected tool another status."""
        tool = self.tool
        return tool and await self.ask(lambda core: core.library.set_status(tool.name, status, seen=tool, by=BY))

    async def delete(self, names: Sequence[str]) -> Sequence[LibraryToolId]:
        """Delete tools, which `restore` undoes."""
        return await self.ask(lambda core: core.library.delete(names, by=BY))

    async def restore(self, ids: Sequence[LibraryToolId]) -> None:
        """Undo a deletion."""
        await self.ask(lambda core: core.library.restore(ids, by=BY))

    async def restore_version(self, version: int) -> None:
        """Make an earlier version of the selected tool the newest again."""
        if (tool := self.tool) is not None:
            await self.ask(lambda core: core.library.restore_version(tool.name, version, by=BY))

    async def ensure_category(self, path: str) -> str:
        """Return the name of the category at a path, which is made where it is not there."""
        return await self.ask(lambda core: core.library.ensure_category(path))

    async def differences(self, before: int, after: int) -> tuple[tuple[str, str, str], ...]:
        """Return the fields that differ between two versions: path, old and new value."""
        tool = self.tool
        if tool is None:
            return ()
        changes = await self.ask(lambda core: core.library.compare(tool.name, before, after))
        return tuple((" / ".join(map(str, path)), _plain(old), _plain(new)) for path, (old, new) in changes.items())

    async def errors(self, parsed: ParsedArguments) -> Mapping[str, str]:
        """Return what keeps an execution from being started, by parameter."""
        tool, arguments = self.tool, parsed.arguments
        if tool is None or arguments is None:
            return parsed.faults
        problems = await self.ask(lambda core: core.calls.problems(tool.design.tool, arguments))
        return errors_by_parameter(problems, parameters_of(tool.design.input_schema))

    async def execute(self, arguments: Mapping[str, Json]) -> Execution:
        """Execute the selected tool; ConsentError, InputError where it did not begin."""
        tool = self.tool
        if tool is None:
            raise InputError("No tool is selected.", hint="Select a tool first.")
        return await self.ask(lambda core: core.library_runs.run(tool.name, arguments, caller_id="window"))

    async def allow(self, request: ConsentRequest) -> None:
        """Allow the program or address of a tool as it is now."""
        await self.ask(lambda core: apply_consent_answer(core, request=request, answer=ConsentAnswer.ALLOW))

    async def allowed_to_serve(self) -> bool:
        """Return True; ConsentError while a served tool is not allowed, since nobody can be asked while it serves."""

        async def check(core: "Engine") -> bool:
            await core.served_library.refresh()
            await core.library_runs.require_consent(*core.served_library.designs)
            return True

        return await self.ask(check)

    async def serve(self, call: Callable[..., Awaitable[None]], tell: Callable[[str], object], token: str) -> None:
        """Serve the library at a free port until it is cancelled; `tell` hears the address on the core's thread."""
        what = "Serves the library to clients on this computer"
        await call(what, lambda core: core.serve_library(tell, http=(0, token)), slow_s=0)

    async def take(self, source: ToolSource, *, replacing: bool = False) -> TakenTools:
        """Take the tools of a tools file or a server into the library; those of a server are carried out by it."""

        async def take(core: "Engine") -> TakenTools:
            found = await core.tools.gather(source, at_least=1)
            for one in found.unreachable:
                raise InputError(f"{one.server} could not be read. {one.reason}", hint=one.hint)
            tools = [(one.tool.raw, _calling(source, one.tool)) for one in found.tools]
            taken = await core.library.take(tools, replacing=replacing, by=BY)
            if source.kind is SourceKind.SERVERS:
                await core.library_runs.allow_calls(source.names[0], taken.added)
            return taken

        return await self.ask(take)

    async def put_back(self, taken: TakenTools) -> None:
        """Undo an import."""
        await self.ask(lambda core: core.library.put_back(taken, by=BY))

    async def take_draft(self, draft: DraftId, *, replacing: bool = False) -> TakenTools:
        """Take the tools of a draft of the Workshop into the library."""

        async def take(core: "Engine") -> TakenTools:
            tools = (await core.drafts.get(draft)).tools
            return await core.library.take([(raw, None) for raw in tools], replacing=replacing, by=BY)

        return await self.ask(take)

    async def sources(self) -> tuple[tuple[str, ...], tuple[Draft, ...]]:
        """Return the names of the servers and the drafts whose tools can be taken."""
        servers = await self.ask(lambda core: core.servers.list())
        drafts = await self.ask(lambda core: core.drafts.list())
        return tuple(one.name for one in servers if not one.spec.is_library), tuple(drafts)

    async def write_file(self, path: Path, names: Sequence[str] = ()) -> None:
        """Write tools, or all of them, to a tools file."""
        exported = await self.ask(lambda core: core.library.export(names))
        await asyncio.to_thread(write_text, path, dumps(exported, indent=2) + "\n")


def _expects(case: TestCase, tool: str, server: str) -> bool:
    calls = (call for calls in case.draft.expectation.alternatives for call in calls)
    return any(call.tool == tool and call.server in (None, server) for call in calls)


def _calling(source: ToolSource, tool: Tool) -> ToolDesign | None:
    """Return a design that is carried out by a tool of a server; None where it comes from a file."""
    if source.kind is not SourceKind.SERVERS:
        return None
    config = {"server": tool.server, "tool": tool.name}
    return ToolDesign(name=tool.name, input_schema={}, executor=ExecutorKind.MCP, config=config)


async def _read(core: "Engine") -> tuple[tuple[LibraryTool, ...], tuple[ToolCategory, ...], str]:
    servers = await core.servers.list()
    server = next((one.name for one in servers if one.spec.is_library), "Library")
    return await core.library.list(), await core.library.categories(), server


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return dumps(value)
    except TypeError:
        return ""
