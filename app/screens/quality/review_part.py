"""What a model thinks of a definition: three grades with reasons, and its description beside the one that is there."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.screens.quality.finding_card import changed, revealed_spans
from app.text.formatting import money
from app.text.text_diff import difference
from app.theme import Role, Size, sized
from app.widgets import Button, FlowText, Label, Notice, Rule, Section, Spoken
from mcp_tef import GradedQuality, ModelReview, ToolQuality

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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.head.column.setSpacing(6)
        self.head.add(self.invite)
        for grade in self.grades:
            self.head.add(grade)
        self.head.add(self.kept)
        self.head.column.addWidget(self.ask, 0, Qt.AlignmentFlag.AlignLeft)
        for part in (Rule(), self.failure, self.head, self.texts):
            column.addWidget(part)

    def show_quality(self, quality: ToolQuality) -> None:
        """Show what is known of another tool."""
        review, failure = quality.review, quality.failure
        title = f"Review by {review.model}" if review else "Model review"
        self.head.set_title(title, _price(review))
        self.failure.show_message(failure.message if failure else "", failure.hint if failure else "")
        self.invite.setVisible(review is None and failure is None)
        self.ask.setText("Ask again…" if review or failure else "Ask a model about this tool…")
        self._show_grades(review)
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
        sides = QHBoxLayout()
        sides.setSpacing(0)
        sides.addWidget(_side("Now", self.before), 1)
        sides.addWidget(Rule(upright=True))
        sides.addWidget(_side("Suggested, not applied", self.after), 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(EDGE, 8, EDGE, 12)
        foot.addWidget(self.copy)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Rule())
        column.addLayout(sides)
        column.addLayout(foot)

    def show_texts(self, before: str, after: str) -> None:
        """Set two texts side by side."""
        old, new = difference(before, after)
        self.before.set_spans(changed(old, Role.MARK_DIFF) or revealed_spans("No description", Role.DIM))
        self.after.set_spans(changed(new, Role.GOOD_TINT))


def _side(caption: str, text: FlowText) -> QWidget:
    side = QWidget()
    side.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    column = QVBoxLayout(side)
    column.setContentsMargins(EDGE, 8, EDGE - 4, 8)
    column.setSpacing(2)
    column.addWidget(Label(caption, size=Size.SMALL, role=Role.DIM, label=True))
    column.addWidget(text)
    column.addStretch(1)
    return side
