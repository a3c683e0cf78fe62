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

from app.core_link.model_requests import CoreCall
from app.core_link.refresh import Refresh
from app.core_link.reports import analysis_reports
from app.screens.similarity.analysis import (
    GatheredTools,
    SimilarityAnalysis,
    build_analysis,
    build_heatmap,
    select_tools,
)
from app.screens.similarity.labels import MapKind
from app.screens.similarity.pair_detail import PairDetail, describe_pair
from app.screens.similarity.pair_list import PairIndices, PairList, PairQuery, list_pairs, ordered_pair, pair_row
from app.widgets.heatmap_layout import Heat
from mcp_tef import (
    BatchesChanged,
    BatchProgressed,
    BatchQueued,
    BatchStarted,
    CasesChanged,
    EmbedderChoice,
    EmbedderKind,
    Estimate,
    Event,
    FlagRule,
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
    ToolSet,
    ToolSource,
    UnreachableSource,
    WorkItem,
    parse_embedder,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

ProgressCallback = Callable[[float], None]
MAX_WORK_PAIRS = 20_000
MAX_OBSERVED_TOOLS = 3_000
MAX_OVERLAPS = 100


class SimilarityState(Enum):
    """Reason for an empty map, or FULL."""

    NOT_READ = "not read"
    TOO_FEW = "too few"
    FULL = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRequest:
    """Servers to compare and the embedder. `embedder` "" is the best one here; no servers mean all of them."""

    embedder: str = ""
    servers: tuple[str, ...] = ()

    @property
    def choice(self) -> EmbedderChoice | None:
        """The embedder to ask for."""
        return parse_embedder(self.embedder) if self.embedder else None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkList:
    """The work list at a threshold; `too_many` where more pairs are flagged than anybody works through."""

    items: tuple[WorkItem, ...] = ()
    by_pair: Mapping[PairIndices, WorkItem] = field(default_factory=dict)
    numbers: Mapping[PairStatus, int] = field(default_factory=dict)
    too_many: bool = False


class SimilarityPresenter:
    """The state of the screen. Everything that is asked of the core goes through `ask`."""

    def __init__(self, call: CoreCall, request: ComparisonRequest | None = None) -> None:
        self._call = call
        self.request = request or ComparisonRequest()
        self.key: Secret | None = None
        self.gathered = GatheredTools()
        self.analysis: SimilarityAnalysis | None = None
        self.work_list = WorkList()
        self.advice: dict[PairIndices, PairAdvice] = {}
        self._observed: NDArray[np.float32] | None = None
        self._analysed_for: tuple[ComparisonRequest, Secret | None, tuple[str, ...]] | None = None
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
    def state(self) -> SimilarityState:
        """Reason for an empty map, or FULL."""
        if self.analysis is not None:
            return SimilarityState.FULL
        return SimilarityState.TOO_FEW if self._reading else SimilarityState.NOT_READ

    async def check_consents(self, choice: EmbedderChoice, key: Secret | None) -> bool:
        """Raise ConsentError where the key may not be sent to an embedder yet; True where it may."""
        await self._call(lambda core: _check_consents(core, choice, key))
        return True

    async def load(self, *, fresh: bool = False, anew: bool = False, progress: ProgressCallback | None = None) -> bool:
        """Gather and compare; return False if a later reading overtook this one.

        `fresh` asks the servers again, `anew` compares even what has not changed. `progress` (0–1) is called on the
        core's thread.
        """
        self._reading += 1
        mine, request, key = self._reading, self.request, self.key
        gathered, tools = await self._gather(request, fresh=fresh)
        if mine != self._reading:
            return False
        analysed_for, analysis = (request, key, gathered.compared), self.analysis
        if anew or analysed_for != self._analysed_for:
            analysis = await self._call(lambda core: _analyse(core, tools, request, key, progress)) if tools else None
        observed = await self._observe(analysis)
        if mine != self._reading:
            return False
        if analysis is not self.analysis:
            self.advice.clear()
            self.work_list = WorkList()
        self.gathered, self.analysis, self._observed, self._analysed_for = gathered, analysis, observed, analysed_for
        return True

    def retry_embedder(self) -> None:
        """Compare again at the next loading if another embedder replaced the selected one."""
        if self.analysis is not None and self.analysis.similarity.notice is not None:
            self._analysed_for = None

    async def _gather(self, request: ComparisonRequest, *, fresh: bool) -> tuple[GatheredTools, ToolSet | None]:
        found = await self._call(lambda core: _gather(core, fresh=fresh))
        return await self._call(lambda _: asyncio.to_thread(select_tools, found, request.servers))

    async def _observe(self, analysis: SimilarityAnalysis | None) -> NDArray[np.float32] | None:
        """Return the observed confusions; None if there are too many tools."""
        if analysis is None or len(analysis.tools) > MAX_OBSERVED_TOOLS:
            return None
        return await self._call(lambda core: core.similarity.observed_matrix(analysis.similarity))

    async def heat(self, kind: MapKind, weights: OverlapWeights) -> Heat | None:
        """Return a map, built off the window's thread."""
        analysis, observed = self.analysis, self._observed
        if analysis is None:
            return None
        return await self._call(lambda core: _heat(core, analysis, kind, weights, observed))

    async def load_work(self, threshold: float) -> WorkList | None:
        """Return the work list at a threshold; None if a later call or analysis has replaced it."""
        self._listing += 1
        mine, analysis = self._listing, self.analysis
        if analysis is None:
            work = WorkList()
        elif analysis.similarity.count_flagged(FlagRule(threshold)) > MAX_WORK_PAIRS:
            work = WorkList(too_many=True)
        else:
            work = await self._call(lambda core: _work(core, analysis, threshold))
        if mine != self._listing or analysis is not self.analysis:
            return None
        self.work_list = work
        return work

    async def load_pairs(self, query: PairQuery) -> PairList:
        """Return the rows that match a query."""
        analysis, work, observed = self.analysis, self.work_list, self._observed
        if analysis is None:
            return PairList()
        return await self._call(lambda _: asyncio.to_thread(_listed, analysis, query, work, observed))

    async def detail(self, pair: PairIndices, kind: MapKind, weights: OverlapWeights) -> PairDetail | None:
        """Return one pair side by side; None if it is not compared any more."""
        analysis, observed = self.analysis, self._observed
        if analysis is None or max(pair) >= len(analysis.tools):
            return None
        item = self.work_list.by_pair.get(pair)
        found = await self._call(lambda _: asyncio.to_thread(describe_pair, analysis, pair, item, observed))
        if kind is MapKind.OVERLAP:
            told = await self._call(lambda core: _explain_overlap(core, analysis, pair, weights))
            return replace(found, overlap=told)
        return found

    async def download(self, model: str, progress: ProgressCallback) -> None:
        """Fetch a local model; `progress` is called on the core's thread."""
        await self._call(lambda core: core.embedders.download(model, progress))

    # ------------------------------------------------------------ exports

    async def write_report(self, threshold: float, file: Path) -> None:
        """Write the analysis in the format of the file's ending: CSV, HTML, else JSON."""
        if (results := self.results(threshold)) is not None:
            await self._call(lambda _: analysis_reports().write_similarity(results, file))

    async def report_html(self, threshold: float) -> str:
        """Return the analysis as an HTML page."""
        results = self.results(threshold)
        return await self._call(lambda _: analysis_reports().similarity_page(results)) if results else ""

    def results(self, threshold: float) -> SimilarityResults | None:
        """Return the content of a report at a threshold."""
        analysis, work = self.analysis, self.work_list
        if analysis is None:
            return None
        return SimilarityResults(
            similarity=analysis.similarity, rule=FlagRule(threshold), clusters=analysis.clusters, work=work.items
        )

    async def write_overlap(self, weights: OverlapWeights, file: Path) -> None:
        """Write the overlap of all tools in the format of the file's ending: CSV, HTML, else JSON."""
        if self.analysis is not None:
            similarity = self.analysis.similarity
            overlap = await self._call(lambda core: core.similarity.overlap(similarity, weights))
            await self._call(lambda _: analysis_reports().write_overlap(similarity, overlap, file, limit=MAX_OVERLAPS))

    async def overlap_html(self, weights: OverlapWeights) -> str:
        """Return the overlap of all tools as an HTML page."""
        if self.analysis is None:
            return ""
        similarity = self.analysis.similarity
        overlap = await self._call(lambda core: core.similarity.overlap(similarity, weights))
        return await self._call(lambda _: analysis_reports().overlap_page(similarity, overlap, limit=MAX_OVERLAPS))

    async def work_markdown(self, threshold: float) -> str:
        """Return the pairs of the work list as Markdown."""
        results = self.results(threshold)
        return await self._call(lambda _: analysis_reports().similarity_markdown(results)) if results else ""

    async def pair_markdown(self, pair: PairIndices) -> str:
        """Return a pair as Markdown."""
        analysis = self.analysis
        return (
            await self._call(lambda _: analysis_reports().pair_markdown(analysis.similarity, *pair)) if analysis else ""
        )

    # ------------------------------------------------------------ recommendations

    async def estimate(self, pairs: Sequence[PairIndices], model: ModelSettings) -> Estimate:
        """Estimate what a model's recommendations for these pairs would cost."""
        analysis = self.analysis
        if analysis is None:
            return Estimate(runs=0, tokens=None, cost_usd=None, seconds=None)
        return await self._call(lambda core: core.recommend.estimate(analysis.similarity, tuple(pairs), model))

    async def advise(
        self,
        pairs: Sequence[PairIndices],
        model: ModelSettings | None = None,
        on_answer: Callable[[PairAdvice], None] | None = None,
        cap: float | None = None,
    ) -> tuple[PairAdvice, ...]:
        """Return drafts, or a model's texts under a cost cap; if cancelled, the answers received so far are kept."""
        analysis = self.analysis
        if analysis is None:
            return ()
        places = {one.id: place for place, one in enumerate(analysis.tools)}

        def keep(advice: PairAdvice) -> None:
            if analysis is self.analysis:
                self.advice[ordered_pair(places[advice.a], places[advice.b])] = advice
            if on_answer is not None:
                on_answer(advice)

        return await self._call(
            lambda core: core.recommend.pairs(
                analysis.similarity,
                tuple(pairs),
                model=model,
                max_cost_usd=cap,
                heard=keep,
            )
        )


def _listed(
    analysis: SimilarityAnalysis, query: PairQuery, work: WorkList, observed: NDArray[np.float32] | None
) -> PairList:
    found = list_pairs(analysis, query, work.by_pair, observed)
    return replace(found, table=tuple(pair_row(row) for row in found.rows))


async def _work(core: "Engine", analysis: SimilarityAnalysis, threshold: float) -> WorkList:
    items = await core.similarity.observed(analysis.similarity, FlagRule(threshold))
    return await asyncio.to_thread(count_work, items)


def count_work(items: Sequence[WorkItem]) -> WorkList:
    """Return a work list with its counts."""
    return WorkList(
        items=tuple(items),
        by_pair={(item.pair.a, item.pair.b): item for item in items},
        numbers=Counter(item.standing for item in items),
    )


async def _gather(core: "Engine", *, fresh: bool) -> ToolSet:
    """Return the tools listed last; connect to servers only if `fresh`."""
    servers = await core.servers.list()
    names = [one.name for one in servers if fresh or await core.servers.known_tools(one.id)]
    unseen = tuple(_unseen(one) for one in servers if one.name not in names)
    source = ToolSource(names=tuple(names))
    found = await core.tools.gather(source, fresh=fresh, at_least=0) if names else ToolSet(tools=())
    return replace(found, unreachable=(*found.unreachable, *unseen))


def _unseen(server: Server) -> UnreachableSource:
    return UnreachableSource(server.name, server.reason or "Not connected yet.", server.hint or "")


async def _analyse(
    core: "Engine", tools: ToolSet, request: ComparisonRequest, key: Secret | None, progress: ProgressCallback | None
) -> SimilarityAnalysis:
    key = _key_of(core, request.choice, key)
    similarity = await core.similarity.analyse(tools, embedder=request.choice, key=key, progress=progress)
    clusters = await core.similarity.clusters(similarity)
    found = await asyncio.to_thread(build_analysis, similarity, clusters)
    return replace(found, can_download=_can_download(core, request.choice))


def _can_download(core: "Engine", choice: EmbedderChoice | None) -> bool:
    is_local = choice is None or choice.kind is EmbedderKind.FASTEMBED
    return is_local and core.embedders.can_download(choice.target if choice else "")


async def _check_consents(core: "Engine", choice: EmbedderChoice, key: Secret | None) -> None:
    _key_of(core, choice, key)


def _key_of(core: "Engine", choice: EmbedderChoice | None, typed: Secret | None) -> Secret | None:
    """Return the key to send to the embedder: typed with it, else at hand. The user chose it, address included."""
    core.consents.add_typed_embedder(choice)
    return core.models.embedder_key(choice, typed)


async def _heat(
    core: "Engine",
    analysis: SimilarityAnalysis,
    kind: MapKind,
    weights: OverlapWeights,
    observed: NDArray[np.float32] | None,
) -> Heat:
    scores = await _scores(core, analysis, kind, weights, observed)
    return await asyncio.to_thread(build_heatmap, analysis, kind, scores)


async def _scores(
    core: "Engine",
    analysis: SimilarityAnalysis,
    kind: MapKind,
    weights: OverlapWeights,
    observed: NDArray[np.float32] | None,
) -> NDArray[np.float32]:
    if kind is MapKind.OVERLAP:
        return (await core.similarity.overlap(analysis.similarity, weights)).matrix
    if kind is MapKind.OBSERVED:
        return observed if observed is not None else await core.similarity.observed_matrix(analysis.similarity)
    scored = kind.scored
    assert scored is not None
    return await core.similarity.matrix(analysis.similarity, scored)


async def _explain_overlap(
    core: "Engine", analysis: SimilarityAnalysis, pair: PairIndices, weights: OverlapWeights
) -> str:
    return (await core.similarity.overlap(analysis.similarity, weights)).explain(*pair)
