"""Form for the parameters of one expected call: one row per parameter, or all of them as JSON."""

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app.arguments.parameters import Kind, Parameter, required_names
from app.arguments.values import UnreadableError
from app.screens.cases.calls import CallForm, FindTool, with_field, with_json_shown
from app.screens.cases.form import ParsedCase
from app.screens.cases.matchers import Matcher, ParameterField, matchers_for, with_matcher, with_text
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Button,
    FlowText,
    GrowingEdit,
    Label,
    LineEdit,
    LineText,
    MenuButton,
    Span,
    column_layout,
    one_line,
    plain,
    row_layout,
    set_wrong,
    undo_beyond,
    visible,
)

NAME_WIDTH = 136
MATCHER_WIDTH = 140
FLAGS = ("yes", "no")
APART = Matcher.ANYTHING
PLACEHOLDERS = {
    Matcher.ANY_OF: "one, another",
    Matcher.WITHIN: "50 ± 10",
    Matcher.DATE: "2026-03-01T10:30",
    Matcher.PATTERN: "^begins with",
    Matcher.CONTAINS: "part of it",
    Matcher.UNORDERED: "one, another",
    Matcher.EQUALS: "empty text",
}
SINGLE_VALUE = (Matcher.EQUALS, Matcher.OPTIONAL, Matcher.NOT_JUDGED)
NOT_IN_TOOL = f"Not in this tool; kept from before. Select “{Matcher.NOT_JUDGED.value}” to leave it out."
NOTES = {Matcher.ANYTHING: "Any value, or none"}


class FieldRow(QWidget):
    """Row of one parameter; `changed` emits the edited field."""

    changed = Signal(object)

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.parameter = parameter
        self._field = ParameterField(parameter)
        self._value: QWidget | None = None
        self._variant = ""
        self._name = LineText()
        self._name.setFixedWidth(sized(NAME_WIDTH))
        self.matcher = MenuButton(f"How {parameter.name} is compared")
        self.matcher.setFixedWidth(sized(MATCHER_WIDTH))
        self._error = FlowText(size=Size.SMALL, role=Role.BAD)
        self._error.hide()
        self.matcher.changed.connect(lambda key: self._tell(with_matcher(self._field, Matcher(key))))
        self._lay_out()
        self._describe()

    def _lay_out(self) -> None:
        self._line = row_layout(spacing=8)
        self._line.addWidget(self._name, 0, Qt.AlignmentFlag.AlignTop)
        self._line.addWidget(self.matcher, 0, Qt.AlignmentFlag.AlignTop)
        column = column_layout(self, self._line, spacing=2)
        below = QHBoxLayout()
        below.addSpacing(sized(NAME_WIDTH) + 8)
        below.addWidget(self._error)
        column.addLayout(below)
        self._name.setFixedHeight(sized(28))

    def _describe(self) -> None:
        parameter = self.parameter
        word = _short_word(parameter)
        role = Role.DIM if parameter.known else Role.WARN
        needed = "Required. " if parameter.required else ""
        hint = f"{parameter.name}: {parameter.type_word}. {needed}{parameter.description}"
        self._name.set_spans([Span(parameter.name, mono=True), Span(f"  {word}", role)], hint)

    def show_field(self, field: ParameterField, error: str, *, exact: bool, stray: bool = False) -> None:
        """Show the state of a field and its error; a stray one is not in the schema of the tool."""
        self._field = field
        note = error or (NOT_IN_TOOL if stray else "")
        self.matcher.set_choices(_menu(field), field.matcher.value)
        variant = _variant(field)
        if variant != self._variant:
            self._replace(variant)
        self._fill(exact)
        self._error.set_text(note, Role.BAD if error else Role.WARN)
        self._error.setVisible(bool(note))
        if self._value is not None:
            set_wrong(self._value, bool(error))
            self._value.setAccessibleDescription(note or plain(self.parameter.description))

    def value_widget(self) -> QWidget | None:
        """Return the widget that holds the value."""
        return self._value

    def _replace(self, variant: str) -> None:
        before = self._value
        had_focus = before is not None and before.hasFocus()
        self._variant = variant
        self._value = _MAKERS[variant](self)
        if variant != "choice":
            self._value.setAccessibleName(visible(f"Value of {self.parameter.name}"))
        self._line.addWidget(self._value, 1, Qt.AlignmentFlag.AlignTop)
        if before is not None:
            before.hide()
            before.deleteLater()
        if had_focus:
            self._value.setFocus()

    def _fill(self, exact: bool) -> None:
        text, widget = _shown_text(self._field), self._value
        match widget:
            case LineEdit():
                if widget.text() != text:
                    widget.setText(text)
                widget.setPlaceholderText(_placeholder(self._field, exact))
            case GrowingEdit():
                widget.set_text(text)
                widget.setPlaceholderText(_placeholder(self._field, exact))
            case MenuButton():
                widget.set_choices([(label, label) for label in _labels(self.parameter)], text)
                widget.set_placeholder(_placeholder(self._field, exact))
            case LineText():
                widget.set_text(NOTES.get(self._field.matcher, ""))

    def _tell(self, field: ParameterField) -> None:
        if field != self._field:
            self.changed.emit(field)

    def typed(self, text: str) -> None:
        """Take what the user put into the value."""
        self._tell(with_text(self._field, text))


