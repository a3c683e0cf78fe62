"""Confusions that are no accident, and confused tools as neighbours, checked by scipy and by numpy."""

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used

from mcp_tef.model.metrics import ConfusionMatrix
from mcp_tef.statistics.confusion import confusions
from mcp_tef.statistics.confusion_patterns import binomial_tail, cluster_confusions, frequent_confusions
from mcp_tef.statistics.run_history import history_of
from tests.support.run_histories import judged_run

A, B, C, D, E = (("docs", name) for name in "abcde")
Pick = tuple[tuple[str, str], tuple[str, str] | None]


def matrix(*picks: Pick, repeats: int = 1) -> ConfusionMatrix:
    runs = [judged_run(*pick, case=number) for number, pick in enumerate(picks) for _ in range(repeats)]
    return confusions(history_of(runs))


def names(found: ConfusionMatrix) -> str:
    return "".join(label.tool or "-" for label in found.rows)


@pytest.mark.parametrize(("k", "n", "chance"), [(0, 5, 0.1), (3, 10, 0.02), (1, 1, 0.3), (40, 400, 0.05), (9, 9, 0.5)])
def test_the_tail_is_that_of_scipy(k: int, n: int, chance: float) -> None:
    assert binomial_tail(k, n, chance) == pytest.approx(scipy.stats.binom.sf(k - 1, n, chance), rel=1e-9)


def test_the_cells_found_are_those_of_scipy_over_all_rows() -> None:
    generator = np.random.default_rng(7)
    found = 0
    for _ in range(30):
        counts = generator.poisson(0.4, (6, 8)) + np.eye(6, 8) * 12 + (generator.random((6, 8)) < 0.06) * 7
        rows, wrong = counts.sum(axis=1), ~np.eye(6, 8, dtype=bool)
        chance = counts[wrong].sum() / (rows.sum() * 7)
        tails = scipy.stats.binom.sf(counts - 1, rows[:, None].astype(int), chance)
        adjusted = np.ones_like(tails)
        adjusted[wrong] = scipy.stats.false_discovery_control(tails[wrong])
        expected = {(int(row), int(column)) for row, column in np.argwhere((adjusted <= 0.05) & wrong & (counts > 0))}
        cells = {(row, column): counts[row, column] for row, column in np.argwhere(counts > 0).tolist()}
        assert frequent_confusions(cells, rows.tolist(), 8) == expected
        found += len(expected)
    assert found > 20


def test_one_confusion_in_many_runs_is_marked_and_single_ones_here_and_there_are_not() -> None:
    right = [(tool, tool) for tool in (A, B, C, D) for _ in range(10)]
    found = matrix(*right, *[(A, B)] * 6, (C, D), (D, None))
    assert found.frequent == {(0, 1)}
    assert matrix(*right).frequent == frozenset()


def test_repeats_of_one_case_mark_nothing_that_the_case_alone_would_not() -> None:
    picks: list[Pick] = [*[(tool, tool) for tool in (A, B, C, D) for _ in range(10)], (A, B)]
    assert matrix(*picks, repeats=20).frequent == matrix(*picks).frequent == frozenset()


def test_confused_tools_come_first_with_the_one_they_are_confused_with_beside_them() -> None:
    picks: list[Pick] = [(B, E), (B, E), (B, E), (D, A), (D, A), (E, C), (A, A), (C, C)]
    found = matrix(*picks)
    ordered = cluster_confusions(found)
    assert (names(found), names(ordered)) == ("abcde-", "ebcad-")
    cells = {(ordered.rows[row], ordered.columns[column]): count for (row, column), count in ordered.cells.items()}
    assert cells == {(found.rows[row], found.columns[column]): count for (row, column), count in found.cells.items()}
    totals = dict(zip(found.rows, found.row_totals, strict=True))
    assert dict(zip(ordered.rows, ordered.row_totals, strict=True)) == totals
    assert names(cluster_confusions(matrix((B, B), (A, A)))) == "ab-"
    assert names(cluster_confusions(matrix(*[(A, A)] * 9, (C, D)))) == "cda-"
