"""How the window looks, and where the workspace and the log lie."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt

from app.theme import Role, ThemeMode, theme
from app.widgets import Action, Field, FlowText, Section, Segmented, button

KEYS = "API keys are kept in memory only, unless you choose to remember one when starting a run."


@dataclass(frozen=True, slots=True)
class Places:
    """Where things lie; `show_log` opens the folder of the log."""

    workspace: str
    log: Path | None
    show_log: Callable[[], object]


class GeneralSection(Section):
    """What concerns the whole window."""

    def __init__(self, set_theme: Callable[[str], object], places: Places) -> None:
        super().__init__(margins=False)
        self.column.setSpacing(16)
        looks = Segmented([(mode.value, mode.value.capitalize()) for mode in ThemeMode], "Appearance")
        looks.set_current(theme().mode.value)
        looks.changed.connect(set_theme)
        self.add(Field("Appearance", looks))
        self.add(Field("Workspace", FlowText(places.workspace, mono=True)))
        if places.log is not None:
            self.add(Field("Log", FlowText(str(places.log), mono=True)))
            show = button(Action(text="Show the log", do=places.show_log))
            self.column.addWidget(show, 0, Qt.AlignmentFlag.AlignLeft)
        self.add(FlowText(KEYS, role=Role.DIM))
        self.column.addStretch(1)
