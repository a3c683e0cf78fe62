"""Overview of the metrics: cards, confusion matrix, tools, calibration and trend."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.screens.metrics.batch_comparison import ComparisonView, PairGroup
from app.screens.metrics.charts import ChartData
from app.screens.metrics.group_values import ConfusionView
from app.screens.metrics.metric_values import TOO_FEW, MetricValue, SideMetric, span_of
from app.screens.metrics.presenter import MetricsView
from app.screens.metrics.table_rows import TOOL_COLUMNS, calibration_plot, matrix, show_table, tool_rows, trend_plot
from app.text.glossary import explain
from app.theme import Role, Size, height, sized
from app.widgets import (
    Action,
    Button,
    FlowText,
    IconButton,
    IntervalBar,
    Label,
    LineText,
    ListTable,
    Rule,
    Spoken,
    describe,
    tip,
)
from app.widgets.bars import CountDots
from app.widgets.chart import ChartPanel
from app.widgets.line_chart import LineChart, Plot
from app.widgets.matrix import MatrixChart
from app.widgets.rows import paint_focus
from mcp_tef import ToolLabel, ToolMetrics

QUIET_ROW = 36
FIGURES, LEAST_FIGURE = 4, 176


class MetricCell(QWidget):
    """One figure, its interval in words and as a bar, and its n in words."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self) -> None:
        super().__init__()
        self.title = Label(role=Role.DIM, label=True)
        self.value = Label(size=Size.FIGURE, strong=True, tabular=True)
        self.bounds = Label(role=Role.DIM, tabular=True)
        self.bar = IntervalBar("")
        self.sentence = LineText(size=Size.SMALL, role=Role.DIM)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        line = QHBoxLayout()
        line.setSpacing(10)
        line.addWidget(self.value)
        line.addWidget(self.bounds)
        line.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 8)
        column.setSpacing(2)
        column.addWidget(self.title)
        column.addLayout(line)
        column.addWidget(self.bar)
        column.addWidget(self.sentence)

    def show_figure(self, figure: MetricValue) -> None:
        """Show another figure."""
        self.title.setText(figure.title)
        self.value.setText(figure.value)
        self.bounds.setText(figure.bounds)
        span = span_of(figure.rate)
        self.bar.set_value(*(span or (None, None, None)))
        self.sentence.set_text(figure.sentence)
        describe(figure.help, self, self.sentence)
        self.setAccessibleName(f"{figure.title}: {figure.value} {figure.bounds}, {figure.sentence}")

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self.hasFocus():
            paint_focus(QPainter(self), self.rect())


