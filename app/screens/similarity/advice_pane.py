"""Recommendations for a pair, one at a time, each with the text before and after."""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.text.formatting import money
from app.text.text_diff import Stretch, difference
from app.theme import Role, Size, sized, theme
from app.widgets import Button, FlowText, IconButton, Label, Notice, Span, column_layout, row_layout
from mcp_tef import IssueType, PairAdvice, Priority, Recommendation

EDGE = 16
CAPTION_WIDTH = 52
ISSUES: Mapping[IssueType, str] = {
    IssueType.SCOPE_CLARITY: "Scope",
    IssueType.EXAMPLE_DISTINCTIVENESS: "Examples",
    IssueType.PARAMETER_UNIQUENESS: "Parameters",
    IssueType.NAMING_CLARITY: "Names",
    IssueType.TERMINOLOGY_OVERLAP: "Wording",
}
PRIORITIES: Mapping[Priority, str] = {
    Priority.HIGH: "High priority",
    Priority.MEDIUM: "Medium priority",
    Priority.LOW: "Low priority",
}
DRAFT = "draft"
NO_DRAFT = "No draft for this pair. Ask a model, or write in each description when to use the other tool."


class AdviceFormat(StrEnum):
    """A form in which a change leaves the window."""

    PATCH = "patch"
    OVERRIDE = "override"


class AdvicePane(QWidget):
    """`copied` gives a text, `save_wanted` a form and a recommendation; `ask_wanted` asks for a model's texts.

    `try_wanted` gives a recommendation to try in the Workshop.
    """

    copied = Signal(str)
    save_wanted = Signal(object, object)
    try_wanted = Signal(object)
    ask_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._advice: PairAdvice | None = None
        self._place = 0
        self.caption = Label("Recommendations", size=Size.SMALL, role=Role.DIM, strong=True)
        self.place = Label(size=Size.SMALL, role=Role.DIM, tabular=True)
        self.previous_button = IconButton("caret-left", "Previous recommendation", size=14)
        self.next_button = IconButton("caret-right", "Next recommendation", size=14)
        self.notice = Notice("warn")
        self.words = FlowText(role=Role.DIM)
        self.action = FlowText(strong=True)
        self.kind = FlowText(size=Size.SMALL, role=Role.DIM)
        self.rationale = FlowText()
        self.before, self.after = RecommendationText("Before", Role.BAD), RecommendationText("After", Role.GOOD)
        self.author = FlowText(size=Size.SMALL, role=Role.DIM)
        self.scores = FlowText()
        self.copy = Button("Copy", icon="copy")
        self.trial = Button("Try this", icon="wrench")
        self.patch = Button("Save patch…")
        self.override = Button("Save override…")
        self.ask = Button("Ask a model…")
        self._lay_out()
        self._connect()
        self.show_message("")

    def _lay_out(self) -> None:
        column = column_layout(self, self._head(), self.notice, margins=(0, 0, 0, EDGE))
        inner = column_layout(
            None,
            self.words,
            self.action,
            self.kind,
            self.rationale,
            self.before,
            self.after,
            self.scores,
            self.author,
            _row(self.trial, self.copy, self.ask),
            _row(self.patch, self.override),
            margins=(EDGE, 0, EDGE, 0),
            spacing=8,
        )
        column.addLayout(inner)

    def _head(self) -> QHBoxLayout:
        head = row_layout(None, self.caption, margins=(EDGE, 8, 8, 4))
        head.addStretch(1)
        head.addWidget(self.previous_button)
        head.addWidget(self.place)
        head.addWidget(self.next_button)
        return head

    def _connect(self) -> None:
        self.previous_button.clicked.connect(lambda: self.turn(-1))
        self.next_button.clicked.connect(lambda: self.turn(1))
        self.ask.clicked.connect(self.ask_wanted)
        self.copy.clicked.connect(self._copy)
        self.trial.clicked.connect(lambda: self.try_wanted.emit(self.current()))
        self.patch.clicked.connect(lambda: self.save_wanted.emit(AdviceFormat.PATCH, self.current()))
        self.override.clicked.connect(lambda: self.save_wanted.emit(AdviceFormat.OVERRIDE, self.current()))

    # ------------------------------------------------------------------ what is shown

    def show_message(self, text: str) -> None:
        """Say this where there is no advice yet."""
        self._advice = None
        self.notice.clear()
        self.words.set_text(text)
        self._show()

    def show_advice(self, advice: PairAdvice) -> None:
        """Show the advice for a pair, where it was left if it is the same."""
        self._place = self._place if advice is self._advice else 0
        self._advice = advice
        self._show_failure(advice)
        self.words.set_text("" if advice.recommendations else NO_DRAFT)
        self._show()

    def current(self) -> Recommendation | None:
        """Return the shown recommendation."""
        found = self._advice.recommendations if self._advice else ()
        return found[self._place] if self._place < len(found) else None

    def turn(self, step: int) -> None:
        """Show another recommendation."""
        number = len(self._advice.recommendations) if self._advice else 0
        self._place = min(max(0, self._place + step), max(0, number - 1))
        self._show()

    def _show_failure(self, advice: PairAdvice) -> None:
        failure = advice.failure
        if failure is None:
            self.notice.clear()
            return
        said = f"{failure.message} The text below is a draft, not the model's."
        self.notice.show_message(said, failure.hint)

    def _show(self) -> None:
        shown = self.current()
        self.words.setVisible(bool(self.words.text()))
        for part in (
            self.action,
            self.kind,
            self.rationale,
            self.author,
            self.trial,
            self.copy,
            self.patch,
            self.override,
        ):
            part.setVisible(shown is not None)
        self._show_steps(len(self._advice.recommendations) if self._advice else 0)
        self.ask.setVisible(self._advice is not None)
        if shown is not None:
            self.action.set_spans(code_spans(shown.action, strong=True))
            self.kind.set_text(f"{ISSUES[shown.issue]} · {PRIORITIES[shown.priority]} · {shown.tool_name}")
            self.rationale.set_spans(code_spans(shown.rationale))
            self.author.set_text(self._author(shown))
            self.patch.setEnabled(bool(shown.patch))
            self.override.setEnabled(bool(shown.override))
        self._show_texts(shown)
        self._show_cases(shown)

    def _show_steps(self, number: int) -> None:
        for step in (self.previous_button, self.next_button):
            step.setVisible(number > 1)
        self.previous_button.setEnabled(self._place > 0)
        self.next_button.setEnabled(self._place + 1 < number)
        self.place.setText(f"{self._place + 1} of {number}" if number else "")

    def _show_texts(self, shown: Recommendation | None) -> None:
        self.before.setVisible(shown is not None)
        self.after.setVisible(shown is not None)
        if shown is not None:
            old, new = difference(shown.before, shown.revised)
            self.before.show_pieces(old, "No description")
            self.after.show_pieces(new, "No description")

    def _show_cases(self, shown: Recommendation | None) -> None:
        cases = shown.cases if shown else None
        self.scores.setVisible(cases is not None)
        if cases is not None:
            role = Role.GOOD if cases.gain > 0 else Role.WARN if cases.gain < 0 else Role.DIM
            self.scores.set_spans(
                [
                    Span(f"Built-in baseline: {cases.correct_before} → ", Role.DIM),
                    Span(str(cases.correct_after), role, strong=True),
                    Span(f" of {cases.cases} cases correct", Role.DIM),
                ]
            )

    def _author(self, shown: Recommendation) -> str:
        if shown.author == DRAFT:
            return "A draft made from the definitions, without a model."
        cost = self._advice.cost_usd if self._advice else None
        return f"Written by {shown.author}{f' for {money(cost)}' if cost is not None else ''}. Check it before use."

    def _copy(self) -> None:
        shown = self.current()
        if shown is not None:
            self.copied.emit(shown.revised)


