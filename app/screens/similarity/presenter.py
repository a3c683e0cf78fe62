"""State of the similarity screen and its calls into the core."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.core_link.model_requests import Ask
from app.core_link.refresh import Refresh
from app.dialogs.pdf_export import print_page
from app.screens.similarity.analysis import Analysis, analysis_of, heat_of
from app.screens.similarity.labels import MapKind
from app.screens.similarity.pair_detail import PairDetail, detail_of
from app.screens.similarity.pair_list import PairList, PairQuery, Places, list_pairs, ordered, pair_row
from app.widgets.heatmap_data import Heat
from mcp_tef import (
    BatchesChanged,
    BatchProgressed,
    BatchQueued,
    BatchStarted,
    CasesChanged,
    EmbedderChoice,
    Event,
    ModelSettings,
    NoticePublished,
    OverlapWeights,
    PairAdvice,
    PairStatus,
    RunEnded,
    RunStarted,
    Secret,
    Server,
    SimilarityResults,
    ToolProblem,
    ToolSet,
    ToolSource,
    UnreachableSource,
    WorkItem,
    parse_embedder,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

Progress = Callable[[float], None]
MOST_WORK = 20_000
MOST_OBSERVED = 3_000
MOST_OVERLAPS = 100


class State(Enum):
    """Whether there is anything to show."""

    NOT_READ = "not read"
    TOO_FEW = "too few"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be compared and how. `embedder` "" is the best on this machine; no servers mean all of them."""

    embedder: str = ""
    servers: tuple[str, ...] = ()

    @property
    def choice(self) -> EmbedderChoice | None:
        """The embedder to ask for."""
        return parse_embedder(self.embedder) if self.embedder else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What the servers gave: tools by server, what could not be reached, and what was set aside."""

    by_server: Mapping[str, int] = field(default_factory=dict)
    unreachable: tuple[UnreachableSource, ...] = ()
    problems: tuple[tuple[str, ToolProblem], ...] = ()
    compared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """The work list at a threshold; `too_many` where more pairs are flagged than anybody works through."""

    items: tuple[WorkItem, ...] = ()
    by_pair: Mapping[Places, WorkItem] = field(default_factory=dict)
    numbers: Mapping[PairStatus, int] = field(default_factory=dict)
    too_many: bool = False


class SimilarityPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    def __init__(self, ask: Ask, wanted: Wanted | None = None) -> None:
        self._ask = ask
        self.wanted = wanted or Wanted()
        self.key: Secret | None = None
        self.gathered = Gathered()
        self.analysis: Analysis | None = None
        self.work = Work()
        self.advice: dict[Places, PairAdvice] = {}
        self._observed: NDArray[np.float32] | None = None
        self._made_for: tuple[Wanted, Secret | None, tuple[str, ...]] | None = None
        self._reading = 0
        self._listing = 0

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes what is shown out of date."""
        match event:
            case NoticePublished() | RunStarted() | CasesChanged() | BatchQueued() | BatchStarted():
                return Refresh.NONE
            case RunEnded() | BatchProgressed() | BatchesChanged():
                return Refresh.LATER
            case _:
                return Refresh.NOW

    @property
    def state(self) -> State:
        """Whether there is anything to show."""
        if self.analysis is not None:
            return State.FULL
        return State.TOO_FEW if self._reading else State.NOT_READ

    async def check_consents(self, choice: EmbedderChoice, key: Secret | None) -> bool:
        """Raise ConsentError where the key may not be sent to an embedder yet; True where it may."""
        await self._ask(lambda core: _check_consents(core, choice, key))
        return True

    async def load(self, *, fresh: bool = False, anew: bool = False, progress: Progress | None = None) -> bool:
        """Gather and compare; False where a later reading overtook this one.

        `fresh` asks the servers again, `anew` compares even what has not changed. `progress` (0–1) is called on the
        core's thread.
        """
        self._reading += 1
        mine, wanted, key = self._reading, self.wanted, self.key
        gathered, tools = await self._gather(wanted, fresh=fresh)
        if mine != self._reading:
            return False
        made_for, analysis = (wanted, key, gathered.compared), self.analysis
        if anew or made_for != self._made_for:
            analysis = await self._ask(lambda core: _analyse(core, tools, wanted, key, progress)) if tools else None
        observed = await self._observe(analysis)
        if mine != self._reading:
            return False
        if analysis is not self.analysis:
            self.advice.clear()
            self.work = Work()
        self.gathered, self.analysis, self._observed, self._made_for = gathered, analysis, observed, made_for
        return True

    def try_again(self) -> None:
        """Compare at the next loading, whatever has changed, where another embedder stood in for the wanted one."""
        if self.analysis is not None and self.analysis.similarity.notice is not None:
            self._made_for = None

    async def _gather(self, wanted: Wanted, *, fresh: bool) -> tuple[Gathered, ToolSet | None]:
        found = await self._ask(lambda core: _gather(core, fresh=fresh))
        return await self._ask(lambda _: asyncio.to_thread(_chosen, found, wanted.servers))

    async def _observe(self, analysis: Analysis | None) -> NDArray[np.float32] | None:
        """What runs say of the pairs."""
        if analysis is None or len(analysis.tools) > MOST_OBSERVED:
            return None
        return await self._ask(lambda core: core.similarity.observed_matrix(analysis.similarity))

    async def heat(self, kind: MapKind, weights: OverlapWeights) -> Heat | None:
        """A map, made off the window's thread."""
        analysis, observed = self.analysis, self._observed
        if analysis is None:
            return None
        return await self._ask(lambda core: _heat(core, analysis, kind, weights, observed))

    async def list_work(self, threshold: float) -> Work | None:
        """The work list at a threshold; None where a later one was asked for, or other tools compared meanwhile."""
        self._listing += 1
        mine, analysis = self._listing, self.analysis
        if analysis is None:
            work = Work()
        elif analysis.similarity.count_at(threshold) > MOST_WORK:
            work = Work(too_many=True)
        else:
            work = await self._ask(lambda core: _work(core, analysis, threshold))
        if mine != self._listing or analysis is not self.analysis:
            return None
        self.work = work
        return work

    async def list_pairs(self, query: PairQuery) -> PairList:
        """The rows of the list."""
        analysis, work, observed = self.analysis, self.work, self._observed
        if analysis is None:
            return PairList()
        return await self._ask(lambda _: asyncio.to_thread(_listed, analysis, query, work, observed))

    async def detail(self, pair: Places, kind: MapKind, weights: OverlapWeights) -> PairDetail | None:
        """One pair side by side; None where it is not among the compared any more."""
        analysis, observed = self.analysis, self._observed
        if analysis is None or max(pair) >= len(analysis.tools):
            return None
        item = self.work.by_pair.get(pair)
        found = await self._ask(lambda _: asyncio.to_thread(detail_of, analysis, pair, item, observed))
        if kind is MapKind.OVERLAP:
            told = await self._ask(lambda core: _overlap_told(core, analysis, pair, weights))
            return replace(found, overlap=told)
        return found

    async def download(self, model: str, progress: Progress) -> None:
        """Fetch a local model; `progress` is called on the core's thread."""
        await self._ask(lambda core: core.embedders.download(model, progress))

    async def save(self, file: Path, threshold: float) -> None:
        """Write everything, in the form that the file's ending names: CSV, HTML, PDF, else JSON."""
        results = self.results(threshold)
        if results is not None:
            if file.suffix.casefold() == ".pdf":
                page = await self._ask(lambda core: core.exports.similarity_page(results))
                await print_page(page, "Which tools look alike?", file)
                return
            await self._ask(lambda core: core.exports.write_similarity(results, file))

    def results(self, threshold: float) -> SimilarityResults | None:
        """What there is to report, seen at a threshold."""
        analysis, work = self.analysis, self.work
        if analysis is None:
            return None
        return SimilarityResults(
            similarity=analysis.similarity, threshold=threshold, clusters=analysis.clusters, work=work.items
        )

    async def save_overlap(self, file: Path, weights: OverlapWeights) -> None:
        """Write what tools share, in the form that the file's ending names: CSV, HTML, PDF, else JSON."""
        if self.analysis is not None:
            similarity = self.analysis.similarity
            overlap = await self._ask(lambda core: core.similarity.overlap(similarity, weights))
            if file.suffix.casefold() == ".pdf":
                page = await self._ask(lambda core: core.exports.overlap_page(similarity, overlap, limit=MOST_OVERLAPS))
                await print_page(page, "What do tools share?", file)
                return
            await self._ask(lambda core: core.exports.write_overlap(similarity, overlap, file, limit=MOST_OVERLAPS))

    async def advise(
        self,
        pairs: Sequence[Places],
        model: ModelSettings | None = None,
        heard: Callable[[PairAdvice], None] | None = None,
    ) -> tuple[PairAdvice, ...]:
        """What to write instead: drafts at once, or a model's texts; cancelling keeps what was heard."""
        analysis = self.analysis
        if analysis is None:
            return ()
        places = {one.id: place for place, one in enumerate(analysis.tools)}

        def keep(advice: PairAdvice) -> None:
            if analysis is self.analysis:
                self.advice[ordered(places[advice.a], places[advice.b])] = advice
            if heard is not None:
                heard(advice)

        wanted, key = self.wanted, self.key
        return await self._ask(
            lambda core: core.recommend.pairs(
                analysis.similarity,
                tuple(pairs),
                model=model,
                embedder=wanted.choice,
                embedder_key=_key_of(core, wanted.choice, key),
                heard=keep,
            )
        )


