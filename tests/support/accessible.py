"""Looks at every widget of a window as those do who use no mouse, see little, or hear it read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QScrollArea,
    QWidget,
)

from app.widgets.keyboard_and_mouse import reading_order
from tests.support.legible import shows

Roles = QAccessible.Role
SENSELESS = {Roles.NoRole, Roles.Client, Roles.Pane, Roles.Window, Roles.Dialog, Roles.Whitespace, Roles.UserRole}
LEAST_SEEN, MOST_PARTS = 24, 60


def interactive(root: QWidget) -> list[QWidget]:
    """What can be used in a window now: seen, enabled, and part of the order of Tab."""
    return [one for one in (root, *root.findChildren(QWidget)) if _is_usable(one) and _takes_tab(one)]


def unspoken(root: QWidget) -> set[str]:
    """What a screen reader could not tell of: no name, no role, or the same name twice beside each other."""
    found: set[str] = set()
    for widget in interactive(root):
        told = QAccessible.queryAccessibleInterface(widget)
        name = told.text(QAccessible.Text.Name)
        if not name.strip():
            found.add(f"{path(widget)} has no name")
        if told.role() in SENSELESS:
            found.add(f"{path(widget)} ({name}) has no role but {told.role().name}")
        if (
            isinstance(widget, QAbstractButton)
            and not widget.icon().isNull()
            and not (widget.text() or widget.toolTip())
        ):
            found.add(f"{path(widget)} ({name}) is an icon without a tooltip")
    found |= {f"{path(one)} has no role but Client" for one in _named(root) if _role(one) is Roles.Client}
    found |= {f"{where}: {number} are called {name!r}" for (where, name), number in _twins(root)}
    return found | {f"{path(one)} takes clicks, but no keys" for one in _mouse_only(root)}


def _role(widget: QWidget) -> QAccessible.Role:
    return QAccessible.queryAccessibleInterface(widget).role()


def _named(root: QWidget) -> Iterator[QWidget]:
    return (one for one in root.findChildren(QWidget) if one.isVisible() and one.accessibleName())


def _twins(root: QWidget) -> Iterator[tuple[tuple[str, str], int]]:
    """Names that stand more than once beside each other."""
    names = Counter(
        (f"{path(above)} #{id(above):x}", QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name))
        for widget in interactive(root)
        if (above := widget.parentWidget()) is not None
    )
    return ((place, number) for place, number in names.items() if number > 1)


def _mouse_only(root: QWidget) -> list[QWidget]:
    """Widgets of our own that listen to clicks and can never have the focus."""
    return [
        one
        for one in root.findChildren(QWidget)
        if _is_usable(one)
        and one.focusPolicy() is Qt.FocusPolicy.NoFocus
        and any("mousePressEvent" in vars(kind) or "mouseReleaseEvent" in vars(kind) for kind in _own(one))
        and not isinstance(one, QAbstractScrollArea)
    ]


def _own(widget: QWidget) -> list[type]:
    return [kind for kind in type(widget).__mro__ if kind.__module__.startswith("app.")]


def walked(root: QWidget, known: set[tuple[QWidget, QWidget]]) -> tuple[list[QWidget], set[str]]:
    """The order in which Tab goes round, and what held it fast or did not show that it had the focus.

    Each step is tried with the key itself, but for those `known`, which were tried before.
    """
    order = reading_order(root)
    faults: set[str] = set()
    for one, following in zip(order, [*order[1:], *order[:1]], strict=True):
        if (one, following) not in known:
            known.add((one, following))
            faults |= _stepped(one, following)
    return order, faults


def _stepped(one: QWidget, following: QWidget) -> set[str]:
    one.setFocus(Qt.FocusReason.TabFocusReason)
    for _ in range(MOST_PARTS):
        QTest.keyClick(one, Qt.Key.Key_Tab)
        if (now := QApplication.focusWidget()) is not one:
            break
    if now is following:
        return _unseen(following)
    return {f"Tab goes from {path(one)} to {path(now) if now else 'nowhere'}, not to {path(following)}"}


def _unseen(focused: QWidget) -> set[str]:
    """What an eye would miss of the widget that has the focus."""
    seen = focused.visibleRegion().boundingRect()
    if seen.isEmpty():
        return {f"{path(focused)} is out of sight"}
    cut = seen.width() < focused.width() or seen.height() < min(focused.height(), LEAST_SEEN)
    with_focus = _picture(focused)
    focused.clearFocus()
    shown = shows(_picture(focused), with_focus)
    faults = {"is cut off": cut, "does not show that it has the focus": not shown}
    return {f"{path(focused)} {fault}" for fault, holds in faults.items() if holds}


def unlit(root: QWidget, known: set[tuple[object, ...]]) -> set[str]:
    """Kinds of widgets that do not show that they have the focus; those `known` were looked at before."""
    found: set[str] = set()
    for one in reading_order(root):
        kind = (type(one), one.property("kind"), isinstance(one, QAbstractButton) and one.isChecked())
        if kind not in known:
            known.add(kind)
            one.clearFocus()
            one.setFocus(Qt.FocusReason.TabFocusReason)
            found |= _unseen(one)
    return found


def _picture(widget: QWidget) -> QImage:
    """What is seen of a widget, with what lies in it."""
    return widget.window().grab(QRect(widget.mapTo(widget.window(), QPoint(0, 0)), widget.size())).toImage()


def unreached(root: QWidget, order: Sequence[QWidget]) -> set[str]:
    """What Tab did not come to."""
    return {f"Tab never comes to {path(one)}" for one in interactive(root) if one not in order}


def backward(order: Sequence[QWidget]) -> set[str]:
    """Steps of Tab that go up or to the left, against the order in which one reads."""
    return {
        f"after {path(one)} comes {path(following)}, which stands before it"
        for one, following in pairwise(order)
        if _stands_before(*_sides(following, one))
    }


def _sides(one: QWidget, other: QWidget) -> tuple[QRect, QRect]:
    """The two parts, side by side in the same pane, in which two widgets lie."""
    above, beyond = _chain(one), _chain(other)
    common = next(widget for widget in above if widget in beyond)
    first = one if above.index(common) == 0 else above[above.index(common) - 1]
    second = other if beyond.index(common) == 0 else beyond[beyond.index(common) - 1]
    return _place(first), _place(second)


def _chain(widget: QWidget) -> list[QWidget]:
    found = [widget]
    while (above := found[-1].parentWidget()) is not None:
        found.append(above)
    return found


def _place(widget: QWidget) -> QRect:
    return QRect(widget.mapToGlobal(QPoint(0, 0)), widget.size())


def _stands_before(one: QRect, other: QRect) -> bool:
    if one.bottom() <= other.top():
        return True
    return one.top() < other.bottom() and one.right() <= other.left() and one.bottom() > other.top()


def _is_usable(widget: QWidget) -> bool:
    return widget.isVisible() and widget.isEnabled()


def _takes_tab(widget: QWidget) -> bool:
    if isinstance(widget, QScrollArea) and (widget.verticalScrollBar().maximum() == 0 or _holds_a_stop(widget)):
        return False
    inside = widget.focusProxy() is not None
    return not inside and bool(widget.focusPolicy().value & Qt.FocusPolicy.TabFocus.value)


def _holds_a_stop(pane: QScrollArea) -> bool:
    inside = pane.findChildren(QWidget)
    return any(_is_usable(one) and _takes_tab(one) for one in inside)


def path(widget: QWidget) -> str:
    """A widget's place among the kinds of widgets that hold it, and its words."""
    names: list[str] = []
    above: QWidget | None = widget
    while above is not None and len(names) < 4:
        names.append(type(above).__name__)
        above = above.parentWidget()
    word = widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton | QLabel) else "")
    return f"{' < '.join(names)} {word[:40]!r}"
