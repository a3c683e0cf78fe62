"""One argument of a call by hand: its name and type, and a field that fits."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.arguments.parameters import Kind, Parameter
from app.theme import Role, Size, sized, theme
from app.widgets import FlowText, GrowingEdit, LineEdit, MenuButton, Span, SpanLine, set_wrong, visible

NAME_WIDTH = 170
FLAGS = ("yes", "no")
NOT_GIVEN = "not given"
LIKE = {Kind.LIST: "one, another", Kind.OBJECT: '{"name": "value"}'}


class ArgumentRow(QWidget):
    """Shows a parameter; `typed` gives its text, empty where it is not given."""

    typed = Signal(str)

    def __init__(self, parameter: Parameter) -> None:
        super().__init__()
        self.parameter = parameter
        self.value = self._made()
        self._error = FlowText(size=Size.SMALL, role=Role.BAD)
        self._error.hide()
        name = SpanLine()
        name.setFixedSize(sized(NAME_WIDTH), sized(28))
        needed = "Required. " if parameter.required else ""
        word = f"  {parameter.type_word}{', required' if parameter.required else ''}"
        spans = [Span(parameter.name, mono=True), Span(word, Role.DIM)]
        name.set_spans(spans, f"{parameter.name}: {parameter.type_word}. {needed}{parameter.description}")
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(name, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.value, 1, Qt.AlignmentFlag.AlignTop)
        below = QHBoxLayout()
        below.addSpacing(sized(NAME_WIDTH) + 8)
        below.addWidget(self._error, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addLayout(line)
        column.addLayout(below)

    def show_text(self, text: str, error: str) -> None:
        """Show what stands there, and what is wrong with it."""
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
