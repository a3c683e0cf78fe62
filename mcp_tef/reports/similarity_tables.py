"""Similarity and overlap of tools as JSON with every matrix, and as CSV with one pair per line."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from mcp_tef.api.serializers.tools import (
    compared_tools_to_json,
    overlapping_pair_to_json,
    tool_pair_to_json,
    unreachable_to_json,
)
from mcp_tef.formats.csv_tables import csv_text
from mcp_tef.model.json import Json
from mcp_tef.model.similarity import FlagRule, MatrixKind, ToolPair
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap, OverlappingPair
from mcp_tef.scoring.similarity.signals import Matrix
from mcp_tef.trust.files import replaced_file

MOST_IN_JSON = 2000
OTHER_FORMS = (".csv", ".html")
LEAST_PAIRS = 10_000
MATRICES = {"matrix": MatrixKind.SIMILARITY, "full_matrix": MatrixKind.FULL, "lexical_matrix": MatrixKind.LEXICAL}
OVERLAP_MATRICES = ("matrix", "semantic", "parameters", "description")
OVERLAP_HEADS = ("tool_a", "tool_b", "overlap", "semantic", "parameters", "description", "why")
PAIR_HEADS = (
    *("tool_a", "tool_b", "similarity", "full", "lexical", "names", "parameters"),
    *("percentile", "confusability", "flagged", "level"),
)


def matrix_file(similarity: Similarity, path: Path) -> Path | None:
    """Return the file beside the JSON at `path` that holds the matrices; None where the JSON does, or nothing can."""
    if len(similarity) <= MOST_IN_JSON or not similarity.has_squares or path.suffix.lower() in OTHER_FORMS:
        return None
    return path.with_suffix(".matrices.npz" if path.suffix.lower() == ".npz" else ".npz")


def similarity_json(similarity: Similarity, rule: FlagRule, *, full: bool, matrices_in: Path | None = None) -> str:
    """Return the document of `similarity --out`: a row of a matrix per line, scores with 4 decimals.

    Above 2,000 tools the matrices are null, and `matrices_in` is the file that holds them, if one does.
    """
    small = len(similarity) <= MOST_IN_JSON
    matrices = {name: matrix_text(similarity.matrix(kind)) for name, kind in _held(similarity, full) if small}
    parts = {
        "embedder": one_line(similarity.embedder),
        "tools": listed(compared_tools_to_json(similarity)),
        **dict.fromkeys(MATRICES, "null"),
        **matrices,
        **({} if small else {"matrix_file": one_line(matrices_in.name if matrices_in else None)}),
        "threshold": one_line(rule.threshold),
        "flagged_by": one_line(rule.kind.value),
        "flagged": listed(tool_pair_to_json(similarity, pair) for pair in similarity.flagged(rule)),
        "unreachable": listed(unreachable_to_json(similarity.unreachable)),
    }
    return document(parts)


def _held(similarity: Similarity, full: bool) -> list[tuple[str, MatrixKind]]:
    """Return the matrices that a document or its file holds; the full one where it is wanted and there."""
    wanted = full and similarity.has_full
    return [(name, kind) for name, kind in MATRICES.items() if kind is not MatrixKind.FULL or wanted]


ROWS_AT_ONCE = 16


def save_matrices(similarity: Similarity, path: Path, *, full: bool) -> None:
    """Write the matrices, each under its name in the document, for `numpy.load`; float32 with 4 decimals.

    They are not compressed: that would take longer than all the rest. A few rows at a time stay in the cache.
    """
    with replaced_file(path) as file, ZipFile(file, "w") as archive:
        for name, kind in _held(similarity, full):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as out:
                matrix = similarity.matrix(kind)
                np.lib.format.write_array_header_1_0(out, np.lib.format.header_data_from_array_1_0(matrix))
                for start in range(0, len(matrix), ROWS_AT_ONCE):
                    out.write(np.round(matrix[start : start + ROWS_AT_ONCE], 4).tobytes())


def document(parts: dict[str, str]) -> str:
    """Return a JSON object of parts that are JSON already, one below the other."""
    return "{\n" + ",\n".join(f"  {one_line(key)}: {text}" for key, text in parts.items()) + "\n}\n"


def one_line(value: Json) -> str:
    """Return a value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def listed(values: Iterable[Json]) -> str:
    """Return a JSON list with one value a line."""
    return _lines([one_line(value) for value in values])


def _lines(texts: Sequence[str]) -> str:
    return "[\n    " + ",\n    ".join(texts) + "\n  ]" if texts else "[]"


def matrix_text(scores: NDArray[np.float32]) -> str:
    """Return a matrix of scores in 0–1 as a JSON list of rows, by a table: formatting a million numbers is slow."""
    spelled, steps = _spelled(), np.rint(scores * 10_000).astype(np.int16)
    return _lines(["[" + spelled[row].tobytes()[:-1].decode("ascii") + "]" for row in steps])


@cache
def _spelled() -> NDArray[np.bytes_]:
    """Every score of four decimals as text, with a comma."""
    return np.array([f"{step / 10_000:.4f}," for step in range(10_001)], dtype="S7")


def similarity_csv(similarity: Similarity, rule: FlagRule) -> str:
    """Return pairs, one a line, highest score first: those flagged, at least 10,000 where there are as many."""
    pairs = similarity.most_alike(rule, max(LEAST_PAIRS, similarity.count_flagged(rule)))
    return csv_text(PAIR_HEADS, (_row(similarity, pair, rule) for pair in pairs))


def _row(similarity: Similarity, pair: ToolPair, rule: FlagRule) -> list[Json]:
    names: list[Json] = [similarity.tools[place].id for place in (pair.a, pair.b)]
    scores = (pair.similarity, pair.full, pair.lexical, pair.names, pair.parameters, pair.percentile)
    rounded = [None if score is None else round(score, 4) for score in (*scores, pair.confusability)]
    return [*names, *rounded, rule.flags(pair), pair.level.value]


def overlap_json(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """Return the document of `overlap --json`; `pairs` are the `limit` that overlap most."""
    parts = {
        "embedder": one_line(similarity.embedder),
        "tools": listed(compared_tools_to_json(similarity)),
        "weights": one_line(asdict(overlap.weights)),
        **{name: matrix_text(dimension(overlap, name)) for name in OVERLAP_MATRICES},
        "pairs": listed(overlapping_pair_to_json(similarity, pair) for pair in overlap.most_overlapping(limit)),
        "unreachable": listed(unreachable_to_json(similarity.unreachable)),
    }
    return document(parts)


def dimension(overlap: Overlap, name: str) -> Matrix:
    """One of the `MATRICES`, by name."""
    matrix: Matrix = getattr(overlap, name)
    return matrix


def overlap_csv(similarity: Similarity, overlap: Overlap, limit: int) -> str:
    """Return the `limit` pairs that overlap most, one a line, with every dimension."""
    shares = [dimension(overlap, name) for name in OVERLAP_MATRICES]
    return csv_text(OVERLAP_HEADS, (_overlap_row(similarity, shares, pair) for pair in overlap.most_overlapping(limit)))


def _overlap_row(similarity: Similarity, shares: Sequence[Matrix], pair: OverlappingPair) -> list[Json]:
    ids: list[Json] = [similarity.tools[place].id for place in (pair.a, pair.b)]
    scores = [round(float(share[pair.a, pair.b]), 4) for share in shares]
    return [*ids, *scores, pair.why]
