"""The sheet that shows what an import would do, server by server, before anything is done."""

from functools import partial

from PySide6.QtWidgets import QWidget

from app.dialogs.consent import Rows, fact_rows, warning_rows
from app.screens.servers.import_choice import FATE_WORDS, ImportChoice, Offer
from app.text.formatting import count
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Cell,
    CellKind,
    Column,
    FlowText,
    KeyValues,
    Notice,
    Rule,
    ScrollPane,
    SearchField,
    Section,
    Sheet,
    Span,
    TickTable,
    one_line,
)
from mcp_tef import ImportFate, Transport, program_request

COLUMNS = (
    Column(key="name", title="Server", width=150),
    Column(key="fate", title="What happens", width=116),
    Column(key="transport", title="Reached by", width=100, role=Role.DIM),
    Column(key="address", title="Program or address", kind=CellKind.MONO, stretch=True),
    Column(key="source", title="From", width=150, role=Role.DIM),
)
_ROLES = {ImportFate.ADDED: Role.GOOD, ImportFate.CHANGED: Role.WARN, ImportFate.REFUSED: Role.BAD}
NOTHING = (
    "No servers were found. They are looked for where Claude Desktop, Claude Code, Cursor, VS Code and Windsurf keep "
    "theirs; any other config can be pasted or chosen as a file."
)
LABELS = 104
DETAIL_HEIGHT = 190


class ImportSheet(Sheet):
    """Accepted where the ticked servers are to be brought in; `ticked` are their keys."""

    def __init__(self, choice: ImportChoice, parent: QWidget) -> None:
        super().__init__("Import servers", parent, width=920)
        self._choice = choice
        self.search = SearchField("Search what is imported", self)
        self._found = FlowText(size=Size.SMALL, role=Role.DIM, parent=self)
        self.table = TickTable(COLUMNS, "Servers to import", self)
        self._details = KeyValues(label_width=sized(LABELS), parent=self)
        self._import = self.set_buttons(self._actions())[-1]
        self._lay_out()
        for part in (self.search, self.table):
            part.setVisible(bool(choice.offers))
        self.search.searched.connect(self._find)
        self.table.chosen.connect(self._show_details)
        self.table.ticks_changed.connect(self._count)
        ticks = dict.fromkeys(choice.useful, True)
        self.table.show_cells({key: partial(_cells, offer) for key, offer in choice.offers.items()}, ticks)
        self.table.select_first()
        self.table.setFocus()
        self._count()

    @property
    def ticked(self) -> tuple[str, ...]:
        """The keys of what is wanted."""
        return self.table.ticked()

    def _actions(self) -> list[Action]:
        if not self._choice.useful:
            return [Action(text="Close", do=self.reject, kind="primary")]
        wanted = Action(text="Import", do=self.accept, kind="primary")
        return [Action(text="Cancel", do=self.reject), wanted]

    def _lay_out(self) -> None:
        words = f"{self._choice.summary()} Nothing is changed yet, and importing starts nothing."
        self.body.addWidget(FlowText(words if self._choice.offers else NOTHING, role=Role.DIM))
        if self._choice.problems:
            problem = Notice("warn")
            self.body.addWidget(problem)
            problem.show_message("Some could not be read", "\n".join(self._choice.problems))
        if self._choice.offers:
            self.need(height=668)
            self._lay_out_table()

    def _lay_out_table(self) -> None:
        details = Section(margins=False)
        details.add(self._details)
        details.column.addStretch(1)
        pane = ScrollPane(details, "Chosen server")
        pane.setFixedHeight(sized(DETAIL_HEIGHT))
        for part in (self.search, self._found, self.table, Rule(), pane):
            self.body.addWidget(part, int(part is self.table))

    def _find(self, text: str) -> None:
        self.table.find_rows(text)
        if not self.table.current_id():
            self.table.select_first()
        self._count()

    def _count(self) -> None:
        self._found.set_text(self._found_words())
        self._found.setVisible(bool(self._found.text()))
        if self._choice.useful:
            number = len(self.ticked)
            self._import.setText(f"Import {count(number, 'server')}")
            self._import.setEnabled(number > 0)

    def _found_words(self) -> str:
        """How many a search found, and that others are ticked all the same."""
        shown = set(self.table.rows.ids())
        if len(shown) == len(self._choice.offers):
            return ""
        hidden = sum(key not in shown for key in self.ticked)
        others = f", and {count(hidden, 'other server')} ticked" if hidden else ""
        return f"{len(shown):,} of {count(len(self._choice.offers), 'server')} found{others}."

    def _show_details(self, key: str) -> None:
        self._details.set_rows(_details(self._choice.offers[key]) if key else [])


def _cells(offer: Offer) -> list[Cell]:
    server = offer.server
    known = bool(server.spec)
    return [
        Cell(text=one_line(server.name), strong=True),
        Cell(text=FATE_WORDS[server.fate], role=_ROLES.get(server.fate, Role.DIM)),
        Cell(text=offer.transport),
        Cell(text=one_line(offer.address), prose=not known, role=Role.TEXT if known else Role.DIM),
        Cell(text=one_line(offer.source), tip=offer.path),
    ]


def _details(offer: Offer) -> Rows:
    spec = offer.server.spec
    rows: Rows = []
    if spec and spec.transport is Transport.STDIO:
        request = program_request(spec, ())
        rows = [*fact_rows(request), *warning_rows(request)]
    elif spec:
        rows = [("Address", [Span(spec.address, mono=True)])]
        rows += [("Headers", [Span(", ".join(spec.headers), mono=True)])] if spec.headers else []
    return [*rows, *offer.remarks()]
