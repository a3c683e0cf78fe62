"""The report into a file: asks where and in which form, has the core write it, and says where it is."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from app.session import Page
from mcp_tef import QualityReport

FORMS: Final[Mapping[str, str]] = {
    "csv": "Table, a finding a line (*.csv)",
    "json": "JSON (*.json)",
    "html": "Report to read (*.html)",
}
NAME: Final = "tool-quality"


def ask_where(page: Page, report: QualityReport, form: str) -> QFileDialog:
    """Ask which file the report is to go to, as `csv`, `json` or `html`."""
    dialog = QFileDialog(page, "Export the quality of tools", f"{NAME}.{form}")
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setNameFilters([FORMS[form]])
    dialog.setDefaultSuffix(form)
    dialog.fileSelected.connect(lambda file: page.session.spawn(write(page, report, Path(file))))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


async def write(page: Page, report: QualityReport, file: Path) -> None:
    """Write the file off the window's thread and say so."""
    await page.session.call(lambda core: core.exports.write_quality(report, file))
    page.session.toast(f"The report is in {file}")
