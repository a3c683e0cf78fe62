"""One look at a time, for everything at once."""

import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QFileDialog, QHeaderView, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from app.theme import Contrast, Role, Size, ThemeMode, theme
from app.theme.icons import glyphs
from app.widgets import Button
from tests.support.source_modules import names_in_source


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_the_application_wears_the_scheme(qapp: QApplication, mode: ThemeMode) -> None:
    theme().install(mode)
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme().colour(Role.SURFACE)
    assert theme().colour(Role.ACCENT_FILL).name() in qapp.styleSheet()


class Part(QWidget):
    """Notes when it is dressed."""

    dressed: list[str]

    def changeEvent(self, event: QEvent) -> None:
        if event.type() is QEvent.Type.StyleChange:
            self.dressed.append(self.objectName())
        super().changeEvent(event)


@pytest.fixture
def in_parts(qapp: QApplication) -> Iterator[QWidget]:
    """A window of two parts that wear the sheet by themselves, of which one is seen."""
    theme().install(ThemeMode.LIGHT, application_wide=False)
    window = QWidget()
    for name in ("unseen", "seen"):
        part = Part(window)
        part.setObjectName(name)
        part.dressed = []
        part.setHidden(name == "unseen")
        theme().apply_to(part)
    window.show()
    yield window
    window.close()
    window.deleteLater()


def parts(window: QWidget) -> list[Part]:
    """The part that is seen, and the other one."""
    return [part for name in ("seen", "unseen") if isinstance(part := window.findChild(Part, name), Part)]


def test_where_parts_wear_the_sheet_the_application_wears_none_and_they_change_one_by_one_what_is_seen_first(
    in_parts: QWidget, qtbot: QtBot, qapp: QApplication
) -> None:
    seen, unseen = parts(in_parts)
    light = theme().sheet
    assert (seen.styleSheet(), unseen.styleSheet(), qapp.styleSheet()) == (light, light, "")
    theme().set_mode(ThemeMode.DARK)
    assert not in_parts.updatesEnabled()
    seen.dressed = unseen.dressed = []
    qtbot.waitUntil(lambda: in_parts.updatesEnabled() and unseen.styleSheet() == seen.styleSheet() == theme().sheet)
    assert list(dict.fromkeys(seen.dressed)) == ["seen", "unseen"]


def test_what_is_about_to_go_is_dressed_no_more(in_parts: QWidget, qtbot: QtBot) -> None:
    seen, unseen = parts(in_parts)
    unseen.dressed.clear()
    theme().forget(unseen)
    theme().set_mode(ThemeMode.DARK)
    qtbot.waitUntil(in_parts.updatesEnabled)
    assert seen.styleSheet() == theme().sheet != unseen.styleSheet()
    assert not unseen.dressed


def test_what_is_inside_a_part_wears_what_the_part_wears(in_parts: QWidget) -> None:
    seen, _ = parts(in_parts)
    inside = QWidget(seen)
    theme().apply_to(inside)
    assert inside.styleSheet() == ""


def test_a_part_that_is_gone_is_not_missed(in_parts: QWidget, qtbot: QtBot) -> None:
    seen, unseen = parts(in_parts)
    theme().set_mode(ThemeMode.DARK)
    delete(seen)
    qtbot.waitUntil(lambda: in_parts.updatesEnabled() and unseen.styleSheet() == theme().sheet)


def test_high_contrast_is_worn_at_once_with_a_thicker_ring_round_what_has_the_keyboard(
    in_parts: QWidget, qtbot: QtBot
) -> None:
    seen, unseen = parts(in_parts)
    usual, ring = theme().colour(Role.DIM), theme().ring
    theme().set_contrast(Contrast.HIGH)
    qtbot.waitUntil(lambda: seen.styleSheet() == unseen.styleSheet() == theme().sheet)
    assert (theme().dark, theme().colour(Role.DIM) == usual, theme().ring > ring) == (False, False, True)
    assert (
        f"QPushButton:focus {{ border: {theme().ring}px solid {theme().colour(Role.FOCUS).name()}" in seen.styleSheet()
    )
    theme().set_mode(ThemeMode.DARK)
    assert theme().colour(Role.SURFACE).name() == "#000000"
    theme().set_contrast(Contrast.NORMAL)
    assert theme().colour(Role.SURFACE).name() != "#000000"


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
@pytest.mark.parametrize("kind", ["plain", "primary", "danger", "quiet", "link"])
@pytest.mark.parametrize("percent", [80, 100, 200])
def test_a_button_is_as_large_with_the_keyboard_as_without(
    qtbot: QtBot, kind: str, mode: ThemeMode, percent: int
) -> None:
    theme().set_text_size(percent)
    for contrast in (Contrast.NORMAL, Contrast.HIGH):
        theme().install(mode, contrast)
        window = QWidget()
        button = Button("Run", kind=kind, parent=window)
        window.show()
        window.activateWindow()
        usual = button.sizeHint()
        button.setFocus()
        qtbot.waitUntil(button.hasFocus)
        assert button.sizeHint() == usual
        window.close()
        window.deleteLater()


def test_a_part_that_has_the_colours_it_is_to_have_is_not_dressed_again(in_parts: QWidget) -> None:
    seen, _ = parts(in_parts)
    seen.dressed.clear()
    theme().set_mode(ThemeMode.LIGHT)
    theme().set_contrast(Contrast.NORMAL)
    assert in_parts.updatesEnabled()
    assert seen.dressed == []


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_the_heads_of_a_file_dialog_are_read_where_the_system_brings_none(qapp: QApplication, mode: ThemeMode) -> None:
    theme().install(mode)
    dialog = QFileDialog()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    (head,) = (one for one in dialog.findChildren(QHeaderView) if one.orientation() is Qt.Orientation.Horizontal)
    head.resize(400, 24)
    colours = head.grab().toImage()
    assert colours.pixelColor(200, 4) == theme().colour(Role.SURFACE)
    dialog.deleteLater()


def test_a_change_of_scheme_is_told_and_redraws_icons(qapp: QApplication) -> None:
    told: list[bool] = []
    theme().changed.connect(lambda: told.append(theme().dark))
    light = theme().pixmap("plus", Role.TEXT).toImage()
    theme().set_mode(ThemeMode.DARK)
    assert told == [True]
    assert theme().pixmap("plus", Role.TEXT).toImage() != light


def test_icons_are_drawn_once_for_each_scale(qapp: QApplication) -> None:
    once = theme().pixmap("plus", Role.DIM, 16, 2.0)
    assert theme().pixmap("plus", Role.DIM, 16, 2.0).cacheKey() == once.cacheKey()
    assert (once.width(), once.deviceIndependentSize().width()) == (32, 16)


def test_fonts_are_shared_and_have_the_sizes_of_the_design(qapp: QApplication) -> None:
    assert theme().font(Size.LEAD) is theme().font(Size.LEAD)
    assert [theme().font(size).pixelSize() for size in Size] == [12, 13, 15, 20, 28]
    assert theme().font(mono=True).pixelSize() == 12


def test_every_icon_that_the_window_names_exists() -> None:
    assert [name for name in names_in_source() if name not in glyphs()] == []


def test_the_icon_font_says_which_glyph_is_which() -> None:
    assert json.dumps(glyphs()["plus"]).startswith('"\\u')
