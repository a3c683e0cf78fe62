"""The tree beside the map."""

import numpy as np
from PySide6.QtCore import QRect
from PySide6.QtGui import QImage, QPainter

from app.widgets.heatmap_layout import MOST_BRACKETS, HeatmapViewport, Join, Tree, draw_tree, tree_of


def test_brackets_join_the_middles_of_what_they_hold() -> None:
    tree = tree_of((2, 0, 1), [Join(0, 1, 0.2), Join(2, 3, 0.4)])
    assert tree.brackets.round(2).tolist() == [[1.5, 2.5, 0, 0, 0.5], [0.5, 2.0, 0, 0.5, 1.0]]


def test_a_bracket_begins_above_whatever_was_joined_first() -> None:
    tree = tree_of((0, 1, 2), [Join(1, 2, 0.1), Join(3, 0, 0.1)])
    assert tree.brackets[1].tolist() == [0.5, 2.0, 0.0, 1.0, 1.0]


def test_tools_that_are_all_alike_make_a_flat_tree_and_no_error() -> None:
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
