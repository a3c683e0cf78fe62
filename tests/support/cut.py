"""Looks for what has too little room: words that are cut without a sign of it, and parts that stand on each other."""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QRect
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QLayout, QPushButton, QWidget

from app.help.window import HelpWindow
from app.widgets import Button
from app.widgets.choices import ChoiceBar, MenuButton
from tests.support.accessible import path
from tests.support.walking import placed_texts

SLACK, SETTLING = 2, 3
ELIDES = (MenuButton,)


def cramped(root: QWidget) -> set[str]:
    """What of a window is cut or covered, for a reader of large text."""
    for _ in range(SETTLING):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    seen = [one for one in (root, *root.findChildren(QWidget)) if one.isVisible() and not one.isWindow()]
    found = {f"{path(one)} is cut: it needs {wanted} of {one.width()}" for one, wanted in _cut(seen)}
    found |= {f"{path(one)} cuts {text!r}" for one in seen if isinstance(one, ChoiceBar) for text in _cut_words(one)}
    found |= {f"{path(one)} reaches out of what holds it" for one in seen if _reaches_out(one)}
    return found | {f"{path(one)} stands on {path(other)}" for held in seen for one, other in _stacked(held)}


def beyond(over: QWidget, window: QWidget) -> set[str]:
    """What of something that lies over a window reaches out of it, and which of its buttons are not wholly in sight."""
    if isinstance(over, HelpWindow):  # it stands where one likes
        return set()
    inside = QRect(over.mapToGlobal(QPoint(0, 0)), over.size())
    room = QRect(window.mapToGlobal(QPoint(0, 0)), window.size())
    found = set() if room.contains(inside) else {f"{path(over)} is at {inside}, beyond the window"}
    buttons = [one for one in over.findChildren(Button) if one.isVisible() and not _scrolls(one)]
    return found | {f"{path(one)} is not wholly in sight" for one in buttons if not _is_whole(one)}


def _scrolls(widget: QWidget) -> bool:
    """Whether it lies in a pane, where it can be scrolled to."""
    above = widget.parentWidget()
    return above is not None and (isinstance(above, QAbstractScrollArea) or _scrolls(above))


def _is_whole(widget: QWidget) -> bool:
    return widget.visibleRegion().boundingRect() == widget.rect()


def _cut(seen: list[QWidget]) -> Iterator[tuple[QWidget, int]]:
    for one in seen:
        if isinstance(one, QLabel) and one.text() and not one.wordWrap():
            wanted = one.sizeHint().width()
        elif isinstance(one, QPushButton) and one.text() and not isinstance(one, ELIDES):
            wanted = one.minimumSizeHint().width()
        else:
            continue
        if wanted > one.width() + SLACK:
            yield one, wanted


def _cut_words(bar: ChoiceBar) -> Iterator[str]:
    """Words that are drawn in part, or with an ellipsis."""
    for part, box in placed_texts(bar):
        if "…" in part.text or box.left() < 0 or box.right() > bar.width() + SLACK:
            yield part.text


def _reaches_out(widget: QWidget) -> bool:
    """Whether the right edge of a part is not to be seen, and cannot be scrolled to."""
    above = widget.parentWidget()
    if above is None or above.layout() is None or isinstance(above.parentWidget(), QAbstractScrollArea):
        return False
    return widget.geometry().right() > above.width() + SLACK


def _stacked(held: QWidget) -> Iterator[tuple[QWidget, QWidget]]:
    """Parts of one layout that cover each other."""
    layout = held.layout()
    if layout is not None:
        parts = [one for one in _laid(layout) if one.isVisible()]
        for one, other in combinations(parts, 2):
            common = _position(one).intersected(_position(other))
            if common.width() > SLACK and common.height() > SLACK:
                yield one, other


def _laid(layout: QLayout) -> Iterator[QWidget]:
    """The widgets of a layout and of those in it."""
    items = (item for place in range(layout.count()) if (item := layout.itemAt(place)) is not None)
    for item in items:
        if (widget := item.widget()) is not None:
            yield widget
        elif (inner := item.layout()) is not None:
            yield from _laid(inner)


def _position(widget: QWidget) -> QRect:
    return widget.geometry()
