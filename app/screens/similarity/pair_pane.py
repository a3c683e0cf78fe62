"""One pair of tools side by side: scores, descriptions, parameters and observations in runs."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core_link.links import Link, link_actions
from app.screens.similarity.advice_pane import AdvicePane
from app.screens.similarity.labels import SCORE_HELP
from app.screens.similarity.pair_detail import ObservedRuns, PairDetail, ToolDescription, whole
from app.text.formatting import count
from app.theme import Role, Size, theme, width
from app.widgets import (
    Button,
    FlowText,
    IconButton,
    Label,
    Links,
    Mark,
    MarkLabel,
    Rule,
    ScrollPane,
    Span,
    Spoken,
    clear_layout,
    column_layout,
    describe,
    row_layout,
)
from app.widgets.spans import marked
from mcp_tef import ScoreExplanation, SharedParameter

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

    def set_score(self, name: str, score: ScoreExplanation) -> None:
        """Show another score."""
        self._score = min(1.0, max(0.0, score.score))
        self.setAccessibleName(f"{name}: {score.shown}")
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
        words = column_layout(None, self.title, self.sentence)
        row = row_layout(None, self.number, spacing=12)
        row.addLayout(words, 1)
        column_layout(self, row, self.bar, spacing=6)

    def show_score(self, score: ScoreExplanation, threshold: float) -> None:
        """Show another score; the tick marks the threshold."""
        self.number.setText(score.shown)
        self.title.set_text(score.title)
        self.sentence.set_text(score.sentence)
        self.bar.set_score(score.title, score)
        self.bar.set_tick(threshold)
        describe(SCORE_HELP[score.kind], self.number, self.title, self.sentence)


class ScoreList(QWidget):
    """A line for each of the other scores."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[ScoreRow] = []
        self._column = column_layout(self, spacing=8)

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
        self.number.setText(score.shown)
        self.bar.set_score(score.title, score)
        self.sentence.set_text(score.sentence)
        self.setAccessibleName(f"{score.title}: {score.shown}. {score.sentence}")
        describe(SCORE_HELP[score.kind], self, self.title, self.number, self.sentence)


EDGE, MAX_ALIGNED = 16, 24
MARKS = {True: (Mark.CROSS, "confused"), False: (Mark.CHECK, "not confused"), None: (Mark.BROKEN, "not tested")}


class ToolPairPane(QWidget):
    """`closed` puts it away, `runs_wanted` gives a `RunsLink`, `full_texts_wanted` asks for all of long descriptions.

    `led` gives the screen that a link leads to, and what is to be shown there.
    """

    closed = Signal()
    runs_wanted = Signal(object)
    full_texts_wanted = Signal()
    led = Signal(object)

    def __init__(self, advice: AdvicePane) -> None:
        super().__init__()
        self.detail: PairDetail | None = None
        self.heading = FlowText(max_lines=2)
        self.close_button = IconButton("x", "Close the pair")
        self.lead = MainScore()
        self.scores = ScoreList()
        self.overlap = FlowText(size=Size.SMALL, role=Role.DIM)
        self.sides = (ToolSidePart(), ToolSidePart())
        self.whole = Button("Show full descriptions", kind="link")
        self.parameters = ParameterGrid()
        self.observed = ObservationPart()
        self.advice = advice
        self.setMinimumWidth(width("pair_panel") - 38)
        self._lay_out()
        self.close_button.clicked.connect(self.closed)
        self.whole.clicked.connect(self.full_texts_wanted)
        self.observed.wanted.connect(self.runs_wanted)

    def _lay_out(self) -> None:
        head = row_layout(margins=(EDGE, 10, 10, 10), spacing=None)
        head.addWidget(self.heading, 1)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        column = column_layout(self, head, Rule())
        self._pane = ScrollPane(self._body(), "Pair of tools")
        column.addWidget(self._pane, 1)

    def _body(self) -> QWidget:
        body = QWidget()
        column = column_layout(body, _padded(self.lead, self.scores, self.overlap), Rule(), self._texts())
        column.addWidget(self.whole, 0, Qt.AlignmentFlag.AlignLeft)
        for part in (self.parameters, self.observed, self.advice):
            column.addWidget(Rule())
            column.addWidget(part)
        column.addStretch(1)
        return body

    def _texts(self) -> QHBoxLayout:
        row = row_layout()
        row.addWidget(self.sides[0], 1)
        row.addWidget(Rule(upright=True))
        row.addWidget(self.sides[1], 1)
        return row

    def show_pair(self, detail: PairDetail, threshold: float) -> None:
        """Show another pair, or the same one again; expanded descriptions stay expanded."""
        told = (self.detail.a, self.detail.b) if self.detail else None
        self.detail = detail
        a, b = detail.names
        self.heading.set_spans([Span(a, mono=True), Span(" and ", Role.DIM), Span(b, mono=True)])
        self.lead.show_score(detail.lead, threshold)
        self.scores.show_scores(detail.scores)
        self.overlap.set_text(f"Overlap {detail.overlap}" if detail.overlap else "")
        self.overlap.setVisible(bool(detail.overlap))
        if told != (detail.a, detail.b):
            self._show_texts((detail.a, detail.b))
        self.parameters.show_parameters(detail.parameters, detail.names, detail.more_parameters)
        self.observed.show_observed(detail.observed)

    def show_links(self, leads: Sequence[Sequence[Link]]) -> None:
        """Show links from each tool to other screens."""
        for side, mine in zip(self.sides, leads, strict=True):
            *others, change = link_actions(mine, self.led.emit)
            side.links.set_links(others)
            side.change.set_links([change])

    def show_whole(self, texts: Sequence[str]) -> None:
        """Show all of both descriptions."""
        if self.detail is not None:
            words = self.detail.shared_words
            sides = (self.detail.a, self.detail.b)
            self._show_texts([whole(side, text, words) for side, text in zip(sides, texts, strict=True)])

    def show_advice(self) -> None:
        """Scroll to what to write instead, and put the keyboard there."""
        self._pane.verticalScrollBar().setValue(self.advice.y())
        self.advice.copy.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_threshold(self, threshold: float) -> None:
        """Move the tick of the first score."""
        self.lead.bar.set_tick(threshold)

    def _show_texts(self, described: Sequence[ToolDescription]) -> None:
        for side, one in zip(self.sides, described, strict=True):
            side.show_described(one)
        self.whole.setVisible(any(one.cut for one in described))


