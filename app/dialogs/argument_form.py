"""Form for the arguments of a manual tool call: one field per parameter, or all of them as JSON."""

from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.arguments.parameters import Kind, Parameter, parameters_of
from app.arguments.values import (
    WHOLE,
    CallDraft,
    ParsedArguments,
    draft_from_arguments,
    read,
    turned,
    with_text,
)
from app.theme import Role, Size, sized, theme
from app.widgets import (
    Button,
    FlowText,
    GrowingEdit,
    LineEdit,
    LineText,
    MenuButton,
    ScrollPane,
    Span,
    column_layout,
    row_layout,
    set_wrong,
    visible,
)
from mcp_tef import Json, Tool

NAME_WIDTH = 170
FLAGS = ("yes", "no")
NOT_GIVEN = "not given"
LIKE = {Kind.LIST: "one, another", Kind.OBJECT: '{"name": "value"}'}


class ArgumentRow(QWidget):
    """Field of one parameter; `typed` gives its text, "" if it has no value."""

    typed = Signal(str)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self.parameter = parameter
        self.value = self._made()
        self._error = FlowText(size=Size.SMALL, role=Role.BAD)
        self._error.hide()
        name = LineText()
        name.setFixedSize(sized(NAME_WIDTH), sized(28))
        needed = "Required. " if parameter.required else ""
        word = f"  {parameter.type_word}{', required' if parameter.required else ''}"
        spans = [Span(parameter.name, mono=True), Span(word, Role.DIM)]
        name.set_spans(spans, f"{parameter.name}: {parameter.type_word}. {needed}{parameter.description}")
        line = row_layout(spacing=8)
        line.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.value, 1, Qt.AlignmentFlag.AlignTop)
        below = QHBoxLayout()
        below.addSpacing(sized(NAME_WIDTH) + 8)
        below.addWidget(self._error, 1)
        column_layout(self, line, below, spacing=2)

    def show_text(self, text: str, error: str) -> None:
        """Show a text, and the error below it."""
        match self.value:
            case MenuButton():
                self.value.set_current(text)
            case GrowingEdit():
                self.value.set_text(text)
            case LineEdit() if self.value.text() != text:
                self.value.setText(text)
        self._error.set_text(error)
        self._error.setVisible(bool(error))
        self.value.setAccessibleDescription(visible(error or self.parameter.description))
        set_wrong(self.value, bool(error))

    def _made(self) -> MenuButton | GrowingEdit | LineEdit:
        parameter, name = self.parameter, visible(f"Value of {self.parameter.name}")
        labels = tuple(choice.label for choice in parameter.choices) or (FLAGS if parameter.kind is Kind.FLAG else ())
        if labels:
            menu = MenuButton(name, [*((label, label) for label in labels), None, ("", NOT_GIVEN)])
            menu.changed.connect(self.typed)
            return menu
        placeholder = LIKE.get(parameter.kind, "" if parameter.required else NOT_GIVEN)
        if parameter.kind in (Kind.OBJECT, Kind.TEXT):
            area = GrowingEdit(name, mono=True, most=8)
            area.setPlaceholderText(placeholder)
            area.edited.connect(self.typed)
            return area
        line = LineEdit()
        line.setFont(theme().font(mono=True))
        line.setPlaceholderText(placeholder)
        line.setAccessibleName(name)
        line.typed.connect(self.typed)
        return line


AT_ONCE = 6
PAUSE_MS = 500


