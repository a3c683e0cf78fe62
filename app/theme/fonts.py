"""The fonts in use: the system's own at the sizes of the tokens, each made once and shared."""

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase

from app.theme.tokens import Size, pixels, weight


@cache
def font(
    size: Size = Size.BODY,
    *,
    strong: bool = False,
    label: bool = False,
    mono: bool = False,
    italic: bool = False,
    tabular: bool = False,
) -> QFont:
    """One shared font: `strong` 600, `label` 500; `mono` is one pixel smaller; `tabular` aligns figures."""
    made = QFont(_system(mono))
    made.setPixelSize(pixels(size) - (1 if mono else 0))
    made.setWeight(QFont.Weight(weight("strong" if strong else "label" if label else "text")))
    made.setItalic(italic)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if tabular:
        made.setFeature(QFont.Tag("tnum"), 1)
    if mono:
        made.setFeature(QFont.Tag("calt"), 0)
    return made


@cache
def _system(mono: bool) -> QFont:
    which = QFontDatabase.SystemFont.FixedFont if mono else QFontDatabase.SystemFont.GeneralFont
    return QFontDatabase.systemFont(which)
