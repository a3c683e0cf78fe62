"""Cards with the findings of one tool (fault, place and fix), and findings that the user accepted, with the reason."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.screens.quality.labels import SEVERITIES, QualityLevel, danger, lost, ranked
from app.text.formatting import count
from app.text.text_diff import Stretch
from app.theme import Role, Size, radius, theme
from app.widgets import (
    Action,
    Button,
    Dialog,
    Field,
    FlowText,
    Label,
    LineEdit,
    Mark,
    MarkLabel,
    Rule,
    Section,
    Span,
    Spoken,
    column_layout,
    plain,
    row_layout,
)
from mcp_tef import LintFinding, LintRule, Severity, ToolQuality

_SHOWN: Final = re.compile(r"(⟨U\+[0-9A-F]{4,6}⟩)")
_ESCAPED: Final = re.compile(r"(⟨U\+[0-9A-F]{4,6}⟩|\\u[0-9a-f]{4}|\\U[0-9a-f]{8})")
_NAMES: Final = re.compile(r"`([^`\n]+)`")


def revealed_spans(text: str, role: Role = Role.TEXT, *, mono: bool = False, escapes: bool = False) -> tuple[Span, ...]:
    """Return plain text in which hidden characters, and on request `escapes`, are shown as numbers on a tint."""
    pieces = (_ESCAPED if escapes else _SHOWN).split(plain(text))
    return tuple(
        Span(piece, Role.BAD, mono=True, back=Role.BAD_TINT) if number % 2 else Span(piece, role, mono=mono)
        for number, piece in enumerate(pieces)
        if piece
    )


def sentence(text: str, role: Role = Role.TEXT) -> tuple[Span, ...]:
    """Return a sentence of a finding, with names in back quotes set in mono."""
    pieces = _NAMES.split(text)
    return tuple(
        span
        for number, piece in enumerate(pieces)
        for span in revealed_spans(piece, role, mono=bool(number % 2))
        if piece
    )


def changed(stretches: Iterable[Stretch], back: Role) -> tuple[Span, ...]:
    """Return a text with its changes on a tint and its hidden characters shown."""
    found: list[Span] = []
    for stretch in stretches:
        for span in revealed_spans(stretch.text):
            tinted = stretch.changed and span.back is None
            found.append(Span(span.text, span.role, mono=span.mono, back=back if tinted else span.back))
    return tuple(found)


LEVEL_MARKS: Final[Mapping[QualityLevel, Mark]] = {
    QualityLevel.ERROR: Mark.CROSS,
    QualityLevel.WARNING: Mark.BANG,
    QualityLevel.NOTE: Mark.DASH,
    QualityLevel.FINE: Mark.CHECK,
}


def severity_mark(severity: Severity) -> Mark:
    """Return the mark of a severity."""
    return LEVEL_MARKS[QualityLevel(severity.value)]


MOST_PLACES: Final = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingPlace:
    """One place that a note is about: what is wrong there, the text itself, and what to do where that differs."""

    sentence: str
    excerpt: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroup:
    """Findings of one rule in a tool. `more` names places that are not shown; `fix` is advice for all of them."""

    rule: str
    severity: Severity
    word: str
    title: str
    where: str
    cost: int
    places: tuple[FindingPlace, ...]
    more: str
    fix: str
    why: str
    unsafe: bool


def notes(quality: ToolQuality) -> tuple[FindingGroup, ...]:
    """Return the findings of a tool by rule, most severe first."""
    groups: dict[str, list[LintFinding]] = {}
    for finding in ranked(quality.findings):
        groups.setdefault(finding.rule.id, []).append(finding)
    return tuple(_finding_group(group) for group in groups.values())


def _finding_group(group: list[LintFinding]) -> FindingGroup:
    rule, aimed = group[0].rule, danger(group[0].rule)
    word, left = SEVERITIES[rule.severity], len(group) - MOST_PLACES
    fix = group[0].fix if len({one.fix for one in group}) == 1 else ""
    return FindingGroup(
        rule=rule.id,
        severity=rule.severity,
        word=", ".join(filter(None, (word, aimed))),
        title=rule.title,
        where=group[0].place if len(group) == 1 else f"in {count(len(group), 'place')}",
        cost=sum(one.penalty for one in group),
        places=tuple(
            FindingPlace(sentence=_sentence(one, group), excerpt=one.excerpt, fix="" if fix else one.fix)
            for one in group[:MOST_PLACES]
        ),
        more=f"And {count(left, 'more place')} like this." if left > 0 else "",
        fix=fix,
        why=rule.why,
        unsafe=bool(aimed),
    )


def _sentence(one: LintFinding, group: list[LintFinding]) -> str:
    """Return the sentence of a finding, with its place if other findings have the same sentence."""
    alike = sum(other.sentence == one.sentence for other in group) > 1
    return f"{one.place}: {one.sentence}" if alike else one.sentence


EDGE = 16
EDGE_BAR = 3


class FindingExcerpt(QWidget):
    """The text that a note is about, on a tinted background, with hidden characters made visible."""

    def __init__(self) -> None:
        super().__init__()
        self.text = FlowText(size=Size.SMALL, mono=True)
        column_layout(self, self.text, margins=(10, 6, 10, 6), spacing=None)

    def show_text(self, text: str) -> None:
        """Show another excerpt; an empty one hides."""
        self.text.set_spans(revealed_spans(text, mono=True, escapes=True))
        self.setVisible(bool(text))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour(Role.SUNKEN if not theme().dark else Role.RAISED))
        painter.drawRoundedRect(QRectF(self.rect()), radius("field_and_button"), radius("field_and_button"))


class FindingPlaceView(QWidget):
    """One place of a finding: sentence, excerpt and advice."""

    def __init__(self) -> None:
        super().__init__()
        self.sentence = FlowText()
        self.excerpt = FindingExcerpt()
        self.fix = FlowText()
        column_layout(self, self.sentence, self.excerpt, self.fix, spacing=4)

    def show_place(self, place: FindingPlace) -> None:
        """Show another place."""
        self.sentence.set_spans(sentence(place.sentence))
        self.excerpt.show_text(place.excerpt)
        show_fix(self.fix, place.fix)


class FindingCard(QWidget):
    """A whole note; one about text that aims at the model has a bar at its edge.

    `ignore_wanted` and `fix_wanted` name its rule.
    """

    SPOKEN_AS = Spoken.Grouping
    ignore_wanted = Signal(str)
    fix_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._unsafe = False
        self._rule = ""
        self.ignore = Button("Ignore…")
        self.ignore.clicked.connect(lambda: self.ignore_wanted.emit(self._rule))
        self.repair = Button("Fix in Workshop", icon="wrench")
        self.repair.clicked.connect(lambda: self.fix_wanted.emit(self._rule))
        self.mark = MarkLabel(size=16)
        self.title = FlowText(strong=True)
        self.cost = Label(strong=True, tabular=True)
        self.word = FlowText(size=Size.SMALL)
        self.more = FlowText(size=Size.SMALL, role=Role.DIM)
        self.fix = FlowText()
        self.why = FlowText(size=Size.SMALL, role=Role.DIM)
        self.places: list[FindingPlaceView] = []
        self._middle = column_layout(spacing=4)
        self._lay_out()

    def _lay_out(self) -> None:
        head = row_layout(spacing=12)
        head.addWidget(self.title, 1)
        head.addWidget(self.cost, 0, Qt.AlignmentFlag.AlignTop)
        words = column_layout(None, head, self.word, self._middle, self.more, self.fix, self.why, spacing=4)
        below = row_layout(None, self.repair, self.ignore, spacing=None)
        below.addStretch(1)
        words.addLayout(below)
        row = row_layout(margins=(EDGE, 12, EDGE, 12), spacing=12)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        column_layout(self, Rule(), row)

    def show_note(self, note: FindingGroup) -> None:
        """Show another note."""
        self._unsafe, self._rule = note.unsafe, note.rule
        self.ignore.setAccessibleName(f"Ignore: {note.title}")
        self.repair.setAccessibleName(f"Fix in Workshop: {note.title}")
        self.mark.set_mark(severity_mark(note.severity), note.word)
        self.title.set_text(note.title)
        self.cost.setText(lost(note.cost))
        self.cost.setAccessibleName(f"−{count(note.cost, 'point')}" if note.cost else "")
        where = f" · {note.where}" if note.where else ""
        self.word.set_spans(
            [Span(note.word, Role.BAD if note.unsafe else Role.DIM, strong=True), *revealed_spans(where, Role.DIM)]
        )
        self._show_places(note)
        self.more.set_text(note.more)
        self.more.setVisible(bool(note.more))
        show_fix(self.fix, note.fix)
        self.why.set_spans([Span("Why it matters: ", Role.DIM, strong=True), *sentence(note.why, Role.DIM)])
        self.setAccessibleName(f"{note.word}: {note.title}")
        self.update()

    def _show_places(self, note: FindingGroup) -> None:
        while len(self.places) < len(note.places):
            self.places.append(FindingPlaceView())
            self._middle.addWidget(self.places[-1])
        for number, part in enumerate(self.places):
            part.setVisible(number < len(note.places))
            if number < len(note.places):
                part.show_place(note.places[number])

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._unsafe:
            QPainter(self).fillRect(0, 1, EDGE_BAR, self.height() - 1, theme().colour(Role.BAD_FILL))


def show_fix(line: FlowText, fix: str) -> None:
    """Show advice, or nothing."""
    line.set_spans([Span("What to do: ", strong=True), *sentence(fix)])
    line.setVisible(bool(fix))


NOTE = "The findings are listed below the others and cost no points, until the tool's text changes."


class IgnoreDialog(Dialog):
    """Field for the reason for which the findings of a rule are accepted; `reason` holds it once accepted."""

    def __init__(self, tool: str, rule: str, parent: QWidget) -> None:
        super().__init__("Ignore findings", parent, width=420)
        self.reason = ""
        self.edit = LineEdit()
        self.field = Field("Reason", self.edit, note=NOTE)
        self.body.addWidget(FlowText(f"{rule}, in {tool}", role=Role.DIM))
        self.body.addWidget(self.field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Ignore", do=self._agree, kind="primary")])
        self.edit.setFocus()

    def _agree(self) -> None:
        self.reason = self.edit.text().strip()
        self.field.set_error("" if self.reason else "Say why it is accepted.")
        if self.reason:
            self.accept()


class IgnoredSection(QWidget):
    """Accepted findings of one tool by rule, each with its reason and day; `restore_wanted` names a rule."""

    restore_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.head = Section("Ignored findings")
        column_layout(self, Rule(), self.head)
        self._rows: list[QWidget] = []

    def show_quality(self, quality: ToolQuality) -> None:
        """Show those of another tool; the part hides where there is none."""
        for row in self._rows:
            row.hide()
            row.deleteLater()
        rules = {finding.rule: entry for finding, entry in quality.ignored}
        self._rows = [self._row(rule, f"{entry.reason} ({entry.date})") for rule, entry in rules.items()]
        for row in self._rows:
            self.head.add(row)
        self.setVisible(bool(rules))

    def _row(self, rule: LintRule, why: str) -> QWidget:
        row = QWidget()
        line = row_layout(row, spacing=None)
        line.addWidget(FlowText(f"{rule.title}: {why}", role=Role.DIM), 1)
        again = Button("Report again")
        again.setAccessibleName(f"Report again: {rule.title}")
        again.clicked.connect(partial(self.restore_wanted.emit, rule.id))
        line.addWidget(again, 0, Qt.AlignmentFlag.AlignTop)
        return row
