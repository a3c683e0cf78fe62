"""The Models and Repeats views."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedLayout, QWidget

from app.screens.metrics.group_values import BASELINE_NOTE, RepeatsView
from app.screens.metrics.metric_cells import MetricCell
from app.screens.metrics.presenter import MetricsView
from app.screens.metrics.table_rows import (
    FLAKY_COLUMNS,
    MODEL_COLUMNS,
    SERVER_COLUMNS,
    flaky_rows,
    model_cells,
    power_plot,
    server_cells,
    show_table,
)
from app.text.formatting import count
from app.theme import Role, Size, height, roomy, sized
from app.widgets import (
    Action,
    EmptyState,
    Label,
    LineText,
    ListTable,
    Rule,
    Segment,
    StackedBar,
    column_layout,
    row_layout,
)
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import LineChart

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
        column = column_layout(self)
        heading = row_layout(None, _heading("Models, best first"), margins=(0, 0, 16, 0), spacing=None)
        heading.addStretch(1)
        heading.addWidget(self.note)
        column.addLayout(heading)
        column.addWidget(self.models, 1)
        column.addWidget(Rule())
        column.addWidget(_heading("Servers, worst first"))
        column.addWidget(self.servers, 1)
        self.models.describe_keys(Enter="Show the model's runs")
        self.servers.describe_keys(Enter="Show the server's runs")
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


class RepeatsPane(QWidget):
    """`case_opened` gives the place of a flaky case, `run_wanted` asks for a batch with repeats."""

    case_opened = Signal(int)
    run_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.figure = MetricCell()
        self.bar = StackedBar("Repeated cases")
        self.split = LineText(size=Size.SMALL, role=Role.DIM)
        self.chart = LineChart("Chance that k runs all pass")
        self.power = ChartPanel("Chance that k runs of a case are all correct", self.chart)
        self.flaky = ListTable(FLAKY_COLUMNS, "Flaky cases")
        self.empty = EmptyState("repeat", "", "")
        full = QWidget()
        self._lay_out(full)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(full)
        self._stack.addWidget(self.empty)
        self.flaky.describe_keys(Enter="Show the case's runs")
        self.flaky.opened.connect(lambda row: self.case_opened.emit(int(row)))

    def _lay_out(self, full: QWidget) -> None:
        left = QWidget()
        column = column_layout(left, self.figure)
        groups = column_layout(None, self.bar, self.split, margins=(16, 4, 16, 16), spacing=8)
        column.addLayout(groups)
        column.addWidget(Rule())
        column.addWidget(self.power, 1)
        self.flaky_title = Label(size=Size.SMALL, role=Role.DIM, label=True)
        self.flaky_title.setContentsMargins(16, 8, 16, 8)
        right = column_layout(None, self.flaky_title)
        right.addWidget(self.flaky, 1)
        row = row_layout(full)
        left.setMinimumWidth(roomy(320))
        row.addWidget(left, 40)
        row.addWidget(Rule(upright=True))
        row.addLayout(right, 60)

    def find_rows(self, text: str) -> None:
        """Show only cases that say so."""
        self.flaky.find_rows(text)

    def show_view(self, view: RepeatsView) -> None:
        """Show other repeats."""
        self.figure.show_metric(view.figure)
        parts = (
            Segment(role=Role.GOOD_FILL, value=view.always, name="always pass"),
            Segment(role=Role.WARN_FILL, value=view.flaky_count, name="sometimes pass", ticked=True, gap=True),
            Segment(role=Role.BAD_FILL, value=view.never, name="never pass", gap=True),
        )
        self.bar.set_segments(parts)
        self.split.set_text(
            f"{count(view.always, 'case')} always pass, {view.flaky_count:,} sometimes, {view.never:,} never"
        )
        self.chart.set_plot(power_plot(view.power))
        self.power.set_note(view.power.note, view.power.help)
        show_table(self.power, view.power.table)
        self.flaky_title.setText(view.flaky_title)
        self.flaky.set_rows(flaky_rows(view))
        run = Action(text="Run with repeats…", do=self.run_wanted.emit, kind="primary", icon="play")
        self.empty.set("repeat", "No repeated cases", view.message, [run])
        self._stack.setCurrentIndex(1 if view.message else 0)