def _listed(analysis: Analysis, query: PairQuery, work: Work, observed: NDArray[np.float32] | None) -> PairList:
    found = list_pairs(analysis, query, work.by_pair, observed)
    return replace(found, table=tuple(pair_row(row) for row in found.rows))


async def _work(core: "Engine", analysis: Analysis, threshold: float) -> Work:
    items = await core.similarity.observed(analysis.similarity, threshold)
    return await asyncio.to_thread(work_of, items)


def work_of(items: Sequence[WorkItem]) -> Work:
    """The work list, counted."""
    return Work(
        items=tuple(items),
        by_pair={(item.pair.a, item.pair.b): item for item in items},
        numbers=Counter(item.standing for item in items),
    )


def _chosen(found: ToolSet, servers: Sequence[str]) -> tuple[Gathered, ToolSet | None]:
    """What was found, and of it what is to be compared."""
    chosen = _only(found, servers)
    gathered = Gathered(
        by_server=dict(Counter(one.tool.server for one in found.tools)),
        unreachable=found.unreachable,
        problems=found.problems,
        compared=tuple(f"{one.id} {one.tool.fingerprint}" for one in chosen.tools),
    )
    return gathered, chosen if len(chosen.tools) > 1 else None


def _only(found: ToolSet, servers: Sequence[str]) -> ToolSet:
    """The tools of some servers; of all where none of them is there."""
    kept = tuple(one for one in found.tools if one.tool.server in servers)
    return replace(found, tools=kept) if kept else found


