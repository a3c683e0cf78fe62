"""Overlap report as one HTML page: the heatmap, and the pairs that overlap most, with reasons."""

from collections.abc import Sequence

from mcp_tef.model.similarity import OverlapWeights
from mcp_tef.reports.heat import heat_map
from mcp_tef.reports.page import cell, counted, page, paragraphs, section, table, unread
from mcp_tef.reports.similarity_html import unread_tools
from mcp_tef.reports.similarity_overlap import MATRICES, dimension
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap, OverlappingPair
from mcp_tef.scoring.similarity.signals import Matrix

FRAMED_FROM = 0.85


def overlap_html(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """The whole page; the `limit` pairs that overlap most are explained."""
    names = [one.id for one in similarity.tools]
    picture = heat_map(overlap.matrix, names, FRAMED_FROM, "Overlap of every pair of tools") if names else ""
    shares = [dimension(overlap, name) for name in MATRICES]
    pairs = list(overlap.most_overlapping(limit))
    rows = [_row(similarity, shares, pair) for pair in pairs]
    heads = ("Tool", "Other tool", "Overlap", "Meaning", "Parameters", "Wording", "Why")
    sections = [
        section("All pairs", picture),
        section("The pairs that overlap most", table(heads, rows, range(2, 6))),
        unread((one.server, f"{one.reason} {one.hint}".strip()) for one in similarity.unreachable),
        unread_tools(similarity),
    ]
    return page("What do tools share?", _closest(similarity, pairs) + _lead(similarity, overlap.weights), sections)


def _closest(similarity: Similarity, pairs: Sequence[OverlappingPair]) -> str:
    """Render the pair of tools with the largest overlap."""
    if not pairs:
        return ""
    first, other = (cell(similarity.tools[place].id) for place in (pairs[0].a, pairs[0].b))
    return (
        f'<p class="lead"><strong>{pairs[0].overlap:.2f}</strong> of 1 is shared by {first} and {other}, the most.</p>'
    )


def _lead(similarity: Similarity, weights: OverlapWeights) -> str:
    servers = len({one.tool.server for one in similarity.tools})
    what = f"{counted(len(similarity), 'tool')} on {counted(servers, 'server')}, compared by {similarity.embedder}."
    counts = f"meaning {weights.semantic:.2f}, parameters {weights.parameters:.2f}, wording {weights.description:.2f}"
    return paragraphs(f"{what} What counts how much: {counts}.", similarity.notice or "")


def _row(similarity: Similarity, shares: Sequence[Matrix], pair: OverlappingPair) -> tuple[str, ...]:
    figures = (f"{share[pair.a, pair.b]:.2f}" for share in shares)
    return (similarity.tools[pair.a].id, similarity.tools[pair.b].id, *figures, pair.why)
