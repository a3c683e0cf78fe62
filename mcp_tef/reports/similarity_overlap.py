"""Overlap report as JSON with every matrix, and as CSV with one pair per line."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from mcp_tef.model.json import Json
from mcp_tef.reports.cells import csv_text
from mcp_tef.reports.similarity_tables import (
    document,
    listed,
    matrix_text,
    one_line,
    tools_to_json,
    unreachable_to_json,
)
from mcp_tef.scoring.similarity.analysis import Similarity, best_pairs
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.scoring.similarity.signals import Matrix

MATRICES = ("matrix", "semantic", "parameters", "description")
HEADS = ("tool_a", "tool_b", "overlap", "semantic", "parameters", "description", "why")


@dataclass(frozen=True, slots=True)
class OverlappingPair:
    """Two tools by their places in the analysis, how much they overlap (0–1), and why, in words."""

    a: int
    b: int
    overlap: float
    why: str


def most_overlapping(overlap: Overlap, limit: int) -> Iterator[OverlappingPair]:
    """The pairs that overlap most, at most `limit` of them."""
    scores = overlap.matrix
    best = best_pairs(lambda start, stop: scores[start:stop, start:], len(scores), 0.0, limit)
    for a, b in zip(*(places.tolist() for places in best), strict=True):
        yield OverlappingPair(a, b, float(scores[a, b]), overlap.explain(a, b))


def overlap_json(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """The document of `overlap --json`; `pairs` are the `limit` that overlap most."""
    parts = {
        "embedder": one_line(similarity.embedder),
        "tools": listed(tools_to_json(similarity)),
        "weights": one_line(asdict(overlap.weights)),
        **{name: matrix_text(dimension(overlap, name)) for name in MATRICES},
        "pairs": listed(_pair_to_json(similarity, pair) for pair in most_overlapping(overlap, limit)),
        "unreachable": listed(unreachable_to_json(similarity.unreachable)),
    }
    return document(parts)


def dimension(overlap: Overlap, name: str) -> Matrix:
    """One of the `MATRICES`, by name."""
    matrix: Matrix = getattr(overlap, name)
    return matrix


def _pair_to_json(similarity: Similarity, pair: OverlappingPair) -> dict[str, Json]:
    ids = {"a": similarity.tools[pair.a].id, "b": similarity.tools[pair.b].id}
    return {**ids, "overlap": round(pair.overlap, 4), "why": pair.why}


def overlap_csv(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """The `limit` pairs that overlap most, one a line, with every dimension."""
    shares = [dimension(overlap, name) for name in MATRICES]
    return csv_text(HEADS, (_row(similarity, shares, pair) for pair in most_overlapping(overlap, limit)))


def _row(similarity: Similarity, shares: Sequence[Matrix], pair: OverlappingPair) -> list[Json]:
    ids: list[Json] = [similarity.tools[place].id for place in (pair.a, pair.b)]
    scores = [round(float(share[pair.a, pair.b]), 4) for share in shares]
    return [*ids, *scores, pair.why]
