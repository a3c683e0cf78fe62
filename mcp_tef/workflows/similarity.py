"""Similarity analyses: tool texts are embedded, then compared."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import EmbeddingError
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import (
    Clusters,
    ComparedTool,
    EmbedderChoice,
    EmbedderKind,
    FlagRule,
    MatrixKind,
    OverlapWeights,
    PairScores,
    ToolSet,
    WorkItem,
)
from mcp_tef.model.tools import Tool, ToolLabel
from mcp_tef.model.verdicts import Classification
from mcp_tef.ports import Embedder, Embedders, Lexicon, MetricsStore, Progress, TextIndex
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.clusters import clusters
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.scoring.similarity.signals import Matrix, Meaning, Places, Signal, Vectors, WeighedWords
from mcp_tef.scoring.similarity.tool_texts import (
    UNRELATED,
    description_text,
    full_text,
    says_something,
    without_boilerplate,
)
from mcp_tef.statistics.confusion import Confusions, Past, work_list
from mcp_tef.statistics.history import History

PORTION = 256
LARGEST_SQUARE = 12_000
_WORDS = EmbedderChoice(EmbedderKind.TFIDF)
_NO_MODEL = "No embedding model is on this machine: tools are compared by their words (TF-IDF), not by meaning."


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest:
    """Requested embedder (None: the best on this machine) and scores. `strict`: that embedder or none."""

    embedder: EmbedderChoice | None = None
    full: bool = True
    key: Secret | None = None
    strict: bool = False


class EmbeddingService:
    """Finds an embedder and puts texts through it, in portions, so that it can be watched and stopped."""

    def __init__(self, embedders: Embedders, lexicon: Lexicon) -> None:
        self._embedders = embedders
        self._lexicon = lexicon

    async def meaning(self, tools: Sequence[Tool], wanted: EmbeddingRequest, progress: Progress) -> Meaning:
        """Return the tools' texts as something comparable; EmbeddingError only where `strict`."""
        try:
            embedder, notice = await self._find(wanted)
            return await self._by(embedder, notice, tools, wanted.full, progress)
        except EmbeddingError as error:
            if wanted.strict:
                raise
            notice = f"{error.message} Tools are compared by their words (TF-IDF) instead, not by meaning."
            return await self._by(await self._embedders.find(_WORDS), notice, tools, wanted.full, progress)

    async def _find(self, wanted: EmbeddingRequest) -> tuple[Embedder, str | None]:
        if wanted.embedder is not None:
            return await self._embedders.find(wanted.embedder, wanted.key), None
        embedder = await self._embedders.best()
        return embedder, _NO_MODEL if embedder.name == EmbedderKind.TFIDF else None

    async def _by(
        self, embedder: Embedder, notice: str | None, tools: Sequence[Tool], full: bool, progress: Progress
    ) -> Meaning:
        described, whole = await asyncio.to_thread(_texts, tools, full)
        if embedder.name == EmbedderKind.TFIDF:
            return await self._by_words(described, whole, notice)
        vectors = await _embedded(embedder, [*described, *(whole or ()), *UNRELATED], progress)
        n = len(tools)
        return Meaning(
            embedder=embedder.name,
            described=Vectors(vectors[:n]),
            full=Vectors(vectors[n : 2 * n]) if whole else None,
            level=_level(vectors[-len(UNRELATED) :]),
            notice=notice,
        )

    async def _by_words(self, described: Sequence[str], whole: Sequence[str] | None, notice: str | None) -> Meaning:
        squares = [await self._overlaps(texts) for texts in (described, whole) if texts is not None]
        return Meaning(
            embedder=str(EmbedderKind.TFIDF), described=squares[0], full=squares[1] if whole else None, notice=notice
        )

    async def _overlaps(self, texts: Sequence[str]) -> Signal:
        """Compute the overlaps of the texts, term by term where there are too many for a square matrix."""
        if not 0 < len(texts) <= LARGEST_SQUARE:
            return await asyncio.to_thread(WeighedWords, texts)
        return Overlaps(await self._lexicon.index(texts))


class Overlaps:
    """Overlaps of the words of texts; a signal that works out its square when it is asked for."""

    def __init__(self, index: TextIndex) -> None:
        self._index = index

    def matrix(self) -> Matrix:
        """Return all texts against all."""
        return self._index.overlaps()

    def rows(self, start: int, stop: int) -> Matrix:
        """Return some texts against all from the first of them on."""
        return self.matrix()[start:stop, start:]

    def at(self, a: Places, b: Places) -> Matrix:
        """Return single pairs."""
        return self._index.pairs(a, b)


def _texts(tools: Sequence[Tool], full: bool) -> tuple[list[str], list[str] | None]:
    """Return the texts to compare: name and description, and parameters if requested."""
    tools = without_boilerplate(tools)
    return [description_text(tool) for tool in tools], [full_text(tool) for tool in tools] if full else None


def _different(texts: Sequence[str]) -> list[str]:
    """Return the texts that say something, each once, those of like length together."""
    return sorted({text for text in texts if says_something(text)}, key=len)


