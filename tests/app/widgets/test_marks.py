"""Marks are told apart by their shape, for whoever sees no colours."""

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.theme import Role, ThemeMode, theme
from app.widgets.marks import Mark, mark_pixmap
from tests.support.displayed_text import contrast

SIDE, LEAST_PIXELS = 16, 12


def shape(mark: Mark) -> npt.NDArray[np.bool_]:
    """What of a mark is darker than half of it, once its colours and how strong they are are taken away."""
    image = QImage(SIDE, SIDE, QImage.Format.Format_Grayscale8)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.drawPixmap(0, 0, mark_pixmap(mark, SIDE, 1.0))
    painter.end()
    grey = np.frombuffer(bytes(image.constBits()), np.uint8).reshape(SIDE, -1)[:, :SIDE].astype(float)
    dark: npt.NDArray[np.bool_] = grey < (grey.min() + grey.max()) / 2
    return dark


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
@pytest.mark.parametrize("mark", [mark for mark in Mark if mark is not Mark.BLANK], ids=lambda mark: mark.value)
def test_every_mark_stands_out_from_the_page_and_from_a_chosen_row(
    qapp: QApplication, mark: Mark, mode: ThemeMode
) -> None:
    theme().install(mode)
    for ground in (Role.SURFACE, Role.SELECTED):
        behind = theme().colour(ground)
        image = QImage(64, 64, QImage.Format.Format_RGB32)
        image.fill(behind)
        painter = QPainter(image)
        painter.drawPixmap(0, 0, mark_pixmap(mark, 64, 1.0))
        painter.end()
        seen = (contrast(image.pixel(x, y) & 0xFFFFFF, behind.rgb() & 0xFFFFFF) for x in range(64) for y in range(64))
        assert sum(ratio >= 3 for ratio in seen) >= 64


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_no_two_marks_have_the_same_shape(qapp: QApplication, mode: ThemeMode) -> None:
    theme().install(mode)
    shapes = {mark: shape(mark) for mark in Mark if mark is not Mark.BLANK}
    alike = {
        (one.value, other.value)
        for one, other in combinations(shapes, 2)
        if np.count_nonzero(shapes[one] != shapes[other]) < LEAST_PIXELS
    }
    theme().install(ThemeMode.LIGHT)
    assert alike == set()