class ToolSidePart(QWidget):
    """One tool's name, server and description, with the words that the other has too."""

    def __init__(self) -> None:
        super().__init__()
        self.name = FlowText(mono=True, size=Size.SMALL)
        self.server = FlowText(size=Size.SMALL, role=Role.DIM)
        self.text = FlowText()
        self.links = Links()
        self.change = Links()  # in a row of its own: beside another pane there is room for two links
        column = column_layout(
            self, self.name, self.server, self.links, self.change, self.text, margins=(EDGE, 10, 12, 10), spacing=2
        )
        column.addStretch(1)

    def show_described(self, one: ToolDescription) -> None:
        """Show another."""
        self.name.set_text(one.name)
        self.server.set_text(f"on {one.server}" if one.server else "")
        self.server.setVisible(bool(one.server))
        if one.text:
            more = [Span(f"… {count(one.cut, 'more character')}", Role.DIM)] if one.cut else []
            self.text.set_spans([*marked(one.text, one.marks, Role.MARK_SHARED), *more])
        else:
            self.text.set_text("No description", Role.DIM)


class ParameterGrid(QWidget):
    """Parameters in both, and below them those of only one, each on the side of its tool."""

    def __init__(self) -> None:
        super().__init__()
        self.more = Label(size=Size.SMALL, role=Role.DIM)
        self._both, self._sides = QVBoxLayout(), (QVBoxLayout(), QVBoxLayout())
        grid = QGridLayout(self)
        grid.setContentsMargins(EDGE, 10, EDGE, 10)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.addLayout(self._both, 0, 0, 1, 2)
        for place, column in enumerate(self._sides):
            grid.addLayout(column, 1, place, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(place, 1)
        for column in (self._both, *self._sides):
            column.setSpacing(4)
        grid.addWidget(self.more, 2, 0, 1, 2)

    def show_parameters(self, parameters: Sequence[SharedParameter], names: tuple[str, str], more: int) -> None:
        """Show these."""
        for column in (self._both, *self._sides):
            clear_layout(column)
        longest = max((len(one.name) for one in parameters if one.in_both), default=0)
        for one in parameters:
            side = self._both if one.in_both else self._sides[0 if one.type_a is not None else 1]
            side.addWidget(_parameter(one, names, longest))
        said = "Neither has parameters" if not parameters else f"and {more:,} more" if more else ""
        self.more.setText(said)
        self.more.setVisible(bool(said))


def _parameter(one: SharedParameter, names: tuple[str, str], longest: int) -> FlowText:
    """Return a line with a parameter's name and the tools that have it."""
    line = FlowText(size=Size.SMALL)
    if one.in_both:
        word = "in both" if one.same_type else f"in both, {one.type_a or 'any'} and {one.type_b or 'any'}"
        room = Span(" " * min(MAX_ALIGNED, longest - len(one.name)), mono=True)
        line.set_spans([Span(one.name, mono=True, back=Role.MARK_SHARED), room, Span(f"   {word}", Role.DIM)])
    else:
        only = names[0] if one.type_a is not None else names[1]
        line.set_spans([Span(one.name, mono=True), Span(f"   only {only}", Role.DIM)])
    return line


class ObservationPart(QWidget):
    """Observations in runs, with links to those runs."""

    wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.mark = MarkLabel(size=16)
        self.headline = FlowText(strong=True)
        self.sentence = FlowText(size=Size.SMALL, role=Role.DIM)
        self.links = column_layout()
        words = column_layout(None, self.headline, self.sentence, self.links, spacing=2)
        row = row_layout(self, margins=(EDGE, 10, EDGE, 10), spacing=10)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)

    def show_observed(self, observed: ObservedRuns) -> None:
        """Show another."""
        self.mark.set_mark(*MARKS[observed.confused])
        self.headline.set_text(observed.headline)
        self.sentence.set_text(observed.sentence)
        clear_layout(self.links)
        for link in observed.links:
            made = Button(link.text, kind="link")
            made.clicked.connect(lambda _=False, one=link: self.wanted.emit(one))
            self.links.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)


def _padded(*parts: QWidget) -> QWidget:
    box = QWidget()
    column = column_layout(box, margins=(EDGE, 12, EDGE, 12), spacing=12)
    for part in parts:
        column.addWidget(part)
    column.setAlignment(Qt.AlignmentFlag.AlignTop)
    return box
