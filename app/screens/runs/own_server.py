"""Fields for an own model server: its address, the models that it lists, and the names of those to run."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.theme import Role, Size
from app.widgets import Button, CellKind, Column, Field, FlowText, Spoken
from app.widgets.checkable_table import CheckableTable

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
        line = QHBoxLayout(asked)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(8)
        line.addWidget(self.address, 1)
        line.addWidget(self.check)
        asked.setFocusProxy(self.address)
        self.address_field = Field("Address", asked)
        self.address.setAccessibleName("Address")
        self.names_field = Field("Models", self.names)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for part in (self.address_field, self.status, self.found, self.names_field):
            column.addWidget(part)
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
