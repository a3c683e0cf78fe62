"""A field that opens a searchable list: for choosing one among very many."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.theme import Role, Size, height, sized, theme
from app.widgets.actions import cut_corners
from app.widgets.keyed_view import KeyedView
from app.widgets.layouts import column_layout
from app.widgets.rows import KeyedModel
from app.widgets.safe_text import one_line, visible
from app.widgets.spans import LinePainter, paint_box, paint_icon
from app.widgets.text_view import Label, Rule

WIDTH = 340
WIDTH_OF_SENTENCES = 520
MOST_HEIGHT = 320
PAGE_STEP = 7
TICK, LENS, CARET = 14, 16, 12
QUIET_MS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class PickItem:
    """One to choose: `lead` is shown dim before a slash in the field, `keywords` are searched but not shown.

    One that is `off` is shown dim, with the reason at its right, and cannot be picked.
    """

    id: str
    title: str
    detail: str = ""
    right: str = ""
    lead: str = ""
    mono: bool = True
    keywords: str = ""
    off: bool = False

    @property
    def haystack(self) -> str:
        """Text that the search matches."""
        return f"{self.title} {self.lead} {self.right} {self.keywords} {self.detail}".casefold()


def matching(items: Sequence[PickItem], typed: str) -> list[PickItem]:
    """Return the items that hold every typed word, those first whose title begins so, then those that hold it."""
    words = typed.casefold().split()
    found = [item for item in items if all(word in item.haystack for word in words)]
    return sorted(found, key=lambda item: _rank(item.title.casefold(), words)) if words else found


def _rank(title: str, words: Sequence[str]) -> int:
    whole = " ".join(words)
    if title.startswith(whole):
        return 0
    return 1 if whole in title else 2 if any(word in title for word in words) else 3


class PickModel(KeyedModel[PickItem]):
    """Model of the popup's items."""

    def text_of(self, row: PickItem, column: int) -> str:
        return visible(", ".join(part for part in (row.title, row.detail, row.right) if part))


class PickDelegate(QStyledItemDelegate):
    """Two lines an item, the typed part underlined, a tick at the chosen one."""

    def __init__(self, popup: "PickPopup") -> None:
        super().__init__(popup.list)
        self._popup = popup
        self._line = LinePainter()

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        item = self._popup.list.rows.row(index.row())
        painter.save()
        painter.fillRect(option.rect, theme().colour(Role.RAISED))
        if index.row() == self._popup.list.currentIndex().row():
            paint_box(painter, option.rect.adjusted(3, 0, -3, 0), None, Role.SELECTED, 4)
        inner = QRectF(option.rect.adjusted(self._popup.inset(), 0, -12, 0))
        if item.id == self._popup.chosen:
            side = sized(TICK)
            paint_icon(painter, "check", int(inner.left()) - side - 8, inner.center().y(), side, Role.ACCENT)
        self._paint_item(painter, inner, item)
        painter.restore()

    def _paint_item(self, painter: QPainter, inner: QRectF, item: PickItem) -> None:
        right = theme().font(Size.SMALL)
        width = self._line.width(item.right, right) if item.right else 0
        two = bool(item.detail)
        first = QRectF(
            inner.left(), inner.top() + (3 if two else 0), inner.width(), sized(18) if two else inner.height()
        )
        place = QRectF(first.right() - width - 1, first.top(), width + 1, first.height())
        self._line.text(painter, place, item.right, right, Role.DIM)
        first.setWidth(first.width() - width - 16)
        font = theme().font(mono=item.mono, label=not item.mono)
        self._line.text(painter, first, one_line(item.title), font, Role.DIM if item.off else Role.TEXT)
        self._underline(painter, first, item, font)
        if two:
            second = QRectF(inner.left(), inner.top() + sized(20), inner.width(), sized(16))
            self._line.text(painter, second, one_line(item.detail), theme().font(Size.SMALL), Role.DIM)

    def _underline(self, painter: QPainter, rect: QRectF, item: PickItem, font: Any) -> None:
        typed = self._popup.search.text().strip().casefold()
        start = item.title.casefold().find(typed) if typed else -1
        if start >= 0:
            left = rect.left() + self._line.width(item.title[:start], font)
            width = self._line.width(item.title[start : start + len(typed)], font)
            line = QRectF(left, rect.center().y() + 8, min(width, rect.right() - left), 1)
            painter.fillRect(line, theme().colour(Role.ACCENT))


