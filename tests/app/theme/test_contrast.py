"""The colours can be read, and told apart, in both schemes."""

from collections.abc import Iterator
from itertools import combinations

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.theme import Contrast, ThemeMode, theme
from app.theme.tokens import Role, scheme_colours
from app.widgets import heatmap_drawing
from app.widgets.bars import soft_accent
from app.widgets.matrix_drawing import ink_on, ramp, shade

TEXTS = (Role.TEXT, Role.DIM, Role.ACCENT, Role.GOOD, Role.BAD, Role.WARN, Role.INFO)
GROUNDS = (Role.SURFACE, Role.SELECTED)
PANES = (Role.SURFACE, Role.RAISED, Role.SUNKEN)
SHAPES = (Role.CONTROL, Role.FOCUS, Role.GOOD_FILL, Role.BAD_FILL, Role.WARN_FILL, Role.INFO_FILL)
PAIRS = (
    (Role.ON_ACCENT, Role.ACCENT_FILL),
    (Role.GOOD, Role.GOOD_TINT),
    (Role.BAD, Role.BAD_TINT),
    (Role.WARN, Role.WARN_TINT),
    (Role.INFO, Role.INFO_TINT),
    (Role.TEXT, Role.NAV_CURRENT),
    (Role.TEXT, Role.BAD_TINT),
    (Role.TEXT, Role.WARN_TINT),
    (Role.DIM, Role.WARN_TINT),
    (Role.DIM, Role.SUNKEN),
)
ICONS = (Role.DIM, Role.ACCENT, Role.GOOD, Role.BAD, Role.WARN, Role.INFO)
ICON_GROUNDS = (Role.SURFACE, Role.RAISED, Role.SUNKEN, Role.HOVER, Role.SELECTED, Role.NAV_CURRENT)
FILLS = (Role.GOOD_FILL, Role.BAD_FILL, Role.WARN_FILL, Role.INFO_FILL)
# Machado, Oliveira and Fernandes 2009, severity 1.0, applied to linear RGB.
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
WHITE = (0.95047, 1.0, 1.08883)
Triple = tuple[float, float, float]
SCHEMES = pytest.mark.parametrize(
    ("dark", "high"),
    [(False, False), (True, False), (False, True), (True, True)],
    ids=["light", "dark", "light high", "dark high"],
)


