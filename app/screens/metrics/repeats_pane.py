"""What repeats say: the pass rate, the chance that k runs all pass, and cases that pass only now and then."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.screens.metrics.looks import FLAKY_COLUMNS, flaky_rows, power_plot, show_table
from app.screens.metrics.repeats import RepeatsView
from app.screens.metrics.strips import FigureCell
from app.text.formatting import count
from app.theme import Role, Size, roomy
from app.widgets import Action, EmptyState, Label, LineText, ListTable, Rule, Segment, StackedBar
from app.widgets.chart_panel import ChartPanel
from app.widgets.line_chart import LineChart


class RepeatsPane(QWidget):
    """`case_opened` gives the place of a flaky case, `run_wanted` asks for a batch with repeats."""

    case_opened = Signal(int)
    run_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.figure = FigureCell()
        self.bar = StackedBar("Repeated cases")
        self.split = LineText(size=Size.SMALL, role=Role.DIM)
        self.chart = LineChart("Chance that k runs all pass")
        self.power = ChartPanel("Chance that k runs of a case are all right", self.chart)
        self.flaky = ListTable(FLAKY_COLUMNS, "Flaky cases")
        self.empty = EmptyState("repeat", "", "")
        full = QWidget()
        self._lay_out(full)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(full)
        self._stack.addWidget(self.empty)
        self.flaky.tell_keys(Enter="Show the case's runs")
        self.flaky.opened.connect(lambda row: self.case_opened.emit(int(row)))

    def _lay_out(self, full: QWidget) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.figure)
        groups = QVBoxLayout()
        groups.setContentsMargins(16, 4, 16, 16)
        groups.setSpacing(8)
        groups.addWidget(self.bar)
        groups.addWidget(self.split)
        column.addLayout(groups)
        column.addWidget(Rule())
        column.addWidget(self.power, 1)
        heading = Label("Flaky cases, the most even first", size=Size.SMALL, role=Role.DIM, label=True)
        heading.setContentsMargins(16, 8, 16, 8)
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(heading)
        right.addWidget(self.flaky, 1)
        row = QHBoxLayout(full)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        left.setMinimumWidth(roomy(320))
        row.addWidget(left, 40)
        row.addWidget(Rule(upright=True))
        row.addLayout(right, 60)

    def find_rows(self, text: str) -> None:
        """Show only cases that say so."""
        self.flaky.find_rows(text)

    def show_view(self, view: RepeatsView) -> None:
        """Show other repeats."""
        self.figure.show_figure(view.figure)
        parts = (
            Segment(role=Role.GOOD_FILL, value=view.always, name="always pass"),
            Segment(role=Role.WARN_FILL, value=view.flaky_count, name="now and then", ticked=True, gap=True),
            Segment(role=Role.BAD_FILL, value=view.never, name="never", gap=True),
        )
        self.bar.set_segments(parts)
        self.split.set_text(
            f"{count(view.always, 'case')} always pass, {view.flaky_count:,} now and then, {view.never:,} never"
        )
        self.chart.set_plot(power_plot(view.power))
        self.power.set_note(view.power.note, view.power.help)
        show_table(self.power, view.power.table)
        self.flaky.set_rows(flaky_rows(view))
        run = Action(text="Run with repeats…", do=self.run_wanted.emit, kind="primary", icon="play")
        self.empty.set("repeat", "No case ran more than once", view.message, [run])
        self._stack.setCurrentIndex(1 if view.message else 0)
