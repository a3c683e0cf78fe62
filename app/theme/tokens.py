"""The names of colours and sizes that code may say, and their values from the tokens file."""

import json
from enum import Enum
from functools import cache
from math import sqrt
from pathlib import Path
from typing import Any, Final

import resources

TOKENS_FILE: Final = Path(resources.__file__).parent / "theme" / "tokens.json"


class Role(Enum):
    """Purpose of a colour; the theme maps it to the current colour."""

    SURFACE = "surface"
    RAISED = "raised"
    SUNKEN = "sunken"
    HOVER = "hover"
    SELECTED = "selected"
    LINE = "line"
    TRACK = "track"
    NAV_CURRENT = "nav_current"
    SCROLL = "scroll"
    ACCENT_TINT = "accent_tint"
    GOOD_TINT = "good_tint"
    BAD_TINT = "bad_tint"
    WARN_TINT = "warn_tint"
    INFO_TINT = "info_tint"
    MARK_SHARED = "mark_shared"
    MARK_DIFF = "mark_diff"
    ON_ACCENT = "on_accent"
    TEXT = "text"
    DIM = "dim"
    ACCENT = "accent"
    GOOD = "good"
    BAD = "bad"
    WARN = "warn"
    INFO = "info"
    CONTROL = "control"
    FOCUS = "focus"
    GOOD_FILL = "good_fill"
    BAD_FILL = "bad_fill"
    WARN_FILL = "warn_fill"
    INFO_FILL = "info_fill"
    ACCENT_FILL = "accent_fill"


class Size(Enum):
    """A text size, by its place in the order of things."""

    SMALL = "small"
    BODY = "body"
    LEAD = "lead"
    TITLE = "title"
    FIGURE = "figure"


@cache
def tokens() -> dict[str, Any]:
    """Return the whole tokens file."""
    values: dict[str, Any] = json.loads(TOKENS_FILE.read_text(encoding="utf-8"))
    return values


def scheme_colours(dark: bool, *, high: bool = False) -> dict[Role, str]:
    """Each role's hex colour in one scheme; with `high` contrast some have another one."""
    scheme = "dark" if dark else "light"
    values = {**tokens()["colour"][scheme], **(tokens()["high_contrast"][scheme] if high else {})}
    return {role: values[role.value] for role in Role}


class TextSize:
    """Scale of text and of everything that grows with it; 1 is the size of the design."""

    factor = 1.0


def sized(length: int) -> int:
    """Return a length that belongs to text, at the size that text has now."""
    return round(length * TextSize.factor)


def unsized(length: int) -> int:
    """Return the length that `sized` scaled to this one, to be stored independently of the text size."""
    return round(length / TextSize.factor)


def roomy(length: int) -> int:
    """Return the width of a pane that shows text: it grows with text, but slower, since the window does not grow."""
    return round(length * sqrt(TextSize.factor))


def unroomy(length: int) -> int:
    """Return the width that `roomy` scaled to this one."""
    return round(length / sqrt(TextSize.factor))


def height(name: str) -> int:
    """Return a height at the size that text has now: `table_row`, `page_header`, `button_and_field` and so on."""
    return sized(int(tokens()["heights"][name]))


def width(name: str) -> int:
    """Return a width in device-independent pixels: `nav`, `batch_list`, `runs_detail`, `hairline` and so on."""
    return int(tokens()["widths"][name])


def space(name: str) -> int:
    """Return a distance in device-independent pixels: `page_margin`, `between_controls`, `group` and so on."""
    return int(tokens()["spacing"][name])


def radius(name: str) -> int:
    """Return a corner radius in device-independent pixels: `field_and_button`, `popup`, `text_mark` and so on."""
    return int(tokens()["radii"][name])


def pixels(size: Size) -> int:
    """Return the current height of a text size, in pixels."""
    return sized(int(tokens()["sizes"][size.value]))


def line_height(size: Size) -> int:
    """Return the distance of base lines at a text size."""
    return sized(int(tokens()["line_heights"][size.value]))


def weight(name: str) -> int:
    """Return the font weight of `text`, `label` or `strong`."""
    return int(tokens()["weights"][name])


def mark_size(place: str) -> int:
    """Return the side of a mark in a `table`, a `strip` or a `detail`."""
    return sized(int(tokens()["marks"][place]))
