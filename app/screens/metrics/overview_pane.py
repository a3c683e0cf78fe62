"""Overview of the metrics: cards, confusion matrix, tools, calibration and trend."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from app.screens.metrics.batch_comparison import HELP, READINGS, ComparisonView, PairGroup
from app.screens.metrics.charts import ChartData
from app.screens.metrics.group_values import ConfusionView
from app.screens.metrics.metric_cells import MetricCells, SideMetricRow
from app.screens.metrics.presenter import MetricsView
from app.screens.metrics.table_rows import TOOL_COLUMNS, calibration_plot, matrix, show_table, tool_rows, trend_plot
from app.text.glossary import explain
from app.theme import Role, Size, sized
from app.widgets import (
    Button,
    FlowText,
    IconButton,
    Label,
    ListTable,
    Rule,
    column_layout,
    describe,
    row_layout,
    tip,
)
from app.widgets.bars import CountDots
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import LineChart, Plot
from app.widgets.matrix import MatrixChart
from mcp_tef import ToolLabel, ToolMetrics

ROOMY = 1000
MATRIX_HELP = (
    "Rows are expected tools, columns are selected tools; the diagonal is the correct tool. Confused tools come first, "
    "each beside the tool it is confused with. Bold counts are no accident: tested with at most 5 % false alarms. "
    "Click a cell to see its runs. Ctrl and the wheel zoom."
)


class OverviewPane(QWidget):
    """`cell_opened` names a cell of the matrix, `tool_opened` the place of a tool, `batch_opened` a batch."""

    cell_opened = Signal(int, int)
    tool_opened = Signal(int)
    batch_opened = Signal(str)
    compare_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._view: MetricsView | None = None
        self._quiet = False
        self.strip = MetricCells()
        self.side_metrics = SideMetricRow()
        self.origins = FlowText(size=Size.SMALL, role=Role.DIM)
        self.square = MatrixChart("Confusion matrix")
        self.matrix = ChartPanel("Expected ↓ Selected →", self.square)
        self.tools = ListTable(TOOL_COLUMNS, "Tools from worst to best")
        self.calibration = ChartPanel("Correct by confidence", LineChart("Calibration"))
        self.trend = ChartPanel("Correct calls by batch", LineChart("Correct calls by batch"))
        self.against = AgainstPart()
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        for icon, text, steps in (("minus", "Smaller cells", -1), ("plus", "Larger cells", 1)):
            zoom = IconButton(icon, text, size=14)
            zoom.clicked.connect(lambda _=False, by=steps: self.square.zoom(by))
            self.matrix.add_tool(zoom)
        self._upper = _side_by_side((self.matrix, 42), (self.tools, 58))
        self._lower = _side_by_side((self.calibration, 42), (self.trend, 34), (self.against, 24))
        self._upper.setMinimumHeight(sized(320))
        self._lower.setMinimumHeight(sized(216))
        self._rules = [Rule() for _ in range(3)]
        self._quieter = QWidget()
        quieter = column_layout(self._quieter, self.side_metrics)
        origins = row_layout(None, self.origins, margins=(16, 0, 16, 8), spacing=None)
        quieter.addLayout(origins)
        column = column_layout(self, self.strip, self._rules[0], self._quieter, self._rules[1])
        column.addWidget(self._upper, 60)
        column.addWidget(self._rules[2])
        column.addWidget(self._lower, 40)

    def _connect(self) -> None:
        self.square.opened.connect(self.cell_opened)
        self.tools.describe_keys(Enter="Show the tool's runs")
        self.tools.chosen.connect(self._mark)
        self.tools.opened.connect(lambda row: self.tool_opened.emit(int(row)))
        chart = self.trend.chart
        if isinstance(chart, LineChart):
            chart.chosen.connect(self.batch_opened)
        self.against.link.clicked.connect(self.compare_wanted)
        for panel in self.panels():
            panel.enlarge_wanted.connect(lambda one=panel: self.enlarge(None if one.large else one))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide further metrics in a narrow table, so that names stay readable."""
        super().resizeEvent(event)
        for number, column in enumerate(TOOL_COLUMNS):
            if column.key in ("precision", "f1"):
                self.tools.setColumnHidden(number, event.size().width() < sized(ROOMY))

    def find_rows(self, text: str) -> None:
        """Show only tools that say so."""
        self.tools.find_rows(text)

    def panels(self) -> tuple[ChartPanel, ...]:
        """Return all charts."""
        return self.matrix, self.calibration, self.trend

    def show_view(self, view: MetricsView) -> None:
        """Show other figures."""
        self._view = view
        self.strip.show_metrics(view.headline)
        self.side_metrics.show_side_metrics(view.side_metrics)
        self.origins.set_text(view.origins)
        self.origins.setVisible(bool(view.origins))
        self._show_matrix(view.confusion)
        self.tools.set_rows(tool_rows(view.confusion, view.tools))
        self._show_curve(self.calibration, view.calibration, calibration_plot(view.calibration))
        self._show_curve(self.trend, view.trend, trend_plot(view.trend))
        self._quiet = True
        if not self.tools.current_id():
            self.tools.select_first()
        self._mark(self.tools.current_id())
        self._quiet = False

    def pair(self) -> tuple[ToolLabel, ToolLabel] | None:
        """Return the two tools of the current cell."""
        cell = self.square.current()
        return self._view.confusion.pair_of(*cell) if self._view and cell else None

    def enlarge(self, panel: ChartPanel | None) -> None:
        """Give one chart all the room; None puts everything back."""
        for one in self.panels():
            one.large = one is panel
        alone = panel is not None
        for part in (self.strip, self._quieter, *self._rules):
            part.setVisible(not alone)
        for row in (self._upper, self._lower):
            row.setVisible(not alone or (panel is not None and row.isAncestorOf(panel)))
            for part in row.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
                part.setVisible(not alone or part is panel)

    def _show_matrix(self, view: ConfusionView) -> None:
        self.square.set_matrix(matrix(view))
        self.matrix.set_note(view.note, MATRIX_HELP)
        self.matrix.set_message("" if view.n else "None of these runs was judged.")
        show_table(self.matrix, view.table)

    def _show_curve(self, panel: ChartPanel, data: ChartData, plot: Plot) -> None:
        if isinstance(panel.chart, LineChart):
            panel.chart.set_plot(plot)
        panel.set_note(data.note, data.help)
        panel.set_message(data.message)
        show_table(panel, data.table)

    def _mark(self, row: str) -> None:
        """Mark the cell of the most frequent confusion of the selected tool."""
        tool = self.tool(int(row)) if row else None
        place = self._view.confusion.place(tool.label, tool.taken_for) if self._view and tool else None
        self.square.mark(place, reveal=not self._quiet)

    def tool(self, place: int) -> ToolMetrics | None:
        """Return the tool of a row."""
        tools = self._view.tools if self._view else ()
        return tools[place] if place < len(tools) else None


