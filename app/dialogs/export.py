"""Export of results: dialogs that ask for a file and its format, and the message that it was written."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core_link.session import Session
from app.dialogs.export_presenter import ExportPresenter
from app.dialogs.pdf_export import print_page
from app.widgets import Action, one_line
from mcp_tef import BatchId, ReportFormat, RunFilter

FORMS: Final[Mapping[str, tuple[ReportFormat, str]]] = {
    "Report to read (*.html)": (ReportFormat.HTML, "html"),
    "Table (*.csv)": (ReportFormat.CSV, "csv"),
    "JSON (*.json)": (ReportFormat.JSON, "json"),
    "JUnit XML, for build servers (*.xml)": (ReportFormat.JUNIT, "xml"),
}
PRINTED: Final = "Report to print (*.pdf)"
LONGEST_NAME: Final = 60
LONGEST_HEADING: Final = 100
PATIENCE_S: Final = 0.5
Write = Callable[[Path], Awaitable[object]]
Ways = Mapping[str, tuple[str, Write]]


def ask_where(parent: QWidget, session: Session, where: RunFilter, title: str) -> QFileDialog:
    """Ask for a file and export the runs of a filter to it, under a title."""
    heading = f"Export the results of {title}"
    return ask_file(parent, session, heading, file_name(title), runs_ways(session, where, title))


def runs_ways(session: Session, where: RunFilter, title: str) -> Ways:
    """Return the writers for the runs of a filter, one for each format."""
    reports = ExportPresenter(session.call)
    write = {text: (ending, partial(reports.write_runs, where, title, form)) for text, (form, ending) in FORMS.items()}
    return {PRINTED: ("pdf", printed(partial(reports.runs_html, where, title), title)), **write}


def ask_comparison(parent: QWidget, session: Session, before: BatchId, after: BatchId) -> QFileDialog:
    """Ask for a file and export a comparison of two batches to it."""
    reports = ExportPresenter(session.call)
    write = {
        text: (ending, partial(reports.write_comparison, before, after, form))
        for text, (form, ending) in FORMS.items()
        if form is not ReportFormat.JUNIT
    }
    html = partial(reports.comparison_html, before, after)
    ways: Ways = {PRINTED: ("pdf", printed(html, "Comparison of two batches")), **write}
    return ask_file(parent, session, "Export the comparison", "comparison", ways)


def printed(read_html: Callable[[], Awaitable[str]], title: str) -> Write:
    """Return a writer that prints an HTML page into a PDF file."""

    async def write(file: Path) -> None:
        await print_page(await read_html(), title, file)

    return write


async def copy_markdown(session: Session, markdown: Awaitable[str], what: str) -> None:
    """Copy Markdown to the clipboard; `what` names it in the message."""
    QGuiApplication.clipboard().setText(await markdown)
    session.toast(f"Copied {what} as Markdown")


def copies(session: Session, where: RunFilter, title: str, compared: tuple[BatchId, BatchId] | None) -> list[Action]:
    """Return actions that copy the runs of a filter, or a comparison of two batches, to the clipboard."""
    reports = ExportPresenter(session.call)

    def copied(read: Callable[[], Awaitable[str]], what: str) -> Action:
        def copy() -> None:
            session.spawn(copy_markdown(session, read(), what))

        return Action(text=f"Copy {what} as Markdown", do=copy, icon="copy")

    runs = copied(partial(reports.runs_markdown, where, title), "these runs")
    return [runs, copied(partial(reports.comparison_markdown, *compared), "the comparison")] if compared else [runs]


def ask_file(parent: QWidget, session: Session, heading: str, name: str, ways: Ways) -> QFileDialog:
    """Ask for a file, and write it in the format of its ending, else in the selected one."""
    dialog = QFileDialog(parent, one_line(heading, LONGEST_HEADING), f"{name}.html")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(sorted(ways, key=lambda text: "html" not in text))
    dialog.setDefaultSuffix("html")
    dialog.filterSelected.connect(lambda chosen: _show_form(dialog, ways[chosen][0]))
    dialog.fileSelected.connect(
        lambda file: session.spawn(save(session, Path(file), way_of(Path(file), dialog.selectedNameFilter(), ways)))
    )
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


def ask_place(
    parent: QWidget, heading: str, name: str, form: tuple[str, str], chosen: Callable[[Path], object]
) -> QFileDialog:
    """Ask for a file of one format, given as (text, ending); `chosen` receives the path."""
    text, ending = form
    dialog = QFileDialog(parent, heading, f"{name}.{ending}")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([text])
    dialog.setDefaultSuffix(ending)
    dialog.fileSelected.connect(lambda file: chosen(Path(file)))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


async def save(session: Session, file: Path, write: Write) -> None:
    """Write the file, and show a message when it is written, or after half a second."""
    soon = asyncio.get_running_loop().call_later(PATIENCE_S, session.toast, f"Writing {file.name}…")
    try:
        await write(file)
    finally:
        soon.cancel()
    session.toast(f"Results saved to {file}")


def way_of(file: Path, chosen: str, ways: Ways) -> Write:
    """Return the writer for a file's ending, else the selected one, else the one for HTML."""
    by_ending = dict(ways.values())
    otherwise = ways.get(chosen, ("", by_ending["html"]))[1]
    return by_ending.get(file.suffix.casefold().removeprefix("."), otherwise)


def file_name(title: str) -> str:
    """Return a title as a file name: letters and digits, joined by hyphens."""
    words = "".join(letter if letter.isalnum() else " " for letter in title.casefold()).split()
    return "-".join(words)[:LONGEST_NAME].rstrip("-") or "results"


def _show_form(dialog: QFileDialog, ending: str) -> None:
    """Change the ending of the typed name to that of the selected format."""
    dialog.setDefaultSuffix(ending)
    for named in dialog.selectedFiles()[:1]:
        if not Path(named).is_dir():
            dialog.selectFile(Path(named).with_suffix(f".{ending}").name)
