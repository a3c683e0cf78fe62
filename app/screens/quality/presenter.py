"""State of the quality screen and its calls into the core; knows no Qt."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.core_link.reports import analysis_reports
from app.screens.kit import FilterField, FilterFields, FilterValues, ViewState, matches_all_words
from app.screens.quality.labels import QualityLevel, level, unsafe
from app.text.formatting import count
from mcp_tef import (
    Estimate,
    Event,
    ModelSettings,
    QualityReport,
    Server,
    ServerId,
    ServersChanged,
    ServerStateChanged,
    ServerStatus,
    ToolLabel,
    ToolQuality,
    ToolSet,
    ToolSource,
    UnreachableSource,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

MAX_NAMES: Final = 3
LEVELS: Final = (QualityLevel.ERROR, QualityLevel.WARNING, QualityLevel.NOTE, QualityLevel.FINE)


class QualityState(Enum):
    """Reason for an empty list, or FULL."""

    NO_SERVERS = "no servers"
    NO_TOOLS = "no tools"
    NOTHING_FITS = "nothing fits"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class QualityRow:
    """Properties of a tool that search and filters read, computed once on the core's thread."""

    server: str
    level: QualityLevel
    unsafe: bool
    searched: str


def quality_row(quality: ToolQuality) -> QualityRow:
    """Return the properties of a tool that search and filters read."""
    tool = quality.tool.tool
    return QualityRow(tool.server, level(quality), unsafe(quality), f"{tool.server} {tool.name} {tool.description}")


SERVER: Final[FilterField[QualityRow]] = FilterField(name="server", fits=lambda row, value: row.server == value)
LEVEL: Final[FilterField[QualityRow]] = FilterField(
    name="level",
    texts={
        QualityLevel.ERROR: "Errors",
        QualityLevel.WARNING: "Warnings",
        QualityLevel.NOTE: "Notes",
        QualityLevel.FINE: "No issues",
        QualityLevel.RISKS: "Poisoned or hidden",
    },
    fits=lambda row, value: row.level == value or (value == QualityLevel.RISKS and row.unsafe),
)
FIELDS: Final = FilterFields((SERVER, LEVEL))


