"""The colours can be read, and told apart, in both schemes."""

from itertools import combinations

import pytest

from app.theme.tokens import Role, scheme_colours

TEXTS = (Role.TEXT, Role.DIM, Role.ACCENT, Role.GOOD, Role.BAD, Role.WARN, Role.INFO)
GROUNDS = (Role.SURFACE, Role.SELECTED)
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
FILLS = (Role.GOOD_FILL, Role.BAD_FILL, Role.WARN_FILL, Role.INFO_FILL)
# Machado, Oliveira and Fernandes 2009, severity 1.0, applied to linear RGB.
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
WHITE = (0.95047, 1.0, 1.08883)
Triple = tuple[float, float, float]


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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda role: role.value)
def test_text_can_be_read_on_every_ground(text: Role, dark: bool) -> None:
    colours = scheme_colours(dark)
    assert all(contrast(colours[text], colours[ground]) >= 4.5 for ground in GROUNDS)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_on_its_own_tint(dark: bool) -> None:
    colours = scheme_colours(dark)
    bad = [(a.value, b.value) for a, b in PAIRS if contrast(colours[a], colours[b]) < 4.5]
    assert bad == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda role: role.value)
def test_shapes_stand_out_from_every_ground(shape: Role, dark: bool) -> None:
    colours = scheme_colours(dark)
    assert all(contrast(colours[shape], colours[ground]) >= 3 for ground in GROUNDS)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_main_button_stands_out_from_the_page(dark: bool) -> None:
    colours = scheme_colours(dark)
    assert contrast(colours[Role.ACCENT_FILL], colours[Role.SURFACE]) >= 3


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_the_four_fills_are_told_apart_by_colour_blind_eyes(blindness: str, dark: bool) -> None:
    colours = scheme_colours(dark)
    looks = [lab(seen(linear(colours[fill]), BLINDNESS[blindness])) for fill in FILLS]
    distances = [
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5 for one, other in combinations(looks, 2)
    ]
    assert min(distances) >= 13
