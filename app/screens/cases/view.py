"""Layout of the cases screen: table, editor and empty states."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.settings import Settings
from app.screens.cases.calls import FindTool
from app.screens.cases.editor import MARKS, Editor
from app.screens.cases.rows import RECENT, CaseTableRow, failure_sort_key
from app.screens.kit import ViewState
from app.theme import Role, sized, width
from app.widgets import (
    Action,
    Cell,
    CellKind,
    Column,
    EmptyState,
    ListTable,
    Mark,
    Row,
    Split,
    column_layout,
    one_line,
)
from app.widgets.panes import DetailWithBack

COLUMNS: Final = (
    Column(key="query", title="Query", width=220, least=120, stretch=True),
    Column(key="expected", title="Expected", kind=CellKind.PAIR, width=172, least=80),
    Column(
        key="runs",
        title=f"Last {RECENT} runs",
        kind=CellKind.MARKS,
        width=104,
        least=60,
        tip="One mark per recent run, newest on the right. Sorting puts failures first.",
    ),
    Column(
        key="origin",
        title="Origin",
        width=84,
        least=40,
        role=Role.DIM,
        tip="A generated case was drafted by mcp-tef or a model, not written by a person. Results count both apart.",
    ),
    Column(key="suite", title="Suite", width=96, least=40, role=Role.DIM),
    Column(key="tag", title="Tag", width=104, least=40, role=Role.DIM),
)
ORIGIN, SUITE = (next(n for n, column in enumerate(COLUMNS) if column.key == key) for key in ("origin", "suite"))
ROOM_FOR_ALL: Final = 720


class CasesTable(ListTable):
    """Table of cases; hides the suite column if there is little room, and the origin while all cases are written."""

    def __init__(self) -> None:
        super().__init__(COLUMNS, "Test cases")
        self.show_origins(shown=False)

    def show_origins(self, *, shown: bool) -> None:
        """Show the column that tells generated from written cases."""
        self.setColumnHidden(ORIGIN, not shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setColumnHidden(SUITE, event.size().width() < sized(ROOM_FOR_ALL))


def table_row(row: CaseTableRow) -> Row:
    """Return the table row of a case; its cells are made on first paint."""
    return Row(row.id, lambda: _cells(row))


def _cells(row: CaseTableRow) -> tuple[Cell, ...]:
    return (
        Cell(
            text=one_line(row.query),
            italic=bool(row.unsaved),
            marks=(Mark.NOTE,) if row.unsaved else (),
            tip=f"Not saved: {row.unsaved}" if row.unsaved else "",
        ),
        _expected(row),
        _runs(row),
        Cell(text="Generated" if row.generated else "Written"),
        Cell(text=one_line(row.suite), sort=row.suite.casefold() or "\uffff"),
        Cell(text=one_line(row.tag), sort=row.tag.casefold() or "\uffff"),
    )


def _expected(row: CaseTableRow) -> Cell:
    if row.no_tool:
        return Cell(text="no tool", role=Role.DIM, italic=True, sort="\uffff")
    short = f"{row.server} / {row.tools}" if row.server else row.tools
    return Cell(
        text=one_line(row.tools),
        lead=one_line(row.server),
        sort=row.expected.casefold(),
        tip=row.expected if row.expected != short else "",
    )


def _runs(row: CaseTableRow) -> Cell:
    words = "\n".join(mark.text for mark in row.recent_runs)
    return Cell(
        marks=tuple(MARKS[mark.result] for mark in row.recent_runs),
        sort=failure_sort_key(row),
        tip=f"Last runs, oldest first:\n{words}" if words else "Not run yet",
    )


@dataclass(frozen=True, slots=True)
class EmptyPlaceText:
    """Text for an empty table or screen; `first`, `second` and `third` are its button texts."""

    icon: str
    title: str
    sentence: str
    first: str
    second: str = ""
    third: str = ""


NO_SERVERS = EmptyPlaceText(
    "hard-drives",
    "No servers yet",
    "A test case names the tool that should be called, so add a server first. "
    "Or open the sample: its cases run without a key or network.",
    "Add server…",
    "Open the sample",
)
NO_CASES = EmptyPlaceText(
    "check-square",
    "No test cases yet",
    "A case is a user query and the tool that should be called for it. "
    "Write the first one, keep some that are drafted from the tools, or import a YAML or JSON file.",
    "New case",
    "Draft cases…",
    "Import…",
)


def nothing_matches(view: ViewState) -> EmptyPlaceText:
    """Return the text for a table whose rows are all filtered out."""
    if view.text and view.filters:
        sentence = f"No case matches “{view.text}” and the filters."
    elif view.text:
        sentence = f"No case has “{view.text}” in its query, name, expected tool, suite or tag."
    else:
        sentence = "No case matches the filters."
    return EmptyPlaceText("magnifying-glass", "No matching cases", sentence, "Show all cases")


NARROW: Final = 960
LEAST_EDITOR: Final = 380


class CasesView(QWidget):
    """Table and editor side by side; a narrow window shows one of them.

    `actions` are the callbacks of buttons in empty places. `left_editor` is emitted on Esc in the editor.
    """

    left_editor = Signal()

    def __init__(self, find: FindTool, actions: Mapping[str, Callable[[], object]]) -> None:
        super().__init__()
        self._actions = actions
        self._editing = False
        self._has_case = False
        self.table = CasesTable()
        self.editor = Editor(find)
        self.blank = EmptyState("check-square", "", "")
        self.nothing = EmptyState("magnifying-glass", "", "")
        self._lay_out()
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self.editor)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.left_editor)
        self.table.clicked.connect(lambda _: self._open_clicked())

    def _lay_out(self) -> None:
        self._left = QStackedWidget()
        self._left.addWidget(self.table)
        self._left.addWidget(self.nothing)
        self._right = DetailWithBack(self.editor, "Back to the cases", self.left_editor.emit)
        self._right.setMinimumWidth(sized(LEAST_EDITOR))
        self._split = Split([self._left, self._right], "Table and editor", [640, width("case_editor")])
        self._split.set_stretch(0)
        self._stack = QStackedWidget()
        for page in (QWidget(), self._split, self.blank):
            self._stack.addWidget(page)
        column_layout(self, self._stack, spacing=None)

    def show_blank(self, words: EmptyPlaceText) -> None:
        """Show the empty screen."""
        self._fill(self.blank, words)
        self._stack.setCurrentWidget(self.blank)

    def show_nothing(self, words: EmptyPlaceText) -> None:
        """Show that no row matches."""
        self._fill(self.nothing, words)
        self._left.setCurrentWidget(self.nothing)
        self._stack.setCurrentWidget(self._split)

    def show_table(self) -> None:
        """Show the table."""
        self._left.setCurrentWidget(self.table)
        self._stack.setCurrentWidget(self._split)

    def show_panes(self, *, has_case: bool) -> None:
        """Show the editor if there is a case to edit."""
        self._has_case = has_case
        narrow = self.width() < sized(NARROW)
        self._left.setVisible(not (narrow and self._editing and has_case))
        self._right.setVisible(has_case and (not narrow or self._editing))
        self._right.show_back(shown=narrow)

    def edit(self, *, editing: bool) -> None:
        """Show the editor instead of the table in a narrow window."""
        self._editing = editing
        self.show_panes(has_case=self._has_case)

    def _open_clicked(self) -> None:
        """Open the clicked case in a narrow window, unless the click selects several."""
        if self.width() < sized(NARROW) and len(self.table.selected_ids()) == 1:
            self.edit(editing=True)
            self.editor.query.setFocus()

    def remember_layout(self, settings: Settings) -> None:
        """Save the splitter position."""
        if not self._left.isHidden() and not self._right.isHidden():
            settings.set("cases.split", self._split.layout_state())

    def restore_layout(self, settings: Settings) -> None:
        """Restore the splitter position."""
        self._split.restore_layout(settings.get("cases.split", []))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.show_panes(has_case=self._has_case)

    def _fill(self, state: EmptyState, words: EmptyPlaceText) -> None:
        verbs = [verb for verb in (words.first, words.second, words.third) if verb]
        kinds = ("primary", "plain", "plain")
        actions = [
            Action(text=verb, do=self._actions[verb], kind=kind) for verb, kind in zip(verbs, kinds, strict=False)
        ]
        state.set(words.icon, words.title, words.sentence, actions)