@dataclass(frozen=True, slots=True)
class JudgedTools:
    """A report, and the row of each of its tools by id."""

    report: QualityReport
    rows: Mapping[str, QualityRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCard:
    """A server in the list, or all servers (an empty name): tools, tokens, and tools by level."""

    name: str
    tools: int
    tokens: int
    levels: Mapping[QualityLevel, int]


class QualityPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask
        self._reviewed: dict[str, ToolQuality] = {}
        self._tools: dict[str, ToolQuality] = {}
        self._rows: Mapping[str, QualityRow] = {}
        self._levels: dict[str, dict[QualityLevel, int]] = {}
        self._failed_servers: tuple[Server, ...] = ()
        self.report: QualityReport | None = None
        self.view = ViewState()
        self.server_ids: dict[str, ServerId] = {}
        self._loading = 0

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes the report out of date: it depends on the listed tools only."""
        match event:
            case ServersChanged():
                return Refresh.NOW
            case ServerStateChanged(server) if server.status in (ServerStatus.ACTIVE, ServerStatus.FAILED):
                return Refresh.NOW
            case _:
                return Refresh.NONE

    async def load(self) -> bool:
        """Judge the tools that the servers listed last; return False if a later call has replaced this one."""
        self._loading += 1
        mine = self._loading
        servers = await self._ask(lambda core: core.servers.list())
        judged = await self._ask(lambda core: _judge(core, servers)) if servers else None
        if mine != self._loading:
            return False
        self.server_ids = {server.name: server.id for server in servers}
        self._failed_servers = tuple(one for one in servers if one.status is ServerStatus.FAILED)
        self._take_judged(judged)
        if self.server not in self.server_ids:
            self.view = replace(self.view, filters=self.view.filters.with_values(SERVER.name))
        return True

    def _take_judged(self, judged: JudgedTools | None) -> None:
        self.report, self._rows = (judged.report, judged.rows) if judged else (None, {})
        self._tools = {one.tool.id: self._with_review(one) for one in judged.report.tools} if judged else {}
        self._levels = _count_levels(self._rows.values())

    @property
    def server(self) -> str:
        """Name of the server that the list is limited to; "" for all servers."""
        return self.view.filters.first(SERVER.name)

    def set_filter(self, field: FilterField[QualityRow], value: str) -> FilterValues:
        """Return the filters with one value in a field; "" clears the field."""
        return self.view.filters.with_values(field.name, *([value] if value else []))

    async def read_servers(self) -> None:
        """Read the tools of all servers again."""
        source = ToolSource(names=tuple(self.server_ids))
        await self._ask(lambda core: core.tools.gather(source, fresh=True, at_least=0))

    def _with_review(self, quality: ToolQuality) -> ToolQuality:
        """Add the model's review of the same definition, if there is one."""
        known = self._reviewed.get(quality.tool.id)
        if known is None or known.tool.tool != quality.tool.tool:
            return quality
        return replace(quality, review=known.review, failure=known.failure)

    def tools(self) -> tuple[ToolQuality, ...]:
        """Return all tools, worst first."""
        return tuple(self._tools.values())

    def get(self, tool_id: str) -> ToolQuality | None:
        """Return a tool by id; None if it no longer exists."""
        return self._tools.get(tool_id)

    def ids_of(self, label: ToolLabel) -> tuple[str, ...]:
        """Return the ids of the tools that a label matches, on any server if it names none."""
        named = ((tool_id, one.tool.tool) for tool_id, one in self._tools.items() if one.tool.tool.name == label.tool)
        return tuple(tool_id for tool_id, tool in named if label.server in (None, tool.server))

    def shown(self) -> tuple[ToolQuality, ...]:
        """Return the tools that pass search and filters."""
        return tuple(one for one in self._tools.values() if self.is_shown(one))

    def is_shown(self, quality: ToolQuality) -> bool:
        """Return True if a tool passes search and filters."""
        row = self._rows[quality.tool.id]
        return FIELDS.fits(row, self.view.filters) and matches_all_words(row.searched, self.view.text)

    def current(self) -> QualityReport | None:
        """Return the report with all model reviews."""
        return replace(self.report, tools=self.tools()) if self.report else None

    @property
    def state(self) -> QualityState:
        """Reason for an empty list, or FULL."""
        if not self.server_ids:
            return QualityState.NO_SERVERS
        if not self._tools:
            return QualityState.NO_TOOLS
        return QualityState.FULL if self.shown() else QualityState.NOTHING_FITS

    def levels(self, server: str = "") -> dict[QualityLevel, int]:
        """Return the number of tools by the level of their worst finding; RISKS counts unsafe tools."""
        return self._levels.get(server) or dict.fromkeys(QualityLevel, 0)

    def cards(self) -> tuple[ServerCard, ...]:
        """Return a card for all servers, then one for each, most tokens first; none for a single server."""
        counts = sorted(self.report.servers, key=lambda one: (-one.tokens, one.server)) if self.report else []
        if len(counts) < 2:
            return ()
        tools, tokens = sum(one.tools for one in counts), sum(one.tokens for one in counts)
        every = ServerCard(name="", tools=tools, tokens=tokens, levels=self.levels())
        each = (
            ServerCard(name=one.server, tools=one.tools, tokens=one.tokens, levels=self.levels(one.server))
            for one in counts
        )
        return (every, *each)

    def token_summary(self) -> str:
        """Return the tokens of the shown server's tools: "4,212 tokens if all are offered"."""
        tools = [one for one in self._tools.values() if self.server in ("", one.tool.tool.server)]
        return f"{count(sum(one.tokens for one in tools), 'token')} if all are offered"

    def badge(self) -> int:
        """Return the number of tools with errors."""
        return self.levels()[QualityLevel.ERROR]

    def missing_summary(self) -> str:
        """Return which servers are missing, outdated or read in part, and the first note; "" if there is nothing."""
        missing, cut = (self.report.unreachable, self.report.problems) if self.report else ((), ())
        parts = [f"Not checked: {_first_names([one.server for one in missing])}."] if missing else []
        parts += [f"Not up to date: {_first_names([one.name for one in self._stale()])}."] if self._stale() else []
        parts += [f"Tool list incomplete: {_first_names(list(dict.fromkeys(name for name, _ in cut)))}."] if cut else []
        return " ".join((*parts, *self._notes()[:1]))

    def _notes(self) -> tuple[str, ...]:
        return self.report.notes if self.report else ()

    def _stale(self) -> list[Server]:
        """Return the servers that do not respond now, with tools known from before."""
        missing = {one.server for one in self.report.unreachable} if self.report else set()
        return [server for server in self._failed_servers if server.name not in missing]

    def missing_reasons(self) -> str:
        """Return the reasons for `missing_summary`, one per line."""
        missing, cut = (self.report.unreachable, self.report.problems) if self.report else ((), ())
        lines = [f"{one.server}: {one.reason} {one.hint}".strip() for one in missing]
        lines += [f"{one.name}, not up to date: {one.reason or ''} {one.hint or ''}".strip() for one in self._stale()]
        lines += [f"{server}: {one.reason}" for server, one in cut]
        return "\n".join((*lines, *self._notes()))

    def add_review(self, quality: ToolQuality) -> ToolQuality | None:
        """Keep a model's review; return the tool with it, None if the tool no longer exists."""
        self._reviewed[quality.tool.id] = quality
        known = self._tools.get(quality.tool.id)
        if known is None:
            return None
        self._tools[quality.tool.id] = self._with_review(known)
        return self._tools[quality.tool.id]

    async def review(
        self,
        tools: Sequence[ToolQuality],
        model: ModelSettings,
        on_answer: Callable[[ToolQuality], None],
        cap: float | None = None,
    ) -> QualityReport:
        """Ask a model to review tools under a cost cap; `on_answer` is called with each answer on the core's thread."""
        chosen = _tool_set(tools)
        return await self._ask(lambda core: core.quality.review(chosen, model=model, max_cost_usd=cap, heard=on_answer))

    async def ignore(self, quality: ToolQuality, rule: str, reason: str) -> None:
        """Accept the findings of a rule in a tool, until its text changes; they count once the page is refreshed."""

        async def keep(core: "Engine") -> None:
            core.quality.ignore(quality, rule, reason)

        await self._ask(keep)

    async def restore(self, tool_id: str, rule: str) -> None:
        """Report the findings of a rule in a tool again."""

        async def drop(core: "Engine") -> None:
            core.quality.restore(tool_id, rule)

        await self._ask(drop)

    async def estimate(self, tools: Sequence[ToolQuality], model: ModelSettings) -> Estimate:
        """Estimate what a model's review of these tools would cost."""
        return await self._ask(lambda core: core.quality.estimate(_tool_set(tools), model))

    # ------------------------------------------------------------ exports

    async def report_html(self, report: QualityReport) -> str:
        """Return a report as an HTML page."""
        return await self._ask(lambda _: analysis_reports().quality_page(report))

    async def write_report(self, report: QualityReport, file: Path) -> None:
        """Write a report in the format of the file's ending."""
        await self._ask(lambda _: analysis_reports().write_quality(report, file))

    async def findings_markdown(self, tools: Sequence[ToolQuality]) -> str:
        """Return the findings of these tools as Markdown."""
        return await self._ask(lambda _: analysis_reports().quality_markdown(tools))

    async def open_sample(self) -> None:
        """Add the sample server and its test cases to the workspace."""
        await self._ask(lambda core: core.open_sample())


def _tool_set(tools: Sequence[ToolQuality]) -> ToolSet:
    return ToolSet(tools=tuple(one.tool for one in tools))


def _count_levels(rows: Iterable[QualityRow]) -> dict[str, dict[QualityLevel, int]]:
    """Count tools by server and level; "" is all servers."""
    counts: dict[str, dict[QualityLevel, int]] = {}
    for row in rows:
        for server in ("", row.server):
            by_level = counts.setdefault(server, dict.fromkeys(QualityLevel, 0))
            by_level[row.level] += 1
            by_level[QualityLevel.RISKS] += row.unsafe
    return counts


async def _judge(core: "Engine", servers: Sequence[Server]) -> JudgedTools:
    """Judge the tools listed last, without connecting to any server."""
    seen = [server.name for server in servers if await core.servers.known_tools(server.id)]
    unseen = tuple(_unseen(server) for server in servers if server.name not in seen)
    found = await core.tools.gather(ToolSource(names=tuple(seen)), at_least=0) if seen else ToolSet(tools=())
    report = await core.quality.review(replace(found, unreachable=(*found.unreachable, *unseen)))
    return JudgedTools(report, {one.tool.id: quality_row(one) for one in report.tools})


def _unseen(server: Server) -> UnreachableSource:
    return UnreachableSource(server.name, server.reason or "Not connected yet.", server.hint or "")


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"{', '.join(names[:MAX_NAMES])}{more}"
