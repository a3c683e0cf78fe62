"""The threshold on the scale."""

from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.widgets.scale import ThresholdScale
from tests.support.widgets import placed, recorded


def made(qtbot: QtBot) -> tuple[ThresholdScale, list[float]]:
    scale = placed(qtbot, ThresholdScale("Threshold"))
    scale.resize(600, scale.height())
    scale.set_span(100, 401)
    scale.set_ramp([QColor("#000000"), QColor("#FFFFFF")])
    scale.set_numbers([5, 0, 1, 20])
    heard = recorded(scale.moved)
    scale.set_threshold(0.85)
    scale.show()
    return scale, heard


def test_the_histogram_can_be_heard(qtbot: QtBot) -> None:
    scale, _ = made(qtbot)
    assert scale.accessibleDescription() == "0.00 to 0.25: 5; 0.50 to 0.75: 1; 0.75 to 1.00: 20"


def test_setting_it_tells_nobody_and_moving_it_tells_at_once(qtbot: QtBot) -> None:
    scale, heard = made(qtbot)
    assert (scale.threshold(), heard) == (0.85, [])
    QTest.keyClick(scale, Qt.Key.Key_Left)
    QTest.keyClick(scale, Qt.Key.Key_PageUp)
    assert heard == [0.84, 0.89]


def test_a_click_on_the_scale_sets_the_value_that_stands_there(qtbot: QtBot) -> None:
    scale, heard = made(qtbot)
    QTest.mouseClick(scale, Qt.MouseButton.LeftButton, pos=QPoint(300, 44))
    QTest.mouseClick(scale, Qt.MouseButton.LeftButton, pos=QPoint(5, 44))
    QTest.mouseClick(scale, Qt.MouseButton.LeftButton, pos=QPoint(599, 44))
    assert heard == [0.5, 0.0, 1.0]


def test_a_screen_reader_hears_the_threshold_and_what_it_does(qtbot: QtBot) -> None:
    scale, _ = made(qtbot)
    scale.say("12 of 1,770 pairs flagged", "Threshold 0.85")
    assert scale.accessibleName() == "Threshold: Threshold 0.85, 12 of 1,770 pairs flagged"


def test_colours_lie_under_the_numbers_and_few_numbers_are_still_seen(qtbot: QtBot) -> None:
    scale, _ = made(qtbot)
    image = QImage(scale.size(), QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    look: Any = scale
    look.render(image)
    dark, light = image.pixelColor(102, 48).lightness(), image.pixelColor(420, 48).lightness()
    assert dark < 10
    assert light > 150
    assert image.pixel(340, 40) != image.pixel(240, 40)
