"""Compares tools: what the window and the command line ask of an analysis."""

import asyncio
from collections.abc import Sequence
from itertools import chain

import numpy as np

from mcp_tef.model.labels import ToolLabel
from mcp_tef.model.runs import RunFilter
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import (
    Clusters,
    ComparedTool,
    EmbedderChoice,
    MatrixKind,
    OverlapWeights,
    PairScores,
    ToolSet,
    WorkItem,
)
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import Classification
from mcp_tef.ports import Embedders, Lexicon, MetricsStore, Progress
from mcp_tef.scoring.history import History
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.clusters import clusters
from mcp_tef.scoring.similarity.observed import Confusions, Past, work_list
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.scoring.similarity.signals import Matrix
from mcp_tef.workflows.embedding import Embedding, Wanted


class SimilarityAnalyses:
    """Makes analyses of tools, and answers what takes long about them off the loop."""

    def __init__(self, embedders: Embedders, lexicon: Lexicon, runs: MetricsStore) -> None:
        self._embedding = Embedding(embedders, lexicon)
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
    ) -> Similarity:
        """Compare every tool with every other; `Similarity.notice` says where another embedder stood in.

        None is the best embedder on this machine. EmbeddingError only where `strict`. `progress` hears how much is
        embedded (0–1).
        """
        wanted = Wanted(embedder=embedder, full=full, key=key, strict=strict)
        tools = [each.tool for each in tool_set.tools]
        meaning = await self._embedding.meaning(tools, wanted, progress or _unheard)
        similarity = Similarity(tool_set, meaning)
        await asyncio.to_thread(similarity.matrix, MatrixKind.SIMILARITY)
        return similarity

    async def matrix(self, similarity: Similarity, kind: MatrixKind) -> Matrix:
        """A square that may have to be worked out first."""
        return await asyncio.to_thread(similarity.matrix, kind)

    async def clusters(self, similarity: Similarity) -> Clusters:
        """Order, tree, groups and near-duplicates."""
        return await asyncio.to_thread(clusters, similarity)

    async def overlap(self, similarity: Similarity, weights: OverlapWeights | None = None) -> Overlap:
        """The weighed overlap with its dimensions, worked out; InputError for weights below 0 or all 0."""
        overlap = Overlap(similarity, weights)
        await asyncio.to_thread(lambda: overlap.matrix)
        return overlap

    async def observed(self, similarity: Similarity, threshold: float) -> tuple[WorkItem, ...]:
        """Pairs that look alike or were confused in the runs of this workspace, most harmful first."""
        past = await self._past(similarity)
        return await asyncio.to_thread(lambda: work_list(similarity, Confusions(similarity.tools, past), threshold))

    async def observed_matrix(self, similarity: Similarity) -> Matrix:
        """The share of runs that confused each pair, NaN where none tried it: shape (n, n)."""
        past = await self._past(similarity)
        return await asyncio.to_thread(lambda: Confusions(similarity.tools, past).matrix())

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
        """Only these pairs, in order; `a` and `b` are 0 and 1, `percentile` is 0: there are no other pairs."""
        keys_of = [(a.fingerprint, b.fingerprint) for a, b in pairs]
        different = dict(zip(chain(*keys_of), chain(*pairs), strict=True))
        tools = tuple(ComparedTool(fingerprint, tool) for fingerprint, tool in different.items())
        wanted = Wanted(embedder=embedder, key=key, strict=strict)
        meaning = await self._embedding.meaning([each.tool for each in tools], wanted, _unheard)
        place = {each.id: at for at, each in enumerate(tools)}
        places = np.array([(place[a], place[b]) for a, b in keys_of], dtype=np.intp).reshape(-1, 2)
        scored = Similarity(ToolSet(tools=tools), meaning)
        return PairScores(await asyncio.to_thread(scored.alone, places[:, 0], places[:, 1]), meaning.notice)


def _unheard(share: float) -> None:
    """For whoever does not watch."""
