"""Overlap report as JSON with every matrix, and as CSV with one pair per line."""

from collections.abc import Sequence
from dataclasses import asdict

from mcp_tef.api.serializers.tools import compared_tools_to_json, overlapping_pair_to_json, unreachable_to_json
from mcp_tef.model.json import Json
from mcp_tef.reports.cells import csv_text
from mcp_tef.reports.similarity_tables import (
    document,
    listed,
    matrix_text,
    one_line,
)
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap, OverlappingPair
from mcp_tef.scoring.similarity.signals import Matrix

MATRICES = ("matrix", "semantic", "parameters", "description")
HEADS = ("tool_a", "tool_b", "overlap", "semantic", "parameters", "description", "why")


def overlap_json(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """The document of `overlap --json`; `pairs` are the `limit` that overlap most."""
    parts = {
        "embedder": one_line(similarity.embedder),
        "tools": listed(compared_tools_to_json(similarity)),
        "weights": one_line(asdict(overlap.weights)),
        **{name: matrix_text(dimension(overlap, name)) for name in MATRICES},
        "pairs": listed(overlapping_pair_to_json(similarity, pair) for pair in overlap.most_overlapping(limit)),
        "unreachable": listed(unreachable_to_json(similarity.unreachable)),
    }
    return document(parts)


def dimension(overlap: Overlap, name: str) -> Matrix:
    """One of the `MATRICES`, by name."""
    matrix: Matrix = getattr(overlap, name)
    return matrix


def overlap_csv(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """The `limit` pairs that overlap most, one a line, with every dimension."""
    shares = [dimension(overlap, name) for name in MATRICES]
    return csv_text(HEADS, (_row(similarity, shares, pair) for pair in overlap.most_overlapping(limit)))


def _row(similarity: Similarity, shares: Sequence[Matrix], pair: OverlappingPair) -> list[Json]:
    ids: list[Json] = [similarity.tools[place].id for place in (pair.a, pair.b)]
    scores = [round(float(share[pair.a, pair.b]), 4) for share in shares]
    return [*ids, *scores, pair.why]
