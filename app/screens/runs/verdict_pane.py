"""The verdict tab of a run."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.core_link.links import Go, Link, link_actions
from app.screens.runs import labels
from app.screens.runs.call_comparison import ParameterRow
from app.screens.runs.cell_styles import DRAWN_MARKS, MARK_LABELS, role_of, spans
from app.screens.runs.run_details import EarlierVerdict
from app.screens.runs.verdict import CallSide, ComparedCalls, ConfidenceView, VerdictView
from app.text.glossary import explain
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    Button,
    FlowText,
    Label,
    LineText,
    Links,
    MarkLabel,
    Rule,
    ScaleMark,
    ScrollPane,
    column_layout,
    describe,
    row_layout,
)
from app.widgets.comparison_table import ComparisonRow, ComparisonTable

EDGE = 16


class VerdictPane(ScrollPane):
    """Pane for one `VerdictView`; `retry` runs failed runs again.

    `go` shows the target of a link.
    """

    def __init__(self, retry: Callable[[], object], go: Go, parent: QWidget | None = None) -> None:
        column = QWidget()
        super().__init__(column, "Verdict", parent)
        self._go = go
        self.head = _Head(retry, go)
        self.pairs: list[ComparedCallsView] = []
        self.confidence = ConfidenceSection()
        self.quote = _Quote()
        self.earlier_verdicts = EarlierVerdictsSection()
        self._column = column
        self._layout = _column(self._column)
        self._middle = column_layout()
        self._layout.addWidget(self.head)
        self._layout.addLayout(self._middle)
        self._layout.addWidget(self.confidence)
        self._layout.addWidget(self.quote)
        self._layout.addWidget(self.earlier_verdicts)
        self._layout.addStretch(1)

    def show_view(self, view: VerdictView) -> None:
        """Show another run."""
        self._column.setUpdatesEnabled(False)
        self.head.show_view(view)
        while len(self.pairs) < len(view.pairs):
            self.pairs.append(ComparedCallsView(self._go))
            self._middle.addWidget(self.pairs[-1])
        for number, part in enumerate(self.pairs):
            part.setVisible(number < len(view.pairs))
            if number < len(view.pairs):
                part.show_pair(view.pairs[number])
        self.confidence.show_view(view.confidence)
        self.quote.show_words(view.answer_title, view.answer_text)
        self.earlier_verdicts.show_views(view.earlier)
        self._column.setUpdatesEnabled(True)
        self.verticalScrollBar().setValue(0)


class _Head(QWidget):
    """The mark and the sentence, the query below it, and for failed runs what to do."""

    def __init__(self, retry: Callable[[], object], go: Go) -> None:
        super().__init__()
        self._go = go
        self.links = Links()
        self.mark = MarkLabel(size=20)
        self.sentence = FlowText(size=Size.LEAD)
        self.query = FlowText(size=Size.SMALL, role=Role.DIM)
        self.hint = FlowText()
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.again = FlowText(size=Size.SMALL, role=Role.DIM)
        self.retry = Button("", icon="arrow-clockwise")
        self._failed = False
        self.retry.clicked.connect(lambda: retry())
        box = row_layout(self, margins=(EDGE, 12, EDGE - 8, 12), spacing=12)
        box.addWidget(self.mark, alignment=Qt.AlignmentFlag.AlignTop)
        text = column_layout(None, self.sentence, self.query, self.note, self.again, self.hint, self.links, spacing=4)
        text.addWidget(self.retry, alignment=Qt.AlignmentFlag.AlignLeft)
        box.addLayout(text, 1)

    def show_view(self, view: VerdictView) -> None:
        self.mark.set_mark(DRAWN_MARKS[view.mark], MARK_LABELS[view.mark])
        self.sentence.set_spans(spans(view.headline))
        self.query.set_text(view.query)
        again = view.earlier[0].line if view.earlier else ""
        for part, text in ((self.note, view.note), (self.again, again), (self.hint, view.hint)):
            part.set_text(text)
            part.setVisible(bool(text))
        links = (view.case_link, view.change_link, view.health_link)
        self.links.set_links([action for link in links for action in _links(link, self._go)])
        self._failed = view.retry
        self.set_retry(self.retry.text())

    def set_retry(self, text: str) -> None:
        self.retry.setText(text)
        self.retry.setVisible(self._failed and bool(text))


class ComparedCallsView(QWidget):
    """One expected call beside one actual call, with their parameters below."""

    def __init__(self, go: Go) -> None:
        super().__init__()
        self._go = go
        self.links = Links()
        self.title = Label(size=Size.SMALL, role=Role.DIM, label=True)
        self.title.setContentsMargins(EDGE, 8, EDGE, 8)
        self.expected = CallSideView("Expected", go)
        self.selected = CallSideView("Selected", go)
        self.table = ComparisonTable(("Parameters", "Expected", "Given"))
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self._note_box = QWidget()
        note = _column(None, (EDGE, 4, EDGE, 4))
        note.addWidget(self.note)
        note_box = _column(self._note_box)
        note_box.addWidget(Rule())
        note_box.addLayout(note)
        sides = row_layout()
        sides.addWidget(self.expected, 1)
        sides.addWidget(Rule(upright=True))
        sides.addWidget(self.selected, 1)
        self._table_rule = Rule()
        self.links.setContentsMargins(EDGE, 0, EDGE, 8)
        layout = _column(self)
        layout.addWidget(Rule())
        layout.addWidget(self.title)
        layout.addLayout(sides)
        for part in (self.links, self._table_rule, self.table, self._note_box):
            layout.addWidget(part)

    def show_pair(self, pair: ComparedCalls) -> None:
        """Show another pair."""
        self.title.setText(pair.title)
        self.title.setVisible(bool(pair.title))
        self.expected.show_side(pair.expected)
        self.selected.show_side(pair.selected)
        self.links.set_links(link_actions(pair.links, self._go))
        rows = pair.parameters.rows
        self.table.set_rows([_compared(row) for row in rows])
        self.note.set_text(pair.parameters.note)
        for part in (self._table_rule, self.table):
            part.setVisible(bool(rows))
        self._note_box.setVisible(bool(pair.parameters.note))


def _links(lead: Link | None, go: Go) -> list[Action]:
    return link_actions([lead], go) if lead else []


def _compared(row: ParameterRow) -> ComparisonRow:
    bad = row.mark in (labels.VerdictMark.WRONG, labels.VerdictMark.NOTE)
    return ComparisonRow(
        mark=None if row.mark is labels.VerdictMark.NEUTRAL else DRAWN_MARKS[row.mark],
        word=MARK_LABELS[row.mark],
        name=row.name,
        left=row.expected,
        right=row.given,
        note=row.reason,
        role=role_of(row.mark) if bad else Role.DIM,
    )


class CallSideView(QWidget):
    """One half of a comparison."""

    def __init__(self, caption: str, go: Go) -> None:
        super().__init__()
        self._go = go
        self.links = Links()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.name = FlowText(size=Size.LEAD)
        self.where = LineText(size=Size.SMALL, role=Role.DIM)
        self.text = FlowText(size=Size.SMALL)
        layout = _column(self, (EDGE, 8, EDGE - 4, 12), 2)
        layout.addWidget(Label(caption, size=Size.SMALL, role=Role.DIM, label=True))
        for part in (self.name, self.where, self.links, self.text):
            layout.addWidget(part)
        layout.addStretch(1)

    def show_side(self, side: CallSide) -> None:
        """Show another tool."""
        self.name.set_spans(spans(side.name))
        self.where.set_text(side.where)
        self.links.set_links(_links(side.link, self._go))
        self.text.set_spans(spans(side.text))


class ConfidenceSection(QWidget):
    """The confidence as a figure, on its scale with the threshold, and in words."""

    def __init__(self) -> None:
        super().__init__()
        self.source = Label(size=Size.SMALL, role=Role.DIM)
        self.figure = Label(size=Size.TITLE, label=True, tabular=True)
        self.figure.setMinimumWidth(sized(56))
        self.scale = ScaleMark("Confidence", threshold=0.7)
        self.sentence = FlowText(size=Size.SMALL)
        title = Label("Confidence", size=Size.SMALL, role=Role.DIM, label=True)
        describe(explain("confidence"), title, self.figure, self.scale)
        layout = _column(self)
        layout.addWidget(Rule())
        inner = column_layout(None, _row(title, None, self.source), margins=(EDGE, 8, EDGE - 8, 12), spacing=2)
        scale = column_layout(None, self.scale)
        below = _column(None, (6, 0, 0, 0))
        below.addWidget(self.sentence)
        scale.addLayout(below)
        inner.addLayout(_row(self.figure, scale))
        layout.addLayout(inner)

    def show_view(self, view: ConfidenceView | None) -> None:
        """Show another confidence; None hides the part."""
        self.setVisible(view is not None)
        if view is None:
            return
        role = role_of(view.mark)
        self.source.setText(view.source)
        self.figure.setText(view.figure)
        self.scale.set_value(view.value, Role.ACCENT if role is Role.DIM else role)
        self.sentence.set_text(view.sentence, role)


class _Quote(QWidget):
    """The model's explanation of its choice."""

    def __init__(self) -> None:
        super().__init__()
        self.title = Label(size=Size.SMALL, role=Role.DIM, label=True)
        self.text = FlowText()
        layout = _column(self)
        layout.addWidget(Rule())
        inner = _column(None, (EDGE, 8, EDGE - 8, 16), 4)
        inner.addWidget(self.title)
        inner.addWidget(self.text)
        layout.addLayout(inner)

    def show_words(self, title: str, text: str) -> None:
        self.setVisible(bool(text))
        self.title.setText(title)
        self.text.set_text(text)


