"""A list of rows by id: what tables and card lists share of selection, hover, keyboard and menus."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Generic

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QApplication, QHeaderView, QScrollBar, QTableView, QWidget

from app.widgets.actions import Action, show_menu
from app.widgets.incremental import in_turns, take_turns
from app.widgets.rows import KeyedModel, R, paint_focus
from app.widgets.safe_text import markdown_table, spreadsheet_table

MenuMaker = Callable[[tuple[str, ...]], Sequence[Action]]
AT_ONCE = 500
TextMaker = Callable[[Sequence[str], Sequence[Sequence[str]]], str]
_BY_KEY = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class KeyedView(QTableView, Generic[R]):
    """A view of rows by id, with selection, hover, keys and menus.

    `chosen` gives the id of the current row ("" for none), `picked` all selected ids, `opened` Enter or a double
    click, `delete_wanted` and `rename_wanted` Del and F2, `peek_wanted` Space.
    """

    chosen = Signal(str)
    picked = Signal(tuple)
    opened = Signal(str)
    delete_wanted = Signal(tuple)
    rename_wanted = Signal(str)
    peek_wanted = Signal(str)

    def __init__(self, model: KeyedModel[R], row_height: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = model
        self.hovered = -1
        self.focus_visible = False
        self._menu: MenuMaker | None = None
        self.key_effects: dict[str, str] = {}
        self._kept: tuple[str, tuple[str, ...], int] | None = None
        self.setModel(model)
        model.setParent(self)
        self._look(row_height)
        model.about_to_reset.connect(self._keep)
        model.was_reset.connect(self._restore)
        self.doubleClicked.connect(lambda index: self.opened.emit(self.rows.row(index.row()).id))

    def _look(self, row_height: int) -> None:
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setMinimumSectionSize(row_height)
        self.verticalHeader().setDefaultSectionSize(row_height)
        # A scroll bar of our own: that of Qt now and then gets the wrapper of a layout's item that was at its address.
        bar = QScrollBar(Qt.Orientation.Vertical, self)
        bar.setSingleStep(row_height)
        self.setVerticalScrollBar(bar)

    def fill_width(self) -> None:
        """Show one column without a header, as wide as the view."""
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def set_rows(self, rows: Sequence[R]) -> None:
        """Show these rows; what was selected stays selected."""
        self.rows.set_rows(rows)

    def upsert(self, rows: Iterable[R]) -> None:
        """Change or append rows, gathered for at most 50 ms."""
        self.rows.upsert(rows)

    def remove(self, ids: Iterable[str]) -> None:
        """Take rows out."""
        self.rows.remove(ids)

    def set_menu(self, make: MenuMaker) -> None:
        """Set the function that makes the context menu's actions for the selected ids."""
        self._menu = make

    def describe_keys(self, **effects: str) -> None:
        """Describe the effect of `Enter`, `F2`, `Del` and `Space` for the shortcuts dialog."""
        self.key_effects = effects

    def current_id(self) -> str:
        """Return the id of the current row, or ""."""
        index = self.currentIndex()
        return self.rows.row(index.row()).id if index.isValid() else ""

    def selected_ids(self) -> tuple[str, ...]:
        """Return the ids of all selected rows, in the order shown."""
        return tuple(self.rows.row(place).id for place in self.selected_places())

    def selected_places(self) -> tuple[int, ...]:
        """Positions of the selected rows, from the top."""
        chosen = self.selectionModel().selection()
        parts = (chosen.at(number) for number in range(chosen.count()))
        return tuple(sorted({place for part in parts for place in range(part.top(), part.bottom() + 1)}))

    def select(self, row_id: str) -> bool:
        """Make a row current and scroll to it; False where there is none."""
        place = self.rows.place(row_id)
        if place is None:
            return False
        self._take(place)
        self.scrollTo(self.rows.index(place, 0))
        return True

    def select_many(self, ids: Sequence[str]) -> bool:
        """Select these rows and no others, the first of them current; False where none is there."""
        there = [row_id for row_id in ids if self.rows.place(row_id) is not None]
        if there and self.select(there[0]):
            self._reselect(there[0], there)
        return bool(there)

    def select_first(self) -> None:
        """Make the first row current, if there is one."""
        if self.rows.rowCount():
            self._take(0)

    def _take(self, place: int) -> None:
        """Select one row alone; `selectRow` would add to the others while Ctrl or Shift is held."""
        flag = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(self.rows.index(place, 0), flag.ClearAndSelect | flag.Rows)

    def currentChanged(self, current: QModelIndex, previous: QModelIndex) -> None:  # type: ignore[override]
        super().currentChanged(current, previous)
        if self._kept is None and (current.row() != previous.row() or current.isValid() != previous.isValid()):
            self.chosen.emit(self.rows.row(current.row()).id if current.isValid() else "")

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        super().selectionChanged(selected, deselected)
        self.viewport().update()
        if self._kept is None:
            self.picked.emit(self.selected_ids())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._hover(self.rowAt(event.position().toPoint().y()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hover(-1)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focus_visible = event.reason() in _BY_KEY
        if not self.currentIndex().isValid() and self.focus_visible:
            self.select_first()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focus_visible = False
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.focus_visible and not self.rows.rowCount():
            paint_focus(QPainter(self.viewport()), self.viewport().rect())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self._menu_at_current()
        else:
            self._press(event)

    def _press(self, event: QKeyEvent) -> None:
        current = self.current_id()
        signal: Any = {
            Qt.Key.Key_Return: self.opened,
            Qt.Key.Key_Enter: self.opened,
            Qt.Key.Key_F2: self.rename_wanted,
            Qt.Key.Key_Space: self.peek_wanted,
        }.get(Qt.Key(event.key()))
        if event.key() == Qt.Key.Key_Delete and current:
            self.delete_wanted.emit(self.selected_ids())
        elif signal is not None and current and event.modifiers() == Qt.KeyboardModifier.NoModifier:
            signal.emit(current)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        if by_key:
            self._menu_at_current()
        elif index.isValid():
            self._open_menu(event.globalPos())

    def _menu_at_current(self) -> None:
        index = self.currentIndex()
        if index.isValid() and QApplication.activePopupWidget() is None:
            self._open_menu(self.viewport().mapToGlobal(self.visualRect(index).bottomLeft()))

    def _open_menu(self, at: QPoint) -> None:
        actions = [*(self._menu(self.selected_ids()) if self._menu else ()), *self.own_actions()]
        if actions:
            show_menu(actions, at, self)

    def own_actions(self) -> Sequence[Action]:
        """Return the view's own actions of the context menu."""
        rows = len(self.selected_places())
        text = "Copy row" if rows == 1 else f"Copy {rows:,} rows"
        copied = Action(text=text, do=self.copy, icon="copy", keys="Ctrl+C", apart=True)
        forms: tuple[tuple[str, TextMaker], ...] = (("Markdown", markdown_table), ("CSV", spreadsheet_table))
        others = [Action(text=f"{text} as {form}", do=partial(self._copy_as, make)) for form, make in forms]
        return [copied, *others, *self._cell_action()] if rows else []

    def _cell_action(self) -> list[Action]:
        """Return a way to copy the one cell that the menu is opened at, where its row has several."""
        places, column = self.selected_places(), self.currentIndex().column()
        title = self.rows.headerData(column, Qt.Orientation.Horizontal)
        text = self.rows.text_of(self.rows.row(places[0]), column) if len(places) == 1 and title else ""
        copy = partial(QGuiApplication.clipboard().setText, text)
        return [Action(text=f"Copy cell: {title}", do=copy)] if text else []

    def copy(self) -> None:
        """Put the selected rows on the clipboard: a line each, a tab between cells, as spreadsheets take it."""
        self._copy_as(lambda _, rows: "\n".join("\t".join(cells) for cells in rows))

    def _copy_as(self, make: TextMaker) -> None:
        """Put the selected rows on the clipboard in some form, under the heads that are shown."""
        self.read_selected(partial(self._put, make))

    def _put(self, make: TextMaker, rows: Sequence[R]) -> None:
        steps = self._putting(make, rows)
        if len(rows) > AT_ONCE:
            take_turns(self, steps)
        else:
            deque(steps, maxlen=0)

    def _putting(self, make: TextMaker, rows: Sequence[R]) -> Iterator[None]:
        columns, across = self._columns(), Qt.Orientation.Horizontal
        heads = [str(self.rows.headerData(column, across) or "") for column in columns]
        texts: list[list[str]] = []
        yield from in_turns(rows, lambda row: texts.append([self.rows.text_of(row, column) for column in columns]))
        if texts:
            QGuiApplication.clipboard().setText(make(heads, texts))

    def read_selected(self, do: Callable[[Sequence[R]], None]) -> None:
        """Do something with the selected rows, in the order shown."""
        do([self.rows.row(place) for place in self.selected_places()])

    def _columns(self) -> list[int]:
        header = self.horizontalHeader()
        order = sorted(range(self.rows.columnCount()), key=header.visualIndex)
        return [column for column in order if not header.isSectionHidden(column)]

    def _hover(self, row: int) -> None:
        if row != self.hovered:
            self.hovered = row
            self.viewport().update()

    def _keep(self) -> None:
        self._kept = (self.current_id(), self.selected_ids(), self.verticalScrollBar().value())

    def _restore(self) -> None:
        if self._kept is None:
            return
        current, selected, scroll = self._kept
        self._reselect(current, selected)
        self.verticalScrollBar().setValue(scroll)
        self._kept = None
        if self.current_id() != current:
            self.chosen.emit(self.current_id())
        if self.selected_ids() != selected:
            self.picked.emit(self.selected_ids())

    def _reselect(self, current: str, selected: Sequence[str]) -> None:
        places = sorted(place for row_id in selected if (place := self.rows.place(row_id)) is not None)
        last = self.rows.columnCount() - 1
        choice = QItemSelection()
        for first, end in _stretches(places):
            choice.select(self.rows.index(first, 0), self.rows.index(end, last))
        flag = QItemSelectionModel.SelectionFlag
        place = self.rows.place(current)
        if place is not None:
            self.selectionModel().setCurrentIndex(self.rows.index(place, 0), flag.NoUpdate)
        self.selectionModel().select(choice, flag.ClearAndSelect)


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for place in places:
        if found and place == found[-1][1] + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found
