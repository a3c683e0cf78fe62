"""A walk over whatever is shown, that remembers what keeps somebody from using it."""

from itertools import dropwhile

from PySide6.QtCore import QObject
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QApplication, QWidget

from tests.support.accessible import backward, unlit, unreached, unspoken, walked
from tests.support.cut import cramped
from tests.support.legible import faint, faint_bars


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

    def whole(self, root: QWidget, name: str) -> None:
        """Look for names, roles and contrast, for what is cut, and at where Tab goes."""
        self.take(unspoken(root) | cramped(root), name)
        self.texts(root, name)
        self.keys(root, name)

    def colours(self, root: QWidget, name: str) -> None:
        """Look for texts that can hardly be read, and at one focus ring of each kind."""
        self.texts(root, name)
        self.take(unlit(root, self._lit), name)

    def room(self, root: QWidget, name: str) -> None:
        """Look for what is cut."""
        self.take(cramped(root), name)

    def large(self, root: QWidget, name: str) -> None:
        """Look for what is cut, and at where Tab goes."""
        self.room(root, name)
        self.keys(root, name)

    def texts(self, root: QWidget, name: str) -> None:
        """Look for texts that can hardly be read, and scroll bars that can hardly be found."""
        self.take(faint(root) | faint_bars(root), name)

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
