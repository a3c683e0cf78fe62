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


class TextSizes(QObject):
    """The text size in percent. `changed` is called once, when the user stops changing it."""

    def __init__(self, settings: Settings, changed: Callable[[], object], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._worn = NORMAL
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(changed)

    def percent(self) -> int:
        """What was chosen."""
        return self._settings.get(KEY, NORMAL, lambda value: value in SIZES)

    def choose(self, percent: int) -> None:
        """Have text of this size from now on."""
        if percent != self.percent():
            self._settings.set(KEY, percent)
            self._settings.save()
            self._timer.start()

    def wear(self) -> None:
        """Let what is built from now on have this size."""
        self._worn = self.percent()
        theme().set_text_size(self._worn)

    def due(self) -> bool:
        """Whether what is shown has another size than was chosen."""
        return self._worn != self.percent()

    def commands(self) -> list[Command]:
        """What keys do."""
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
