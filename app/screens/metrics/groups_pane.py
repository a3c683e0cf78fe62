"""Models beside each other, and servers below them."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.metrics.groups import BASELINE_NOTE
from app.screens.metrics.looks import MODEL_COLUMNS, SERVER_COLUMNS, model_cells, server_cells
from app.screens.metrics.presenter import MetricsView
from app.theme import Role, Size, height, sized
from app.widgets import Label, LineText, ListTable, Rule

BELOW = 16


class GroupsPane(QWidget):
    """`model_opened` and `server_opened` give the label or name of the row that was opened."""

    model_opened = Signal(str)
    server_opened = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.models = ListTable(MODEL_COLUMNS, "Models")
        self.servers = ListTable(SERVER_COLUMNS, "Servers")
        self.note = LineText(size=Size.SMALL, role=Role.DIM)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        heading = QHBoxLayout()
        heading.setContentsMargins(0, 0, 16, 0)
        heading.addWidget(_heading("Models, best first"))
        heading.addStretch(1)
        heading.addWidget(self.note)
        column.addLayout(heading)
        column.addWidget(self.models, 1)
        column.addWidget(Rule())
        column.addWidget(_heading("Servers, worst first"))
        column.addWidget(self.servers, 1)
        self.models.tell_keys(Enter="Show the model's runs")
        self.servers.tell_keys(Enter="Show the server's runs")
        self.models.opened.connect(self.model_opened)
        self.servers.opened.connect(self.server_opened)

    def find_rows(self, text: str) -> None:
        """Show only models and servers that say so."""
        for table in (self.models, self.servers):
            table.find_rows(text)

    def show_view(self, view: MetricsView) -> None:
        """Show other figures."""
        self.models.set_rows(model_cells(view.models))
        self.servers.set_rows(server_cells(view.servers))
        rows = len(view.models) * height("table_row") + self.models.horizontalHeader().height()
        self.models.setMaximumHeight(rows + sized(BELOW))
        baseline = any(row.kind == "baseline" for row in view.models)
        self.note.set_text(BASELINE_NOTE if baseline else "")
        self.note.setVisible(baseline)


def _heading(text: str) -> Label:
    label = Label(text, size=Size.SMALL, role=Role.DIM, label=True)
    label.setContentsMargins(16, 10, 16, 6)
    return label
