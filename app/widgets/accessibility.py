"""Accessible roles and announcements, which Qt cannot know by itself, and the Tab order by position.

Parts of a page come and go, and Qt puts every new one at the end of its Tab order. So the order is computed from
the places of the widgets when Tab is pressed.
"""

from collections.abc import Iterable, Sequence
from functools import cache

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QAccessibleWidget, QApplication, QScrollArea, QWidget

from app.widgets.safe_text import tip

Spoken = QAccessible.Role


@cache
def install_accessible_roles() -> None:
    """Let every widget with a `SPOKEN_AS` be what that says, in this process."""
    QAccessible.installFactory(_interface)


def announce(widget: QWidget, text: str) -> None:
    """Let screen readers say something that came up, wherever the focus is."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))


def describe(text: str, *parts: QWidget) -> None:
    """Have parts say more of themselves: on hover, and to screen readers."""
    for part in parts:
        part.setToolTip(tip(text))
        part.setAccessibleDescription(text)


def _interface(_name: str, thing: QObject) -> QAccessibleWidget | None:
    role = getattr(thing, "SPOKEN_AS", None)
    return QAccessibleWidget(thing, role) if role is not None and isinstance(thing, QWidget) else None


GAP = 8
Placed = tuple[QRect, QWidget]


class ReadingOrder:
    """To be inherited, before Qt's class, by windows in which Tab follows the eye."""

    def focusNextPrevChild(self, forward: bool) -> bool:
        order = tab_order(self) if isinstance(self, QWidget) else []
        focused = QApplication.focusWidget()
        if not order:
            return False
        reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
        following = _neighbour(order, focused, 1 if forward else -1)
        following.setFocus(reason)
        _reveal(following)
        return True


def tab_order(root: QWidget) -> list[QWidget]:
    """Return the widgets at which Tab stops: in reading order, then those that only arrange the window."""
    order = reading_order(root)
    return sorted(order, key=lambda one: getattr(one, "TAB_LAST", False))


def _neighbour(order: Sequence[QWidget], focused: QWidget | None, step: int) -> QWidget:
    """Return the widget after the focused one, or after its closest ancestor in the order."""
    while focused is not None and focused not in order:
        focused = focused.parentWidget()
    if focused is None:
        return order[0 if step > 0 else -1]
    return order[(order.index(focused) + step) % len(order)]


def _reveal(widget: QWidget) -> None:
    """Scroll to all of it and, where that is too much, to where its cursor is, in every pane that it lies in."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea) and (inside := above.widget()) is not None:
            middle = widget.mapTo(inside, widget.rect().center())
            above.ensureVisible(middle.x(), middle.y(), widget.width() // 2, widget.height() // 2 + GAP)
            above.ensureWidgetVisible(widget)
        above = above.parentWidget()


def reading_order(root: QWidget) -> list[QWidget]:
    """Return the widgets at which Tab stops, from a widget on, in reading order."""
    placed = [(child.geometry(), child) for child in _parts(root)]
    inside = [stop for _, child in _as_read(placed) for stop in reading_order(child)]
    return [root, *inside] if _stops_at(root, holds=bool(inside)) else inside


def _parts(root: QWidget) -> Iterable[QWidget]:
    for child in root.children():
        if isinstance(child, QWidget) and child.isVisible() and child.isEnabled() and not child.isWindow():
            yield child


def _stops_at(widget: QWidget, *, holds: bool) -> bool:
    """Return True if Tab stops at a widget; at a pane only to scroll it, and if nothing inside takes the focus."""
    if isinstance(widget, QScrollArea) and (holds or widget.verticalScrollBar().maximum() == 0):
        return False
    takes_tab = widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value
    return bool(takes_tab) and widget.focusProxy() is None


def _as_read(placed: list[Placed]) -> list[Placed]:
    """Lines from top to bottom; what shares lines is split into what stands left and the rest, as often as needed."""
    if len(placed) < 2:
        return placed
    lines = _bands(placed, upright=False)
    if len(lines) > 1:
        return [one for line in lines for one in _as_read(line)]
    columns = _bands(placed, upright=True)
    if len(columns) > 1:
        rest = [one for column in columns[1:] for one in column]
        return _as_read(columns[0]) + _as_read(rest)
    return sorted(placed, key=lambda one: (one[0].top(), one[0].left()))


def _bands(placed: list[Placed], *, upright: bool) -> list[list[Placed]]:
    """Return groups with clear space between them, across or down."""

    def reach(box: QRect) -> tuple[int, int]:
        return (box.left(), box.right()) if upright else (box.top(), box.bottom())

    bands: list[list[Placed]] = []
    end = -1_000_000
    for one in sorted(placed, key=lambda one: reach(one[0])[0]):
        start, stop = reach(one[0])
        if start > end:
            bands.append([])
        bands[-1].append(one)
        end = max(end, stop)
    return bands
