"""Export of results, charts and tables: the dialogs for format and file, writing with messages, and the clipboard."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.core_link.session import Page, Session
from app.dialogs.export_presenter import ExportPresenter
from app.dialogs.pdf_export import print_page
from app.text.data_tables import DataTable, csv_text
from app.theme import Role, sized
from app.widgets import Action, Cell, Column, Dialog, FlowText, ListTable, Row, one_line
from app.widgets.chart import ChartPanel, Drawn, encoded_picture
from app.widgets.file_dialog import FileChoice, ask_path
from mcp_tef import BatchId, ReportFormat, RunFilter, require_replaceable, write_file

FORMAT_PURPOSES: Final[Mapping[str, tuple[str, str]]] = {
    "html": ("Report (HTML)", "Read it in a browser, or send it to somebody"),
    "pdf": ("Report (PDF)", "Print it, or attach it to a mail"),
    "csv": ("Table (CSV)", "Calculate in a spreadsheet"),
    "json": ("Everything (JSON)", "Read it with your own programs"),
    "xml": ("Tests (JUnit XML)", "Show it in a build server such as Jenkins"),
    "md": ("Summary (Markdown)", "Paste it into a pull request or a job summary"),
    "sarif": ("Findings (SARIF)", "Show it beside the code on a code host"),
}
COLUMNS: Final = (
    Column(key="format", title="Format", width=180, sortable=False),
    Column(key="purpose", title="What it is for", stretch=True, sortable=False, role=Role.DIM),
)
WIDTH, HEADER, ROW = 560, 40, 30


class ExportFormatDialog(Dialog):
    """List of formats by the ending of their files; `ending` is the selected one."""

    def __init__(self, title: str, endings: Sequence[str], parent: QWidget) -> None:
        super().__init__(title, parent, width=WIDTH)
        self.body.addWidget(FlowText("Select what the file is for. You are asked for its place next.", role=Role.DIM))
        self.table = ListTable(COLUMNS, "Formats")
        self.table.setSelectionMode(ListTable.SelectionMode.SingleSelection)
        self.table.set_rows([Row(ending, tuple(map(_cell, FORMAT_PURPOSES[ending]))) for ending in endings])
        self.table.select_first()
        self.table.opened.connect(lambda _: self.accept())
        self.table.describe_keys(Enter="Go on with the format")
        self.table.setFixedHeight(sized(HEADER + ROW * len(endings)))
        self.body.addWidget(self.table)
        self.set_buttons(
            [Action(text="Cancel", do=self.reject), Action(text="Select a place…", do=self.accept, kind="primary")]
        )
        self.table.setFocus()

    @property
    def ending(self) -> str:
        """Ending of the files of the selected format."""
        return self.table.current_id()


def _cell(text: str) -> Cell:
    return Cell(text=one_line(text))


FORMATS: Final[Mapping[str, str]] = {
    "html": "Report to read (*.html)",
    "pdf": "Report to print (*.pdf)",
    "csv": "Table (*.csv)",
    "json": "JSON (*.json)",
    "xml": "JUnit XML, for build servers (*.xml)",
    "md": "Markdown (*.md)",
    "sarif": "SARIF, for code scanning (*.sarif)",
    "png": "Picture (*.png)",
    "svg": "Drawing (*.svg)",
}
REPORT_FORMATS: Final[Mapping[str, ReportFormat]] = {
    "html": ReportFormat.HTML,
    "csv": ReportFormat.CSV,
    "json": ReportFormat.JSON,
    "xml": ReportFormat.JUNIT,
    "md": ReportFormat.MARKDOWN,
    "sarif": ReportFormat.SARIF,
}
MAX_NAME: Final = 60
MAX_TITLE: Final = 100
SLOW_S: Final = 0.5
Writer = Callable[[Path], Awaitable[object]]
Writers = Mapping[str, Writer]
"""Writers by the ending of the file, the suggested one first."""


def ask_file(parent: QWidget, session: Session, title: str, name: str, writers: Writers) -> QFileDialog:
    """Ask for a file and write it in the format of its ending, otherwise in the format selected in the dialog."""
    filters = {FORMATS[ending]: ending for ending in writers}
    first = next(iter(writers))

    def write(file: Path) -> None:
        selected = filters.get(dialog.selectedNameFilter(), first)
        session.spawn(save(session, file, writer_of(file, selected, writers)))

    said, file, offered = one_line(title, MAX_TITLE), f"{name}.{first}", ";;".join(filters)
    dialog = ask_path(parent, said, write, FileChoice.NEW, at=file, filters=offered, ending=first)
    dialog.filterSelected.connect(lambda selected: _change_ending(dialog, filters[selected]))
    return dialog


def _change_ending(dialog: QFileDialog, ending: str) -> None:
    dialog.setDefaultSuffix(ending)
    for named in dialog.selectedFiles()[:1]:
        if not Path(named).is_dir():
            dialog.selectFile(Path(named).with_suffix(f".{ending}").name)


def writer_of(file: Path, selected: str, writers: Writers) -> Writer:
    """Return the writer for a file's ending; for an unknown ending, that of the selected format."""
    return writers.get(file.suffix.casefold().removeprefix("."), writers[selected])


