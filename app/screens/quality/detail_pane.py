"""One tool in full: score, findings, token count, and the review by a model."""

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QStackedLayout, QWidget

from app.screens.quality.finding_card import FindingCard, FindingGroup, IgnoredSection, changed, notes, revealed_spans
from app.screens.quality.labels import MAX_SCORE, SEVERITIES, TokenBreakdown, score_sentence, warning, weight
from app.text.formatting import money
from app.text.text_diff import difference
from app.theme import Role, Size, sized
from app.widgets import (
    Button,
    FlowText,
    Label,
    LineText,
    Links,
    Notice,
    Rule,
    ScrollPane,
    Section,
    Segment,
    Spoken,
    StackedBar,
    column_layout,
    row_layout,
)
from mcp_tef import GradedQuality, ModelReview, QualityReport, Severity, ToolQuality

EDGE = 16
NOT_ASKED = (
    "No review yet. A model can grade clarity, completeness and conciseness, "
    "and suggest a description to compare with this one."
)


class ReviewPart(QWidget):
    """`wanted` asks for a model's opinion of this tool, `copied` says that its text is in the clipboard."""

    wanted = Signal()
    copied = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.head = Section()
        self.invite = FlowText(NOT_ASKED, role=Role.DIM)
        self.failure = Notice("bad")
        self.ask = Button("Ask a model about this tool…")
        self.grades = [_Grade(name) for name in ("Clarity", "Completeness", "Conciseness")]
        self.kept = FlowText("The model suggests no change.", role=Role.DIM)
        self.texts = BeforeAfter()
        self._suggested = ""
        self.ask.clicked.connect(self.wanted)
        self.texts.copy.clicked.connect(lambda: self.copied.emit(self._suggested))
        self._lay_out()

    def _lay_out(self) -> None:
        column = column_layout(self)
        self.head.column.setSpacing(6)
        self.head.add(self.invite)
        for grade in self.grades:
            self.head.add(grade)
        self.head.add(self.kept)
        self.head.column.addWidget(self.ask, 0, Qt.AlignmentFlag.AlignLeft)
        for part in (Rule(), self.failure, self.head, self.texts):
            column.addWidget(part)

    def show_quality(self, quality: ToolQuality) -> None:
        """Show the review of another tool, if there is one."""
        review, failure = quality.review, quality.failure
        self.failure.show_message(*((failure.message, failure.hint) if failure else ("", "")))
        self.invite.setVisible(review is None and failure is None)
        self.ask.setText("Ask again…" if review or failure else "Ask a model about this tool…")
        self.head.set_title(f"Review by {review.model}" if review else "Model review", _price(review))
        self._show_grades(review)
        self._show_suggestion(quality, review)

    def _show_suggestion(self, quality: ToolQuality, review: ModelReview | None) -> None:
        self._suggested = (review.suggested if review else None) or ""
        self.kept.setVisible(review is not None and not self._suggested)
        self.texts.setVisible(bool(self._suggested))
        if self._suggested:
            self.texts.show_texts(quality.tool.tool.description, self._suggested)

    def _show_grades(self, review: ModelReview | None) -> None:
        given = (review.clarity, review.completeness, review.conciseness) if review else ()
        for grade in self.grades:
            grade.setVisible(review is not None)
        for grade, said in zip(self.grades, given, strict=False):
            grade.show_grade(said)


def _price(review: ModelReview | None) -> str:
    return money(review.cost_usd) if review and review.cost_usd is not None else ""


class _Grade(QWidget):
    """A grade from 1 to 10 with the model's reason."""

    SPOKEN_AS = Spoken.StaticText

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name
        self.number = Label(strong=True, tabular=True)
        self.reason = FlowText(role=Role.DIM)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(0)
        caption = Label(name)
        caption.setMinimumWidth(sized(96))
        grid.addWidget(caption, 0, 0)
        grid.addWidget(self.number, 0, 1)
        grid.addWidget(self.reason, 1, 0, 1, 2)
        grid.setColumnStretch(1, 1)

    def show_grade(self, said: GradedQuality) -> None:
        self.number.setText(f"{said.score} of 10")
        self.reason.set_spans(revealed_spans(said.explanation, Role.DIM))
        self.setAccessibleName(f"{self._name}: {said.score} of 10")


class BeforeAfter(QWidget):
    """The description that is there beside the suggested one, what differs on a tint."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = FlowText(size=Size.SMALL), FlowText(size=Size.SMALL)
        self.copy = Button("Copy suggestion", icon="copy")
        sides = row_layout()
        sides.addWidget(_side("Now", self.before), 1)
        sides.addWidget(Rule(upright=True))
        sides.addWidget(_side("Suggested, not applied", self.after), 1)
        foot = row_layout(None, self.copy, margins=(EDGE, 8, EDGE, 12), spacing=None)
        foot.addStretch(1)
        column_layout(self, Rule(), sides, foot)

    def show_texts(self, before: str, after: str) -> None:
        """Set two texts side by side."""
        old, new = difference(before, after)
        self.before.set_spans(changed(old, Role.MARK_DIFF) or revealed_spans("No description", Role.DIM))
        self.after.set_spans(changed(new, Role.GOOD_TINT))


def _side(caption: str, text: FlowText) -> QWidget:
    side = QWidget()
    side.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    column = column_layout(
        side,
        Label(caption, size=Size.SMALL, role=Role.DIM, label=True),
        text,
        margins=(EDGE, 8, EDGE - 4, 8),
        spacing=2,
    )
    column.addStretch(1)
    return side


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
        column_layout(
            self,
            self._first_line(),
            self.description,
            self.bar,
            self.sentence,
            self.links,
            margins=(EDGE, 12, EDGE, 12),
            spacing=6,
        )

    def _first_line(self) -> QHBoxLayout:
        names = column_layout(None, self.name, self.server)
        line = row_layout(spacing=8)
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
    """Shows one tool at a time. `closed` asks to go back to the list, `ignore_wanted` and `fix_wanted` name a rule."""

    closed = Signal()
    ignore_wanted = Signal(str)
    fix_wanted = Signal(str)

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
        self.ignored = IgnoredSection()
        self.weight = TokenCountSection()
        self.review = ReviewPart()
        self._middle = column_layout()
        self._inside = self._column()
        self.pane = ScrollPane(self._inside, "Tool")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(_nothing())
        self._stack.addWidget(self.pane)
        self.setFocusProxy(self.pane)

    def _column(self) -> QWidget:
        inside = QWidget()
        column = column_layout(
            inside, self.head, self.warning, self.fine, self._middle, self.ignored, self.review, _ruled(self.weight)
        )
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
                self.notes[-1].ignore_wanted.connect(self.ignore_wanted)
                self.notes[-1].fix_wanted.connect(self.fix_wanted)
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
            self.ignored.show_quality(self.quality)
        self._inside.setUpdatesEnabled(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)


def _fine() -> QWidget:
    holder = QWidget()
    column_layout(holder, FlowText(FINE, role=Role.DIM), margins=(EDGE, 0, EDGE, 16), spacing=None)
    return holder


def _ruled(widget: QWidget) -> QWidget:
    holder = QWidget()
    column_layout(holder, Rule(), widget)
    return holder


def _nothing() -> QWidget:
    pane = QWidget()
    column = column_layout(pane, FlowText(NOTHING, role=Role.DIM), margins=(EDGE, 20, EDGE, EDGE), spacing=None)
    column.addStretch(1)
    return pane
