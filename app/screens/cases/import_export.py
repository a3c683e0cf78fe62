"""Import cases from files and export them, with the dialogs that show what changes or is lost."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.core_link.cancellable_work import call_cancellable
from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.session import Page
from app.screens.cases.import_export_presenter import CaseFilesPresenter, CaseImportChange
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.undo_steps import VisibleCasesPage
from app.screens.kit import matches_all_words
from app.text.formatting import count
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Cell,
    Column,
    Dialog,
    FlowText,
    KeyValues,
    ListTable,
    Row,
    Rule,
    ScrollPane,
    SearchField,
    Section,
    Span,
    one_line,
)
from app.widgets.file_dialog import FileChoice, ask_path
from mcp_tef import (
    CaseFileFormat,
    CaseId,
    CaseImportPreview,
    DetectedFile,
    ExportReport,
    ImportedCase,
    ImportStatus,
    StoppedError,
)

NOTHING = "No matching cases. Clear the search to show all."
COLUMNS = (
    Column(key="status", title="Change", width=116),
    Column(key="label", title="Case", width=250),
    Column(key="why", title="Why", stretch=True, role=Role.DIM),
    Column(key="place", title="Where", width=110, role=Role.DIM),
)
STATUS_ORDER = (ImportStatus.REFUSED, ImportStatus.CHANGED, ImportStatus.ADDED, ImportStatus.UNCHANGED)
ROLES = {ImportStatus.REFUSED: Role.BAD, ImportStatus.CHANGED: Role.WARN, ImportStatus.ADDED: Role.GOOD}
LABELS = 104
DETAIL_HEIGHT = 150


def preview_text(preview: CaseImportPreview) -> str:
    """Return the number of cases per import status, in one line."""
    counts = ((len(preview.of(status)), status.value) for status in ImportStatus)
    return ", ".join(f"{number} {word}" for number, word in counts if number) or "The file holds no cases"


class CaseImportDialog(Dialog):
    """Dialog that lists what an import would change; details of the selected case are below the table."""

    def __init__(self, preview: CaseImportPreview, parent: QWidget) -> None:
        super().__init__(f"Import {preview.source}", parent, width=820)
        ordered = (case for status in STATUS_ORDER for case in preview.of(status))
        self._cases = {str(number): case for number, case in enumerate(ordered)}
        self.search = SearchField("Search these cases", self)
        self.table = ListTable(COLUMNS, "Cases to import", parent=self)
        self.table.when_empty = NOTHING
        self._details = KeyValues(label_width=sized(LABELS), parent=self)
        self.body.addWidget(FlowText(f"{preview_text(preview)}. Nothing is changed yet.", role=Role.DIM))
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
        pane = ScrollPane(details, "Selected case")
        pane.setFixedHeight(sized(DETAIL_HEIGHT))
        for part in (self.search, self.table, Rule(), pane):
            self.body.addWidget(part, int(part is self.table))
        self.table.setFocus()

    def _offer(self, preview: CaseImportPreview) -> None:
        number = len(preview.of(ImportStatus.ADDED)) + len(preview.of(ImportStatus.CHANGED))
        close = Action(text="Close" if preview.changes_nothing else "Cancel", do=self.reject)
        do = Action(text=f"Import {count(number, 'case')}", do=self.accept, kind="primary")
        self.set_buttons([close] if preview.changes_nothing else [close, do])

    def _show(self, typed: str) -> None:
        self.table.set_rows(
            [_row(key, case) for key, case in self._cases.items() if matches_all_words(_text(case), typed)]
        )

    def _show_details(self, key: str) -> None:
        self._details.set_rows(list(_details(self._cases[key])) if key else [])


def _row(key: str, case: ImportedCase) -> Row:
    return Row(key, lambda: _cells(case))


def _cells(case: ImportedCase) -> list[Cell]:
    status = case.fate.value.capitalize()
    return [
        Cell(text=status, role=ROLES.get(case.fate, Role.DIM), sort=float(STATUS_ORDER.index(case.fate))),
        Cell(text=one_line(case.label), strong=True),
        Cell(text=one_line(_why(case))),
        Cell(text=one_line(case.place)),
    ]


def _why(case: ImportedCase) -> str:
    changed = (f"{change.field}: {change.before} → {change.after}" for change in case.changes)
    return "; ".join(part for part in (case.reason, *changed, *case.notes) if part)


def _text(case: ImportedCase) -> str:
    return f"{case.fate.value} {case.label} {case.place} {_why(case)}"


def _details(case: ImportedCase) -> Iterator[tuple[str, str]]:
    yield "Case", case.label
    yield "Location", case.place
    if case.reason:
        yield "Refused", case.reason
    if case.draft is not None:
        yield "Query", case.draft.query
        yield "Expected", case.draft.expectation.label
    for change in case.changes:
        yield f"Changed {change.field}", f"{change.before} → {change.after}"
    for note in case.notes:
        yield "Note", note


LIST_HEIGHT = 300
MOST_LINES = 100


def export_warnings_dialog(parent: QWidget, file: Path, report: ExportReport) -> Dialog:
    """Return the dialog that lists cases a file format could not hold completely."""
    dialog = Dialog(f"{file.name} does not contain everything", parent)
    words = f"{count(report.written, 'case')} written. YAML and JSON exports keep everything."
    dialog.body.addWidget(FlowText(words, role=Role.DIM))
    left = [[Span("Left out  ", Role.BAD), Span(name, strong=True), _below(why)] for name, why in report.left_out]
    lost = [[Span("Incomplete  ", Role.WARN), Span(name, strong=True), _below(what)] for name, what in report.lost]
    _list(dialog, left + lost)
    dialog.set_buttons([Action(text="Close", do=dialog.accept, kind="primary")])
    return dialog


def _below(text: str) -> Span:
    return Span(f"\n{text}", Role.DIM)


def _list(dialog: Dialog, lines: Sequence[list[Span]]) -> None:
    """Add the first lines in a scrollable pane; nothing if there are none."""
    if not lines:
        return
    section = Section(margins=False)
    shown = [*lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append([Span(f"And {len(lines) - MOST_LINES} more.", Role.DIM)])
    for spans in shown:
        line = FlowText(size=Size.BODY)
        line.set_spans(spans)
        section.add(line)
    section.column.addStretch(1)
    pane = ScrollPane(section, "Cases left out or incomplete")
    pane.setMinimumHeight(min(LIST_HEIGHT, 60 * len(shown) + 24))
    dialog.body.addWidget(pane)


Chosen = Callable[[Path, CaseFileFormat | None], object]

READABLE: Mapping[str, CaseFileFormat | None] = {
    "Test cases (*.yaml *.yml *.json *.csv *.tsv *.jsonl)": None,
    "BFCL (*.jsonl *.json)": CaseFileFormat.BFCL,
    "promptfoo (*.yaml *.yml *.json)": CaseFileFormat.PROMPTFOO,
    "mcp-eval (*.yaml *.yml *.json)": CaseFileFormat.MCP_EVAL,
}
WRITABLE: Mapping[str, tuple[CaseFileFormat, str]] = {
    "YAML (*.yaml)": (CaseFileFormat.TEF, "yaml"),
    "JSON (*.json)": (CaseFileFormat.TEF, "json"),
    "CSV (*.csv)": (CaseFileFormat.CSV, "csv"),
    "BFCL (*.jsonl)": (CaseFileFormat.BFCL, "jsonl"),
    "promptfoo (*.yaml)": (CaseFileFormat.PROMPTFOO, "yaml"),
    "mcp-eval (*.yaml)": (CaseFileFormat.MCP_EVAL, "yaml"),
}


class CaseFiles:
    """Import and export of cases for a page; the visible cases page shows the result."""

    def __init__(self, page: Page, presenter: CasesPresenter, visible_page: VisibleCasesPage) -> None:
        self._page = page
        session = page.session
        self._presenter = CaseFilesPresenter(presenter, session.call_long, partial(call_cancellable, session))
        self._visible_page = visible_page

    def ask_import(self) -> None:
        """Ask for the file to import cases from."""
        choose_to_read(self._page, lambda file, form: self._page.session.spawn(self.import_file(file, form)))

    async def bring_in(self, arrival: DetectedFile) -> DropOutcome:
        """Import a dropped file or pasted text and return the outcome."""
        return await (self.import_file(arrival.path) if arrival.path else self.import_text(arrival.text))

    async def import_file(self, file: Path, form: CaseFileFormat | None = None) -> DropOutcome:
        """Preview a file, import all of it if the user agrees, and return the outcome."""
        return await self._offer(await self._presenter.preview_file(file, form))

    async def import_text(self, text: str) -> DropOutcome:
        """Preview and import a pasted text."""
        return await self._offer(await self._presenter.preview_text(text))

    async def _offer(self, preview: CaseImportPreview) -> DropOutcome:
        session = self._page.session
        if not await CaseImportDialog(preview, self._page).done_with():
            return _left(preview)
        try:
            change = await self._presenter.apply(preview)
        except StoppedError:
            session.toast(f"Cancelled the import of {preview.source}; nothing was imported")
            return _left(preview)
        self._visible_page.show()
        text = preview_text(preview)
        back, again = partial(self._undo, change), partial(self._redo, change)
        session.toast(f"{text}, from {preview.source}", back, again, action=f"import {preview.source}")
        return DropOutcome(preview.source, DropStatus.TAKEN, f"{text}.")

    async def _undo(self, change: CaseImportChange) -> None:
        await self._presenter.undo(change)
        self._visible_page.show()

    async def _redo(self, change: CaseImportChange) -> None:
        await self._presenter.redo(change)
        self._visible_page.show()

    def ask_export(self, ids: Sequence[CaseId]) -> None:
        """Ask where to write cases to."""
        session = self._page.session
        choose_to_write(self._page, len(ids), lambda file, form: session.spawn(self.export_file(file, ids, form)))

    async def export_file(self, file: Path, ids: Sequence[CaseId], form: CaseFileFormat | None = None) -> None:
        """Write cases to a file, and show what its format could not hold."""
        report = await self._presenter.export(file, ids, form)
        self._page.session.toast(f"Exported {count(report.written, 'case')} to {file.name}")
        if report.left_out or report.lost:
            export_warnings_dialog(self._page, file, report).open()

    def ask_ci_export(self) -> None:
        """Ask for the folder to write everything to that runs all cases in continuous integration."""
        spawn, title = self._page.session.spawn, "Export for CI: select a folder"
        ask_path(self._page, title, lambda folder: spawn(self.export_for_ci(folder)), FileChoice.FOLDER)

    async def export_for_ci(self, folder: Path) -> None:
        """Write cases, tools, options and a workflow file to a folder."""
        written = await self._presenter.export_for_ci(folder)
        self._page.session.toast(f"Wrote {count(written, 'file')} for CI to {folder.name}")


def _left(preview: CaseImportPreview) -> DropOutcome:
    """Return the outcome of a file that was not imported: refused, or declined by the user."""
    if preview.changes_nothing and preview.of(ImportStatus.REFUSED):
        return DropOutcome(preview.source, DropStatus.REFUSED, f"{preview_text(preview)}.")
    return DropOutcome(preview.source, DropStatus.LEFT, "Nothing was imported.")


def choose_to_read(parent: QWidget, chosen: Chosen) -> QFileDialog:
    """Ask for the file to import; its format is detected unless a filter names it."""

    def read(file: Path) -> None:
        chosen(file, READABLE.get(dialog.selectedNameFilter()))

    dialog = ask_path(parent, "Import test cases", read, filters=";;".join(READABLE))
    return dialog


def choose_to_write(parent: QWidget, number: int, chosen: Chosen) -> QFileDialog:
    """Ask for the file to export to; the filter selects the format."""

    def write(file: Path) -> None:
        chosen(file, WRITABLE[dialog.selectedNameFilter()][0])

    title, filters = f"Export {count(number, 'case')}", ";;".join(WRITABLE)
    dialog = ask_path(parent, title, write, FileChoice.NEW, at="cases.yaml", filters=filters, ending="yaml")
    dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(WRITABLE[name][1]))
    return dialog
