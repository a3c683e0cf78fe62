"""Checks of the texts that a window displays: plain, visible, short enough, and in contrast to what is behind them."""

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QAbstractItemModel, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QAction, QImage, QPaintDevice, QPaintEngine, QTextItem
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QScrollBar,
    QTableView,
    QTextEdit,
    QWidget,
)

from app.theme import theme

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
LONGEST = {QPlainTextEdit: 110_000, QLineEdit: 40_000}
LONGEST_LABEL = 25_000
MOST_ROWS = 30
_TEXT_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)


def complaints(root: QWidget) -> set[str]:
    """What is wrong with a widget and all that is seen in it, and with every window that is open: one line each."""
    others = (one for one in QApplication.topLevelWidgets() if one.isVisible() and one is not root.window())
    windows = {root, *others}
    widgets = [widget for window in windows for widget in (window, *window.findChildren(QWidget)) if widget.isVisible()]
    return {f"{_path(widget)}: {fault}" for widget in widgets for fault in _faults(widget)}


def _path(widget: QWidget) -> str:
    names: list[str] = []
    above: QWidget | None = widget
    while above is not None and len(names) < 4:
        names.append(type(above).__name__)
        above = above.parentWidget()
    return " < ".join(names)


def _faults(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel) and widget.textFormat() != Qt.TextFormat.PlainText:
        yield f"a label that may read markup: {widget.text()[:60]!r}"
    if isinstance(widget, QTextEdit | QMessageBox):
        yield "it may read markup"
    for what, text in _texts(widget):
        yield from _faults_of(what, text, _longest(widget))
    for tooltip in _tooltips(widget):
        if tooltip and not _is_harmless_tip(tooltip):
            yield f"a tooltip that may read markup, or hides something: {tooltip[:80]!r}"


def _faults_of(what: str, text: str, longest: int) -> Iterator[str]:
    if found := HIDDEN.search(text):
        yield f"{what} hides U+{ord(found[0]):04X} in {text[max(0, found.start() - 20) : found.end() + 5]!r}"
    if len(text) > longest:
        yield f"{what} of {len(text):,} characters"


def _longest(widget: QWidget) -> int:
    return next((longest for kind, longest in LONGEST.items() if isinstance(widget, kind)), LONGEST_LABEL)


def _texts(widget: QWidget) -> Iterator[tuple[str, str]]:
    yield "its name for screen readers", widget.accessibleName()
    yield "its description for screen readers", widget.accessibleDescription()
    yield "its title", widget.windowTitle()
    if isinstance(widget, QLabel | QAbstractButton):
        yield "its text", widget.text()
    if isinstance(widget, QLineEdit):
        yield "its text", widget.displayText()
        yield "its placeholder", widget.placeholderText()
    if isinstance(widget, QPlainTextEdit):
        yield "its text", widget.toPlainText()
    if isinstance(widget, QTableView):
        yield from (("a cell", str(text)) for text in _cells(widget.model(), _TEXT_ROLES) if text)
    for action in widget.actions():
        yield "an action", action.text()


def said(root: QWidget) -> set[str]:
    """All that is read in a widget or heard of it: its texts, what it draws, its tooltips."""
    widgets = [one for one in (root, *root.findChildren(QWidget)) if one.isVisible()]
    texts = {text for one in widgets for _, text in _texts(one)} | {text for one in widgets for text in _tooltips(one)}
    return texts | {part.text for part in text_parts(root)}


def _tooltips(widget: QWidget) -> Iterator[str]:
    yield widget.toolTip()
    yield widget.statusTip()
    yield widget.whatsThis()
    yield from (action.toolTip() for action in widget.actions() if isinstance(action, QAction))
    if isinstance(widget, QTableView):
        yield from (str(text) for text in _cells(widget.model(), (Qt.ItemDataRole.ToolTipRole,)) if text)


def _cells(model: QAbstractItemModel | None, roles: tuple[Qt.ItemDataRole, ...]) -> Iterator[object]:
    if model is None:
        return
    for row in range(min(model.rowCount(), MOST_ROWS)):
        for column in range(min(model.columnCount(), MOST_ROWS)):
            yield from (model.data(model.index(row, column), role) for role in roles)


def _is_harmless_tip(text: str) -> bool:
    """Whether a tooltip is plain, or is escaped whole; and hides nothing."""
    inside = text.removeprefix("<qt>").removesuffix("</qt>").replace("<br>", "")
    if HIDDEN.search(html.unescape(inside)) or len(text) > LONGEST_LABEL:
        return False
    return "<" not in inside if text.startswith("<qt>") else not GuiQt.mightBeRichText(text)


def drawn(widget: QWidget) -> str:
    """All the text that a widget draws, with its children, as it reaches the screen."""
    return "\n".join(part.text for part in text_parts(widget))


@dataclass(frozen=True, slots=True)
class TextPart:
    """A piece of text as it was drawn: in which colour, from where on its base line, how wide, and how large."""

    text: str
    colour: int
    start: QPointF
    wide: float
    size: float


class _TextRecorder(QPaintEngine):
    """Keeps every text that is drawn, and draws nothing."""

    def __init__(self) -> None:
        super().__init__(QPaintEngine.PaintEngineFeature.AllFeatures)
        self.parts: list[TextPart] = []

    def begin(self, _device: QPaintDevice) -> bool:
        return True

    def end(self) -> bool:
        return True

    def type(self) -> QPaintEngine.Type:
        return QPaintEngine.Type.User

    def drawTextItem(self, place: Any, item: QTextItem) -> None:
        font, painter = item.font(), self.painter()
        size = float(font.pixelSize()) if font.pixelSize() > 0 else font.pointSizeF()
        start, colour = painter.deviceTransform().map(QPointF(place)), painter.pen().color().rgb() & 0xFFFFFF
        self.parts.append(TextPart(item.text(), colour, start, item.width(), size))

    def _leave_out(self, *_: object) -> None:
        """Draw nothing."""