class PickPopup(QFrame):
    """The list under the field, with its own search line.

    `searched` emits the typed text once typing has paused, so that more results can be added below.
    """

    picked = Signal(str)
    other = Signal(str)
    searched = Signal(str)

    def __init__(self, name: str, parent: QWidget, *, row_height: int = 0) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setProperty("popup", True)
        self.chosen = ""
        self.other_words = ""
        self.footer = "{shown} of {all}. Enter selects, Esc keeps the old one."
        self._items: tuple[PickItem, ...] = ()
        self._below: tuple[PickItem, ...] = ()
        self.search = QLineEdit()
        self.search.setAccessibleName(f"Search {name}")
        self.search.setPlaceholderText("Type to search")
        self.list: KeyedView[PickItem] = KeyedView(PickModel(), row_height or height("two_line_row"), self)
        self._foot = Label(size=Size.SMALL, role=Role.DIM)
        self._lay_out(name)

    def _lay_out(self, name: str) -> None:
        self.list.setAccessibleName(name)
        self.list.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.fill_width()
        self.list.setItemDelegate(PickDelegate(self))
        column_layout(self, self.search, self.list, Rule(), self._foot, margins=(4, 4, 4, 4), spacing=4)
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(lambda: self.searched.emit(self.search.text()))
        self.search.textChanged.connect(self._type)
        self.search.installEventFilter(self)
        self.list.clicked.connect(lambda index: self._pick(index.row()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        cut_corners(self)

    def open_at(self, field: QWidget, items: Sequence[PickItem], chosen: str) -> None:
        """Show the list below (or above) a field."""
        least = WIDTH_OF_SENTENCES if any(item.detail for item in items) else WIDTH
        self._fill(items, chosen, max(field.width(), sized(least)))
        self._move_to(field)
        self.show()
        self.search.setFocus()

    def open_over(self, host: QWidget, items: Sequence[PickItem], at: QPoint, wide: int) -> None:
        """Show the list at a place inside a widget."""
        self._fill(items, "", wide)
        self.move(host.mapToGlobal(at))
        self.show()
        self.search.setFocus()

    def add_below(self, items: Sequence[PickItem]) -> None:
        """Show these under what fits, until something else is typed."""
        row = self.list.current_id()
        self._below = tuple(items)
        self._filter(self.search.text())
        self.list.select(row)

    def inset(self) -> int:
        """Return the left edge of the text: right of the tick, if any item has one."""
        return 20 + sized(TICK) if self.chosen else 12

    def _type(self, typed: str) -> None:
        self._below = ()
        self._filter(typed)
        self._quiet.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event.key())
        escapes = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if escapes and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()  # or a shortcut of what lies below takes Esc, and the list stays open
            return True
        return super().eventFilter(watched, event)

    def _fill(self, items: Sequence[PickItem], chosen: str, wide: int) -> None:
        self._items, self.chosen = tuple(items), chosen
        self._foot.setContentsMargins(self.inset(), 2, 8, 4)
        self.search.clear()
        self._filter("")
        self.list.select(chosen)
        self.setFixedWidth(wide)
        self.adjustSize()

    def _key(self, key: int) -> bool:
        now, last = self.list.currentIndex().row(), self.list.rows.rowCount() - 1
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: PAGE_STEP, Qt.Key.Key_PageUp: -PAGE_STEP}
        if key in steps:
            self.list.selectRow(max(0, min(last, now + steps[Qt.Key(key)])))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._pick(now)
        elif key == Qt.Key.Key_Escape:
            self.close()
        else:
            return False
        return True

    def _filter(self, typed: str) -> None:
        fitting = matching(self._items, typed)
        found = [*(item for item in fitting if not item.off), *self._below, *(item for item in fitting if item.off)]
        if self.other_words and typed.strip() and all(item.id != typed.strip() for item in found):
            found.append(PickItem(id="\0other", title=self.other_words.format(typed.strip()), mono=False))
        self.list.set_rows(found)
        self.list.select_first()
        own = sum(item.id != "\0other" for item in found)
        self._foot.setText(self.footer.format(shown=own, all=len(self._items)))
        step = self.list.verticalHeader().defaultSectionSize()
        self.list.setFixedHeight(max(1, min(MOST_HEIGHT // step, len(found))) * step)
        if self.isVisible():
            self.adjustSize()

    def _pick(self, row: int) -> None:
        if not 0 <= row < self.list.rows.rowCount():
            return
        item, typed = self.list.rows.row(row), self.search.text().strip()
        if item.off:
            return
        self.hide()
        if item.id == "\0other":
            self.other.emit(typed)
        else:
            self.picked.emit(item.id)

    def _move_to(self, field: QWidget) -> None:
        below = field.mapToGlobal(QPoint(0, field.height() + 4))
        screen = field.screen().availableGeometry()
        if below.y() + self.height() > screen.bottom():
            below = field.mapToGlobal(QPoint(0, -self.height() - 4))
        window = field.window()
        edge = min(screen.right(), window.mapToGlobal(QPoint(window.width(), 0)).x())
        left = max(screen.left(), min(below.x(), edge - self.width()))
        self.move(left, max(screen.top(), below.y()))


class Picker(QPushButton):
    """Shows the chosen item as `lead / title`; a click, Enter, Down or typing opens the list."""

    picked = Signal(str)
    other = Signal(str)

    def __init__(self, name: str, placeholder: str) -> None:
        super().__init__()
        self._name = name
        self._placeholder = placeholder
        self._note = ""
        self._items: dict[str, PickItem] = {}
        self._current = ""
        self._line = LinePainter()
        self._popup: PickPopup | None = None
        self._other_words = ""
        self._footer = ""
        self.setFixedHeight(height("picker"))
        self.setAutoDefault(False)
        self.clicked.connect(self.open)
        self._tell()

    def set_items(self, items: Sequence[PickItem]) -> None:
        """Offer these."""
        self._items = {item.id: item for item in items}
        self._tell()

    def current(self) -> str:
        """Return the id of the chosen one, or ""."""
        return self._current

    def set_current(self, item_id: str) -> None:
        """Choose without telling anyone; an id that is not offered is shown as it is."""
        self._current = item_id
        self._tell()

    def set_note(self, text: str) -> None:
        """Dim words at the right end of the field."""
        self._note = text
        self.update()

    def set_footer(self, text: str) -> None:
        """Set the text under the list, with `{shown}` and `{all}`."""
        self._footer = text

    def allow_other(self, words: str) -> None:
        """Offer what was typed, as `words` (with `{}`) says; `other` gives the text."""
        self._other_words = words

    def open(self) -> None:
        """Open the list."""
        popup = self.popup()
        popup.open_at(self, list(self._items.values()), self._current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        typed = event.text()
        plain_key = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.open()
        elif plain_key and typed and typed.isprintable() and not typed.isspace():
            self.open()
            self.popup().search.setText(typed)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        lens, caret = sized(LENS), sized(CARET)
        paint_icon(painter, "magnifying-glass", 11, self.height() / 2, lens)
        paint_icon(painter, "caret-down", self.width() - 10 - caret, self.height() / 2, caret)
        inner = QRectF(self.rect()).adjusted(18 + lens, 0, -18 - caret, 0)
        note = self._line.width(self._note, theme().font(Size.SMALL)) if self._note else 0
        if note and note < inner.width() * 0.6:
            place = QRectF(inner.right() - note - 1, 0, note + 1, self.height())
            self._line.text(painter, place, self._note, theme().font(Size.SMALL), Role.DIM)
            inner = inner.adjusted(0, 0, -note - 12, 0)
        self._paint_current(painter, inner)

    def _paint_current(self, painter: QPainter, inner: QRectF) -> None:
        item = self._items.get(self._current)
        if item is None and not self._current:
            self._line.text(painter, inner, self._placeholder, theme().font(), Role.DIM)
            return
        if item is not None and item.lead:
            used = self._line.text(painter, inner, f"{one_line(item.lead)} / ", theme().font(), Role.DIM)
            inner = inner.adjusted(used, 0, 0, 0)
        mono = item.mono if item else True
        title = one_line(item.title if item else self._current)
        self._line.text(painter, inner, title, theme().font(mono=mono), Role.TEXT)

    def popup(self) -> PickPopup:
        """Return the list, made when first needed."""
        if self._popup is None:
            self._popup = PickPopup(self._name, self)
            self._popup.picked.connect(self._take)
            self._popup.other.connect(self.other)
        self._popup.other_words = self._other_words
        self._popup.footer = self._footer or self._popup.footer
        return self._popup

    def _take(self, item_id: str) -> None:
        self.set_current(item_id)
        self.picked.emit(item_id)

    def _tell(self) -> None:
        item = self._items.get(self._current)
        chosen = item.title if item else self._current or self._placeholder
        self.setAccessibleName(visible(f"{self._name}: {chosen}"))
        self.update()
