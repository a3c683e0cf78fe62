"""Export of the quality report to CSV, JSON, HTML or PDF."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from app.core_link.session import Page
from app.dialogs.export import ask_place, copy_markdown
from app.dialogs.pdf_export import print_page
from mcp_tef import QualityReport, ToolQuality

FORMS: Final[Mapping[str, str]] = {
    "csv": "Table, a finding a line (*.csv)",
    "json": "JSON (*.json)",
    "html": "Report to read (*.html)",
    "pdf": "Report to print (*.pdf)",
}
NAME: Final = "tool-quality"


def ask_where(page: Page, report: QualityReport, form: str) -> QFileDialog:
    """Ask which file the report is to go to, as `csv`, `json`, `html` or `pdf`."""
    heading, words = "Export the quality of tools", (FORMS[form], form)
    return ask_place(page, heading, NAME, words, lambda file: page.session.spawn(write(page, report, file)))


async def write(page: Page, report: QualityReport, file: Path) -> None:
    """Write the file off the window's thread and say so."""
    if file.suffix.casefold() == ".pdf":
        printed = await page.session.call(lambda core: core.exports.quality_page(report))
        await print_page(printed, "How well are the tools described?", file)
    else:
        await page.session.call(lambda core: core.exports.write_quality(report, file))
    page.session.toast(f"The report is in {file}")


async def copy_findings(page: Page, tools: Sequence[ToolQuality]) -> None:
    """Put what was found in tools on the clipboard as Markdown."""
    await copy_markdown(page.session, lambda core: core.exports.quality_markdown(tools), "the findings")
