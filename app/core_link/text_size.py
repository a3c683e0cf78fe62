"""The text size: chosen with keys or in the settings, saved, and applied when the window is reopened."""

from collections.abc import Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, QTimer

from app.core_link.commands import Command
from app.core_link.settings import Settings
from app.theme import theme

SIZES: Final = (80, 90, 100, 110, 125, 150, 175, 200)
NORMAL: Final = 100
KEY: Final = "window.text_size"
QUIET_MS: Final = 250


class TextSizeSetting(QObject):
    """The text size in percent. `changed` is called once, when the user stops changing it."""

    def __init__(self, settings: Settings, changed: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._applied = NORMAL
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(changed)

    def percent(self) -> int:
        """Return the chosen size."""
        return self._settings.get(KEY, NORMAL, lambda value: value in SIZES)

    def choose(self, percent: int) -> None:
        """Save a size, for the next time that the window is opened."""
        if percent != self.percent():
            self._settings.set(KEY, percent)
            self._settings.save()
            self._timer.start()

    def apply(self) -> None:
        """Apply the chosen size to everything that is built from now on."""
        self._applied = self.percent()
        theme().set_text_size(self._applied)

    def is_reopening_due(self) -> bool:
        """Return True if the window shows another size than the chosen one."""
        return self._applied != self.percent()

    def commands(self) -> list[Command]:
        """Return the commands that change the size."""
        choices = (
            ("larger", "Make text larger", "Ctrl++", "Ctrl+=", partial(self._step, 1)),
            ("smaller", "Make text smaller", "Ctrl+-", "", partial(self._step, -1)),
            ("normal", "Make text as large as usual", "Ctrl+0", "", partial(self.choose, NORMAL)),
        )
        return [Command(id=f"text.{name}", text=text, keys=keys, other_keys=other, do=do)
                for name, text, keys, other, do in choices]  # fmt: skip

    def _step(self, by: int) -> None:
        place = SIZES.index(self.percent()) + by
        self.choose(SIZES[max(0, min(len(SIZES) - 1, place))])