class ArgumentForm(QWidget):
    """Form for the arguments of a tool, with errors below the fields; `paused` is emitted after typing."""

    paused = Signal()

    def __init__(self, tool: Tool) -> None:
        super().__init__()
        self._tool = tool
        self._draft = CallDraft()
        self.parameters = parameters_of(tool.input_schema)
        self.toggle = Button("As JSON", kind="link")
        self.json = GrowingEdit("Arguments as JSON", mono=True, least=8, most=24)
        self.rows: dict[str, ArgumentRow] = {}
        self._errors: Mapping[str, str] = {}
        self._missing = list(self.parameters)
        self._more = QTimer(self, singleShot=True, interval=0)
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._judge)
        self._fields = QVBoxLayout()
        self._says = FlowText(size=Size.SMALL, role=Role.DIM)
        self._lay_out()
        self.toggle.clicked.connect(self._turn)
        self.json.edited.connect(lambda text: self._take(CallDraft(json_text=text)))
        self._more.timeout.connect(self._add_rows)
        self.fill({})
        self._add_rows()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(LineText("Arguments", size=Size.SMALL, role=Role.DIM, strong=True), 1)
        head.addWidget(self.toggle)
        inner = QWidget()
        fields = column_layout(inner, margins=(0, 0, 8, 0), spacing=8)
        self._fields.setSpacing(8)
        fields.addLayout(self._fields)
        for part in (self.json, self._says):
            fields.addWidget(part)
        fields.addStretch(1)
        column = column_layout(self, head, spacing=8)
        column.addWidget(ScrollPane(inner, "Arguments"), 1)

    def fill(self, arguments: Mapping[str, Json]) -> None:
        """Fill the form with arguments."""
        self._draft = draft_from_arguments(self._tool, arguments)
        self.show_errors({})

    def first(self) -> QWidget:
        """Return the field that gets the focus first."""
        return next((row.value for row in self.rows.values()), self.json)

    def reading(self) -> ParsedArguments:
        """Return the parsed arguments."""
        return read(self._tool, self._draft)

    def show_errors(self, faults: Mapping[str, str]) -> None:
        """Show these errors, and remove others."""
        self._pause.stop()
        self._errors = faults
        as_json = self._draft.json_text is not None
        self.toggle.setText("As fields" if as_json else "As JSON")
        self.toggle.setVisible(bool(self.parameters))
        self.json.setVisible(as_json or not self.parameters)
        self.json.set_text(self._draft.json_text or "")
        for row in self.rows.values():
            self._show_row(row)
        error = " ".join(faults.values()) if as_json else faults.get(WHOLE, "")
        set_wrong(self.json, bool(error))
        self._says.set_text(error or self._note(), Role.BAD if error else Role.DIM)
        self._says.setVisible(bool(self._says.text()))

    def _show_row(self, row: ArgumentRow) -> None:
        name = row.parameter.name
        row.setVisible(self._draft.json_text is None)
        row.show_text(self._draft.texts.get(name, ""), self._errors.get(name, ""))

    def _add_rows(self) -> None:
        """Add a few fields per turn of the event loop, so that a hundred do not block the window."""
        for parameter in self._missing[:AT_ONCE]:
            row = self.rows[parameter.name] = ArgumentRow(parameter)
            row.typed.connect(lambda text, name=parameter.name: self._take(with_text(self._draft, name, text)))
            self._fields.addWidget(row)
            self._show_row(row)
        del self._missing[:AT_ONCE]
        if self._missing:
            self._more.start()

    def _note(self) -> str:
        return "" if self.parameters else "This tool declares no parameters. Write its arguments as JSON."

    def _take(self, draft: CallDraft) -> None:
        self._draft = draft
        if draft.json_text is None:
            self.show_errors(self.reading().faults)
        else:
            self.show_errors({})
        self._pause.start()

    def _judge(self) -> None:
        self.show_errors(self.reading().faults)
        self.paused.emit()

    def visible_errors(self, faults: Mapping[str, str]) -> Mapping[str, str]:
        """Return the errors to show while the user types: those of fields that have a text."""
        if self._draft.json_text is not None:
            return faults
        return {name: fault for name, fault in faults.items() if self._draft.texts.get(name)}

    def _turn(self) -> None:
        self._draft = turned(self._tool, self._draft)
        self.show_errors(self.reading().faults)
