"""Compared tools in clustered order, and their matrices as heatmaps; for worker threads."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from app.screens.similarity.labels import MAP_LABELS, MapKind, confusability_text
from app.widgets.heatmap_drawing import cividis
from app.widgets.heatmap_layout import Heat, Join, Tree, make_heat, tree_of
from mcp_tef import (
    Clusters,
    ComparedTool,
    MatrixKind,
    Similarity,
    ToolProblem,
    ToolSet,
    UnreachableSource,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimilarityAnalysis:
    """Tools compared, put in order, and what they are called: `names` are as short as they can be.

    `can_download` is True where the embedder asked for is a model that can be fetched.
    """

    similarity: Similarity
    clusters: Clusters
    names: tuple[str, ...]
    tree: Tree
    histogram: tuple[int, ...] = ()
    can_download: bool = False

    @property
    def tools(self) -> tuple[ComparedTool, ...]:
        """The tools compared."""
        return self.similarity.tools


@dataclass(frozen=True, slots=True, kw_only=True)
class GatheredTools:
    """Tools of the servers: counts by server, unreachable servers, unreadable definitions, and ids to compare."""

    by_server: Mapping[str, int] = field(default_factory=dict)
    unreachable: tuple[UnreachableSource, ...] = ()
    problems: tuple[tuple[str, ToolProblem], ...] = ()
    compared: tuple[str, ...] = ()


def select_tools(found: ToolSet, servers: Sequence[str]) -> tuple[GatheredTools, ToolSet | None]:
    """Return the tools found and, if there are at least two, those to compare."""
    of_servers = tuple(one for one in found.tools if one.tool.server in servers)
    chosen = replace(found, tools=of_servers) if of_servers else found
    gathered = GatheredTools(
        by_server=dict(Counter(one.tool.server for one in found.tools)),
        unreachable=found.unreachable,
        problems=found.problems,
        compared=tuple(f"{one.id} {one.tool.fingerprint}" for one in chosen.tools),
    )
    return gathered, chosen if len(chosen.tools) > 1 else None


def build_analysis(similarity: Similarity, clusters: Clusters) -> SimilarityAnalysis:
    """Compute everything that the maps of one analysis share; for a worker thread."""
    cividis()
    joins = [Join(merge.left, merge.right, merge.height) for merge in clusters.merges]
    return SimilarityAnalysis(
        similarity=similarity,
        clusters=clusters,
        names=short_names(similarity.tools),
        tree=tree_of(clusters.order, joins),
        histogram=tuple(similarity.histogram().tolist()),
    )


def short_names(tools: tuple[ComparedTool, ...]) -> tuple[str, ...]:
    """Return tool names, followed by the server where two tools have the same name."""
    often = Counter(one.tool.name for one in tools)
    return tuple(one.tool.name if often[one.tool.name] == 1 else _qualified_name(one) for one in tools)


def _qualified_name(one: ComparedTool) -> str:
    number = one.id.removeprefix(f"{one.tool.server}/{one.tool.name}")
    return f"{one.tool.name}{number} · {one.tool.server}"


def build_heatmap(analysis: SimilarityAnalysis, kind: MapKind, scores: NDArray[np.float32]) -> Heat:
    """Return one matrix as a heatmap; outlines always mark confusability."""
    return make_heat(
        MAP_LABELS[kind],
        analysis.names,
        (one.id for one in analysis.tools),
        scores,
        outlined=analysis.similarity.matrix(MatrixKind.CONFUSABILITY),
        order=analysis.clusters.order,
        tree=analysis.tree,
        shown=confusability_text if kind is MapKind.CONFUSABILITY else "{:.2f}".format,
    )
