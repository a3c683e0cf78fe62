"""Measures what is on the screen: does every text stand out from what is really behind it, and does the focus show."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QScrollBar, QWidget

from app.theme import theme
from tests.support.walking import placed_texts

LEAST_TEXT, LEAST_SHAPE = 4.5, 3.0
LEAST_TEXT_IF_HIGH, LEAST_SHAPE_IF_HIGH = 7.0, 4.5
LEAST_PIXELS = 12
NEAR = 40


@cache
def luminance(colour: int) -> float:
    """Relative luminance of an RGB number, as WCAG defines it."""
    parts = ((colour >> shift & 0xFF) / 255 for shift in (16, 8, 0))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: int, other: int) -> float:
    """The ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def faint(root: QWidget) -> set[str]:
    """Texts with too little contrast, with their colours, but for what is disabled or covered."""
    image = pixels(root.grab().toImage())
    found: set[str] = set()
    least = LEAST_TEXT_IF_HIGH if theme().high else LEAST_TEXT
    for text, colour, box in _visible_texts(root):
        written, behind = _seen(image, box, colour)
        inside = root.childAt(box.center())
        if written is None or behind is None or (inside is not None and not inside.isEnabled()):
            continue
        if contrast(written, behind) < least:
            found.add(f"{text[:40]!r}: #{written:06x} on #{behind:06x} is {contrast(written, behind):.2f}")
    return found


def faint_bars(root: QWidget) -> set[str]:
    """Scroll bars whose handle does not stand out from where it runs."""
    image = pixels(root.grab().toImage())
    least = LEAST_SHAPE_IF_HIGH if theme().high else LEAST_SHAPE
    found: set[str] = set()
    for bar in root.findChildren(QScrollBar):
        seen = bar.visibleRegion().boundingRect()
        if bar.maximum() == bar.minimum() or min(seen.width(), seen.height()) < bar.sizeHint().width() // 2:
            continue
        middle = bar.mapTo(root, bar.rect().center())
        place = QRect(bar.mapTo(root, seen.topLeft()), seen.size())
        upright = bar.orientation() is Qt.Orientation.Vertical
        along = (
            image[place.top() : place.bottom(), middle.x()]
            if upright
            else image[middle.y(), place.left() : place.right()]
        )
        lights = sorted(
            (one for one, number in Counter(along.tolist()).items() if number >= LEAST_PIXELS), key=luminance
        )
        if (ratio := contrast(lights[0], lights[-1])) < least:
            found.add(f"the handle of a scroll bar in {type(bar.parentWidget()).__name__} is {ratio:.2f}")
    return found


def _visible_texts(root: QWidget) -> Iterator[tuple[str, int, QRect]]:
    for part, box in placed_texts(root):
        if part.text.strip() and (shown := box.intersected(root.rect())).width() > 3:
            yield part.text, QColor(part.fill).rgb() & 0xFFFFFF, shown


def _seen(image: npt.NDArray[np.uint32], box: QRect, colour: int) -> tuple[int | None, int | None]:
    """The colour in which a text is really seen, which is another where it is selected, and the one round it."""
    pixels = Counter(image[box.top() : box.bottom(), box.left() : box.right()].ravel().tolist())
    behind = next((one for one, _ in pixels.most_common() if not _near(one, colour)), None)
    written = [one for one in pixels if _near(one, colour)]
    if behind is None or not written:
        return None, None
    return max(colour, *written, key=lambda one: contrast(one, behind)), behind


def _near(one: int, other: int) -> bool:
    return all(abs((one >> shift & 0xFF) - (other >> shift & 0xFF)) <= NEAR for shift in (16, 8, 0))


def shows(before: QImage, after: QImage) -> bool:
    """Whether two pictures of a widget differ enough for an eye: in enough pixels, and in each by 3 to 1."""
    one, other = pixels(before), pixels(after)
    if one.shape != other.shape:
        return True
    changed = one != other
    pairs = Counter(zip(one[changed].tolist(), other[changed].tolist(), strict=True))
    least = LEAST_SHAPE_IF_HIGH if theme().high else LEAST_SHAPE
    return sum(number for pair, number in pairs.items() if contrast(*pair) >= least) >= LEAST_PIXELS


def pixels(image: QImage) -> npt.NDArray[np.uint32]:
    """The colours of a picture as RGB numbers, line by line."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    lines = np.frombuffer(bytes(plain.constBits()), np.uint32).reshape(plain.height(), -1)
    return lines[:, : plain.width()] & np.uint32(0xFFFFFF)
