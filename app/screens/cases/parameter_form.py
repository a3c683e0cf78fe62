"""The parameters of one expected call: a row for each, or all of them as JSON."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from app.arguments.parameters import required_names
from app.arguments.typed_json import UnreadableError
from app.screens.cases.calls import CallForm, FindTool, with_field, with_json_shown
from app.screens.cases.field_row import FieldRow
from app.screens.cases.form import Reading
from app.screens.cases.matchers import Field
from app.theme import Role, Size, theme
from app.widgets import Button, FlowText, GrowingEdit, Label, LineText, one_line, set_wrong

EXACT = "And nothing else: other parameters count as wrong"


class ParameterForm(QWidget):
    """Shows a CallForm's parameters; `changed` gives the call as the user made it."""

    changed = Signal(object)

    def __init__(self, find: FindTool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._find = find
        self._call = CallForm()
        self._reading = Reading(None)
        self._where = ""
        self._rows: dict[str, FieldRow] = {}
        self._title = LineText("Parameters", size=Size.SMALL, role=Role.DIM, strong=True)
        self._required = Label(size=Size.SMALL, role=Role.DIM)
        self.toggle = Button("As JSON", kind="link")
        self.json = GrowingEdit("Parameters as JSON", mono=True, least=4, most=16)
        self._says = FlowText(size=Size.SMALL, role=Role.DIM)
        self.exact = QCheckBox(EXACT)
        self._lay_out()
        self.toggle.clicked.connect(self._turn)
        self.json.edited.connect(lambda text: self._tell(replace(self._call, json_text=text)))
        self.exact.toggled.connect(lambda on: self._tell(replace(self._call, exact=on)))

    def _lay_out(self) -> None:
        self.exact.setFont(theme().font())
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self._title, 1)
        head.addWidget(self._required)
        head.addWidget(self.toggle)
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addLayout(self._list)
        for widget in (self.json, self._says, self.exact):
            column.addWidget(widget)

    def show_call(self, call: CallForm, reading: Reading, where: str, *, several: bool) -> None:
        """Show a call's parameters, and what is wrong with them; `where` is the call's place in the form."""
        self._call, self._reading, self._where = call, reading, where
        self._title.set_text(f"Parameters of {call.tool}" if several and call.tool else "Parameters")
        required = required_names(tuple(field.parameter for field in call.fields))
        self._required.setText(one_line(f"required: {', '.join(required)}", 36) if required else "")
        self.toggle.setText("As fields" if call.as_json else "As JSON")
        for widget in (self.toggle, self.exact):
            widget.setVisible(bool(call.tool))
        self.json.setVisible(call.as_json)
        self.json.set_text(call.json_text or "")
        set_wrong(self.json, bool(call.as_json and reading.about(f"{where}.json")))
        self._show_exact(call.exact)
        self._show_fields(() if call.as_json else call.fields)
        self._show_words()

    def _show_exact(self, exact: bool) -> None:
        self.exact.blockSignals(True)
        self.exact.setChecked(exact)
        self.exact.blockSignals(False)

    def _show_fields(self, fields: tuple[Field, ...]) -> None:
        if [field.parameter for field in fields] != [row.parameter for row in self._rows.values()]:
            self._rebuild(fields)
        for field in fields:
            row = self._rows[field.parameter.name]
            error = self._reading.about(f"{self._where}.{field.parameter.name}")
            row.show_field(field, error, exact=self._call.exact)

    def _rebuild(self, fields: tuple[Field, ...]) -> None:
        for row in self._rows.values():
            row.hide()
            row.deleteLater()
        self._rows = {field.parameter.name: FieldRow(field.parameter, self) for field in fields}
        for row in self._rows.values():
            self._list.addWidget(row)
            row.changed.connect(lambda field: self._tell(with_field(self._call, field)))

    def _show_words(self) -> None:
        wrong = self._reading.about(f"{self._where}.json") if self._call.as_json else ""
        self._says.set_text(wrong or self._note(), Role.BAD if wrong else Role.DIM)
        self._says.setVisible(bool(self._says.text()))

    def _note(self) -> str:
        call = self._call
        if call.as_json:
            return 'Names with values; a matcher is an object such as {"$any_of": [1, 2]}.'
        if not call.tool:
            return "Pick a tool first; its parameters appear here."
        if not call.known and not call.fields:
            return "The parameters of this tool are not known. Write them as JSON, or check its server."
        return "" if call.fields else "This tool takes no parameters."

    def _turn(self) -> None:
        try:
            self._tell(with_json_shown(self._call, not self._call.as_json, self._find))
        except UnreadableError as error:
            self._says.set_text(f"{error} Mend it to see the fields again.", Role.BAD)
            self._says.show()

    def _tell(self, call: CallForm) -> None:
        self.changed.emit(call)

    def row(self, name: str) -> FieldRow:
        """The row of a parameter."""
        return self._rows[name]