async def save(session: Session, file: Path, write: Writer) -> None:
    """Write a file and show a message, also if it cannot be written; no workspace is replaced.

    Raises:
        InputError: the file is a workspace, or the core could not write it.
    """
    slow = asyncio.get_running_loop().call_later(SLOW_S, session.toast, f"Writing {file.name}…")
    try:
        await asyncio.to_thread(require_replaceable, file)
        await write(file)
    except OSError as error:
        hint = "Select another folder, or close the program that has the file open."
        session.failed.emit(f"{file.name} could not be written.", hint, error.strerror or str(error))
        return
    finally:
        slow.cancel()
    session.toast(f"Saved {file.name}")


def file_name(title: str) -> str:
    """Return a title as a file name without ending: letters and digits, joined by hyphens."""
    words = "".join(letter if letter.isalnum() else " " for letter in title.casefold()).split()
    return "-".join(words)[:MAX_NAME].rstrip("-") or "results"


# ------------------------------------------------------------ writers
def report_writers(
    read_html: Callable[[], Awaitable[str]], title: str, write: Writer, endings: tuple[str, ...] = ("csv", "json")
) -> Writers:
    """Return writers for a report: HTML and other endings by `write`, and PDF from the HTML page."""
    return {"html": write, "pdf": pdf_writer(read_html, title), **dict.fromkeys(endings, write)}


def pdf_writer(read_html: Callable[[], Awaitable[str]], title: str) -> Writer:
    """Return a writer that prints an HTML page into a PDF file."""

    async def write(file: Path) -> None:
        await print_page(await read_html(), title, file)

    return write


def picture_writers(chart: Drawn, title: str) -> Writers:
    """Return writers for a chart as PNG and SVG."""

    async def write(file: Path) -> None:
        await asyncio.to_thread(write_file, file, encoded_picture(chart, file.suffix, title))

    return {"png": write, "svg": write}


def text_writer(text: str, encoding: str = "utf-8") -> Writer:
    """Return a writer for a text; line ends are written as they are."""
    return lambda file: asyncio.to_thread(write_file, file, text.encode(encoding))


# ------------------------------------------------------------ results of runs
def ask_format(parent: QWidget, session: Session, title: str, name: str, writers: Writers) -> ExportFormatDialog:
    """Ask for a format by its purpose, then for a file, and write it."""
    dialog = ExportFormatDialog(one_line(title, MAX_TITLE), tuple(writers), parent)

    def ask_place() -> None:
        ending = dialog.ending
        ask_file(parent, session, title, name, {ending: writers[ending], **writers})

    dialog.accepted.connect(ask_place)
    dialog.open()
    return dialog


def export_runs(parent: QWidget, session: Session, where: RunFilter, title: str) -> ExportFormatDialog:
    """Ask for a format and a file, and export the runs of a filter under a title."""
    presenter = ExportPresenter(session.call)
    writers = {ending: partial(presenter.write_runs, where, title, form) for ending, form in REPORT_FORMATS.items()}
    pdf = pdf_writer(lambda: presenter.runs_html(where, title), title)
    return ask_format(parent, session, f"Export the results of {title}", file_name(title), _with_pdf(writers, pdf))


def export_comparison(parent: QWidget, session: Session, before: BatchId, after: BatchId) -> ExportFormatDialog:
    """Ask for a format and a file, and export the comparison of two batches."""
    presenter = ExportPresenter(session.call)
    writers = {
        ending: partial(presenter.write_comparison, before, after, form)
        for ending, form in REPORT_FORMATS.items()
        if form in (ReportFormat.HTML, ReportFormat.CSV, ReportFormat.JSON)
    }
    pdf = pdf_writer(lambda: presenter.comparison_html(before, after), "Comparison of two batches")
    return ask_format(parent, session, "Export the comparison", "comparison", _with_pdf(writers, pdf))


def _with_pdf(writers: Writers, pdf: Writer) -> Writers:
    return {"html": writers["html"], "pdf": pdf, **writers}


# ------------------------------------------------------------ clipboard
def copy_text(session: Session, text: str, what: str) -> None:
    """Copy a text to the clipboard; `what` names it in the message."""
    QGuiApplication.clipboard().setText(text)
    session.toast(f"Copied {what}")


async def copy_markdown(session: Session, markdown: Awaitable[str], what: str) -> None:
    """Copy Markdown to the clipboard; `what` names it in the message."""
    copy_text(session, await markdown, f"{what} as Markdown")


class ChartExports:
    """Exports of the charts and tables of a page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def ask_chart(self, panel: ChartPanel, table: DataTable, endings: Sequence[str]) -> None:
        """Ask for a file and export a chart as a picture (png, svg) or as its data (csv)."""
        writers = {**picture_writers(panel.chart, panel.picture_title()), **table_writers(table)}
        self._ask(table, {ending: writers[ending] for ending in endings})

    def ask_table(self, table: DataTable) -> None:
        """Ask for a file and export a table."""
        self._ask(table, table_writers(table))

    def _ask(self, table: DataTable, writers: Writers) -> None:
        ask_file(self._page, self._page.session, f"Export {table.name}", table.file_name, writers)


def table_writers(table: DataTable) -> Writers:
    """Return the writer of a table as CSV; spreadsheets recognise UTF-8 by its byte order mark."""
    return {"csv": text_writer(csv_text(table), "utf-8-sig")}
