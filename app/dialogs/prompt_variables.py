"""Fields for the values of a prompt's variables."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.widgets import IconButton, LineEdit, LineText, Spoken, clear_layout

GIVEN_BY_RUN: Final = "Empty: each run gives a value"


class VariableFields(QWidget):
    """One line for each variable; `typed` tells that a value changed, `removed` gives a variable to take out."""

    SPOKEN_AS = Spoken.Grouping

    typed = Signal()
    removed = Signal(str)

    def __init__(self, name: str, *, placeholder: str = "", can_remove: bool = False) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.edits: dict[str, LineEdit] = {}
        self._placeholder, self._can_remove = placeholder, can_remove
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(1, 1)

    def show_values(self, values: Mapping[str, str], *, can_edit: bool = True) -> None:
        """Show these variables with their values; fields of variables that stay are kept."""
        if list(values) != list(self.edits):
            self._make(list(values))
        for name, edit in self.edits.items():
            if edit.text() != values[name]:
                edit.setText(values[name])
                edit.setCursorPosition(0)
            edit.setEnabled(can_edit)
        self.setVisible(bool(values))

    def values(self) -> dict[str, str]:
        """Return the values as typed."""
        return {name: edit.text() for name, edit in self.edits.items()}

    def _make(self, names: Sequence[str]) -> None:
        clear_layout(self._grid)
        self.edits = {}
        for row, name in enumerate(names):
            label, edit = LineText(f"{{{{{name}}}}}", mono=True), LineEdit()
            label.setMinimumWidth(label.sizeHint().width())
            edit.setAccessibleName(f"Value of {name}")
            edit.setPlaceholderText(self._placeholder)
            edit.typed.connect(lambda _: self.typed.emit())
            self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignVCenter)
            self._grid.addWidget(edit, row, 1)
            if self._can_remove:
                remove = IconButton("x", f"Remove the variable {name}", size=14)
                remove.clicked.connect(partial(self.removed.emit, name))
                self._grid.addWidget(remove, row, 2)
            self.edits[name] = edit
