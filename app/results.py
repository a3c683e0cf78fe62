"""Results into files: asks where and in which form, has the core write them, and says where they are."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog, QWidget

from app.session import Session
from mcp_tef import ReportForm, RunFilter

FORMS: Final[Mapping[str, tuple[ReportForm, str]]] = {
    "Report to read (*.html)": (ReportForm.HTML, "html"),
    "Table (*.csv)": (ReportForm.CSV, "csv"),
    "JSON (*.json)": (ReportForm.JSON, "json"),
    "JUnit XML, for build servers (*.xml)": (ReportForm.JUNIT, "xml"),
}
LONGEST_NAME: Final = 60
PATIENCE_S: Final = 0.5


def ask_where(parent: QWidget, session: Session, where: RunFilter, title: str) -> QFileDialog:
    """Ask which file the runs of a filter are to go to, as a report under a title; the file's ending says the form."""
    dialog = QFileDialog(parent, f"Export the results of {title}", f"{file_name(title)}.html")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters(list(FORMS))
    dialog.setDefaultSuffix("html")
    dialog.filterSelected.connect(lambda chosen: _show_form(dialog, chosen))
    dialog.fileSelected.connect(
        lambda file: session.spawn(export(session, where, title, Path(file), dialog.selectedNameFilter()))
    )
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


async def export(session: Session, where: RunFilter, title: str, file: Path, chosen: str = "") -> None:
    """Write the file, off the window's thread, and say so; an ending that means no form leaves it to the choice."""
    form = form_of(file, chosen)
    soon = asyncio.get_running_loop().call_later(PATIENCE_S, session.toast, f"Writing {file.name}…")
    try:
        await session.call(lambda core: core.reports.write_found(where, title, file, form))
    finally:
        soon.cancel()
    session.toast(f"The results are in {file}")


def form_of(file: Path, chosen: str) -> ReportForm:
    """The form that a file's ending means, else the one that was chosen, else a report to read."""
    by_ending = {ending: form for form, ending in FORMS.values()}
    otherwise, _ = FORMS.get(chosen, (ReportForm.HTML, ""))
    return by_ending.get(file.suffix.casefold().removeprefix("."), otherwise)


def file_name(title: str) -> str:
    """A title as a file is called: letters and digits, joined by hyphens."""
    words = "".join(letter if letter.isalnum() else " " for letter in title.casefold()).split()
    return "-".join(words)[:LONGEST_NAME].rstrip("-") or "results"


def _show_form(dialog: QFileDialog, chosen: str) -> None:
    """Give the name that stands there the ending of the form that was chosen."""
    ending = FORMS[chosen][1]
    dialog.setDefaultSuffix(ending)
    for named in dialog.selectedFiles()[:1]:
        if not Path(named).is_dir():
            dialog.selectFile(Path(named).with_suffix(f".{ending}").name)
