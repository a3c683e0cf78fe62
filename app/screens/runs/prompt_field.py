"""Field for the prompt of a run, with the values of its variables."""

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.dialogs.prompt_choice import needed_variables
from app.dialogs.prompt_variables import VariableFields
from app.widgets import MenuButton, Spoken
from mcp_tef import PromptTemplate

NO_PROMPT = "Built-in prompt"


class PromptField(QWidget):
    """Menu of prompts with their versions, and a line for each variable that the run must give.

    `wanted` asks for the prompts when somebody comes near the menu, since most runs need none.
    """

    SPOKEN_AS = Spoken.Grouping

    changed = Signal()
    wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._prompts: Mapping[str, PromptTemplate] = {}
        self._label = ""
        self.menu = MenuButton("Prompt", [("", NO_PROMPT)])
        self.menu.installEventFilter(self)
        self.variables = VariableFields("Variables of the prompt", placeholder="Required")
        self.setFocusProxy(self.menu)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.menu)
        column.addWidget(self.variables)
        self.menu.changed.connect(self._choose)
        self.variables.typed.connect(self.changed)
        self.variables.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.menu and event.type() in (QEvent.Type.Enter, QEvent.Type.FocusIn):
            self.wanted.emit()
        return super().eventFilter(watched, event)

    def show_prompts(self, prompts: Mapping[str, PromptTemplate]) -> None:
        """Set the prompts to select from; the selection stays if it still exists."""
        self._prompts = prompts
        own = [(label, label) for label, one in prompts.items() if not one.built_in]
        built_in = [(label, label) for label, one in prompts.items() if one.built_in]
        label = self._label if self._label in prompts else ""
        self.menu.set_choices([("", NO_PROMPT), None, *own, *([None] if own else []), *built_in], label)
        self._show_variables()

    def show_prompt(self, label: str) -> None:
        """Select a prompt; one that is not read yet is selected once it is."""
        self._label = label
        self.menu.set_current(label if label in self._prompts else "")
        self._show_variables()

    def label(self) -> str:
        """Return the selected prompt, as runs record it; "" for none."""
        return self._label

    def values(self) -> tuple[tuple[str, str], ...]:
        """Return the values of the variables that the run must give."""
        return tuple(self.variables.values().items())

    def _choose(self, label: str) -> None:
        self._label = label
        self._show_variables()
        self.changed.emit()

    def _show_variables(self) -> None:
        template, known = self._prompts.get(self._label), self.variables.values()
        names = needed_variables(template) if template else ()
        self.variables.show_values({name: known.get(name, "") for name in names})
