"""Charts and tables into files: asks where, writes, and says so."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog

from app.core_link.session import Page
from app.dialogs.export import ask_place
from app.screens.metrics.exports import DataTable, csv_text
from app.widgets.chart import save_picture
from app.widgets.chart_panel import ChartPanel
from mcp_tef import InputError, require_replaceable

KINDS: Final = {"png": "Picture (*.png)", "svg": "Drawing (*.svg)", "csv": "Table (*.csv)"}


class Saving:
    """What a page's charts and tables are saved with."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def ask_chart(self, panel: ChartPanel, table: DataTable, kind: str) -> QFileDialog:
        """Ask where a chart is to go, as `png`, `svg` or, its data, as `csv`."""
        return self._ask(table.file_name, kind, lambda file: self.save_chart(panel, table, file))

    def ask_table(self, table: DataTable) -> QFileDialog:
        """Ask where a table is to go."""
        return self._ask(table.file_name, "csv", lambda file: self.save_table(table, file))

    def save_chart(self, panel: ChartPanel, table: DataTable, file: Path) -> None:
        """Write a chart in the format that the file's ending names."""
        if file.suffix.casefold() == ".csv":
            self.save_table(table, file)
        else:
            self._write(file, lambda: save_picture(panel.chart, file, panel.title))

    def save_table(self, table: DataTable, file: Path) -> None:
        """Write a table as CSV in UTF-8, with the mark that spreadsheets know it by."""
        self._write(file, lambda: file.write_bytes(csv_text(table).encode("utf-8-sig")))

    def _write(self, file: Path, write: Callable[[], object]) -> None:
        session = self._page.session
        try:
            require_replaceable(file)
            write()
        except InputError as error:
            session.show_error(error)
            return
        except OSError as error:
            hint = "Choose another folder, or close the program that has the file open."
            session.failed.emit(f"{file.name} could not be written.", hint, error.strerror or str(error))
            return
        session.toast(f"Saved {file.name}")

    def _ask(self, name: str, kind: str, chosen: Callable[[Path], object]) -> QFileDialog:
        return ask_place(self._page, f"Save {name}", name, (KINDS[kind], kind), chosen)