_SHAPES = ("Ellipse", "Image", "Lines", "Path", "Pixmap", "Points", "Polygon", "Rects", "TiledPixmap")
for _name in ("updateState", *(f"draw{shape}" for shape in _SHAPES)):
    setattr(_TextRecorder, _name, _TextRecorder._leave_out)


class _TextPicture(QPaintDevice):
    """As large as a widget, with a recorder of the texts that are drawn on it."""

    def __init__(self, size: QSize) -> None:
        super().__init__()
        self.recorder = _TextRecorder()
        kind = QPaintDevice.PaintDeviceMetric
        self._metrics = {
            kind.PdmWidth: size.width(),
            kind.PdmHeight: size.height(),
            kind.PdmDevicePixelRatio: 1,
            kind.PdmDevicePixelRatioScaled: int(QPaintDevice.devicePixelRatioFScale()),
        }

    def paintEngine(self) -> QPaintEngine:
        return self.recorder

    def metric(self, kind: QPaintDevice.PaintDeviceMetric) -> int:
        return self._metrics.get(kind, DOTS_PER_INCH)


DOTS_PER_INCH = 96


def text_parts(widget: QWidget) -> list[TextPart]:
    """Every piece of text that a widget draws, with its children."""
    picture = _TextPicture(widget.size())
    widget.render(picture)
    return picture.recorder.parts


def placed_texts(widget: QWidget) -> Iterator[tuple[TextPart, QRect]]:
    """Every piece of text with the place where a widget draws it."""
    for part in text_parts(widget):
        left, top = round(part.start.x()), round(part.start.y() - part.size * 0.75)
        yield part, QRect(left, top, round(part.wide), round(part.size * 0.8))


def shows_markup(widget: QWidget) -> bool:
    """Return True if markup is drawn as plain text."""
    return "<img src=" in drawn(widget)


def text_faults(root: QWidget, part: QWidget | None = None) -> set[str]:
    """Return the complaints about a widget, and hidden characters that it, or a part of it, draws."""
    return complaints(root) | {f"it draws U+{ord(found):04X}" for found in HIDDEN.findall(drawn(part or root))}


LEAST_TEXT, LEAST_SHAPE = 4.5, 3.0
LEAST_TEXT_IF_HIGH, LEAST_SHAPE_IF_HIGH = 7.0, 4.5
LEAST_PIXELS, SHORT_BAR, LEAST_WIDTH = 12, 100, 3
NEAR = 40
Pixels = npt.NDArray[np.uint32]


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


def faint(root: QWidget, image: Pixels, known: set[tuple[int, bytes]]) -> set[str]:
    """Texts with too little contrast in a picture, with their colours, but for what is disabled or covered.

    What looks like something `known` was judged before.
    """
    found: set[str] = set()
    least = LEAST_TEXT_IF_HIGH if theme().high else LEAST_TEXT
    for text, colour, box in _visible_texts(root):
        look = colour, image[box.top() : box.bottom(), box.left() : box.right()].tobytes()
        if look in known:
            continue
        known.add(look)
        written, behind = _seen(image, box, colour)
        inside = root.childAt(box.center())
        if written is None or behind is None or (inside is not None and not inside.isEnabled()):
            continue
        if contrast(written, behind) < least:
            found.add(f"{text[:40]!r}: #{written:06x} on #{behind:06x} is {contrast(written, behind):.2f}")
    return found


def faint_bars(root: QWidget, image: Pixels) -> set[str]:
    """Scroll bars whose handle does not stand out in a picture from where it runs."""
    least = LEAST_SHAPE_IF_HIGH if theme().high else LEAST_SHAPE
    found: set[str] = set()
    for bar in root.findChildren(QScrollBar):
        seen = bar.visibleRegion().boundingRect()
        short, long = sorted((seen.width(), seen.height()))
        if seen != bar.rect():  # what is in sight may be the handle alone
            continue
        free = long * (bar.maximum() - bar.minimum()) // (bar.maximum() + bar.pageStep() or 1)
        if short < bar.sizeHint().width() // 2 or long < SHORT_BAR or free < 2 * LEAST_PIXELS:
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
        if part.text.strip() and (shown := _uncovered(root, box.intersected(root.rect()))).width() > LEAST_WIDTH:
            yield part.text, part.colour, shown


def _uncovered(root: QWidget, box: QRect) -> QRect:
    """The part of a text that the pane beside does not cover, as it does at the edge of a table that scrolls."""
    place = box.center().y()
    while box.width() > LEAST_WIDTH and root.childAt(box.left(), place) is not root.childAt(box.right(), place):
        box.setRight(box.right() - 1)
    return box


def _seen(image: Pixels, box: QRect, colour: int) -> tuple[int | None, int | None]:
    """The colour in which a text is really seen, which is another where it is selected, and the one round it."""
    pixels = Counter(image[box.top() : box.bottom(), box.left() : box.right()].ravel().tolist())
    behind = next((one for one, _ in pixels.most_common() if not _near(one, colour)), None)
    written = [one for one in pixels if _near(one, colour)]
    if behind is None or not written:
        return None, None
    return max(colour, *written, key=lambda one: contrast(one, behind)), behind


@cache
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


def pixels(image: QImage) -> Pixels:
    """The colours of a picture as RGB numbers, line by line."""
    plain = image.convertToFormat(QImage.Format.Format_RGB32)
    lines = np.frombuffer(bytes(plain.constBits()), np.uint32).reshape(plain.height(), -1)
    return lines[:, : plain.width()] & np.uint32(0xFFFFFF)
