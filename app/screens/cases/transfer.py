"""Cases from files and to files: which file, and what came of it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.screens.cases.import_sheet import import_sheet, loss_sheet, preview_words
from app.screens.cases.presenter import BY, CasesPresenter, Stale
from app.session import Page
from app.text import count
from mcp_tef import CaseFileForm, CaseId

Chosen = Callable[[Path, CaseFileForm | None], object]

READABLE: Mapping[str, CaseFileForm | None] = {
    "Test cases (*.yaml *.yml *.json *.csv *.tsv *.jsonl)": None,
    "BFCL (*.jsonl *.json)": CaseFileForm.BFCL,
    "promptfoo (*.yaml *.yml *.json)": CaseFileForm.PROMPTFOO,
    "mcp-eval (*.yaml *.yml *.json)": CaseFileForm.MCP_EVAL,
}
WRITABLE: Mapping[str, tuple[CaseFileForm, str]] = {
    "YAML (*.yaml)": (CaseFileForm.TEF, "yaml"),
    "JSON (*.json)": (CaseFileForm.TEF, "json"),
    "CSV (*.csv)": (CaseFileForm.CSV, "csv"),
    "BFCL (*.jsonl)": (CaseFileForm.BFCL, "jsonl"),
    "promptfoo (*.yaml)": (CaseFileForm.PROMPTFOO, "yaml"),
    "mcp-eval (*.yaml)": (CaseFileForm.MCP_EVAL, "yaml"),
}


class Transfer:
    """Brings cases in and out for a page; `arrived` is called when there are others."""

    def __init__(self, page: Page, presenter: CasesPresenter, arrived: Callable[[], None]) -> None:
        self._page = page
        self._presenter = presenter
        self._arrived = arrived

    def ask_import(self) -> None:
        """Ask which file to take cases from."""
        choose_to_read(self._page, lambda file, form: self._page.session.spawn(self.import_file(file, form)))

    async def import_file(self, file: Path, form: CaseFileForm | None = None) -> None:
        """Show what a file would bring, and take it over, all or nothing, where that is wanted."""
        await self._presenter.save()
        session = self._page.session
        preview = await session.call(lambda core: core.case_files.preview(file, form))
        if not await import_sheet(self._page, preview).done_with():
            return
        await session.call(lambda core: core.case_files.apply(preview, by=BY))
        await self._presenter.refresh(Stale(cases=True))
        self._arrived()
        session.toast(f"{preview_words(preview)}, from {file.name}")

    def ask_export(self, ids: Sequence[CaseId]) -> None:
        """Ask where to write cases to."""
        session = self._page.session
        choose_to_write(self._page, len(ids), lambda file, form: session.spawn(self.export_file(file, ids, form)))

    async def export_file(self, file: Path, ids: Sequence[CaseId], form: CaseFileForm | None = None) -> None:
        """Write cases to a file, and say what its form could not hold."""
        await self._presenter.save()
        wanted, session = self._presenter.runnable(ids), self._page.session
        report = await session.call(lambda core: core.case_files.export_file(file, wanted, form))
        session.toast(f"Exported {count(report.written, 'case')} to {file.name}")
        if report.left_out or report.lost:
            loss_sheet(self._page, file, report).open()


def choose_to_read(parent: QWidget, chosen: Chosen) -> QFileDialog:
    """Ask which file to import; its form is seen from the file, unless a filter says which it is."""
    dialog = QFileDialog(parent, "Import test cases")
    dialog.setNameFilters(list(READABLE))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    return _opened(dialog, lambda file: chosen(file, READABLE.get(dialog.selectedNameFilter())))


def choose_to_write(parent: QWidget, number: int, chosen: Chosen) -> QFileDialog:
    """Ask where to export to; the filter says in which form."""
    dialog = QFileDialog(parent, f"Export {count(number, 'case')}", "cases.yaml")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(WRITABLE))
    dialog.setDefaultSuffix("yaml")
    dialog.filterSelected.connect(lambda name: dialog.setDefaultSuffix(WRITABLE[name][1]))
    return _opened(dialog, lambda file: chosen(file, WRITABLE[dialog.selectedNameFilter()][0]))


def _opened(dialog: QFileDialog, chosen: Callable[[Path], object]) -> QFileDialog:
    dialog.fileSelected.connect(lambda name: chosen(Path(name)))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
