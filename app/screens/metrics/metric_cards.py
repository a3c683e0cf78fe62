"""Cards of the four main metrics, and a row of further metrics."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.screens.metrics.formatting import span_of
from app.screens.metrics.metric_values import Aside, Figure
from app.theme import Role, Size, height, sized
from app.widgets import IntervalBar, Label, LineText, Rule, Spoken, describe
from app.widgets.rows import paint_focus

QUIET_ROW = 36
FIGURES, LEAST_FIGURE = 4, 176


class FigureCell(QWidget):
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

    def show_figure(self, figure: Figure) -> None:
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


class FigureStrip(QWidget):
    """Figures side by side, hairlines between them; in two rows where text is too large for one."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = [FigureCell() for _ in range(FIGURES)]
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

    def show_figures(self, figures: Sequence[Figure]) -> None:
        """Show these."""
        for cell, figure in zip(self.cells, figures, strict=True):
            cell.show_figure(figure)


class AsideRow(QWidget):
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

    def show_asides(self, asides: Sequence[Aside]) -> None:
        """Show these."""
        while len(self._parts) < len(asides):
            self._add()
        self._shown = len(asides)
        for (name, value), aside in zip(self._parts, asides, strict=False):
            name.setText(aside.label)
            value.setText(aside.value)
            value.set_role(Role.BAD if aside.bad else Role.TEXT)
            describe(aside.help, name, value)
            value.setAccessibleName(f"{aside.label}: {aside.value}")
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
