"""Export of the quality report to CSV, JSON, HTML or PDF."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from app.core_link.session import Page
from app.dialogs.export import ask_place
from app.dialogs.pdf_export import print_page
from app.screens.quality.presenter import QualityPresenter
from mcp_tef import QualityReport

FORMS: Final[Mapping[str, str]] = {
    "csv": "Table, a finding a line (*.csv)",
    "json": "JSON (*.json)",
    "html": "Report to read (*.html)",
    "pdf": "Report to print (*.pdf)",
}
NAME: Final = "tool-quality"


def ask_where(page: Page, presenter: QualityPresenter, report: QualityReport, form: str) -> QFileDialog:
    """Ask which file the report is to go to, as `csv`, `json`, `html` or `pdf`."""
    heading, words = "Export the quality of tools", (FORMS[form], form)
    return ask_place(page, heading, NAME, words, lambda file: page.session.spawn(write(page, presenter, report, file)))


async def write(page: Page, presenter: QualityPresenter, report: QualityReport, file: Path) -> None:
    """Write the file off the window's thread and say so."""
    if file.suffix.casefold() == ".pdf":
        await print_page(await presenter.report_html(report), "How well are the tools described?", file)
    else:
        await presenter.write_report(report, file)
    page.session.toast(f"The report is in {file}")
