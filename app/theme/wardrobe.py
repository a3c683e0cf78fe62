"""What wears the style sheet: every part of a window by itself, so that a change dresses one part at a time.

A sheet on the whole window is put on by hundreds of widgets in one go, which takes longer than a key may wait.
"""

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid


class Wardrobe(QObject):
    """Parts by age. A part inside another one wears what that one wears."""

    def __init__(self) -> None:
        super().__init__()
        self._sheet = ""
        self._worn: list[QWidget] = []
        self._due: list[QWidget] = []
        self._held: list[QWidget] = []
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._dress_next)

    def put_on(self, part: QWidget) -> None:
        """Have a part wear the sheet, now and after each change."""
        self._worn = [worn for worn in self._worn if isValid(worn)]
        if not any(worn is part or worn.isAncestorOf(part) for worn in self._worn):
            self._worn.append(part)
            if self._sheet:
                part.setStyleSheet(self._sheet)

    def forget(self, whole: QWidget) -> None:
        """Dress nothing inside this any more, since it is about to go."""
        self._worn = [worn for worn in self._worn if isValid(worn) and not (worn is whole or whole.isAncestorOf(worn))]

    def change(self, sheet: str) -> None:
        """Another sheet for all, a part a turn, what is seen first; nothing is painted before all of that wears it."""
        self._sheet = sheet
        self._worn = [worn for worn in self._worn if isValid(worn)]
        self._due = list(self._worn)
        self._release()
        self._held = list({id(part.window()): part.window() for part in self._due if part.isVisible()}.values())
        for window in self._held:
            window.setUpdatesEnabled(False)
        self._turns.start()

    def _dress_next(self) -> None:
        self._due = [part for part in self._due if isValid(part)]
        seen = next((part for part in self._due if part.isVisible()), None)
        if seen is None:
            self._release()
        if not self._due:
            self._turns.stop()
            return
        part = seen or self._due[0]
        self._due.remove(part)
        part.setStyleSheet(self._sheet)

    def _release(self) -> None:
        for window in self._held:
            if isValid(window):
                window.setUpdatesEnabled(True)
        self._held = []