def _short_word(parameter: Parameter) -> str:
    if not parameter.known:
        return ""
    return Kind.NUMBER.value if parameter.kind is Kind.WHOLE and not parameter.choices else parameter.type_word


def _menu(field: ParameterField) -> list[tuple[str, str] | None]:
    fitting = matchers_for(field.parameter)
    offered = fitting if field.matcher in fitting else (*fitting, field.matcher)
    entries: list[tuple[str, str] | None] = []
    for matcher in offered:
        if matcher is APART:
            entries.append(None)
        entries.append((matcher.value, matcher.value))
    return entries


def _labels(parameter: Parameter) -> tuple[str, ...]:
    return tuple(choice.label for choice in parameter.choices) or (FLAGS if parameter.kind is Kind.FLAG else ())


def _shown_text(field: ParameterField) -> str:
    return field.text if field.judged else ""


def _variant(field: ParameterField) -> str:
    if field.matcher is Matcher.ANYTHING:
        return "note"
    labels, text = _labels(field.parameter), _shown_text(field)
    if labels and field.matcher in SINGLE_VALUE and text in ("", *labels):
        return "choice"
    long = field.matcher is Matcher.JSON or field.parameter.kind is Kind.OBJECT or "\n" in text
    return "area" if long else "line"


def _placeholder(field: ParameterField, exact: bool) -> str:
    if field.matcher is Matcher.NOT_JUDGED:
        return "must be absent" if exact else "any or none"
    if field.matcher is Matcher.EQUALS and field.parameter.kind is not Kind.TEXT:
        return ""
    return PLACEHOLDERS.get(field.matcher, "")


def _line(row: FieldRow) -> QWidget:
    made = LineEdit(row)
    made.setFont(theme().font(mono=True))
    undo_beyond(made)
    made.typed.connect(row.typed)
    return made


def _area(row: FieldRow) -> QWidget:
    made = GrowingEdit("", mono=True, most=10, parent=row)
    made.edited.connect(row.typed)
    return made


def _choice(row: FieldRow) -> QWidget:
    made = MenuButton(f"Value of {row.parameter.name}", parent=row)
    made.changed.connect(row.typed)
    return made


def _note(row: FieldRow) -> QWidget:
    made = LineText(size=Size.SMALL, role=Role.DIM, parent=row)
    made.setFixedHeight(sized(28))
    return made


_MAKERS = {"line": _line, "area": _area, "choice": _choice, "note": _note}


EXACT = "Any other parameter counts as wrong"


