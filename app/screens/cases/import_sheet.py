"""The sheet that shows what an import of cases would do, before anything is done: a table to search and to sort."""

from collections.abc import Iterator

from PySide6.QtWidgets import QWidget

from app.text.formatting import count
from app.theme import Role, sized
from app.widgets import (
    Action,
    Cell,
    Column,
    FlowText,
    KeyValues,
    ListTable,
    Row,
    Rule,
    ScrollPane,
    SearchField,
    Section,
    Sheet,
    one_line,
)
from mcp_tef import ImportedCase, ImportFate, ImportPreview

NOTHING = "No case holds these words. An empty search shows all."
COLUMNS = (
    Column(key="fate", title="What happens", width=116),
    Column(key="label", title="Case", width=250),
    Column(key="why", title="Why", stretch=True, role=Role.DIM),
    Column(key="place", title="Where", width=110, role=Role.DIM),
)
FATES = (ImportFate.REFUSED, ImportFate.CHANGED, ImportFate.ADDED, ImportFate.UNCHANGED)
ROLES = {ImportFate.REFUSED: Role.BAD, ImportFate.CHANGED: Role.WARN, ImportFate.ADDED: Role.GOOD}
LABELS = 104
DETAIL_HEIGHT = 150


def preview_words(preview: ImportPreview) -> str:
    """How many cases of each fate, in one line."""
    counts = ((len(preview.of(fate)), fate.value) for fate in ImportFate)
    return ", ".join(f"{number} {word}" for number, word in counts if number) or "The file holds no cases"


class PreviewSheet(Sheet):
    """Accepted where what it shows is to be done. The chosen case is told in full below the table."""

    def __init__(self, preview: ImportPreview, parent: QWidget) -> None:
        super().__init__(f"Import {preview.source}", parent, width=820)
        ordered = (case for fate in FATES for case in preview.of(fate))
        self._cases = {str(number): case for number, case in enumerate(ordered)}
        self.search = SearchField("Search what is imported", self)
        self.table = ListTable(COLUMNS, "What is imported", parent=self)
        self.table.when_empty = NOTHING
        self._details = KeyValues(label_width=sized(LABELS), parent=self)
        self.body.addWidget(FlowText(f"{preview_words(preview)}. Nothing is changed yet.", role=Role.DIM))
        for server in preview.servers:
            words = f"New server {server.name}: a tools file with {count(len(server.tools), 'tool')}, at {server.path}"
            self.body.addWidget(FlowText(words, role=Role.DIM))
        self._lay_out()
        self._offer(preview)
        self.search.searched.connect(self._show)
        self.table.chosen.connect(self._show_details)
        self._show("")
        self.table.select_first()

    def _lay_out(self) -> None:
        if not self._cases:
            for hidden in (self.search, self.table, self._details):
                hidden.hide()
            return
        self.need(height=560)
        details = Section(margins=False)
        details.add(self._details)
        details.column.addStretch(1)
        pane = ScrollPane(details, "Chosen case")
        pane.setFixedHeight(sized(DETAIL_HEIGHT))
        for part in (self.search, self.table, Rule(), pane):
            self.body.addWidget(part, int(part is self.table))
        self.table.setFocus()

    def _offer(self, preview: ImportPreview) -> None:
        number = len(preview.of(ImportFate.ADDED)) + len(preview.of(ImportFate.CHANGED))
        close = Action(text="Close" if preview.changes_nothing else "Cancel", do=self.reject)
        do = Action(text=f"Import {count(number, 'case')}", do=self.accept, kind="primary")
        self.set_buttons([close] if preview.changes_nothing else [close, do])

    def _show(self, typed: str) -> None:
        words = typed.casefold().split()
        fitting = ((key, case) for key, case in self._cases.items() if all(word in _text(case) for word in words))
        self.table.set_rows([_row(key, case) for key, case in fitting])

    def _show_details(self, key: str) -> None:
        self._details.set_rows(list(_details(self._cases[key])) if key else [])


def _row(key: str, case: ImportedCase) -> Row:
    return Row(key, lambda: _cells(case))


def _cells(case: ImportedCase) -> list[Cell]:
    fate = case.fate.value.capitalize()
    return [
        Cell(text=fate, role=ROLES.get(case.fate, Role.DIM), sort=float(FATES.index(case.fate))),
        Cell(text=one_line(case.label), strong=True),
        Cell(text=one_line(_why(case))),
        Cell(text=one_line(case.place)),
    ]


def _why(case: ImportedCase) -> str:
    changed = (f"{change.field}: {change.before} → {change.after}" for change in case.changes)
    return "; ".join(part for part in (case.reason, *changed, *case.notes) if part)


def _text(case: ImportedCase) -> str:
    return f"{case.fate.value} {case.label} {case.place} {_why(case)}".casefold()


def _details(case: ImportedCase) -> Iterator[tuple[str, str]]:
    yield "Case", case.label
    yield "Found at", case.place
    if case.reason:
        yield "Refused", case.reason
    if case.draft is not None:
        yield "Query", case.draft.query
        yield "Expected", case.draft.expectation.label
    for change in case.changes:
        yield f"Its {change.field}", f"{change.before} → {change.after}"
    for note in case.notes:
        yield "Note", note
