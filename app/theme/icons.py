"""Line icons out of the Phosphor font that qtawesome carries, drawn once per name, colour, size and scale."""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontDatabase, QPainter, QPixmap

FONT_FILE = "phosphor-1.3.0.ttf"
NAMES_FILE = "phosphor-charmap-1.3.0.json"


@cache
def glyphs() -> dict[str, str]:
    """Return the character of each icon, by name; a name with `-fill` is the solid form."""
    table = json.loads((_folder() / NAMES_FILE).read_text(encoding="utf-8"))
    return {name: chr(int(code, 16)) for name, code in table.items()}


def draw(name: str, colour: QColor, size: int, scale: float) -> QPixmap:
    """Return a square pixmap of `size` device-independent pixels at a device pixel ratio."""
    pixmap = QPixmap(round(size * scale), round(size * scale))
    pixmap.setDevicePixelRatio(scale)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setFont(_font(size))
    painter.setPen(colour)
    painter.drawText(QRectF(0, 0, size, size), Qt.AlignmentFlag.AlignCenter, glyphs()[name])
    painter.end()
    return pixmap


@cache
def _folder() -> Path:
    found = find_spec("qtawesome")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("The icon font is missing: the package qtawesome is not installed.")
    return Path(found.submodule_search_locations[0]) / "fonts"


@cache
def _family() -> str:
    number = QFontDatabase.addApplicationFont(str(_folder() / FONT_FILE))
    return QFontDatabase.applicationFontFamilies(number)[0]


@cache
def _font(size: int) -> QFont:
    made = QFont(_family())
    made.setPixelSize(size)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made
