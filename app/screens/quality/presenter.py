"""What the quality screen knows: the report, what of it is shown, and what models said since."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from app.core_link.model_requests import Ask
from app.screens.quality.labels import QualityLevel, level, tokens, unsafe
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

MOST_NAMES = 3
LEVELS = (QualityLevel.ERROR, QualityLevel.WARNING, QualityLevel.NOTE, QualityLevel.FINE)


class QualityState(Enum):
    """What there is to show."""

    NO_SERVERS = "no servers"
    NO_TOOLS = "no tools"
    NOTHING_FITS = "nothing fits"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What is let through; an empty field lets everything through."""

    server: str = ""
    level: str = ""
    text: str = ""

    def lets(self, look: "QualityRow") -> bool:
        """Whether a tool is to be shown."""
        at_level = not self.level or look.level == self.level or (self.level == QualityLevel.RISKS and look.unsafe)
        found = all(word in look.searched for word in self.text.casefold().split())
        return at_level and found and self.server in ("", look.server)


@dataclass(frozen=True, slots=True)
class QualityRow:
    """What lists and filters ask of a tool, worked out once, off the window's thread."""

    server: str
    level: QualityLevel
    unsafe: bool
    searched: str


def look(quality: ToolQuality) -> QualityRow:
    """What lists and filters ask of a tool."""
    tool = quality.tool.tool
    searched = f"{tool.server} {tool.name} {tool.description}".casefold()
    return QualityRow(tool.server, level(quality), unsafe(quality), searched)


@dataclass(frozen=True, slots=True)
class QualitySummary:
    """A report, and the look of each of its tools by id."""

    report: QualityReport
    looks: Mapping[str, QualityRow]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCard:
    """A server in the rail, or all of them (an empty name): its tools, their weight, and how they stand."""

    name: str
    tools: int
    tokens: int
    levels: Mapping[QualityLevel, int]


class QualityPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._reviewed: dict[str, ToolQuality] = {}
        self._tools: dict[str, ToolQuality] = {}
        self._rows: Mapping[str, QualityRow] = {}
        self._levels: dict[str, dict[QualityLevel, int]] = {}
        self._failed_servers: tuple[Server, ...] = ()
        self.report: QualityReport | None = None
        self.filters = Filters()
        self.server_ids: dict[str, ServerId] = {}
        self._loading = 0

    async def load(self) -> bool:
        """Read the servers as last seen and judge their tools by the rules; False where a later reading overtook it."""
        self._loading += 1
        mine = self._loading
        servers = await self._ask(lambda core: core.servers.list())
        found = await self._ask(lambda core: _judge(core, servers)) if servers else None
        if mine != self._loading:
            return False
        self.server_ids = {server.name: server.id for server in servers}
        self._failed_servers = tuple(one for one in servers if one.status is ServerStatus.FAILED)
        self.report, self._rows = (found.report, found.looks) if found else (None, {})
        self._tools = {one.tool.id: self._with_review(one) for one in found.report.tools} if found else {}
        self._levels = _levels(self._rows.values())
        if self.filters.server not in self.server_ids:
            self.filters = replace(self.filters, server="")
        return True

    async def read_servers(self) -> None:
        """Ask every server for its tools as they are now."""
        source = ToolSource(names=tuple(self.server_ids))
        await self._ask(lambda core: core.tools.gather(source, fresh=True, at_least=0))

    def _with_review(self, quality: ToolQuality) -> ToolQuality:
        """What a model said of a definition stays with it until the definition changes."""
        known = self._reviewed.get(quality.tool.id)
        if known is None or known.tool.tool != quality.tool.tool:
            return quality
        return replace(quality, review=known.review, failure=known.failure)

    def tools(self) -> tuple[ToolQuality, ...]:
        """Every tool, from worst to best."""
        return tuple(self._tools.values())

    def get(self, tool_id: str) -> ToolQuality | None:
        """One tool."""
        return self._tools.get(tool_id)

    def ids_of(self, label: ToolLabel) -> tuple[str, ...]:
        """The tools that a label means: on every server where it names none."""
        named = ((tool_id, one.tool.tool) for tool_id, one in self._tools.items() if one.tool.tool.name == label.tool)
        return tuple(tool_id for tool_id, tool in named if label.server in (None, tool.server))

    def shown(self) -> tuple[ToolQuality, ...]:
        """The tools that the filters let through."""
        return tuple(one for one in self._tools.values() if self.is_shown(one))

    def is_shown(self, quality: ToolQuality) -> bool:
        """Whether the filters let a tool through."""
        return self.filters.lets(self._rows[quality.tool.id])

    def current(self) -> QualityReport | None:
        """The report with all that models have said since."""
        return replace(self.report, tools=self.tools()) if self.report else None

    def standing(self) -> QualityState:
        """What there is to show."""
        if not self.server_ids:
            return QualityState.NO_SERVERS
        if not self._tools:
            return QualityState.NO_TOOLS
        return QualityState.FULL if self.shown() else QualityState.NOTHING_FITS

    def levels(self, server: str = "") -> dict[QualityLevel, int]:
        """How many tools stand at each level by their worst finding, and how many are unsafe."""
        return self._levels.get(server) or dict.fromkeys(QualityLevel, 0)

    def cards(self) -> tuple[ServerCard, ...]:
        """All servers together, then each, the heaviest first; nothing where there is only one."""
        weights = sorted(self.report.servers, key=lambda one: (-one.tokens, one.server)) if self.report else []
        if len(weights) < 2:
            return ()
        tools, heavy = sum(one.tools for one in weights), sum(one.tokens for one in weights)
        every = ServerCard(name="", tools=tools, tokens=heavy, levels=self.levels())
        each = (
            ServerCard(name=one.server, tools=one.tools, tokens=one.tokens, levels=self.levels(one.server))
            for one in weights
        )
        return (every, *each)

    def token_summary(self) -> str:
        """What the tools of the chosen server cost: "4,212 tokens when all are offered"."""
        mine = [one for one in self._tools.values() if self.filters.server in ("", one.tool.tool.server)]
        return f"{tokens(sum(one.tokens for one in mine))} when all are offered"

    def badge(self) -> int:
        """How many tools have errors."""
        return self.levels()[QualityLevel.ERROR]

    def missing_summary(self) -> str:
        """Servers that were not looked at or do not answer, and definitions set aside; empty where there are none."""
        missing, aside = (self.report.unreachable, self.report.problems) if self.report else ((), ())
        parts = [f"Not looked at: {_named([one.server for one in missing])}."] if missing else []
        parts += [f"As last seen: {_named([one.name for one in self._stale()])}."] if self._stale() else []
        parts += [f"{count(len(aside), 'definition')} set aside."] if aside else []
        return " ".join(parts)

    def _stale(self) -> list[Server]:
        """Servers that do not answer now, whose tools are known from before."""
        missing = {one.server for one in self.report.unreachable} if self.report else set()
        return [server for server in self._failed_servers if server.name not in missing]

    def missing_reasons(self) -> str:
        """Why, a line each."""
        missing, aside = (self.report.unreachable, self.report.problems) if self.report else ((), ())
        lines = [f"{one.server}: {one.reason} {one.hint}".strip() for one in missing]
        lines += [f"{one.name}, as last seen: {one.reason or ''} {one.hint or ''}".strip() for one in self._stale()]
        lines += [f"{server}, {one.tool or 'a tool without a name'}: {one.reason}" for server, one in aside]
        return "\n".join(lines)

    def take(self, quality: ToolQuality) -> ToolQuality | None:
        """Take what a model said of a tool; the tool as it is now, None where it is gone."""
        self._reviewed[quality.tool.id] = quality
        known = self._tools.get(quality.tool.id)
        if known is None:
            return None
        self._tools[quality.tool.id] = self._with_review(known)
        return self._tools[quality.tool.id]

    async def review(
        self, tools: Sequence[ToolQuality], model: ModelSettings, heard: Callable[[ToolQuality], None]
    ) -> QualityReport:
        """Ask a model of these tools; `heard` is called on the core's thread as each answer comes."""
        chosen = _tool_set(tools)
        return await self._ask(lambda core: core.quality.review(chosen, model=model, heard=heard))

    async def estimate(self, tools: Sequence[ToolQuality], model: ModelSettings) -> Estimate:
        """Estimate what a model's review of these tools would cost."""
        return await self._ask(lambda core: core.quality.estimate(_tool_set(tools), model))

    # ------------------------------------------------------------ exports

    async def report_html(self, report: QualityReport) -> str:
        """Return a report as an HTML page."""
        return await self._ask(lambda core: core.exports.quality_page(report))

    async def write_report(self, report: QualityReport, file: Path) -> None:
        """Write a report in the format of the file's ending."""
        await self._ask(lambda core: core.exports.write_quality(report, file))

    async def findings_markdown(self, tools: Sequence[ToolQuality]) -> str:
        """Return the findings of these tools as Markdown."""
        return await self._ask(lambda core: core.exports.quality_markdown(tools))

    async def open_sample(self) -> None:
        """Add the sample server and its test cases to the workspace."""
        await self._ask(lambda core: core.open_sample())


def _tool_set(tools: Sequence[ToolQuality]) -> ToolSet:
    return ToolSet(tools=tuple(one.tool for one in tools))


def _levels(looks: Iterable[QualityRow]) -> dict[str, dict[QualityLevel, int]]:
    """How many tools stand where, by server; all of them under an empty name."""
    found: dict[str, dict[QualityLevel, int]] = {}
    for one in looks:
        for server in ("", one.server):
            mine = found.setdefault(server, dict.fromkeys(QualityLevel, 0))
            mine[one.level] += 1
            mine[QualityLevel.RISKS] += one.unsafe
    return found


async def _judge(core: "Engine", servers: Sequence[Server]) -> QualitySummary:
    """Judge what was listed when last seen: nothing is started or waited for."""
    seen = [server.name for server in servers if await core.servers.known_tools(server.id)]
    unseen = tuple(_unseen(server) for server in servers if server.name not in seen)
    found = await core.tools.gather(ToolSource(names=tuple(seen)), at_least=0) if seen else ToolSet(tools=())
    report = await core.quality.review(replace(found, unreachable=(*found.unreachable, *unseen)))
    return QualitySummary(report, {one.tool.id: look(one) for one in report.tools})


def _unseen(server: Server) -> UnreachableSource:
    return UnreachableSource(server.name, server.reason or "Nobody has connected to it yet.", server.hint or "")


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(names[:MOST_NAMES])}{more}"


def stale_after(event: Event) -> bool:
    """Whether an event changes what tools there are."""
    match event:
        case ServersChanged():
            return True
        case ServerStateChanged(server):
            return server.status in (ServerStatus.ACTIVE, ServerStatus.FAILED)
    return False
