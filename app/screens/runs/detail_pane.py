"""One run in full, on four tabs: verdict, tools offered, raw exchange and settings."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QGridLayout,
    QLineEdit,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from app.core_link.links import Link
from app.screens.runs.commands import run_links
from app.screens.runs.run_details import (
    OfferedToolRow,
    RawExchange,
    RunDetailRow,
    offered_rows,
    raw_exchange,
    search_tools,
    settings_rows,
    tools_caption,
)
from app.screens.runs.verdict import verdict_view
from app.screens.runs.verdict_pane import VerdictPane
from app.theme import Role, Size, sized
from app.widgets import (
    CardList,
    CardRow,
    DetailPane,
    FlowText,
    Label,
    Rule,
    ScrollPane,
    Span,
    Split,
    column_layout,
)
from app.widgets.text_view import CodeView
from mcp_tef import DefinitionChange, RunDetail, RunSummary

EDGE = 16


class ToolsPane(QWidget):
    """The snapshot: a list to search, and the whole definition of the chosen tool below it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[OfferedToolRow, ...] = ()
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search these tools")
        self.search.setAccessibleName("Search these tools")
        self.search.setClearButtonEnabled(True)
        self.caption = Label(size=Size.SMALL, role=Role.DIM)
        self.list = CardList("Tools offered", row_height=sized(52))
        self.definition = CodeView("Definition of the selected tool")
        self.raw = QCheckBox("Show as JSON")
        below = QWidget()
        stack = _column(below)
        stack.addWidget(self.definition, 1)
        stack.addLayout(_inset(self.raw))
        split = Split([self.list, below], "Tools offered and a definition", [340, 260], stacked=True)
        layout = _column(self)
        layout.addLayout(_inset(self.search, self.caption))
        layout.addWidget(Rule())
        layout.addWidget(split, 1)
        self.search.textChanged.connect(self._filter)
        self.list.chosen.connect(self._show_definition)
        self.raw.toggled.connect(lambda _: self._show_definition(self.list.current_id()))

    def show_rows(self, rows: tuple[OfferedToolRow, ...]) -> None:
        """Show the tools of another run; what was searched for stays."""
        self._rows = rows
        self._filter(self.search.text())
        self.list.select_first()

    def _filter(self, text: str) -> None:
        found = search_tools(self._rows, text)
        self.caption.setText(tools_caption(found, len(self._rows)))
        self.list.set_rows([_card(row) for row in found])
        if not self.list.current_id():
            self.list.select_first()
        self._show_definition(self.list.current_id())

    def _show_definition(self, name: str) -> None:
        found = next((row for row in self._rows if row.name == name), None)
        raw = self.raw.isChecked()
        self.definition.show_text("" if found is None else found.definition if raw else found.readable)


def _card(row: OfferedToolRow) -> CardRow:
    aside = " · ".join(part for part in (row.change, row.rank, row.score) if part)
    return CardRow(
        id=row.name,
        title=row.name,
        mono=True,
        right=Span(aside, Role.WARN if row.change else Role.DIM) if aside else None,
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

    def show_exchange(self, exchange: RawExchange) -> None:
        """Show the exchange of another run."""
        self.note.set_text(exchange.note)
        self.request.show_text(exchange.request)
        self.response.show_text(exchange.response)


NO_SETTING = RunDetailRow(label="", value="")


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

    def show_settings(self, settings: tuple[RunDetailRow, ...]) -> None:
        """Show the settings of another run."""
        while len(self._lines) < len(settings):
            self._add_line()
        unused = [NO_SETTING] * (len(self._lines) - len(settings))
        for (label, text, code), row in zip(self._lines, (*settings, *unused), strict=True):
            label.setText(row.label)
            for part, value in ((text, "" if row.mono else row.value), (code, row.value if row.mono else "")):
                part.setVisible(bool(value))
                part.set_text(value)

    def values(self) -> dict[str, str]:
        """Return the displayed values by label."""
        return {label.text(): text.text() or code.text() for label, text, code in self._lines if label.text()}

    def _add_line(self) -> None:
        line = (Label(role=Role.DIM), FlowText(), FlowText(mono=True))
        number = len(self._lines)
        self._grid.addWidget(line[0], number, 0, Qt.AlignmentFlag.AlignTop)
        values = column_layout(None, line[1], line[2], spacing=None)
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
    layout = column_layout(margins=(EDGE, 12, EDGE, 8), spacing=8)
    for part in parts:
        layout.addWidget(part)
    return layout


def _column(owner: QWidget) -> QVBoxLayout:
    return column_layout(owner)


NO_CHANGES: Mapping[str, DefinitionChange] = MappingProxyType({})


class RunDetailPane(QWidget):
    """Tabs for one run, each filled when it is first shown. `closed` is emitted on Esc.

    `retry_requested` asks to run failed runs again; `link_opened` emits a target to show.
    """

    closed = Signal()
    retry_requested = Signal()
    link_opened = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._run: RunDetail | None = None
        self._links: Mapping[str, Link] | None = None  # of the run on screen, once they were asked for
        self._since = NO_CHANGES
        self._misleads, self._repeat = False, ""
        self._stale: set[str] = set()
        self.verdict = VerdictPane(self.retry_requested.emit, self.link_opened.emit)
        self.tools = ToolsPane()
        self.exchange = ExchangePane()
        self.settings = SettingsPane()
        self.tabs = DetailPane("Run")
        for key, label, pane in (
            ("verdict", "Verdict", self.verdict),
            ("tools", "Tools", self.tools),
            ("exchange", "Exchange", self.exchange),
            ("settings", "Settings", self.settings),
        ):
            self.tabs.add_tab(key, label, pane, scroll=False)
        self._nothing = _words("Select a run to see its verdict.")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.tabs)
        self.tabs.changed.connect(self._fill)

    def show_run(
        self,
        run: RunDetail | None,
        since: Mapping[str, DefinitionChange] = NO_CHANGES,
        *,
        misleads: bool = False,
        repeat_text: Callable[[RunSummary], str] | None = None,
    ) -> None:
        """Show another run, or none.

        `since` is what became of its tools, `misleads` is shown with its confidence, `repeat_text` names its repeat.
        """
        self._run, self._since, self._misleads, self._repeat = run, since, misleads, ""
        self._links = None
        if run is not None and repeat_text is not None:
            self._repeat = repeat_text(run.summary)
        self._stale = {"verdict", "tools", "exchange", "settings"}
        self._stack.setCurrentWidget(self.tabs if run else self._nothing)
        self._fill(self.tabs.current())

    def links(self) -> Mapping[str, Link]:
        """Return the links of the run on screen."""
        if self._links is None:
            self._links = run_links(verdict_view(self._run)) if self._run else {}
        return self._links

    def set_retry(self, text: str) -> None:
        """Set the text of a failed run's button; an empty text hides it."""
        self.verdict.head.set_retry(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _fill(self, key: str) -> None:
        run = self._run
        if run is None or key not in self._stale:
            return
        self._stale.discard(key)
        if key == "verdict":
            self.verdict.show_view(verdict_view(run, misleads=self._misleads))
        elif key == "tools":
            self.tools.show_rows(offered_rows(run, self._since))
        elif key == "exchange":
            self.exchange.show_exchange(raw_exchange(run))
        else:
            self.settings.show_settings(settings_rows(run, self._repeat))


def _words(text: str) -> QWidget:
    pane = QWidget()
    column = column_layout(pane, FlowText(text, role=Role.DIM), margins=(16, 20, 16, 16), spacing=None)
    column.addStretch(1)
    return pane
