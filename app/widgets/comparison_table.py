"""A small table that sets two values side by side: a mark, a name, both values, and a note on a line of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.theme import Role, Size, sized, theme
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, show_menu
from app.widgets.marks import Mark, mark_pixmap
from app.widgets.safe_text import one_line, plain, tip, visible
from app.widgets.spans import LinePainter

HEAD = 32
LINE = 20
NOTE = 16
EDGE = 16
INDENT = 40
MARK = 16
STARTS = (0.0, 0.36, 0.68)
WRAP: Final = Qt.TextFlag.TextWordWrap.value | Qt.AlignmentFlag.AlignTop.value


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonRow:
    """One row; `mark` None draws a short line, `word` is how the mark is said."""

    mark: Mark | None
    word: str
    name: str
    left: str
    right: str
    note: str = ""
    role: Role = Role.DIM


class ComparisonTable(QWidget):
    """Rows under three titles, hairlines between them; tooltips show whole values.

    It is as high as its rows. `mono` is for those that name code.
    """

    SPOKEN_AS = Spoken.StaticText

    def __init__(self, titles: tuple[str, str, str], parent: QWidget | None = None, *, mono: bool = True) -> None:
        super().__init__(parent)
        self._mono = mono
        self._titles = titles
        self._rows: tuple[ComparisonRow, ...] = ()
        self._tops: list[int] = []
        self._line = LinePainter()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(sized(HEAD))
        theme().changed.connect(self.update)

    def set_rows(self, rows: Sequence[ComparisonRow]) -> None:
        """Show these rows."""
        self._rows = tuple(rows)
        self.setAccessibleName(visible("; ".join(self.spoken(row) for row in self._rows)))
        self._settle()
        self.update()

    def rows(self) -> tuple[ComparisonRow, ...]:
        """The rows shown."""
        return self._rows

    def spoken(self, row: ComparisonRow) -> str:
        """A row as one sentence."""
        values = (
            f"{title.lower()} {value}" for title, value in zip(self._titles[1:], (row.left, row.right), strict=True)
        )
        return ", ".join(part for part in (row.word, row.name, *values, row.note) if part)

    def sizeHint(self) -> QSize:
        return QSize(240, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._settle()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            QToolTip.showText(event.globalPos(), tip(self._value_at(event.pos().x(), event.pos().y())), self)
            return True
        return super().event(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        show_menu([Action(text="Copy table", do=self._copy, icon="copy")], event.globalPos(), self)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._paint_head(painter)
        for row, top in zip(self._rows, self._tops, strict=True):
            self._paint_row(painter, row, top)

    def _copy(self) -> None:
        lines = ["\t".join((*self._titles, ""))]
        lines += ["\t".join((row.name, row.left, row.right, row.note)) for row in self._rows]
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _settle(self) -> None:
        self._tops = []
        top = sized(HEAD)
        for row in self._rows:
            self._tops.append(top)
            top += 4 + sized(LINE) + self._note_height(row) + 4
        self.setFixedHeight(max(sized(HEAD), top))

    def _note_height(self, row: ComparisonRow) -> int:
        if not row.note:
            return 0
        room = QRect(0, 0, max(40, self.width() - sized(INDENT) - EDGE), 10_000)
        box = QFontMetrics(theme().font(Size.SMALL)).boundingRect(room, WRAP, plain(row.note, 600))
        return max(sized(NOTE), box.height())

    def _column(self, number: int, top: int) -> QRectF:
        span = self.width() - EDGE - sized(INDENT)
        left = sized(INDENT) + span * STARTS[number]
        end = sized(INDENT) + span * STARTS[number + 1] - 8 if number < 2 else self.width() - EDGE
        return QRectF(left, top, end - left, sized(LINE))

    def _paint_head(self, painter: QPainter) -> None:
        font = theme().font(Size.SMALL, label=True)
        for number, title in enumerate(self._titles):
            place = self._column(number, 6)
            place = place.adjusted(EDGE - sized(INDENT), 0, 0, 0) if number == 0 else place
            self._line.text(painter, place, title, font, Role.DIM)
        painter.fillRect(0, sized(HEAD) - 1, self.width(), 1, theme().colour(Role.LINE))

    def _paint_row(self, painter: QPainter, row: ComparisonRow, top: int) -> None:
        if row.mark is not None:
            painter.drawPixmap(EDGE, top + 6, mark_pixmap(row.mark, sized(MARK), self.devicePixelRatioF()))
        else:
            painter.fillRect(EDGE + 3, top + 5 + sized(8), sized(10), 1, theme().colour(Role.CONTROL))
        font = theme().font(Size.BODY, mono=self._mono)
        for number, text in enumerate((row.name, row.left, row.right)):
            self._line.text(painter, self._column(number, top + 4), one_line(text), font, Role.TEXT)
        bottom = top + 8 + sized(LINE) + self._note_height(row)
        self._paint_note(painter, row, top + 4 + sized(LINE), bottom)
        if row is not self._rows[-1]:
            painter.fillRect(0, bottom - 1, self.width(), 1, theme().colour(Role.LINE))

    def _paint_note(self, painter: QPainter, row: ComparisonRow, top: int, bottom: int) -> None:
        if row.note:
            painter.setFont(theme().font(Size.SMALL))
            painter.setPen(theme().colour(row.role))
            room = QRect(sized(INDENT), top, self.width() - sized(INDENT) - EDGE, bottom - top)
            painter.drawText(room, WRAP, plain(row.note, 600))

    def _value_at(self, x: int, y: int) -> str:
        found = next((row for row, top in zip(self._rows, self._tops, strict=True) if top <= y < top + sized(28)), None)
        if found is None:
            return ""
        values = (found.name, found.left, found.right)
        return next((value for n, value in enumerate(values) if self._column(n, 0).right() >= x), "")
