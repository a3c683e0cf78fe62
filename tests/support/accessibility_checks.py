"""Checks of what keeps a user of keyboard, screen reader or large text from using a window."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, dropwhile, pairwise

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QImage, QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QWidget,
)

from app.help.window import HelpWindow
from app.theme import Contrast, ThemeMode, theme
from app.widgets import Button
from app.widgets.accessibility import reading_order, tab_order
from app.widgets.choices import ChoiceBar, MenuButton
from tests.support.displayed_text import faint, faint_bars, pixels, placed_texts, shows

Roles = QAccessible.Role
SENSELESS = {Roles.NoRole, Roles.Client, Roles.Pane, Roles.Window, Roles.Dialog, Roles.Whitespace, Roles.UserRole}
LEAST_SEEN, MOST_PARTS = 24, 60


def interactive(root: QWidget) -> list[QWidget]:
    """What can be used in a window now: seen, enabled, and part of the order of Tab."""
    return [one for one in (root, *root.findChildren(QWidget)) if _is_usable(one) and _takes_tab(one)]


def unspoken(root: QWidget) -> set[str]:
    """What a screen reader could not tell of: no name, no role, or the same name twice beside each other."""
    found: set[str] = set()
    usable = interactive(root)
    for widget in usable:
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
    found |= {f"{where}: {number} are called {name!r}" for (where, name), number in _twins(usable)}
    return found | {f"{path(one)} takes clicks, but no keys" for one in _mouse_only(root)}


def _role(widget: QWidget) -> QAccessible.Role:
    return QAccessible.queryAccessibleInterface(widget).role()


def _named(root: QWidget) -> Iterator[QWidget]:
    return (one for one in root.findChildren(QWidget) if one.isVisible() and one.accessibleName())


def _twins(usable: Sequence[QWidget]) -> Iterator[tuple[tuple[str, str], int]]:
    """Names that stand more than once beside each other."""
    names = Counter(
        (f"{path(above)} #{id(above):x}", QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name))
        for widget in usable
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
    order = tab_order(root)
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
        for one, following in pairwise(one for one in order if not getattr(one, "TAB_LAST", False))
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


SLACK, SETTLING = 2, 12
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
        parts = [one for one in _laid(held, layout) if one.isVisible()]
        for one, other in combinations(parts, 2):
            common = _position(one).intersected(_position(other))
            if common.width() > SLACK and common.height() > SLACK:
                yield one, other


def _laid(held: QWidget, layout: QLayout) -> list[QWidget]:
    """Return the children of a widget that are in its layout, or in one inside it.

    `itemAt` would be shorter, but PySide keeps its wrapper alive after Qt has freed the item of a layout of its own,
    and hands it out for another object at the same address: later tests failed with "QWidgetItem has no attribute".
    """
    layouts = [layout, *layout.findChildren(QLayout)]
    children = (child for child in held.children() if isinstance(child, QWidget))
    return [child for child in children if any(one.indexOf(child) >= 0 for one in layouts)]


def _position(widget: QWidget) -> QRect:
    return widget.geometry()


class Keyboard:
    """Hears whether a window lost the keyboard, as it does when a part of it comes up as a window of its own."""

    def __init__(self, application: QApplication) -> None:
        self._windows: list[QWindow | None] = []
        self._changed = application.focusWindowChanged.connect(self._windows.append)

    def faults(self) -> set[str]:
        """What was heard since the first window had it; nothing more is heard of."""
        QObject.disconnect(self._changed)
        since = list(dropwhile(lambda window: window is None, self._windows))
        return {"the window lost the keyboard" for window in since if window is not since[0]}


class Walk:
    """What was found so far, with where it was found first."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._known: set[tuple[QWidget, QWidget]] = set()
        self._lit: set[tuple[object, ...]] = set()
        self._read: set[tuple[int, bytes]] = set()

    def whole(self, root: QWidget, name: str) -> None:
        """Look for names, roles and contrast, for what is cut, and at where Tab goes."""
        self.take(unspoken(root), name)
        self.texts(root, name)
        self.large(root, name)

    def colours(self, root: QWidget, name: str) -> None:
        """Look for texts that can hardly be read, and at one focus ring of each kind."""
        self.texts(root, f"{name} in {theme().mode} and {theme().contrast}")
        self.take(unlit(root, self._lit), name)

    def recolour(self, mode: ThemeMode, contrast: Contrast) -> None:
        """Change the colours of the window that is open."""
        theme().set_mode(mode)
        theme().set_contrast(contrast)
        self._lit.clear()
        self._read.clear()

    def room(self, root: QWidget, name: str) -> None:
        """Look for what is cut."""
        self.take(cramped(root), name)

    def large(self, root: QWidget, name: str) -> None:
        """Look for what is cut, and at where Tab goes."""
        self.room(root, name)
        self.keys(root, name)

    def texts(self, root: QWidget, name: str) -> None:
        """Look for texts that can hardly be read, and scroll bars that can hardly be found."""
        image = pixels(root.grab().toImage())
        self.take(faint(root, image, self._read) | faint_bars(root, image), name)

    def keys(self, root: QWidget, name: str) -> None:
        """Look at where Tab goes: what it misses, and where the focus is not seen."""
        root.activateWindow()
        order, faults = walked(root, self._known)
        self.take(faults | unreached(root, order) | backward(order), name)

    def take(self, faults: set[str], name: str) -> None:
        """Remember faults."""
        self.found.update(dict.fromkeys(faults, name))

    def told(self) -> str:
        """All that was found, a line each."""
        return "\n".join(sorted(f"{name}: {fault}" for fault, name in self.found.items()))
