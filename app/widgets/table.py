"""The table of every list: painted cells, hairlines, hover, sorting, thousands of rows."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QKeyCombination, QModelIndex, QPersistentModelIndex, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolTip,
    QWidget,
)

from app.theme import Role, Size, height, sized, theme
from app.theme.tokens import mark_size
from app.widgets.actions import Action, show_menu
from app.widgets.bars import paint_interval
from app.widgets.columns import EDGE, PAD, Arrangement, ColumnsDialog, TableHeader
from app.widgets.keyed_view import KeyedView
from app.widgets.marks import mark_pixmap
from app.widgets.rows import AnyIndex, Cell, CellKind, Column, KeyedModel, Row, paint_focus, paint_frame
from app.widgets.safe_text import one_line, tip, visible
from app.widgets.spans import LinePainter

STRIP_STEP = 18
SPAN_TEXT = 42
ARRANGE = "Ctrl+Shift+L"
ARRANGE_KEYS = QKeyCombination(Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, Qt.Key.Key_L)
NOTHING = "No row holds these words. An empty search shows all."
FIGURES = (CellKind.NUMBER, CellKind.SHARE)


class RowsModel(KeyedModel[Row]):
    """Rows of cells; sorts itself by a column, and goes back to the given order."""

    def __init__(self, columns: Sequence[Column]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.sorted_by: tuple[int, bool] | None = None
        self.words: tuple[str, ...] = ()
        self._given: list[Row] = []

    def set_rows(self, rows: Sequence[Row]) -> None:
        self._given = list(rows)
        super().set_rows(rows)

    def find_rows(self, text: str) -> None:
        """Show only those of the given rows whose cells hold every word."""
        words = tuple(text.casefold().split())
        if words != self.words:
            self.words = words
            self.set_rows(self._given)

    def arranged(self, rows: list[Row]) -> list[Row]:
        rows = [row for row in rows if _holds(row, self.words)] if self.words else rows
        if self.sorted_by is None:
            return rows
        column, down = self.sorted_by
        return sorted(rows, key=lambda row: _sort_key(row.cells[column]), reverse=down)

    def sort_by(self, column: int | None, *, down: bool = False) -> None:
        """Sort by a column, or show the given order again; rows that change keep their place until the next sort."""
        self.sorted_by = None if column is None else (column, down)
        known = {row.id: row for row in self._rows}
        given = [known.pop(row.id) for row in self._given if row.id in known]
        self._reset(self.arranged([*given, *known.values()]))
        self.rows_changed.emit()

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.columns)

    def text_of(self, row: Row, column: int) -> str:
        return visible(spoken(row.cells[column]))

    def spoken(self, row: Row, column: int) -> str:
        return visible(heard(row.cells[column]))

    def explanation(self, row: Row, column: int) -> str:
        return row.cells[column].tip

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(self.columns[section].tip)
        return self.columns[section].title if role == Qt.ItemDataRole.DisplayRole else None


def spoken(cell: Cell) -> str:
    """Return a cell as text, for screen readers and for copying."""
    lead = f"{cell.lead} / " if cell.lead else ""
    marks = "" if cell.text else " ".join(mark.value for mark in cell.marks)
    return f"{lead}{cell.text}{marks}"


def _holds(row: Row, words: Sequence[str]) -> bool:
    text = "\n".join(spoken(cell) for cell in row.cells).casefold()
    return all(word in text for word in words)


def heard(cell: Cell) -> str:
    """Return a cell for screen readers: marks alone in the text of their tip, where they have some."""
    return one_line(cell.tip) if cell.marks and cell.tip and not (cell.text or cell.lead) else spoken(cell)


def _sort_key(cell: Cell) -> tuple[int, float, str]:
    value = spoken(cell) if cell.sort is None else cell.sort
    return (1, 0.0, value.casefold()) if isinstance(value, str) else (0, float(value), "")


class CellDelegate(QStyledItemDelegate):
    """Paints cells; nothing is computed here that could be had ready-made."""

    def __init__(self, table: "ListTable") -> None:
        super().__init__(table)
        self._table = table
        self._line = LinePainter()

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        column, row = index.column(), index.row()
        painter.save()
        paint_frame(painter, option, hovered=row == self._table.hovered, first=column == self._table.arrangement.first)
        cell = self._table.rows.row(row).cells[column]
        inner = self._table.arrangement.inner(option.rect, column)
        self._paint_cell(painter, inner, cell, self._table.columns[column])
        painter.restore()

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> bool:
        if not index.isValid():
            return False
        cell = self._table.rows.row(index.row()).cells[index.column()]
        room = self._table.arrangement.inner(option.rect, index.column()).width()
        cut = self._line.width(spoken(cell), self._font(cell, self._table.columns[index.column()])) > room
        text = cell.tip or (spoken(cell) if cut and cell.text else "")
        QToolTip.showText(event.globalPos(), tip(text), view)
        return bool(text)

    def _font(self, cell: Cell, column: Column) -> Any:
        mono = column.kind in (CellKind.MONO, CellKind.PAIR) and not (cell.italic or cell.prose)
        return theme().font(
            Size.BODY, strong=cell.strong, mono=mono, italic=cell.italic, tabular=column.kind in FIGURES
        )

    def _paint_cell(self, painter: QPainter, rect: QRectF, cell: Cell, column: Column) -> None:
        if cell.marks:
            rect = self._paint_marks(painter, rect, cell, column)
        if cell.lead:
            rect = self._paint_lead(painter, rect, cell, self._line.width(cell.text, self._font(cell, column)))
        if cell.span is not None:
            rect = self._paint_span(painter, rect, cell.span)
        if cell.text:
            right = column.kind is CellKind.NUMBER or cell.span is not None
            align = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            role = column.role if cell.role is Role.TEXT else cell.role
            self._line.text(painter, rect, cell.text, self._font(cell, column), role, align)

    def _paint_span(self, painter: QPainter, rect: QRectF, span: tuple[float, float, float]) -> QRectF:
        """Draw the scale at the right; what is left is for the text."""
        words = sized(SPAN_TEXT)
        scale = rect.adjusted(words + 10, 0, 0, 0)
        if scale.width() > 16:
            paint_interval(painter, scale, span)
        return QRectF(rect.left(), rect.top(), words, rect.height())

    def _paint_marks(self, painter: QPainter, rect: QRectF, cell: Cell, column: Column) -> QRectF:
        size = mark_size("strip" if column.kind is CellKind.MARKS else "table")
        ratio = self._table.devicePixelRatioF()
        top = int(rect.center().y() - size / 2 + 0.5)
        left = int(rect.left())
        for mark in cell.marks:
            if left + size > rect.right() + PAD:
                break
            painter.drawPixmap(left, top, mark_pixmap(mark, size, ratio))
            left += sized(STRIP_STEP) if column.kind is CellKind.MARKS else size + PAD
        return rect.adjusted(left - rect.left(), 0, 0, 0)

    def _paint_lead(self, painter: QPainter, rect: QRectF, cell: Cell, text: float) -> QRectF:
        """Leave out the leading part where it would cut the text."""
        font, lead = theme().font(Size.BODY), f"{cell.lead} / "
        wide = self._line.width(lead, font)
        if wide + text > rect.width():
            return rect
        self._line.text(painter, rect, lead, font, Role.DIM)
        return rect.adjusted(wide, 0, 0, 0)


class ListTable(KeyedView[Row]):
    """A table of `Row`s under `Column`s, many selectable, sorted by a click on a title.

    `layout_changed` tells a change of `layout_state`; `when_empty` is shown while there are no rows.
    """

    sorted = Signal(str, bool)
    layout_changed = Signal()

    def __init__(
        self,
        columns: Sequence[Column],
        name: str,
        *,
        row_height: int = 0,
        model: RowsModel | None = None,
        parent: QWidget | None = None,
    ) -> None:
        model = model or RowsModel(columns)
        super().__init__(model, row_height or height("table_row"), parent)
        self.table_rows = model
        self.columns = model.columns
        self.when_empty = ""
        self.setAccessibleName(name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setItemDelegate(CellDelegate(self))
        self.arrangement = Arrangement(self, self.columns, self.layout_changed.emit)
        self._make_header()

    def _make_header(self) -> None:
        header = TableHeader(self.arrangement, self)
        self.setHorizontalHeader(header)
        header.setMinimumSectionSize(32)
        for number, column in enumerate(self.columns):
            header.resizeSection(number, sized(column.width))
            mode = QHeaderView.ResizeMode.Stretch if column.stretch else QHeaderView.ResizeMode.Interactive
            header.setSectionResizeMode(number, mode)
        header.sort_wanted.connect(self.sort_by_next)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_head_menu)
        self.arrangement.watch(header)

    @property
    def sorted_by(self) -> tuple[int, bool] | None:
        """The column number that sorts, and whether downwards; None in the given order."""
        return self.table_rows.sorted_by

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrangement.fit(event.size().width())

    def setColumnHidden(self, column: int, hide: bool) -> None:
        """Leave a column out where there is no room for it; one that the user left out stays so."""
        self.arrangement.give_room(column, room=not hide)

    def find_rows(self, text: str) -> None:
        """Show only rows that hold every word."""
        self.table_rows.find_rows(text)

    def sort_by_next(self, column: int) -> None:
        """Up, then down, then the given order again."""
        now = self.table_rows.sorted_by
        if now is None or now[0] != column:
            self.sort_by(column)
        elif not now[1]:
            self.sort_by(column, down=True)
        else:
            self.sort_by(None)

    def sort_by(self, column: int | None, *, down: bool = False) -> None:
        """Sort by a column number, or not at all."""
        self.table_rows.sort_by(column, down=down)
        order = Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder
        self.horizontalHeader().setSortIndicator(-1 if column is None else column, order)
        self.horizontalHeader().viewport().update()
        self.sorted.emit("" if column is None else self.columns[column].key, down)
        self.layout_changed.emit()

    def own_actions(self) -> Sequence[Action]:
        now = self.table_rows.sorted_by or (-1, False)
        sorts = [
            Action(text=column.title, do=partial(self.sort_by_next, number), checked=now[0] == number)
            for number, column in enumerate(self.columns)
            if column.sortable and column.title
        ]
        submenus = (("Sort by", sorts), ("Columns", self.arrangement.actions()))
        arrange = Action(text="Arrange columns…", do=self.arrange, icon="columns", keys=ARRANGE)
        return [
            *super().own_actions(),
            *(Action(text=text, under=tuple(under)) for text, under in submenus if under),
            arrange,
        ]

    def arrange(self) -> None:
        """Open the dialog in which columns are shown, moved and widened by keys."""
        ColumnsDialog(self.arrangement, self).open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.keyCombination() == ARRANGE_KEYS:
            self.arrange()
        else:
            super().keyPressEvent(event)

    def _open_head_menu(self, at: QPoint) -> None:
        """Open the part of the menu that is about columns, where their titles are clicked."""
        actions = [one for one in self.own_actions() if one.under or one.keys == ARRANGE]
        show_menu(actions, self.horizontalHeader().mapToGlobal(at), self)

    def layout_state(self) -> dict[str, Any]:
        """Columns and sorting, for the settings."""
        now = self.table_rows.sorted_by
        return {**self.arrangement.state(), "sort": [self.columns[now[0]].key, now[1]] if now else None}

    def restore_layout(self, state: Any) -> None:
        """Take over what `layout_state` gave; anything else is ignored."""
        if not isinstance(state, dict):
            return
        self.arrangement.restore(state)
        keys = [column.key for column in self.columns]
        match state.get("sort"):
            case [str(key), bool(down)] if key in keys and self.columns[keys.index(key)].sortable:
                self.sort_by(keys.index(key), down=down)

    def paintEvent(self, event: Any) -> None:
        super().paintEvent(event)
        words = NOTHING if self.table_rows.words else self.when_empty
        if words and not self.table_rows.rowCount():
            place = QRectF(EDGE, EDGE, self.viewport().width() - 2 * EDGE, height("table_row"))
            LinePainter().text(QPainter(self.viewport()), place, words, theme().font(Size.SMALL), Role.DIM)
        if self.focus_visible and self.currentIndex().isValid():
            rect = self.visualRect(self.currentIndex())
            painter = QPainter(self.viewport())
            paint_focus(painter, QRect(0, rect.top(), self.viewport().width(), rect.height()))