class AgainstPart(QWidget):
    """The newest batch against the one before it, in words; the reading is a result, also where it says nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.caption = FlowText(size=Size.SMALL, role=Role.DIM, max_lines=2)
        self.reading = FlowText(size=Size.LEAD, strong=True)
        self.sentence = FlowText(size=Size.SMALL, role=Role.DIM)
        self.fixed = CountDots("Fixed", Role.GOOD_FILL)
        self.regressed = CountDots("Regressed", Role.BAD_FILL)
        describe(explain("two claims"), self.reading, self.sentence)
        self.link = Button("Compare case by case", kind="link")
        self._counts = QWidget()
        counts = column_layout(self._counts, margins=(0, 4, 0, 4), spacing=4)
        for word, dots in (("Fixed", self.fixed), ("Regressed", self.regressed)):
            counts.addLayout(_counted(word, dots))
        column = column_layout(
            self, self.caption, self.reading, self.sentence, self._counts, margins=(16, 8, 16, 8), spacing=4
        )
        column.addWidget(self.link, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def show_comparison(self, view: ComparisonView | None, *, known: bool = True) -> None:
        """Show a comparison; None where there are no two batches, or where that is not yet `known`."""
        nothing = ("Not enough batches", "Run the same suite again after a change to see its effect.")
        reading, sentence = nothing if known else ("Reading the batches…", "")
        self.caption.set_text(view.caption if view else "Against the batch before")
        self.caption.setToolTip(tip(view.caption) if view else "")
        self.reading.set_text(f"{READINGS[view.claims[0].verdict]} on these cases" if view else reading)
        self.sentence.set_text(view.short if view else sentence)
        self._counts.setVisible(view is not None)
        self.link.setVisible(view is not None)
        if view is not None:
            self.fixed.set_count(view.counts[PairGroup.FIXED])
            self.regressed.set_count(view.counts[PairGroup.REGRESSED])


def _counted(word: str, dots: CountDots) -> QHBoxLayout:
    line = row_layout(spacing=8)
    label = Label(word, size=Size.SMALL)
    label.setMinimumWidth(sized(64))
    label.setToolTip(tip(HELP[PairGroup.FIXED if word == "Fixed" else PairGroup.REGRESSED]))
    line.addWidget(label)
    line.addWidget(dots, 1)
    return line


def _side_by_side(*parts: tuple[QWidget, int]) -> QWidget:
    """Return a row of widgets with their shares of the width, and lines between them."""
    whole = QWidget()
    row = row_layout(whole)
    for place, (part, share) in enumerate(parts):
        if place:
            row.addWidget(Rule(upright=True))
        policy = part.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
        part.setSizePolicy(policy)
        row.addWidget(part, share)
    return whole
