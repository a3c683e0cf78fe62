"""One tool in full: its score and what made it, what it weighs, and what a model thinks."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.screens.quality.finding_card import FindingCard, FindingGroup, notes, revealed_spans
from app.screens.quality.labels import MAX_SCORE, SEVERITIES, TokenBreakdown, score_sentence, warning, weight
from app.screens.quality.review_part import ReviewPart
from app.theme import Role, Size
from app.widgets import (
    FlowText,
    Label,
    LineText,
    Links,
    Notice,
    Rule,
    ScrollPane,
    Section,
    Segment,
    StackedBar,
)
from mcp_tef import QualityReport, Severity, ToolQuality

EDGE = 16
AT_ONCE = 2
MOST_DESCRIPTION = 240
FINE = "No issues found. Rules cannot check whether a description is true, or whether another tool is similar."
NOTHING = "Select a tool to see its findings and how to fix them."
_LOSSES = {Severity.ERROR: Role.BAD_FILL, Severity.WARNING: Role.WARN_FILL, Severity.NOTE: Role.INFO_FILL}


class QualityHeader(QWidget):
    """Name, score, how it came about, and where else to look."""

    def __init__(self) -> None:
        super().__init__()
        self.name = FlowText(size=Size.LEAD, strong=True, mono=True)
        self.server = LineText(size=Size.SMALL, role=Role.DIM)
        self.description = FlowText(role=Role.DIM)
        self.score = Label(size=Size.FIGURE, strong=True, tabular=True)
        self.of = Label("of 100", size=Size.SMALL, role=Role.DIM)
        self.bar = StackedBar("Score")
        self.sentence = FlowText(size=Size.SMALL, role=Role.DIM)
        self.links = Links()
        column = QVBoxLayout(self)
        column.setContentsMargins(EDGE, 12, EDGE, 12)
        column.setSpacing(6)
        column.addLayout(self._first_line())
        for part in (self.description, self.bar, self.sentence):
            column.addWidget(part)
        column.addWidget(self.links)

    def _first_line(self) -> QHBoxLayout:
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(self.name)
        names.addWidget(self.server)
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addLayout(names, 1)
        line.addWidget(self.score, 0, Qt.AlignmentFlag.AlignTop)
        line.addWidget(self.of, 0, Qt.AlignmentFlag.AlignTop)
        self.of.setContentsMargins(0, 14, 0, 0)
        return line

    def show_quality(self, quality: ToolQuality) -> None:
        """Show another tool."""
        tool = quality.tool.tool
        self.name.set_text(tool.name)
        self.server.set_text(tool.server)
        self.description.set_spans(revealed_spans(shortened(tool.description), Role.DIM))
        self.description.setVisible(bool(tool.description.strip()))
        self.score.setText(str(quality.score))
        self.score.setAccessibleName(f"Score: {quality.score} of {MAX_SCORE}")
        self.sentence.set_text(score_sentence(quality))
        self.bar.set_segments(_segments(quality), max(MAX_SCORE, sum(one.penalty for one in quality.findings)))


def shortened(text: str) -> str:
    """Return the beginning of a description in one paragraph; the Servers screen shows all of it."""
    line = " ".join(text[: 4 * MOST_DESCRIPTION].split())
    return line if len(line) <= MOST_DESCRIPTION else f"{line[:MOST_DESCRIPTION].rstrip()}…"


def _segments(quality: ToolQuality) -> list[Segment]:
    """Return the score and the points lost by severity as segments of a bar."""
    kept = Segment(role=Role.GOOD_FILL, value=quality.score, name="kept")
    off = {one: sum(f.penalty for f in quality.findings if f.rule.severity is one) for one in _LOSSES}
    losses = [
        Segment(
            role=role,
            value=off[one],
            ticked=one is Severity.WARNING,
            gap=not number,
            name=f"lost by {SEVERITIES[one].lower()}s",
        )
        for number, (one, role) in enumerate(_LOSSES.items())
    ]
    return [kept, *losses]


class TokenCountSection(Section):
    """Tokens of a definition in each request, by its parts."""

    def __init__(self) -> None:
        super().__init__("Token count")
        self.sentence = FlowText()
        self.bar = StackedBar("Parts of the definition")
        self.parts = FlowText(size=Size.SMALL, role=Role.DIM)
        self.heavy = FlowText(size=Size.SMALL, role=Role.DIM)
        for part in (self.sentence, self.bar, self.parts, self.heavy):
            self.add(part)

    def show_tokens(self, found: TokenBreakdown, tokenizer: str) -> None:
        """Show another weight."""
        self.sentence.set_text(found.sentence)
        shades = (Role.ACCENT_FILL, Role.INFO_FILL, Role.CONTROL)
        segments = [
            Segment(role=role, value=part.share, name=part.name)
            for role, part in zip(shades, found.parts, strict=False)
        ]
        self.bar.set_segments(segments, 1.0)
        said = " · ".join(f"{part.name} {part.share * 100:.0f} %" for part in found.parts)
        self.parts.set_text(said)
        self.heavy.set_text(found.heavy)
        self.heavy.setVisible(bool(found.heavy))
        self.set_title("Token count", f"counted by {tokenizer}" if tokenizer else "")


class QualityDetailPane(QWidget):
    """Shows one tool at a time. `closed` asks to go back to the list."""

    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.quality: ToolQuality | None = None
        self._report: QualityReport | None = None
        self.head = QualityHeader()
        self._found: tuple[FindingGroup, ...] = ()
        self._shown = 0
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self._show_more)
        self.warning = Notice("bad")
        self.notes: list[FindingCard] = []
        self.fine = _fine()
        self.weight = TokenCountSection()
        self.review = ReviewPart()
        self._middle = QVBoxLayout()
        self._middle.setSpacing(0)
        self._inside = self._column()
        self.pane = ScrollPane(self._inside, "Tool")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(_nothing())
        self._stack.addWidget(self.pane)
        self.setFocusProxy(self.pane)

    def _column(self) -> QWidget:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self.head, self.warning, self.fine):
            column.addWidget(part)
        column.addLayout(self._middle)
        column.addWidget(self.review)
        column.addWidget(_ruled(self.weight))
        column.addStretch(1)
        return inside

    def show_quality(self, quality: ToolQuality | None, report: QualityReport | None) -> None:
        """Show another tool, or none."""
        other = quality is None or self.quality is None or quality.tool.id != self.quality.tool.id
        self.quality, self._report = quality, report
        self._more.stop()
        self._stack.setCurrentIndex(0 if quality is None or report is None else 1)
        if quality is None or report is None:
            return
        self._inside.setUpdatesEnabled(False)
        self.head.show_quality(quality)
        self.warning.show_message(warning(quality))
        self._show_notes(quality)
        if other:
            self.pane.verticalScrollBar().setValue(0)

    def _show_notes(self, quality: ToolQuality) -> None:
        self._found = notes(quality)
        for part in self.notes[len(self._found) :]:
            part.hide()
        self.fine.setVisible(not self._found)
        self._shown = 0
        self._more.start()

    def _show_more(self) -> None:
        """Show the next findings; a long list built at once would freeze the window."""
        for note in self._found[self._shown : self._shown + AT_ONCE]:
            if self._shown == len(self.notes):
                self.notes.append(FindingCard())
                self._middle.addWidget(self.notes[-1])
            self.notes[self._shown].show_note(note)
            self.notes[self._shown].show()
            self._shown += 1
        if self._shown < len(self._found):
            self._more.start()
        else:
            self._show_rest()

    def _show_rest(self) -> None:
        if self.quality is not None and self._report is not None:
            self.weight.show_tokens(weight(self.quality, self._report), self._report.tokenizer)
            self.review.show_quality(self.quality)
        self._inside.setUpdatesEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)


def _fine() -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(EDGE, 0, EDGE, 16)
    column.addWidget(FlowText(FINE, role=Role.DIM))
    return holder


def _ruled(widget: QWidget) -> QWidget:
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(Rule())
    column.addWidget(widget)
    return holder


def _nothing() -> QWidget:
    pane = QWidget()
    column = QVBoxLayout(pane)
    column.setContentsMargins(EDGE, 20, EDGE, EDGE)
    column.addWidget(FlowText(NOTHING, role=Role.DIM))
    column.addStretch(1)
    return pane
