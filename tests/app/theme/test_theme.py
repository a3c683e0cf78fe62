"""One look at a time, for everything at once."""

import json

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from app.frame import Frame
from app.settings import Settings
from app.theme import Role, Size, ThemeMode, theme
from app.theme.icons import glyphs
from tests.support.icon_names import names_in_source


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_the_application_wears_the_scheme(qapp: QApplication, mode: ThemeMode) -> None:
    theme().install(mode)
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme().colour(Role.SURFACE)
    assert theme().colour(Role.ACCENT_FILL).name() in qapp.styleSheet()


def test_where_windows_wear_the_sheet_themselves_the_application_wears_none(qapp: QApplication) -> None:
    theme().install(ThemeMode.LIGHT, whole=False)
    frame = Frame(Settings(None))
    assert qapp.styleSheet() == ""
    light = frame.styleSheet()
    theme().set_mode(ThemeMode.DARK)
    assert light != frame.styleSheet() == theme().sheet
    frame.deleteLater()
    theme().install(ThemeMode.LIGHT)
    assert qapp.styleSheet() == light


def test_a_change_of_scheme_is_told_and_redraws_icons(qapp: QApplication) -> None:
    theme().install(ThemeMode.LIGHT)
    told: list[bool] = []
    theme().changed.connect(lambda: told.append(theme().dark))
    light = theme().pixmap("plus", Role.TEXT).toImage()
    theme().set_mode(ThemeMode.DARK)
    assert told == [True]
    assert theme().pixmap("plus", Role.TEXT).toImage() != light


def test_icons_are_drawn_once_for_each_scale(qapp: QApplication) -> None:
    theme().install(ThemeMode.LIGHT)
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
