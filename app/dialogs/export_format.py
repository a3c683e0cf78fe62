"""The dialog that asks for the format of an export and says what each is for."""

from collections.abc import Mapping, Sequence
from typing import Final

from PySide6.QtWidgets import QWidget

from app.theme import Role, sized
from app.widgets import Action, Cell, Column, Dialog, FlowText, ListTable, Row, one_line

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
