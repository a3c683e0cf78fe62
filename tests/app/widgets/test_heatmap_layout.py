"""Geometry of the heatmap: fitting, zooming and scrolling, the names beside the map, and the tree."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter

from app.widgets.heatmap_layout import (
    LARGEST,
    LEAST,
    MOST_BRACKETS,
    HeatmapViewport,
    Join,
    Taken,
    Tree,
    apart,
    draw_tree,
    thinned,
    tree_of,
)

PORTS = st.builds(
    lambda n, wide, high: HeatmapViewport(n=n, wide=wide, high=high).fit(),
    st.integers(1, 5_000),
    st.integers(40, 2_000),
    st.integers(40, 2_000),
)


def test_all_cells_are_seen_at_first_and_as_large_as_whole_pixels_allow() -> None:
    port = HeatmapViewport(n=60, wide=560, high=700).fit()
    assert (port.side, port.seen_wide, port.seen_high) == (9.0, 540.0, 540.0)
    assert (port.rows, port.columns) == (range(60), range(60))
    assert port.fitted


def test_few_cells_do_not_grow_without_end() -> None:
    assert HeatmapViewport(n=2, wide=900, high=900).fit().side == 48


def test_thousands_of_cells_are_smaller_than_a_pixel() -> None:
    port = HeatmapViewport(n=2_000, wide=500, high=500).fit()
    assert port.side == 0.25
    assert port.cell(499, 0) == (0, 1_996)


@settings(max_examples=200, deadline=None)
@given(PORTS, st.floats(1.05, 8), st.floats(0, 1), st.floats(0, 1))
def test_what_is_under_the_pointer_stays_there_while_zooming_in(
    port: HeatmapViewport, factor: float, x: float, y: float
) -> None:
    at = x * (port.seen_wide - 1), y * (port.seen_high - 1)
    grown = port.zoomed(factor, *at)
    before = ((at[0] + port.x) / port.side, (at[1] + port.y) / port.side)
    after = ((at[0] + grown.x) / grown.side, (at[1] + grown.y) / grown.side)
    free = grown.seen_wide == port.seen_wide and grown.seen_high == port.seen_high
    assert grown.side >= port.side
    assert not free or all(abs(one - other) < 1e-6 * port.n + 1e-6 for one, other in zip(before, after, strict=True))


@settings(max_examples=200, deadline=None)
@given(PORTS, st.floats(0.2, 50), st.floats(-9_999, 9_999), st.floats(-9_999, 9_999))
def test_nothing_but_cells_is_ever_in_view(port: HeatmapViewport, factor: float, dx: float, dy: float) -> None:
    moved = port.zoomed(factor, 10, 10).moved(dx, dy)
    assert 0 <= moved.x <= moved.n * moved.side - moved.seen_wide + 1e-6
    assert 0 <= moved.y <= moved.n * moved.side - moved.seen_high + 1e-6
    assert moved.rows
    assert moved.rows.stop <= moved.n


def test_zooming_stops_at_everything_and_at_the_largest_cells() -> None:
    port = HeatmapViewport(n=100, wide=500, high=500).fit()
    assert port.zoomed(0.01, 0, 0) == port
    assert port.zoomed(1_000, 0, 0).side == LARGEST


def test_every_step_of_zoom_changes_something() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit()
    assert port.zoomed(1.05, 0, 0).side == port.side + 1
    assert port.zoomed(2, 0, 0).zoomed(0.99, 0, 0).side == 7


def test_a_place_outside_the_cells_is_no_cell() -> None:
    port = HeatmapViewport(n=10, wide=100, high=300).fit()
    assert port.cell(50, 150) is None
    assert port.cell(-1, 0) is None
    assert port.cell(99, 99) == (9, 9)


def test_a_cell_out_of_view_is_scrolled_to_and_no_further() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit().zoomed(4, 0, 0)
    assert (port.x, port.y) == (0, 0)
    there = port.showing(50, 0)
    assert (there.x, there.y) == (0, 51 * 16 - 400)
    assert there.showing(50, 0) == there


def test_a_group_fills_the_view_with_a_margin() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit().on(40, 49)
    assert port.side == 32
    assert 40 in port.rows
    assert 49 in port.rows
    assert port.rows == port.columns


def test_another_size_keeps_the_place_and_what_was_whole_stays_whole() -> None:
    port = HeatmapViewport(n=100, wide=400, high=400).fit()
    assert port.resized(100, 800, 800).side == 8
    zoomed = port.zoomed(4, 0, 0).moved(100, 100)
    assert (zoomed.resized(100, 300, 300).side, zoomed.resized(100, 300, 300).x) == (16, 100)
    assert zoomed.resized(50, 400, 400).fitted


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 3_000), st.floats(0.1, 40), st.lists(st.integers(0, 3_000), max_size=50))
def test_no_name_ever_touches_another(n: int, step: float, then: list[int]) -> None:
    chosen = thinned(range(n), step, 0.0, Taken(), then)
    assert all((b - a) * step >= LEAST - 1e-6 for a, b in pairwise(chosen))
    assert chosen
    assert all(0 <= place < n for place in chosen)


def test_wide_rows_all_have_their_names() -> None:
    assert thinned(range(10), 20.0, 0.0, Taken()) == list(range(10))


def test_important_names_come_before_their_neighbours() -> None:
    assert thinned(range(10), 7.0, 0.0, Taken(), then=(3,)) == [0, 3, 5, 7, 9]


def test_names_that_are_already_there_keep_their_room() -> None:
    taken = Taken()
    assert taken.take(0, 20)
    assert not taken.take(10, 30)
    assert 0 not in thinned(range(5), 15.0, 0.0, taken)


def test_neighbours_are_pushed_apart_by_the_same_and_never_out_of_view() -> None:
    assert apart([100.0, 104.0], 14) == [95.0, 109.0]
    assert apart([1.0, 2.0], 14) == [0.0, 14.0]
    assert apart([5.0], 14) == [5.0]
    assert apart([], 14) == []


def test_brackets_join_the_middles_of_what_they_hold_also_where_nothing_has_a_height() -> None:
    tree = tree_of((2, 0, 1), [Join(0, 1, 0.2), Join(2, 3, 0.4)])
    assert tree.brackets.round(2).tolist() == [[1.5, 2.5, 0, 0, 0.5], [0.5, 2.0, 0, 0.5, 1.0]]
    assert tree_of((0, 1, 2), [Join(1, 2, 0.1), Join(3, 0, 0.1)]).brackets[1].tolist() == [0.5, 2.0, 0.0, 1.0, 1.0]
    assert tree_of((0, 1), [Join(0, 1, 0.0)]).brackets[0, 4] == 0
    assert len(tree_of((), []).brackets) == 0


def test_only_brackets_that_can_be_told_apart_are_drawn() -> None:
    tree = tree_of((0, 1, 2), [Join(0, 1, 0.1), Join(2, 3, 0.4)])
    assert len(tree.seen(HeatmapViewport(n=3, wide=60, high=60).fit())) == 2
    assert len(tree.seen(HeatmapViewport(n=3, wide=1, high=1).fit())) == 0


def test_what_is_out_of_view_is_not_drawn() -> None:
    tree = tree_of(range(100), [Join(place, place + 1, 0.1) for place in range(0, 100, 2)])
    port = HeatmapViewport(n=100, wide=100, high=100).fit().zoomed(20, 0, 0)
    assert len(tree.seen(port)) < 10


def test_of_very_many_brackets_the_largest_are_drawn() -> None:
    brackets = np.zeros((5_000, 5), np.float32)
    brackets[:, 1] = np.arange(5_000)
    seen = Tree(brackets).seen(HeatmapViewport(n=5_000, wide=5_000, high=5_000, side=1.0))
    assert len(seen) == MOST_BRACKETS
    assert seen[:, 1].min() == 5_000 - MOST_BRACKETS


def test_leaves_are_drawn_at_the_right_and_the_root_at_the_left() -> None:
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    painter = QPainter(image)
    draw_tree(
        painter, tree_of((0, 1), [Join(0, 1, 1.0)]), HeatmapViewport(n=2, wide=40, high=40).fit(), QRect(0, 0, 20, 40)
    )
    painter.end()
    drawn = {x for x in range(40) if any(image.pixel(x, y) != 0xFFFFFFFF for y in range(40))}
    assert (min(drawn), max(drawn)) == (0, 19)
