"""The colours can be read, and told apart, in both schemes."""

from collections.abc import Iterator
from itertools import combinations, product

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication

from app.theme import Contrast, ThemeMode, theme
from app.theme.tokens import Role, scheme_colours
from app.widgets import heatmap_drawing
from app.widgets.bars import soft_accent
from app.widgets.matrix_drawing import ink_on, linear_part, ramp, shade
from tests.support.displayed_text import contrast as pixel_contrast

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
# Ink, ground, and the least contrast between them, at normal and at high contrast.
LEAST = (
    *((text, ground, 4.5, 7.0) for text, ground in (*product(TEXTS, GROUNDS), *PAIRS)),
    *((shape, ground, 3.0, 4.5) for shape, ground in (*product(SHAPES, GROUNDS), *product((Role.SCROLL,), PANES))),
    *((icon, ground, 3.0, 3.0) for icon, ground in (*product(ICONS, ICON_GROUNDS), (Role.ACCENT_FILL, Role.SURFACE))),
)
WHITE = (0.95047, 1.0, 1.08883)
Triple = tuple[float, float, float]
SCHEMES = pytest.mark.parametrize(
    ("dark", "high"),
    [(False, False), (True, False), (False, True), (True, True)],
    ids=["light", "dark", "light high", "dark high"],
)


def linear(code: str) -> Triple:
    """Linear RGB of a hex colour."""
    colour = QColor(code)
    return linear_part(colour.redF()), linear_part(colour.greenF()), linear_part(colour.blueF())


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""
    return pixel_contrast(QColor(one).rgb() & 0xFFFFFF, QColor(other).rgb() & 0xFFFFFF)


def seen(colour: Triple, rows: tuple[Triple, Triple, Triple]) -> Triple:
    """Simulate colour blindness."""
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
def test_every_colour_stands_out_from_what_lies_under_it(dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    ratios = {(ink, ground): contrast(colours[ink], colours[ground]) for ink, ground, _, _ in LEAST}
    assert [(a, b) for a, b, usual, strong in LEAST if ratios[a, b] < (strong if high else usual)] == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_at_high_contrast_lines_are_seen_on_every_pane_and_more_is_told_apart(dark: bool) -> None:
    usual, high = scheme_colours(dark), scheme_colours(dark, high=True)
    assert all(contrast(high[Role.LINE], high[pane]) >= 4.5 for pane in PANES)
    assert all(contrast(high[Role.LINE], high[ground]) >= 3 for ground in ICON_GROUNDS)
    for strong in (Role.TEXT, Role.DIM, Role.CONTROL, Role.FOCUS, Role.SELECTED, Role.NAV_CURRENT):
        assert contrast(high[strong], high[Role.SURFACE]) > contrast(usual[strong], usual[Role.SURFACE])


@SCHEMES
def test_intervals_stand_out_from_the_page(dark: bool, high: bool, qapp: QApplication) -> None:
    theme().install(ThemeMode.DARK if dark else ThemeMode.LIGHT, Contrast.HIGH if high else Contrast.NORMAL)
    soft, page = soft_accent(), theme().colour(Role.SURFACE)
    strength = soft.alphaF()
    parts = ((soft.red(), page.red()), (soft.green(), page.green()), (soft.blue(), page.blue()))
    mixed = QColor(*(round(a * strength + b * (1 - strength)) for a, b in parts))
    theme().install(ThemeMode.LIGHT)
    assert contrast(mixed.name(), page.name()) >= (4.5 if high else 3)


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
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_four_fills_are_told_apart_by_colour_blind_eyes(blindness: str, dark: bool, high: bool) -> None:
    colours = scheme_colours(dark, high=high)
    looks = [lab(seen(linear(colours[fill]), BLINDNESS[blindness])) for fill in FILLS]
    distances = [
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 for one, other in combinations(looks, 2)
    ]
    assert min(distances) >= 13
