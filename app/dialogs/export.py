"""Results into files: asks where and in which form, has the core write them, and says where they are."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core_link.reports import run_reports
from app.core_link.session import Session
from app.dialogs.pdf_export import print_page
from app.widgets import Action, one_line
from mcp_tef import BatchId, ReportFormat, RunFilter

if TYPE_CHECKING:
    from mcp_tef import Engine

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
    """Ask which file the runs of a filter are to go to, as a report under a title; the file's ending says the form."""
    return ask_file(
        parent, session, f"Export the results of {title}", file_name(title), runs_ways(session, where, title)
    )


def runs_ways(session: Session, where: RunFilter, title: str) -> Ways:
    """Return the writers for the runs of a filter, one for each format."""

    async def write(form: ReportFormat, file: Path) -> None:
        await session.call(lambda core: run_reports(core).write_found(where, title, file, form))

    async def to_print(file: Path) -> None:
        await print_page(await session.call(lambda core: run_reports(core).page(where, title)), title, file)

    return {
        PRINTED: ("pdf", to_print),
        **{text: (ending, partial(write, form)) for text, (form, ending) in FORMS.items()},
    }


def ask_comparison(parent: QWidget, session: Session, before: BatchId, after: BatchId) -> QFileDialog:
    """Ask which file a comparison of two batches is to go to; the file's ending says the form."""

    async def write(form: ReportFormat, file: Path) -> None:
        await session.call(lambda core: run_reports(core).write_comparison(before, after, file, form))

    async def to_print(file: Path) -> None:
        page = await session.call(lambda core: run_reports(core).comparison_page(before, after))
        await print_page(page, "Comparison of two batches", file)

    forms = {text: way for text, way in FORMS.items() if way[0] is not ReportFormat.JUNIT}
    ways: Ways = {
        PRINTED: ("pdf", to_print),
        **{text: (ending, partial(write, form)) for text, (form, ending) in forms.items()},
    }
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

    def copied(make: "Callable[[Engine], Awaitable[str]]", what: str) -> Action:
        def copy() -> None:
            session.spawn(copy_markdown(session, session.call(make), what))

        return Action(text=f"Copy {what} as Markdown", do=copy, icon="copy")

    runs = copied(lambda core: run_reports(core).markdown(where, title), "these runs")
    if compared is None:
        return [runs]
    return [runs, copied(lambda core: run_reports(core).comparison_markdown(*compared), "the comparison")]


def ask_file(parent: QWidget, session: Session, heading: str, name: str, ways: Ways) -> QFileDialog:
    """Ask for a file, and write it in the way that its ending means, else in the one that was chosen."""
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
    """Ask where something is to go whose form, its words and its ending, was chosen before; `chosen` gets the file."""
    words, ending = form
    dialog = QFileDialog(parent, heading, f"{name}.{ending}")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([words])
    dialog.setDefaultSuffix(ending)
    dialog.fileSelected.connect(lambda file: chosen(Path(file)))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


async def save(session: Session, file: Path, write: Write) -> None:
    """Write the file, off the window's thread, and say so."""
    soon = asyncio.get_running_loop().call_later(PATIENCE_S, session.toast, f"Writing {file.name}…")
    try:
        await write(file)
    finally:
        soon.cancel()
    session.toast(f"The results are in {file}")


def way_of(file: Path, chosen: str, ways: Ways) -> Write:
    """The way that a file's ending means, else the one that was chosen, else a report to read."""
    by_ending = dict(ways.values())
    otherwise = ways.get(chosen, ("", by_ending["html"]))[1]
    return by_ending.get(file.suffix.casefold().removeprefix("."), otherwise)


def file_name(title: str) -> str:
    """A title as a file is called: letters and digits, joined by hyphens."""
    words = "".join(letter if letter.isalnum() else " " for letter in title.casefold()).split()
    return "-".join(words)[:LONGEST_NAME].rstrip("-") or "results"


def _show_form(dialog: QFileDialog, ending: str) -> None:
    """Give the name that stands there the ending of the form that was chosen."""
    dialog.setDefaultSuffix(ending)
    for named in dialog.selectedFiles()[:1]:
        if not Path(named).is_dir():
            dialog.selectFile(Path(named).with_suffix(f".{ending}").name)
