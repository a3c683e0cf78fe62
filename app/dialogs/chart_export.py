"""Export of charts and tables: pictures, and the values behind them as CSV."""

from collections.abc import Sequence

from app.core_link.session import Page
from app.dialogs.export import Writers, ask_file, picture_writers, text_writer
from app.text.data_tables import DataTable, csv_text
from app.widgets.chart import ChartPanel


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
