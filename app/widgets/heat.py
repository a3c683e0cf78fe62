"""Shades of one hue for counts, and which ink can be read on them."""

from PySide6.QtGui import QColor

from app.theme import theme
from app.theme.tokens import tokens

FAINTEST, DEPTH, BEND = 0.08, 0.86, 0.62


def ramp() -> tuple[QColor, QColor]:
    """The ends of the ramp in the scheme of now."""
    scheme = ("high_contrast_" if theme().high else "") + ("dark" if theme().dark else "light")
    ends = tokens()["confusion_ramp"][scheme]
    return QColor(ends["low"]), QColor(ends["high"])


def shade(low: QColor, high: QColor, share: float) -> QColor:
    """The colour of a share above 0 of the most: small ones are lifted, so that a single one is seen."""
    mix = FAINTEST + DEPTH * share**BEND
    return QColor(
        round(low.red() + (high.red() - low.red()) * mix),
        round(low.green() + (high.green() - low.green()) * mix),
        round(low.blue() + (high.blue() - low.blue()) * mix),
    )


def luminance(colour: QColor) -> float:
    """Relative luminance after WCAG 2, 0 to 1."""
    red, green, blue = (_linear(part) for part in (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ink_on(colour: QColor) -> QColor:
    """White or black, whichever has more contrast on a colour."""
    light = luminance(colour)
    return QColor("#000000") if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else QColor("#FFFFFF")


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