class EarlierVerdictsSection(QWidget):
    """Earlier verdicts, newest first; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[_PastEntry] = []
        self._inner = _column(None, (EDGE, 8, EDGE - 8, 16), 12)
        self._inner.addWidget(Label("Earlier verdicts", size=Size.SMALL, role=Role.DIM, label=True))
        layout = _column(self)
        layout.addWidget(Rule())
        layout.addLayout(self._inner)

    def show_views(self, views: Sequence[EarlierVerdict]) -> None:
        """Show the earlier verdicts of another run."""
        self.setVisible(bool(views))
        while len(self.entries) < len(views):
            self.entries.append(_PastEntry())
            self._inner.addWidget(self.entries[-1])
        for number, entry in enumerate(self.entries):
            entry.setVisible(number < len(views))
            if number < len(views):
                entry.show_view(views[number], first=number == 0)


class _PastEntry(QWidget):
    """One earlier verdict; the newest one is at the top of the pane already."""

    def __init__(self) -> None:
        super().__init__()
        self.mark = MarkLabel()
        self.sentence = FlowText()
        self.expected = FlowText(size=Size.SMALL, role=Role.DIM)
        self.line = FlowText(size=Size.SMALL, role=Role.DIM)
        text = _column(None, spacing=2)
        for part in (self.sentence, self.expected, self.line):
            text.addWidget(part)
        box = row_layout(self, spacing=8)
        box.addWidget(self.mark, alignment=Qt.AlignmentFlag.AlignTop)
        box.addLayout(text, 1)

    def show_view(self, view: EarlierVerdict, *, first: bool) -> None:
        self.mark.set_mark(DRAWN_MARKS[view.mark], MARK_LABELS[view.mark])
        self.sentence.set_spans(spans(view.sentence))
        self.expected.set_text(view.expected)
        self.line.set_text(view.line)
        self.line.setVisible(not first)


def _column(owner: QWidget | None, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int = 0) -> QVBoxLayout:
    layout = QVBoxLayout(owner) if owner else QVBoxLayout()
    layout.setContentsMargins(*margins)
    layout.setSpacing(spacing)
    return layout


def _row(*parts: QWidget | QVBoxLayout | None) -> QHBoxLayout:
    """Return a row of parts; None is a gap that grows."""
    layout = row_layout(spacing=16)
    for part in parts:
        if part is None:
            layout.addStretch(1)
        elif isinstance(part, QWidget):
            layout.addWidget(part)
        else:
            layout.addLayout(part, 1)
    return layout
