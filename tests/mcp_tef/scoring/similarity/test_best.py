"""The pairs that score highest, whichever rows they are found in."""

import numpy as np
import pytest

from mcp_tef.scoring.similarity.analysis import best_pairs
from mcp_tef.scoring.similarity.signals import BLOCK, Matrix


def square(count: int) -> Matrix:
    """Scores in steps of a tenth, so that many are equal."""
    found = np.random.default_rng(1).integers(0, 11, (count, count)) / 10
    return np.maximum(found, found.T).astype(np.float32)


def sorted_pairs(scores: Matrix, least: float) -> list[tuple[int, int]]:
    """All of them the plain way: highest first, of equals the first."""
    pairs = [(a, b) for a in range(len(scores)) for b in range(a + 1, len(scores)) if scores[a, b] >= np.float32(least)]
    return sorted(pairs, key=lambda pair: (-scores[pair], pair))


def found_in(scores: Matrix, least: float, most: int) -> list[tuple[int, int]]:
    a, b = best_pairs(lambda start, stop: scores[start:stop, start:], len(scores), least, most)
    return list(zip(a.tolist(), b.tolist(), strict=True))


@pytest.mark.parametrize("most", [0, 1, 7, 30, 10_000])
@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
def test_the_best_are_the_first_of_all_sorted(least: float, most: int) -> None:
    scores = square(40)
    assert found_in(scores, least, most) == sorted_pairs(scores, least)[:most]


def test_equals_of_later_blocks_never_displace_the_first() -> None:
    scores = np.full((BLOCK + 90, BLOCK + 90), 0.5, dtype=np.float32)
    scores[BLOCK + 3, BLOCK + 80] = 0.9
    assert found_in(scores, 0.1, 4) == [(BLOCK + 3, BLOCK + 80), (0, 1), (0, 2), (0, 3)]