class MetricCells(QWidget):
    """Main metrics side by side, separated by lines; in two rows where the text is too large for one."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = [MetricCell() for _ in range(FIGURES)]
        self._rules = [Rule(upright=True) for _ in range(FIGURES)]
        self._across = 0
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(0)
        for cell in self.cells:
            cell.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._place(FIGURES)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(FIGURES if event.size().width() >= FIGURES * sized(LEAST_FIGURE) else FIGURES // 2)

    def _place(self, across: int) -> None:
        if across == self._across:
            return
        self._across = across
        for place, (cell, rule) in enumerate(zip(self.cells, self._rules, strict=True)):
            row, column = divmod(place, across)
            self._grid.addWidget(rule, row, 2 * column)
            self._grid.addWidget(cell, row, 2 * column + 1)
            rule.setVisible(column > 0)
        for column in range(FIGURES):
            self._grid.setColumnStretch(2 * column + 1, int(column < across))
        self.setFixedHeight(FIGURES // across * height("metric_strip"))

    def show_figures(self, figures: Sequence[MetricValue]) -> None:
        """Show these."""
        for cell, figure in zip(self.cells, figures, strict=True):
            cell.show_figure(figure)


class SideMetricRow(QWidget):
    """Quieter figures in one line: a dim name and a value."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(sized(QUIET_ROW))
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(16, 0, 16, 0)
        self._row.setSpacing(6)
        self._parts: list[tuple[Label, Label]] = []
        self._shown = 0
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_asides(self, side_metrics: Sequence[SideMetric]) -> None:
        """Show these."""
        while len(self._parts) < len(side_metrics):
            self._add()
        self._shown = len(side_metrics)
        for (name, value), side_metric in zip(self._parts, side_metrics, strict=False):
            name.setText(side_metric.label)
            value.setText(side_metric.value)
            value.set_role(Role.BAD if side_metric.bad else Role.TEXT)
            describe(side_metric.help, name, value)
            value.setAccessibleName(f"{side_metric.label}: {side_metric.value}")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Hide the last values where there is no room for all."""
        room = self.width() - 32
        for place, (name, value) in enumerate(self._parts):
            room -= name.sizeHint().width() + value.sizeHint().width() + 24
            for label in (name, value):
                label.setVisible(place < self._shown and room > -24)

    def values(self) -> dict[str, str]:
        """Return the shown values by name."""
        return {name.text(): value.text() for name, value in self._parts if not name.isHidden()}

    def _add(self) -> None:
        if self._parts:
            self._row.addStretch(1)
        name = Label(size=Size.SMALL, role=Role.DIM)
        value = Label(size=Size.SMALL, label=True, tabular=True)
        self._row.addWidget(name)
        self._row.addWidget(value)
        self._parts.append((name, value))


ROOMY = 1000
MATRIX_HELP = (
    "Rows are expected tools, columns are selected tools; the diagonal is correct. Click a cell to see its runs. "
    "Ctrl and the wheel zoom."
)


class OverviewPane(QWidget):
    """`cell_opened` names a cell of the matrix, `tool_opened` the place of a tool, `batch_opened` a batch.

    `pair_opened` gives two tools that a cell is about.
    """

    cell_opened = Signal(int, int)
    tool_opened = Signal(int)
    batch_opened = Signal(str)
    pair_opened = Signal(object)
    compare_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._view: MetricsView | None = None
        self._quiet = False
        self.strip = MetricCells()
        self.side_metrics = SideMetricRow()
        self.square = MatrixChart("Confusion matrix")
        self.matrix = ChartPanel("Expected (rows) against selected (columns)", self.square)
        self.tools = ListTable(TOOL_COLUMNS, "Tools from worst to best")
        self.calibration = ChartPanel("Share correct, by confidence", LineChart("Calibration"))
        self.trend = ChartPanel("Accuracy by batch", LineChart("Accuracy by batch"))
        self.against = AgainstPart()
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self.matrix.own_actions = self._cell_actions
        for icon, text, steps in (("minus", "Smaller cells", -1), ("plus", "Larger cells", 1)):
            zoom = IconButton(icon, text, size=14)
            zoom.clicked.connect(lambda _=False, by=steps: self.square.zoom(by))
            self.matrix.add_tool(zoom)
        self._upper = _side_by_side((self.matrix, 42), (self.tools, 58))
        self._lower = _side_by_side((self.calibration, 42), (self.trend, 34), (self.against, 24))
        self._upper.setMinimumHeight(sized(320))
        self._lower.setMinimumHeight(sized(216))
        self._rules = [Rule() for _ in range(3)]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.strip)
        column.addWidget(self._rules[0])
        column.addWidget(self.side_metrics)
        column.addWidget(self._rules[1])
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
        self.strip.show_figures(view.figures)
        self.side_metrics.show_asides(view.side_metrics)
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

    def _cell_actions(self) -> list[Action]:
        cell, pair = self.square.current(), self.pair()
        actions = [Action(text="Show runs", do=lambda: self.cell_opened.emit(*cell))] if cell else []
        if pair is not None:
            actions.append(Action(text="Compare the two tools", do=lambda: self.pair_opened.emit(pair)))
        return actions

    def enlarge(self, panel: ChartPanel | None) -> None:
        """Give one chart all the room; None puts everything back."""
        for one in self.panels():
            one.large = one is panel
        alone = panel is not None
        for part in (self.strip, self.side_metrics, *self._rules):
            part.setVisible(not alone)
        for row in (self._upper, self._lower):
            row.setVisible(not alone or (panel is not None and row.isAncestorOf(panel)))
            for part in row.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
                part.setVisible(not alone or part is panel)

    def _show_matrix(self, view: ConfusionView) -> None:
        self.square.set_matrix(matrix(view))
        self.matrix.set_note(f"n {view.n:,}", MATRIX_HELP)
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
        enough = tool is not None and tool.n >= TOO_FEW
        place = self._view.confusion.place(tool.label, tool.taken_for) if self._view and tool and enough else None
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
        describe(explain("McNemar's test"), self.reading, self.sentence)
        self.link = Button("Compare run by run", kind="link")
        self._counts = QWidget()
        counts = QVBoxLayout(self._counts)
        counts.setContentsMargins(0, 4, 0, 4)
        counts.setSpacing(4)
        for word, pips in (("Fixed", self.fixed), ("Regressed", self.regressed)):
            counts.addLayout(_counted(word, pips))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 16, 8)
        column.setSpacing(4)
        for part in (self.caption, self.reading, self.sentence, self._counts):
            column.addWidget(part)
        column.addWidget(self.link, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def show_comparison(self, view: ComparisonView | None) -> None:
        """Show a comparison; None where there are no two batches yet."""
        self.caption.set_text(view.caption if view else "Against the batch before")
        self.reading.set_text(view.reading if view else "Not enough batches")
        self.sentence.set_text(view.short if view else "Run the same suite again after a change to see its effect.")
        self._counts.setVisible(view is not None)
        self.link.setVisible(view is not None)
        if view is not None:
            self.fixed.set_count(view.counts[PairGroup.FIXED])
            self.regressed.set_count(view.counts[PairGroup.REGRESSED])


def _counted(word: str, pips: CountDots) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(8)
    label = Label(word, size=Size.SMALL)
    label.setMinimumWidth(sized(64))
    label.setToolTip(tip("Wrong before, correct now." if word == "Fixed" else "Correct before, wrong now."))
    line.addWidget(label)
    line.addWidget(pips, 1)
    return line


def _side_by_side(*parts: tuple[QWidget, int]) -> QWidget:
    """Return a row of widgets with their shares of the width, and lines between them."""
    whole = QWidget()
    row = QHBoxLayout(whole)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(0)
    for place, (part, share) in enumerate(parts):
        if place:
            row.addWidget(Rule(upright=True))
        policy = part.sizePolicy()
        policy.setHorizontalPolicy(QSizePolicy.Policy.Ignored)
        part.setSizePolicy(policy)
        row.addWidget(part, share)
    return whole
