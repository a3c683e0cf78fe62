"""Scores of a pair as numbers and bars on the scale from 0 to 1."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.screens.similarity.labels import SCORE_HELP
from app.theme import Role, Size, theme
from app.widgets import FlowText, Label, Spoken, describe
from mcp_tef import ScoreExplanation

TALL, THICK = 14, 4


class ScoreBar(QWidget):
    """Bar of a score from 0 to 1, with a tick at a threshold if there is one."""

    SPOKEN_AS = Spoken.Graphic

    def __init__(self, role: Role, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._role = role
        self._score = 0.0
        self._tick: float | None = None
        self.setFixedHeight(TALL)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_score(self, name: str, score: float) -> None:
        """Show another score."""
        self._score = min(1.0, max(0.0, score))
        self.setAccessibleName(f"{name}: {score:.2f}")
        self.update()

    def set_tick(self, tick: float) -> None:
        """Move the tick to a threshold."""
        self._tick = tick
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, TALL)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        top = (TALL - THICK) / 2
        for wide, role in ((1.0, Role.TRACK), (self._score, self._role)):
            painter.setBrush(theme().colour(role))
            painter.drawRoundedRect(QRectF(0, top, self.width() * wide, THICK), THICK / 2, THICK / 2)
        if self._tick is not None:
            painter.fillRect(QRectF(round(self._tick * (self.width() - 1)), 1, 1, TALL - 2), theme().colour(Role.TEXT))


class MainScore(QWidget):
    """The most important number, large."""

    def __init__(self) -> None:
        super().__init__()
        self.number = Label(size=Size.FIGURE, strong=True, tabular=True)
        self.title = FlowText(strong=True)
        self.sentence = FlowText(size=Size.SMALL, role=Role.DIM)
        self.bar = ScoreBar(Role.ACCENT_FILL)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.title)
        words.addWidget(self.sentence)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.number)
        row.addLayout(words, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(row)
        column.addWidget(self.bar)

    def show_score(self, title: str, score: ScoreExplanation, threshold: float) -> None:
        """Show another; the tick stands at the threshold."""
        self.number.setText(f"{score.score:.2f}")
        self.title.set_text(title)
        self.sentence.set_text(score.sentence)
        self.bar.set_score(title, score.score)
        self.bar.set_tick(threshold)
        describe(SCORE_HELP[score.kind], self.number, self.title, self.sentence)


class ScoreList(QWidget):
    """A line for each of the other scores."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[ScoreRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)

    def show_scores(self, scores: Sequence[ScoreExplanation]) -> None:
        """Show these."""
        while len(self.lines) < len(scores):
            self.lines.append(ScoreRow())
            self._column.addWidget(self.lines[-1])
        for number, line in enumerate(self.lines):
            line.setVisible(number < len(scores))
            if number < len(scores):
                line.show_score(scores[number])


class ScoreRow(QWidget):
    """A name, a number, its bar, and one sentence below."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self) -> None:
        super().__init__()
        self.title = FlowText(strong=True)
        self.number = Label(strong=True, tabular=True)
        self.bar = ScoreBar(Role.CONTROL)
        self.sentence = FlowText(size=Size.SMALL, role=Role.DIM)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(0)
        grid.addWidget(self.title, 0, 0)
        grid.addWidget(self.number, 0, 1)
        grid.addWidget(self.bar, 0, 2)
        grid.addWidget(self.sentence, 1, 0, 1, 3)
        grid.setColumnStretch(0, 6)
        grid.setColumnStretch(2, 5)

    def show_score(self, score: ScoreExplanation) -> None:
        """Show another."""
        self.title.set_text(score.title)
        self.number.setText(f"{score.score:.2f}")
        self.bar.set_score(score.title, score.score)
        self.sentence.set_text(score.sentence)
        self.setAccessibleName(f"{score.title}: {score.score:.2f}. {score.sentence}")
        describe(SCORE_HELP[score.kind], self, self.title, self.number, self.sentence)
