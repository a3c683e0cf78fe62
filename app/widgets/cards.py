"""Cards: a list of them with titles, notes and shares, and large buttons that explain a choice."""

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QSizePolicy, QStyledItemDelegate, QStyleOptionViewItem

from app.theme import Role, Size, radius, sized, theme
from app.theme.tokens import mark_size
from app.widgets.bars import BAR, Segment, paint_segments
from app.widgets.keyed_view import KeyedView
from app.widgets.marks import Mark, mark_pixmap
from app.widgets.rows import KeyedModel, paint_frame
from app.widgets.safe_text import visible
from app.widgets.spans import LinePainter, Span, joined, paint_box, paint_icon

MARK_ROOM = 24
SHARE_ROOM = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRow:
    """A card: `right` and `sub_right` are at the right edge; `light` is not bold; `bar` are shares of `bar_total`.

    With a bar, `sub_right` is beside it.
    """

    id: str
    title: str
    right: Span | None = None
    sub: tuple[Span, ...] = ()
    sub_right: Span | None = None
    mark: Mark | None = None
    mono: bool = False
    light: bool = False
    bar: tuple[Segment, ...] = ()
    bar_total: float | None = None
    tip: str = ""

    @property
    def spoken(self) -> str:
        """The whole card as one sentence."""
        parts = (self.title, joined(self.sub), *(span.text for span in (self.right, self.sub_right) if span))
        return ", ".join(part for part in parts if part)


class CardListModel(KeyedModel[CardRow]):
    """Cards in one column."""

    def text_of(self, row: CardRow, column: int) -> str:
        return visible(row.spoken)

    def explanation(self, row: CardRow, column: int) -> str:
        return row.tip


class CardDelegate(QStyledItemDelegate):
    """Paints a card of one, two or three lines, by its height."""

    def __init__(self, card_list: "CardList") -> None:
        super().__init__(card_list)
        self._list = card_list
        self._line = LinePainter()

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = self._list.rows.row(index.row())
        focused = self._list.focus_visible and index.row() == self._list.currentIndex().row()
        painter.save()
        paint_frame(painter, option, hovered=index.row() == self._list.hovered, focused=focused)
        inner = QRectF(option.rect.adjusted(16, 0, -16, -1))
        first, second = _lines(inner, two=bool(row.sub or row.sub_right))
        if row.mark is not None:
            side, wide = mark_size("table"), sized(MARK_ROOM)
            painter.drawPixmap(
                int(inner.left()) - 2, int(first.center().y() - side / 2 + 0.5), mark_pixmap(row.mark, side)
            )
            first, second = first.adjusted(wide, 0, 0, 0), second.adjusted(wide, 0, 0, 0)
        self._paint_first(painter, first, row)
        if inner.height() >= sized(70):
            self._line.spans(painter, second, row.sub, Size.SMALL)
            self._paint_bar(painter, inner, row)
        else:
            self._paint_second(painter, second, row)
        painter.restore()

    def _paint_first(self, painter: QPainter, rect: QRectF, row: CardRow) -> None:
        rect = self._paint_right(painter, rect, row.right, Size.BODY)
        font = theme().font(Size.BODY, strong=not (row.mono or row.light), mono=row.mono)
        self._line.text(painter, rect, row.title, font, Role.TEXT)

    def _paint_second(self, painter: QPainter, rect: QRectF, row: CardRow) -> None:
        rect = self._paint_right(painter, rect, row.sub_right, Size.SMALL)
        self._line.spans(painter, rect, row.sub, Size.SMALL)

    def _paint_bar(self, painter: QPainter, inner: QRectF, row: CardRow) -> None:
        bar = QRectF(inner.left(), inner.bottom() - sized(20), inner.width(), BAR)
        if row.sub_right is not None:
            beside = QRectF(inner.left(), bar.center().y() - sized(9), inner.width(), sized(18))
            left = self._paint_right(painter, beside, row.sub_right, Size.SMALL)
            bar.setRight(min(left.right(), inner.right() - sized(SHARE_ROOM)))
        paint_segments(painter, bar, row.bar, row.bar_total)

    def _paint_right(self, painter: QPainter, rect: QRectF, span: Span | None, size: Size) -> QRectF:
        if span is None or not span.text:
            return rect
        font = theme().font(size, strong=span.strong, mono=span.mono, tabular=True)
        width = self._line.width(span.text, font)
        place = QRectF(rect.right() - width - 1, rect.top(), width + 1, rect.height())
        self._line.text(painter, place, span.text, font, span.role, Qt.AlignmentFlag.AlignRight)
        return rect.adjusted(0, 0, -width - 12, 0)


def _lines(inner: QRectF, *, two: bool) -> tuple[QRectF, QRectF]:
    if not two:
        return QRectF(inner), QRectF()
    top = inner.top() + sized(10 if inner.height() >= sized(70) else 6)
    below = QRectF(inner.left(), top + sized(20), inner.width(), sized(18))
    return QRectF(inner.left(), top, inner.width(), sized(20)), below


class CardList(KeyedView[CardRow]):
    """A list of `CardRow`s, one selected at a time; heights 28 (one line), 52 (two) or 76 (two and a bar)."""

    def __init__(self, name: str, *, row_height: int = 52, many: bool = False) -> None:
        super().__init__(CardListModel(), row_height)
        mode = QAbstractItemView.SelectionMode
        self.setSelectionMode(mode.ExtendedSelection if many else mode.SingleSelection)
        self.setAccessibleName(name)
        self.setItemDelegate(CardDelegate(self))
        self.fill_width()


class ChoiceCard(QAbstractButton):
    """An icon, a title and two short lines."""

    def __init__(self, icon: str, title: str, lines: tuple[str, str]) -> None:
        super().__init__()
        self._icon = icon
        self._lines = lines
        self._line = LinePainter()
        self.setText(title)
        self.setAccessibleDescription(" ".join(lines))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        widest = max(self._line.width(text, theme().font(Size.SMALL)) for text in self._lines)
        return QSize(round(max(widest, self._line.width(self.text(), theme().font(strong=True)))) + 34, sized(116))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        line, width = (Role.FOCUS, theme().ring) if self.hasFocus() else (Role.CONTROL, 1)
        fill = Role.HOVER if self.underMouse() else Role.SURFACE
        paint_box(painter, self.rect(), line, fill, radius("popup"), width)
        paint_icon(painter, self._icon, 16, 16 + sized(20) // 2, sized(20), Role.ACCENT)
        room = QRectF(16, 16 + sized(30), self.width() - 32, sized(20))
        self._line.text(painter, room, self.text(), theme().font(strong=True), Role.TEXT)
        for number, text in enumerate(self._lines):
            below = room.translated(0, sized(21 + 17 * number))
            self._line.text(painter, below, text, theme().font(Size.SMALL), Role.DIM)