async def _embedded(embedder: Embedder, texts: Sequence[str], progress: Progress) -> NDArray[np.float32]:
    """Return one vector a text, equal texts embedded once; of length 0 for a text that says nothing."""
    different = await asyncio.to_thread(_different, texts)
    portions = []
    for start in range(0, len(different), PORTION):
        portions.append(await embedder.embed(different[start : start + PORTION]))
        progress(min(1.0, (start + PORTION) / len(different)))
    rows = np.concatenate([*portions, np.zeros((1, portions[0].shape[1]), dtype=np.float32)])
    places = {text: place for place, text in enumerate(different)}
    return np.asarray(rows[[places.get(text, -1) for text in texts]], dtype=np.float32)


def _level(vectors: NDArray[np.float32]) -> float:
    """Return the median cosine of texts that have nothing to do with one another, 0–0.95."""
    cosines = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    return float(np.clip(np.median(cosines), 0.0, 0.95))


class SimilarityAnalyses:
    """Makes analyses of tools, and answers what takes long about them off the loop."""

    def __init__(self, embedders: Embedders, lexicon: Lexicon, runs: MetricsStore) -> None:
        self._embedding = EmbeddingService(embedders, lexicon)
        self._runs = runs

    async def analyse(
        self,
        tool_set: ToolSet,
        *,
        embedder: EmbedderChoice | None = None,
        full: bool = True,
        key: Secret | None = None,
        strict: bool = False,
        progress: Progress | None = None,
        square: bool = True,
    ) -> Similarity:
        """Compare every tool with every other; `Similarity.notice` says where another embedder stood in.

        Without `square`, and above 20,000 tools, pairs are compared when they are asked for.

        None is the best embedder on this machine. EmbeddingError only where `strict`. `progress` hears how much is
        embedded (0–1).
        """
        wanted = EmbeddingRequest(embedder=embedder, full=full, key=key, strict=strict)
        tools = [each.tool for each in tool_set.tools]
        meaning = await self._embedding.meaning(tools, wanted, progress or _unheard)
        similarity = Similarity(tool_set, meaning)
        if square and similarity.has_squares:
            await asyncio.to_thread(similarity.matrix, MatrixKind.SIMILARITY)
        return similarity

    async def matrix(self, similarity: Similarity, kind: MatrixKind) -> Matrix:
        """Return a square that may have to be worked out first."""
        return await asyncio.to_thread(similarity.matrix, kind)

    async def clusters(self, similarity: Similarity) -> Clusters:
        """Return order, tree, groups and near-duplicates."""
        return await asyncio.to_thread(clusters, similarity)

    async def overlap(self, similarity: Similarity, weights: OverlapWeights | None = None) -> Overlap:
        """Return the weighed overlap with its dimensions, worked out; InputError for weights below 0 or all 0."""
        overlap = Overlap(similarity, weights)
        await asyncio.to_thread(lambda: overlap.matrix)
        return overlap

    async def observed(self, similarity: Similarity, rule: FlagRule) -> tuple[WorkItem, ...]:
        """Return pairs that look alike or were confused in the runs of this workspace, most harmful first."""
        past = await self._past(similarity)
        return await asyncio.to_thread(lambda: work_list(similarity, Confusions(similarity.tools, past), rule))

    async def observed_matrix(self, similarity: Similarity) -> Matrix:
        """Return the share of runs that confused each pair, NaN where none tried it: shape (n, n)."""
        past = await self._past(similarity)
        return await asyncio.to_thread(lambda: Confusions(similarity.tools, past).matrix())

    async def confused(self, similarity: Similarity) -> frozenset[frozenset[str]]:
        """Return the pairs that runs of this workspace confused, by the ids of their tools."""
        runs = (await self._runs.history(RunFilter(classifications=tuple(Classification)))).judged
        pairs = await asyncio.to_thread(lambda: Confusions(similarity.tools, Past(runs, {})).pairs)
        return frozenset(frozenset(similarity.tools[place].id for place in pair) for pair in pairs)

    async def _past(self, similarity: Similarity) -> Past:
        runs = (await self._runs.history(RunFilter(classifications=tuple(Classification)))).judged
        servers = dict.fromkeys(each.tool.server for each in similarity.tools) if len(runs) else {}
        return Past(runs, {server: await self._offered(server) for server in servers})

    async def _offered(self, server: str) -> History:
        where = RunFilter(classifications=tuple(Classification), offered=ToolLabel(server=server))
        return (await self._runs.history(where)).judged

    async def score_pairs(
        self,
        pairs: Sequence[tuple[Tool, Tool]],
        *,
        embedder: EmbedderChoice | None = None,
        key: Secret | None = None,
        strict: bool = False,
    ) -> PairScores:
        """Return only these pairs, in order; `a` and `b` are 0 and 1, `percentile` is 0: there are no other pairs."""
        keys_of = [(a.fingerprint, b.fingerprint) for a, b in pairs]
        different = dict(zip(chain(*keys_of), chain(*pairs), strict=True))
        tools = tuple(ComparedTool(fingerprint, tool) for fingerprint, tool in different.items())
        wanted = EmbeddingRequest(embedder=embedder, key=key, strict=strict)
        meaning = await self._embedding.meaning([each.tool for each in tools], wanted, _unheard)
        place = {each.id: at for at, each in enumerate(tools)}
        places = np.array([(place[a], place[b]) for a, b in keys_of], dtype=np.intp).reshape(-1, 2)
        scored = Similarity(ToolSet(tools=tools), meaning)
        return PairScores(await asyncio.to_thread(scored.alone, places[:, 0], places[:, 1]), meaning.notice)


def _unheard(share: float) -> None:
    """Ignore the progress."""
