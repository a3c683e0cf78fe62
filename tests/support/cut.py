"""Looks for what has too little room: words that are cut without a sign of it, and parts that stand on each other."""

from collections.abc import Iterator
from itertools import combinations

from PySide6.QtCore import QCoreApplication, QEvent, QRect
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QLayout, QPushButton, QWidget

from app.widgets.choices import MenuButton
from tests.support.accessible import path

SLACK, SETTLING = 2, 3
ELIDES = (MenuButton,)


def cramped(root: QWidget) -> set[str]:
    """What of a window is cut or covered, for a reader of large text."""
    for _ in range(SETTLING):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    seen = [one for one in (root, *root.findChildren(QWidget)) if one.isVisible() and not one.isWindow()]
    found = {f"{path(one)} is cut: it needs {wanted} of {one.width()}" for one, wanted in _cut(seen)}
    found |= {f"{path(one)} reaches out of what holds it" for one in seen if _reaches_out(one)}
    return found | {f"{path(one)} stands on {path(other)}" for held in seen for one, other in _stacked(held)}


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
            common = _place(one).intersected(_place(other))
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


def _place(widget: QWidget) -> QRect:
    return widget.geometry()