class ParameterForm(QWidget):
    """Widget for the parameters of a CallForm; `changed` emits the edited call."""

    changed = Signal(object)

    def __init__(self, find: FindTool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._find = find
        self._call = CallForm()
        self._reading = ParsedCase(None)
        self._where = ""
        self._rows: dict[str, FieldRow] = {}
        self._title = LineText("Parameters", size=Size.SMALL, role=Role.DIM, strong=True)
        self._required = Label(size=Size.SMALL, role=Role.DIM)
        self.toggle = Button("As JSON", kind="link")
        self.json = GrowingEdit("Parameters as JSON", mono=True, least=4, most=16)
        self._note_text = FlowText(size=Size.SMALL, role=Role.DIM)
        self.exact = QCheckBox(EXACT)
        self._lay_out()
        self.toggle.clicked.connect(self._turn)
        self.json.edited.connect(lambda text: self._tell(replace(self._call, json_text=text)))
        self.exact.toggled.connect(lambda on: self._tell(replace(self._call, exact=on)))

    def _lay_out(self) -> None:
        self.exact.setFont(theme().font())
        head = row_layout(spacing=12)
        head.addWidget(self._title, 1)
        head.addWidget(self._required)
        head.addWidget(self.toggle)
        self._list = column_layout(spacing=8)
        column_layout(self, head, self._list, self.json, self._note_text, self.exact, spacing=8)

    def show_call(self, call: CallForm, reading: ParsedCase, where: str, *, several: bool) -> None:
        """Show a call's parameters and their problems; `where` is the call's place in the form."""
        self._call, self._reading, self._where = call, reading, where
        self._title.set_text(f"Parameters of {call.tool}" if several and call.tool else "Parameters")
        required = required_names(tuple(field.parameter for field in call.fields))
        self._required.setText(one_line(f"required: {', '.join(required)}", 36) if required else "")
        self.toggle.setText("As fields" if call.as_json else "As JSON")
        for widget in (self.toggle, self.exact):
            widget.setVisible(bool(call.tool))
        self._show_json()
        self._show_exact(call.exact)
        self._show_fields(() if call.as_json else call.fields)

    def _show_exact(self, exact: bool) -> None:
        self.exact.blockSignals(True)
        self.exact.setChecked(exact)
        self.exact.blockSignals(False)

    def _show_fields(self, fields: tuple[ParameterField, ...]) -> None:
        if [field.parameter for field in fields] != [row.parameter for row in self._rows.values()]:
            self._rebuild(fields)
        for field in fields:
            row = self._rows[field.parameter.name]
            error = self._reading.problem_at(f"{self._where}.{field.parameter.name}")
            stray = self._call.known and not field.parameter.known
            row.show_field(field, error, exact=self._call.exact, stray=stray)

    def _rebuild(self, fields: tuple[ParameterField, ...]) -> None:
        for row in self._rows.values():
            row.hide()
            row.deleteLater()
        self._rows = {field.parameter.name: FieldRow(field.parameter, self) for field in fields}
        for row in self._rows.values():
            self._list.addWidget(row)
            row.changed.connect(lambda field: self._tell(with_field(self._call, field)))

    def _show_json(self) -> None:
        call = self._call
        problem = self._reading.problem_at(f"{self._where}.json") if call.as_json else ""
        self.json.setVisible(call.as_json)
        self.json.set_text(call.json_text or "")
        set_wrong(self.json, bool(problem))
        self._note_text.set_text(problem or self._note(), Role.BAD if problem else Role.DIM)
        self._note_text.setVisible(bool(self._note_text.text()))

    def _note(self) -> str:
        call = self._call
        if call.as_json:
            return 'Names with values; a matcher is an object such as {"$any_of": [1, 2]}.'
        if not call.tool:
            return "Select a tool to see its parameters."
        if not call.known and not call.fields:
            return "The parameters of this tool are not known. Write them as JSON, or check its server."
        return "" if call.fields else "This tool takes no parameters."

    def _turn(self) -> None:
        try:
            self._tell(with_json_shown(self._call, not self._call.as_json, self._find))
        except UnreadableError as error:
            self._note_text.set_text(f"{error} Fix it to show the fields again.", Role.BAD)
            self._note_text.show()

    def _tell(self, call: CallForm) -> None:
        self.changed.emit(call)

    def row(self, name: str) -> FieldRow:
        """Return the row of a parameter."""
        return self._rows[name]