async def _gather(core: "Engine", *, fresh: bool) -> ToolSet:
    """The tools as they were last seen; nothing is started or waited for, unless `fresh`."""
    servers = await core.servers.list()
    names = [one.name for one in servers if fresh or await core.servers.known_tools(one.id)]
    unseen = tuple(_unseen(one) for one in servers if one.name not in names)
    source = ToolSource(names=tuple(names))
    found = await core.tools.gather(source, fresh=fresh, at_least=0) if names else ToolSet(tools=())
    return replace(found, unreachable=(*found.unreachable, *unseen))


def _unseen(server: Server) -> UnreachableSource:
    return UnreachableSource(server.name, server.reason or "Nobody has connected to it yet.", server.hint or "")


async def _analyse(
    core: "Engine", tools: ToolSet, wanted: Wanted, key: Secret | None, progress: Progress | None
) -> Analysis:
    key = _key_of(core, wanted.choice, key)
    similarity = await core.similarity.analyse(tools, embedder=wanted.choice, key=key, progress=progress)
    clusters = await core.similarity.clusters(similarity)
    return await asyncio.to_thread(analysis_of, similarity, clusters)


async def _check_consents(core: "Engine", choice: EmbedderChoice, key: Secret | None) -> None:
    _key_of(core, choice, key)


def _key_of(core: "Engine", choice: EmbedderChoice | None, typed: Secret | None) -> Secret | None:
    """Return the key to send to the embedder: typed with it, else at hand. The user chose it, address included."""
    core.consents.add_typed_embedder(choice)
    return core.models.embedder_key(choice, typed)


async def _heat(
    core: "Engine", analysis: Analysis, kind: MapKind, weights: OverlapWeights, observed: NDArray[np.float32] | None
) -> Heat:
    scores = await _scores(core, analysis, kind, weights, observed)
    return await asyncio.to_thread(heat_of, analysis, kind, scores)


async def _scores(
    core: "Engine", analysis: Analysis, kind: MapKind, weights: OverlapWeights, observed: NDArray[np.float32] | None
) -> NDArray[np.float32]:
    if kind is MapKind.OVERLAP:
        return (await core.similarity.overlap(analysis.similarity, weights)).matrix
    if kind is MapKind.OBSERVED:
        return observed if observed is not None else await core.similarity.observed_matrix(analysis.similarity)
    scored = kind.scored
    assert scored is not None
    return await core.similarity.matrix(analysis.similarity, scored)


async def _overlap_told(core: "Engine", analysis: Analysis, pair: Places, weights: OverlapWeights) -> str:
    return (await core.similarity.overlap(analysis.similarity, weights)).explain(*pair)
