"""The other tabs of a run: the tools as they were, the raw exchange, and the settings."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from app.screens.runs.record import Exchange, OfferedRow, Setting, search_tools, tools_caption
from app.theme import Role, Size, sized
from app.widgets import FlowText, Label, RailList, RailRow, Rule, ScrollPane, Span, Split
from app.widgets.code_view import CodeView

EDGE = 16


class ToolsPane(QWidget):
    """The snapshot: a list to search, and the whole definition of the chosen tool below it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[OfferedRow, ...] = ()
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search these tools")
        self.search.setAccessibleName("Search these tools")
        self.search.setClearButtonEnabled(True)
        self.caption = Label(size=Size.SMALL, role=Role.DIM)
        self.list = RailList("Tools offered", row_height=sized(52))
        self.definition = CodeView("Definition of the chosen tool")
        split = Split([self.list, self.definition], "Tools offered and a definition", [340, 260], stacked=True)
        layout = _column(self)
        layout.addLayout(_inset(self.search, self.caption))
        layout.addWidget(Rule())
        layout.addWidget(split, 1)
        self.search.textChanged.connect(self._filter)
        self.list.chosen.connect(self._show_definition)

    def show_rows(self, rows: tuple[OfferedRow, ...]) -> None:
        """Show the tools of another run; what was searched for stays."""
        self._rows = rows
        self._filter(self.search.text())

    def _filter(self, text: str) -> None:
        found = search_tools(self._rows, text)
        self.caption.setText(tools_caption(found, len(self._rows)))
        self.list.set_rows([_card(row) for row in found])
        if not self.list.current_id():
            self.list.select_first()
        self._show_definition(self.list.current_id())

    def _show_definition(self, name: str) -> None:
        found = next((row for row in self._rows if row.name == name), None)
        self.definition.show_text(found.definition if found else "")


def _card(row: OfferedRow) -> RailRow:
    aside = " · ".join(part for part in (row.since, row.rank, row.score) if part)
    return RailRow(
        id=row.name,
        title=row.name,
        mono=True,
        right=Span(aside, Role.WARN if row.since else Role.DIM) if aside else None,
        sub=(Span(row.server, Role.DIM),),
        sub_right=Span(row.role, Role.ACCENT) if row.role else None,
        tip=row.description,
    )


class ExchangePane(QWidget):
    """The request above the response, as text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.request = CodeView("Request")
        self.response = CodeView("Response")
        captioned = [_captioned("Request", self.request), _captioned("Response", self.response)]
        split = Split(captioned, "Request and response", stacked=True)
        layout = _column(self)
        layout.addLayout(_inset(self.note))
        layout.addWidget(Rule())
        layout.addWidget(split, 1)

    def show_exchange(self, exchange: Exchange) -> None:
        """Show the exchange of another run."""
        self.note.set_text(exchange.note)
        self.request.show_text(exchange.request)
        self.response.show_text(exchange.response)


class SettingsPane(ScrollPane):
    """Settings as lines of a label and a value."""

    def __init__(self, parent: QWidget | None = None) -> None:
        inner = QWidget()
        super().__init__(inner, "Settings of the run", parent)
        self._lines: list[tuple[Label, FlowText, FlowText]] = []
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(EDGE, 12, EDGE, 12)
        self._grid.setHorizontalSpacing(EDGE)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnMinimumWidth(0, 116)
        self._grid.setColumnStretch(1, 1)
        self._grid.setRowStretch(100, 1)

    def show_settings(self, settings: tuple[Setting, ...]) -> None:
        """Show the settings of another run."""
        while len(self._lines) < len(settings):
            self._add_line()
        for number, (label, text, code) in enumerate(self._lines):
            here = settings[number] if number < len(settings) else None
            label.setText(here.label if here else "")
            for part, shown in ((text, here and not here.mono), (code, here and here.mono)):
                part.setVisible(bool(shown))
                part.set_text(here.value if here and shown else "")

    def values(self) -> dict[str, str]:
        """What is shown, by label."""
        return {label.text(): text.text() or code.text() for label, text, code in self._lines if label.text()}

    def _add_line(self) -> None:
        line = (Label(role=Role.DIM), FlowText(), FlowText(mono=True))
        number = len(self._lines)
        self._grid.addWidget(line[0], number, 0, Qt.AlignmentFlag.AlignTop)
        values = QVBoxLayout()
        values.addWidget(line[1])
        values.addWidget(line[2])
        self._grid.addLayout(values, number, 1)
        self._lines.append(line)


def _captioned(caption: str, view: QWidget) -> QWidget:
    box = QWidget()
    layout = _column(box)
    label = Label(caption, size=Size.SMALL, role=Role.DIM, label=True)
    label.setContentsMargins(EDGE, 8, EDGE, 4)
    layout.addWidget(label)
    layout.addWidget(view, 1)
    return box


def _inset(*parts: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout()
    layout.setContentsMargins(EDGE, 12, EDGE, 8)
    layout.setSpacing(8)
    for part in parts:
        layout.addWidget(part)
    return layout


def _column(owner: QWidget) -> QVBoxLayout:
    layout = QVBoxLayout(owner)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    return layout