class RecommendationText(QWidget):
    """A text beside its caption and a coloured line; what differs is marked."""

    def __init__(self, caption: str, role: Role) -> None:
        super().__init__()
        self._role = role
        self._tint = Role.BAD_TINT if role is Role.BAD else Role.GOOD_TINT
        self.text = FlowText()
        label = Label(caption, size=Size.SMALL, role=Role.DIM)
        label.setFixedWidth(sized(CAPTION_WIDTH))
        row = row_layout(self, spacing=16)
        row.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.text, 1)

    def show_pieces(self, pieces: Iterable[Stretch], nothing: str) -> None:
        """Show another text."""
        struck = self._role is Role.BAD
        spans = [
            Span(piece.text, self._role, back=self._tint, strike=struck) if piece.changed else Span(piece.text)
            for piece in pieces
            if piece.text
        ]
        self.text.set_spans(spans or [Span(nothing, Role.DIM)])

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(sized(CAPTION_WIDTH) + 4, 0, 1, self.height(), theme().colour(self._role))


def code_spans(text: str, *, strong: bool = False) -> list[Span]:
    """Return a sentence as spans, with names in back quotes set in mono."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return [Span(text, strong=strong)]
    return [Span(piece, strong=strong, mono=bool(place % 2)) for place, piece in enumerate(pieces) if piece]


def change_text(form: AdviceFormat, chosen: Recommendation) -> str:
    """Return a change as the text of a JSON file."""
    value = list(chosen.patch) if form is AdviceFormat.PATCH else chosen.override
    return json.dumps(value, indent=2, ensure_ascii=False, default=dict) + "\n"


def _row(*buttons: Button) -> QHBoxLayout:
    row = row_layout(spacing=8)
    for one in buttons:
        row.addWidget(one)
    row.addStretch(1)
    return row
