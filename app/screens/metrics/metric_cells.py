"""Metrics of the overview: four large ones with their intervals, and a row of further ones."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QWidget

from app.screens.metrics.metric_values import MetricValue, SideMetric, span_of
from app.theme import Role, Size, height, sized
from app.widgets import IntervalBar, Label, LineText, Rule, Spoken, column_layout, describe, row_layout
from app.widgets.rows import paint_focus

QUIET_ROW, FURTHER_ROW, ASIDE_GAP = 36, 22, 24
FIGURES, LEAST_FIGURE = 4, 176


class MetricCell(QWidget):
    """One metric, its interval as text and as a bar, and its n as text."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self) -> None:
        super().__init__()
        self.title = Label(role=Role.DIM, label=True)
        self.note = LineText(size=Size.SMALL, role=Role.DIM)
        self.value = Label(size=Size.FIGURE, strong=True, tabular=True)
        self.bounds = Label(role=Role.DIM, tabular=True)
        self.bar = IntervalBar("")
        self.sentence = LineText(size=Size.SMALL, role=Role.DIM)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        line = row_layout(None, self.value, self.bounds, spacing=10)
        line.addStretch(1)
        column = column_layout(self, margins=(16, 8, 16, 8), spacing=2)
        head = row_layout(None, self.title, spacing=8)
        head.addWidget(self.note, 1)
        column.addLayout(head)
        column.addLayout(line)
        column.addWidget(self.bar)
        column.addWidget(self.sentence)

    def show_metric(self, figure: MetricValue) -> None:
        """Show another metric."""
        self.title.setText(figure.title)
        self.note.set_text(figure.note)
        self.value.setText(figure.value)
        self.bounds.setText(figure.bounds)
        span = span_of(figure.rate)
        self.bar.set_value(*(span or (None, None, None)))
        self.sentence.set_text(figure.sentence)
        describe(figure.help, self, self.sentence, self.note)
        self.setAccessibleName(
            f"{figure.title}: {figure.value} {figure.bounds}, {', '.join(filter(None, [figure.sentence, figure.note]))}"
        )

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

    def show_metrics(self, figures: Sequence[MetricValue]) -> None:
        """Show these."""
        for cell, figure in zip(self.cells, figures, strict=True):
            cell.show_metric(figure)


class SideMetricRow(QWidget):
    """Further metrics: a dim name and a value each, in one line, or in columns if they do not fit."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(16, 0, 0, 0)
        self._grid.setSpacing(0)
        self._parts: list[tuple[Label, Label]] = []
        self._pairs: list[QHBoxLayout] = []
        self._shown, self._across = 0, (0, 0)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_side_metrics(self, side_metrics: Sequence[SideMetric]) -> None:
        """Show these."""
        while len(self._parts) < len(side_metrics):
            self._add()
        self._shown, self._across = len(side_metrics), (0, 0)
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

    def minimumSizeHint(self) -> QSize:
        """Never keep the window from becoming narrow: the values are then placed in more lines."""
        return QSize(0, self.minimumHeight())

    def _fit(self) -> None:
        """Place the values in as few lines as they fit into."""
        widths = [name.sizeHint().width() + value.sizeHint().width() + 6 + ASIDE_GAP for name, value in self._parts]
        shown, across, lines = self._shown, self._shown, 1
        while across > 1 and _columns_width(widths[:shown], across) > self.width() - 16:
            lines += 1
            across = -(-shown // lines)
        lines = -(-shown // max(across, 1))
        if (across, shown) != self._across:
            self._across = (across, shown)
            self._place(across, shown)
            self.setFixedHeight(sized(QUIET_ROW) + (lines - 1) * sized(FURTHER_ROW))

    def _add(self) -> None:
        name, value = Label(size=Size.SMALL, role=Role.DIM), Label(size=Size.SMALL, label=True, tabular=True)
        pair = row_layout(None, name, value, spacing=6)
        pair.addSpacing(ASIDE_GAP)
        pair.addStretch(1)
        self._parts.append((name, value))
        self._pairs.append(pair)

    def _place(self, across: int, shown: int) -> None:
        for place, ((name, value), pair) in enumerate(zip(self._parts, self._pairs, strict=True)):
            self._grid.removeItem(pair)
            self._grid.addLayout(pair, *divmod(place, across))
            for label in (name, value):
                label.setVisible(place < shown)

    def values(self) -> dict[str, str]:
        """Return the shown values by name."""
        return {name.text(): value.text() for name, value in self._parts if not name.isHidden()}


def _columns_width(widths: Sequence[int], across: int) -> int:
    """Return the width of a grid of parts with so many columns, in pixels."""
    return sum(max(widths[column::across]) for column in range(across))
