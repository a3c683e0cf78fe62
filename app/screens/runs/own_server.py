"""Fields of the start form: an own model server with its models, and the prompt with the values of its variables."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core_link.model_requests import needed_variables
from app.dialogs.prompt_variables import VariableFields
from app.theme import Role, Size
from app.widgets import Button, CellKind, Column, Field, FlowText, MenuButton, Spoken, column_layout, row_layout
from app.widgets.checkable_table import CheckableTable
from mcp_tef import PromptTemplate

COLUMNS = (
    Column(key="model", title="Models found there", kind=CellKind.MONO, stretch=True, tip="Tick the models to run."),
)
HEIGHT = 128
PLACE = "http://localhost:11434/v1"
NO_SERVER = (
    "No model server yet? Ollama runs small models on this computer: install it from ollama.com, run "
    "“ollama pull qwen3:4b” (about 2.5 GB), then check again."
)


class _AddressLine(QWidget):
    """The address with the button that checks it."""

    SPOKEN_AS = Spoken.Grouping


class OwnServerFields(QWidget):
    """Address with a check, list of models to tick, and the line with the names of those to run.

    `changed` tells that address or names changed, `check_requested` that the server is to be asked.
    """

    SPOKEN_AS = Spoken.Grouping

    changed = Signal()
    check_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.address = QLineEdit()
        self.address.setPlaceholderText(PLACE)
        self.check = Button("Check")
        self.status = FlowText("Check lists the models of the server.", size=Size.SMALL, role=Role.DIM)
        self.found = CheckableTable(COLUMNS, "Models found there")
        self.found.setFixedHeight(HEIGHT)
        self.names = QLineEdit()
        self.names.setPlaceholderText("Name of a model; several with commas between them")
        asked = _AddressLine()
        line = row_layout(asked, spacing=8)
        line.addWidget(self.address, 1)
        line.addWidget(self.check)
        asked.setFocusProxy(self.address)
        self.address_field = Field("Address", asked)
        self.address.setAccessibleName("Address")
        self.names_field = Field("Models", self.names)
        column_layout(self, self.address_field, self.status, self.found, self.names_field, spacing=8)
        self.found.hide()
        self.address.textEdited.connect(self._forget)
        self.address.returnPressed.connect(self.check_requested)
        self.names.textEdited.connect(lambda _: self.changed.emit())
        self.check.clicked.connect(self.check_requested)
        self.found.ticks_changed.connect(self._take_ticks)

    def show_checking(self) -> None:
        """Say that the server is being asked."""
        self.status.set_text("Asking the server…", Role.DIM)

    def show_found(self, names: Sequence[str]) -> None:
        """Show the models of the server; the only one is ticked."""
        wanted = self._named() or (tuple(names) if len(names) == 1 else ())
        self.found.show_cells({name: partial(_cells, name) for name in names}, {name: name in wanted for name in names})
        self.found.setVisible(bool(names))
        self.status.set_text(f"{len(names):,} found. Tick those to run." if names else "The server lists no models.")
        if not self.names.text().strip():
            self._take_ticks()

    def show_failure(self, message: str, *, nobody_answers: bool) -> None:
        """Say why the server could not be asked, and how to get one where nothing answers."""
        self.found.hide()
        self.status.set_text(f"{message}\n{NO_SERVER}" if nobody_answers else message, Role.WARN)

    def show_problems(self, address: str, names: str) -> None:
        """Show what is wrong with the address and with the names."""
        self.address_field.set_error(address)
        self.names_field.set_error(names)

    def _named(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.names.text().split(",") if name.strip())

    def _forget(self) -> None:
        self.found.hide()
        self.status.set_text("Check lists the models of the server.", Role.DIM)
        self.changed.emit()

    def _take_ticks(self) -> None:
        listed = self.found.rows.ids()
        others = [name for name in self._named() if name not in listed]
        self.names.setText(", ".join([*others, *self.found.ticked()]))
        self.changed.emit()


def _cells(name: str) -> tuple[str]:
    return (name,)


NO_PROMPT = "Built-in prompt"


class PromptField(QWidget):
    """Menu of prompts with their versions, and a line for each variable that the run must give.

    `wanted` asks for the prompts when the pointer or the keyboard reaches the menu, since most runs need none.
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
        column_layout(self, self.menu, self.variables, spacing=8)
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
