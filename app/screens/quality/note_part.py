"""One note on a tool: the mark and the word of its severity, what is wrong, why it matters, what to do."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.quality.notes import Note, Place
from app.screens.quality.rows import severity_mark
from app.screens.quality.spans import revealed, sentence
from app.screens.quality.words import lost
from app.text.formatting import count
from app.theme import Role, Size, radius, theme
from app.widgets import FlowText, Label, MarkLabel, Rule, Span, Spoken

EDGE = 16
EDGE_BAR = 3


class Excerpt(QWidget):
    """The text that a note is about, on a ground of its own, hidden characters shown."""

    def __init__(self) -> None:
        super().__init__()
        self.text = FlowText(size=Size.SMALL, mono=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(10, 6, 10, 6)
        column.addWidget(self.text)

    def show_text(self, text: str) -> None:
        """Show another excerpt; an empty one hides."""
        self.text.set_spans(revealed(text, mono=True, escapes=True))
        self.setVisible(bool(text))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour(Role.SUNKEN if not theme().dark else Role.RAISED))
        painter.drawRoundedRect(QRectF(self.rect()), radius("field_and_button"), radius("field_and_button"))


class PlacePart(QWidget):
    """What is wrong at one place, and what to do there."""

    def __init__(self) -> None:
        super().__init__()
        self.sentence = FlowText()
        self.excerpt = Excerpt()
        self.fix = FlowText()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.sentence, self.excerpt, self.fix):
            column.addWidget(part)

    def show_place(self, place: Place) -> None:
        """Show another place."""
        self.sentence.set_spans(sentence(place.sentence))
        self.excerpt.show_text(place.excerpt)
        show_fix(self.fix, place.fix)


class NotePart(QWidget):
    """A whole note; one about text that aims at the model has a bar at its edge."""

    SPOKEN_AS = Spoken.Grouping

    def __init__(self) -> None:
        super().__init__()
        self._unsafe = False
        self.mark = MarkLabel(size=16)
        self.title = FlowText(strong=True)
        self.cost = Label(strong=True, tabular=True)
        self.word = FlowText(size=Size.SMALL)
        self.more = FlowText(size=Size.SMALL, role=Role.DIM)
        self.fix = FlowText()
        self.why = FlowText(size=Size.SMALL, role=Role.DIM)
        self.places: list[PlacePart] = []
        self._middle = QVBoxLayout()
        self._middle.setSpacing(4)
        self._lay_out()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self.title, 1)
        head.addWidget(self.cost, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(4)
        words.addLayout(head)
        words.addWidget(self.word)
        words.addLayout(self._middle)
        for part in (self.more, self.fix, self.why):
            words.addWidget(part)
        row = QHBoxLayout()
        row.setContentsMargins(EDGE, 12, EDGE, 12)
        row.setSpacing(12)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Rule())
        column.addLayout(row)

    def show_note(self, note: Note) -> None:
        """Show another note."""
        self._unsafe = note.unsafe
        self.mark.set_mark(severity_mark(note.severity), note.word)
        self.title.set_text(note.title)
        self.cost.setText(lost(note.cost))
        self.cost.setAccessibleName(f"−{count(note.cost, 'point')}" if note.cost else "")
        where = f" · {note.where}" if note.where else ""
        self.word.set_spans(
            [Span(note.word, Role.BAD if note.unsafe else Role.DIM, strong=True), *revealed(where, Role.DIM)]
        )
        self._show_places(note)
        self.more.set_text(note.more)
        self.more.setVisible(bool(note.more))
        show_fix(self.fix, note.fix)
        self.why.set_spans([Span("Why it matters: ", Role.DIM, strong=True), *sentence(note.why, Role.DIM)])
        self.setAccessibleName(f"{note.word}: {note.title}")
        self.update()

    def _show_places(self, note: Note) -> None:
        while len(self.places) < len(note.places):
            self.places.append(PlacePart())
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