def linear(code: str) -> Triple:
    """Linear RGB of a hex colour."""
    red, green, blue = (int(code[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def luminance(code: str) -> float:
    """WCAG 2 relative luminance."""
    red, green, blue = linear(code)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def seen(colour: Triple, rows: tuple[Triple, Triple, Triple]) -> Triple:
    """What a colour-blind eye makes of it."""
    red, green, blue = (min(1.0, max(0.0, sum(a * b for a, b in zip(row, colour, strict=True)))) for row in rows)
    return red, green, blue


def lab(colour: Triple) -> Triple:
    """CIE Lab (D65) of linear RGB."""
    red, green, blue = colour
    x = 0.4124564 * red + 0.3575761 * green + 0.1804375 * blue
    y = 0.2126729 * red + 0.7151522 * green + 0.0721750 * blue
    z = 0.0193339 * red + 0.1191920 * green + 0.9503041 * blue
    fx, fy, fz = (_cube(part / white) for part, white in zip((x, y, z), WHITE, strict=True))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def _cube(part: float) -> float:
    return float(part ** (1 / 3)) if part > 0.008856 else 7.787 * part + 16 / 116


@SCHEMES
@pytest.mark.parametrize("text", TEXTS, ids=lambda role: role.value)
def test_text_can_be_read_on_every_ground(text: Role, dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    assert all(contrast(colours[text], colours[ground]) >= (7 if high else 4.5) for ground in GROUNDS)


@SCHEMES
def test_text_can_be_read_on_its_own_tint(dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    bad = [(a.value, b.value) for a, b in PAIRS if contrast(colours[a], colours[b]) < (7 if high else 4.5)]
    assert bad == []


@SCHEMES
@pytest.mark.parametrize("shape", SHAPES, ids=lambda role: role.value)
def test_shapes_stand_out_from_every_ground(shape: Role, dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    assert all(contrast(colours[shape], colours[ground]) >= (4.5 if high else 3) for ground in GROUNDS)


@SCHEMES
def test_the_handle_of_a_scroll_bar_stands_out_from_every_pane(dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    assert all(contrast(colours[Role.SCROLL], colours[pane]) >= (4.5 if high else 3) for pane in PANES)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_at_high_contrast_lines_are_seen_on_every_pane_and_more_is_told_apart(dark: bool) -> None:
    usual, high = scheme_colours(dark), scheme_colours(dark, high=True)
    assert all(contrast(high[Role.LINE], high[pane]) >= 4.5 for pane in PANES)
    assert all(contrast(high[Role.LINE], high[ground]) >= 3 for ground in ICON_GROUNDS)
    for strong in (Role.TEXT, Role.DIM, Role.CONTROL, Role.FOCUS, Role.SELECTED, Role.NAV_CURRENT):
        assert contrast(high[strong], high[Role.SURFACE]) > contrast(usual[strong], usual[Role.SURFACE])


@SCHEMES
@pytest.mark.parametrize("icon", ICONS, ids=lambda role: role.value)
def test_icons_stand_out_wherever_they_are_drawn(icon: Role, dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    assert [ground for ground in ICON_GROUNDS if contrast(colours[icon], colours[ground]) < 3] == []


@SCHEMES
def test_intervals_stand_out_from_the_page(dark: bool, high: bool, qapp: QApplication) -> None:
    theme().install(ThemeMode.DARK if dark else ThemeMode.LIGHT, Contrast.HIGH if high else Contrast.NORMAL)
    soft, page = soft_accent(), theme().colour(Role.SURFACE)
    strength = soft.alphaF()
    mixed = [round(a * strength + b * (1 - strength)) for a, b in zip(_parts(soft), _parts(page), strict=True)]
    theme().install(ThemeMode.LIGHT)
    assert contrast(QColor(*mixed).name(), page.name()) >= (4.5 if high else 3)


def _parts(colour: QColor) -> tuple[int, int, int]:
    return colour.red(), colour.green(), colour.blue()


def ramps() -> Iterator[list[str]]:
    """Every ramp that tells how much, from little to much."""
    for dark in (False, True):
        theme().install(ThemeMode.DARK if dark else ThemeMode.LIGHT)
        yield [shade(*ramp(), step / 12).name() for step in range(13)]
    theme().install(ThemeMode.LIGHT)
    yield [colour.name() for colour in heatmap_drawing.ramp()]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_counts_can_be_read_on_every_shade_at_high_contrast(dark: bool, qapp: QApplication) -> None:
    theme().install(ThemeMode.DARK if dark else ThemeMode.LIGHT, Contrast.HIGH)
    shades = [shade(*ramp(), step / 12) for step in range(13)]
    theme().install(ThemeMode.LIGHT)
    assert all(contrast(ink_on(one).name(), one.name()) >= 7 for one in shades)
    lights = [lab(linear(one.name()))[0] for one in shades]
    assert lights in (sorted(lights), sorted(lights, reverse=True))
    assert abs(lights[-1] - lights[0]) >= 30


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_more_is_always_lighter_or_always_darker_also_for_colour_blind_eyes(blindness: str, qapp: QApplication) -> None:
    for colours in ramps():
        light = [lab(seen(linear(colour), BLINDNESS[blindness]))[0] for colour in colours]
        assert light in (sorted(light), sorted(light, reverse=True))
        assert abs(light[-1] - light[0]) >= 50


@SCHEMES
@pytest.mark.parametrize("blindness", BLINDNESS)
@pytest.mark.parametrize("text", TEXTS, ids=lambda role: role.value)
def test_text_can_be_read_by_colour_blind_eyes(text: Role, blindness: str, dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    inks = [seen(linear(colours[role]), BLINDNESS[blindness]) for role in (text, Role.SURFACE)]
    less, more = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in inks)
    assert (more + 0.05) / (less + 0.05) >= (7 if high else 4.5)


@SCHEMES
def test_the_main_button_stands_out_from_the_page(dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    assert contrast(colours[Role.ACCENT_FILL], colours[Role.SURFACE]) >= 3


@SCHEMES
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_four_fills_are_told_apart_by_colour_blind_eyes(blindness: str, dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    looks = [lab(seen(linear(colours[fill]), BLINDNESS[blindness])) for fill in FILLS]
    distances = [
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 for one, other in combinations(looks, 2)
    ]
    assert min(distances) >= 13
