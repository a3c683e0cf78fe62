"""Cases from files and to files: which file, and what came of it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.core_link.cancellable_work import undertaken
from app.core_link.import_outcomes import Fate, Outcome
from app.core_link.session import Page
from app.screens.cases.front import Front
from app.screens.cases.import_sheet import PreviewSheet, preview_words
from app.screens.cases.loss_sheet import loss_sheet
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.staleness import BY, Stale
from app.text.formatting import count
from mcp_tef import Arrival, CaseDraft, CaseFileForm, CaseId, ImportFate, ImportPreview, StoppedError

Chosen = Callable[[Path, CaseFileForm | None], object]
Drafts = Mapping[CaseId, CaseDraft]
Way = Callable[[], Awaitable[None]]

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
    """Brings cases in and out for a page; whatever stands at the front shows it when there are others."""

    def __init__(self, page: Page, presenter: CasesPresenter, front: Front) -> None:
        self._page = page
        self._presenter = presenter
        self._front = front

    def ask_import(self) -> None:
        """Ask which file to take cases from."""
        choose_to_read(self._page, lambda file, form: self._page.session.spawn(self.import_file(file, form)))

    async def bring_in(self, arrival: Arrival) -> Outcome:
        """The same of what was dropped or pasted; what came of it."""
        return await (self.import_file(arrival.path) if arrival.path else self.import_text(arrival.text))

    async def import_file(self, file: Path, form: CaseFileForm | None = None) -> Outcome:
        """Show what a file would bring, and take it over, all or nothing, where that is wanted; what came of it."""
        await self._presenter.save()
        what = f"Reading {file.name}"
        return await self._offer(
            await self._page.session.call_long(what, lambda core: core.case_files.preview(file, form))
        )

    async def import_text(self, text: str) -> Outcome:
        """The same of a pasted text."""
        await self._presenter.save()
        session, what = self._page.session, "Reading the text"
        return await self._offer(await session.call_long(what, lambda core: core.case_files.preview_text(text)))

    async def _offer(self, preview: ImportPreview) -> Outcome:
        session = self._page.session
        if not await PreviewSheet(preview, self._page).done_with():
            return _left(preview)
        before = await self._drafts()
        try:
            await undertaken(
                session,
                f"Importing {preview.source}",
                lambda core, work: core.case_files.apply(preview, by=BY, work=work),
            )
        except StoppedError:
            session.toast(f"The import of {preview.source} was cancelled, and nothing of it was kept")
            return _left(preview)
        await self._presenter.refresh(Stale(cases=True))
        self._front.show()
        back, again = self._ways(before, await self._drafts())
        words = preview_words(preview)
        session.toast(f"{words}, from {preview.source}", back, again, deed=f"import {preview.source}")
        return Outcome(preview.source, Fate.TAKEN, f"{words}.")

    async def _drafts(self) -> Drafts:
        cases = await self._page.session.call(lambda core: core.cases.list())
        return {case.id: case.draft for case in cases}

    def _ways(self, before: Drafts, after: Drafts) -> tuple[Way, Way]:
        """To take an import back, and to do it again."""
        added = [case_id for case_id in after if case_id not in before]
        changed = [case_id for case_id in after if case_id in before and before[case_id] != after[case_id]]

        async def back() -> None:
            await self._presenter.remove(added)
            await self._presenter.edit_all({case_id: before[case_id] for case_id in changed})
            self._front.show()

        async def again() -> None:
            await self._presenter.restore(added)
            await self._presenter.edit_all({case_id: after[case_id] for case_id in changed})
            self._front.show()

        return back, again

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


def _left(preview: ImportPreview) -> Outcome:
    """What is said of a file of which nothing was imported: because none of it can be, or because nobody wanted it."""
    if preview.changes_nothing and preview.of(ImportFate.REFUSED):
        return Outcome(preview.source, Fate.REFUSED, f"{preview_words(preview)}.")
    return Outcome(preview.source, Fate.LEFT, "Nothing of it was imported.")


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
