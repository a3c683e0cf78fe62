"""Panes: scrolling columns, tabs over them, sections, pairs of label and value, and panes with dividers between."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QEvent, QObject, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QSplitterHandle,
    QStackedWidget,
    QWidget,
)

from app.theme import Role, Size, height, roomy, sized, space, theme, unroomy
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, button
from app.widgets.choices import Tabs
from app.widgets.layouts import clear_layout, column_layout, row_layout
from app.widgets.spans import Span
from app.widgets.text_view import FlowText, Label, Rule

LEAST_FITTING = QSize(120, 60)


class ScrollPane(QScrollArea):
    """A widget that scrolls up and down. The bar's 8 pixels are always kept, so that text never rewraps."""

    SPOKEN_AS = Spoken.Grouping

    def __init__(self, widget: QWidget, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.verticalScrollBar().rangeChanged.connect(self._show_bar_if_needed)
        self.horizontalScrollBar().valueChanged.connect(lambda _: self.horizontalScrollBar().setValue(0))
        self._show_bar_if_needed(0, 0)
        self.viewport().setAutoFillBackground(False)
        self.setWidget(widget)
        widget.setAutoFillBackground(False)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._mark_bar("focused", True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._mark_bar("focused", False)

    def _show_bar_if_needed(self, low: int, high: int) -> None:
        self._mark_bar("idle", high <= low)

    def _mark_bar(self, what: str, on: bool) -> None:
        bar = self.verticalScrollBar()
        if bar.property(what) is not on:
            bar.setProperty(what, on)
            bar.style().unpolish(bar)
            bar.style().polish(bar)


class HeadedPane(QWidget):
    """A widget under a quiet heading, for a list beside other panes."""

    def __init__(self, title: str, body: QWidget) -> None:
        super().__init__()
        head = Label(title, size=Size.SMALL, role=Role.DIM, label=True)
        head.setFixedHeight(height("list_header"))
        head.setContentsMargins(16, 0, 16, 0)
        column = column_layout(self, head, Rule())
        column.addWidget(body, 1)


class DetailPane(QWidget):
    """Tabs over scrolling panes; a single pane has no tabs. `changed` gives the key of the shown one."""

    changed = Signal(str)

    def __init__(self, name: str, *, inset: int = Tabs.INSET) -> None:
        super().__init__()
        self.tabs = Tabs([], name, inset=inset)
        self._labels: dict[str, str] = {}
        self._panes: dict[str, QWidget] = {}
        self._to_make: dict[str, Callable[[], QWidget]] = {}
        self._shown: list[str] = []
        self._stack = QStackedWidget()
        column = column_layout(self, self.tabs)
        column.addWidget(self._stack, 1)
        self.tabs.changed.connect(self._turn)

    def add_tab(self, key: str, label: str, widget: QWidget, *, scroll: bool = True) -> None:
        """Add a pane with a label; `scroll` False for one that scrolls by itself."""
        self._take_in(key, ScrollPane(widget, label) if scroll else widget)
        self._label(key, label)

    def add_later(self, key: str, label: str, make: Callable[[], QWidget]) -> None:
        """Add a scrolling pane with a label, built when it is first shown."""
        self._to_make[key] = make
        self._label(key, label)

    def show_tabs(self, keys: Sequence[str]) -> None:
        """Offer only these, in this order."""
        self._shown = [key for key in keys if key in self._labels]
        self.tabs.set_choices([(key, self._labels[key]) for key in self._shown])
        self.tabs.setVisible(len(self._shown) > 1)
        self._place()

    def set_current(self, key: str) -> None:
        """Show a pane."""
        self.tabs.set_current(key)
        self._place()

    def current(self) -> str:
        """Return the key of the shown pane."""
        return self.tabs.current()

    def _turn(self, key: str) -> None:
        self._place()
        self.changed.emit(key)

    def _label(self, key: str, label: str) -> None:
        self._labels[key] = label
        self.show_tabs(list(self._labels))

    def _take_in(self, key: str, pane: QWidget) -> None:
        self._panes[key] = pane
        self._stack.addWidget(pane)

    def _place(self) -> None:
        key = self.current()
        if key in self._to_make:
            self._take_in(key, ScrollPane(self._to_make.pop(key)(), self._labels[key]))
        if key:
            self._stack.setCurrentWidget(self._panes[key])


class Section(QWidget):
    """A small heading with a note at its right, and a column of widgets below."""

    def __init__(self, title: str = "", note: str = "", *, margins: bool = True) -> None:
        super().__init__()
        side = space("page_margin") if margins else 0
        self.column = column_layout(
            self, margins=(side, space("group"), side, space("group")), spacing=space("between_controls")
        )
        self._title = Label(title, size=Size.SMALL, role=Role.DIM, strong=True)
        self._note = Label(note, size=Size.SMALL, role=Role.DIM)
        self._head = QWidget()
        row = row_layout(self._head, self._title, spacing=None)
        row.addStretch(1)
        row.addWidget(self._note)
        self.column.addWidget(self._head)
        self._head.setVisible(bool(title or note))

    def set_title(self, title: str, note: str = "") -> None:
        """Change heading and note."""
        self._title.setText(title)
        self._note.setText(note)
        self._head.setVisible(bool(title or note))

    def add(self, widget: QWidget) -> QWidget:
        """Put a widget below the others."""
        self.column.addWidget(widget)
        return widget

    def clear(self) -> None:
        """Take out all but the heading."""
        clear_layout(self.column, keep=1)


class KeyValues(QWidget):
    """Labels, at least `label_width` wide, with values beside them; a value is untrusted text or spans."""

    def __init__(self, *, label_width: int = 0, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnMinimumWidth(0, label_width)

    def set_rows(self, rows: Sequence[tuple[str, str | Sequence[Span]]]) -> None:
        """Show these pairs instead of those before."""
        clear_layout(self._grid)
        for number, (label, value) in enumerate(rows):
            shown = FlowText()
            shown.set_spans([Span(value)] if isinstance(value, str) else value)
            caption = Label(label, role=Role.DIM)
            caption.setFixedHeight(sized(20))
            self._grid.addWidget(caption, number, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(shown, number, 1)


class DetailWithBack(QWidget):
    """A detail below a button that leads back to the list; the button is there only while the list is hidden."""

    def __init__(self, detail: QWidget, text: str, leave: Callable[[], object]) -> None:
        super().__init__()
        self.setProperty("pane", "surface")
        self.back = button(Action(text=text, do=leave, icon="arrow-left", kind="quiet"))
        self._bar = QWidget()
        row = row_layout(self._bar, self.back, margins=(8, 6, 8, 0), spacing=None)
        row.addStretch(1)
        column = column_layout(self, self._bar)
        column.addWidget(detail, 1)
        self._bar.hide()

    def show_back(self, *, shown: bool) -> None:
        """Show or hide the button."""
        self._bar.setVisible(shown)


class FittingPane(ScrollPane):
    """As high as its widget has to be, and at most as high as `most` says; lower where a window has no room."""

    def __init__(self, widget: QWidget, name: str, most: Callable[[], int]) -> None:
        super().__init__(widget, name)
        self._inside, self._most = widget, most
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        widget.installEventFilter(self)

    def sizeHint(self) -> QSize:
        hint = self._inside.sizeHint()
        return QSize(hint.width(), min(self._most(), hint.height()))

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_FITTING.width(), min(LEAST_FITTING.height(), self.sizeHint().height()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            self.updateGeometry()
        return super().eventFilter(watched, event)


BEFORE, BEYOND = 2, 5
STEP = 16
GRIP_LENGTH, GRIP_THICKNESS = 28, 3
KEYS: Final = {
    Qt.Orientation.Horizontal: {Qt.Key.Key_Left: -STEP, Qt.Key.Key_Right: STEP},
    Qt.Orientation.Vertical: {Qt.Key.Key_Up: -STEP, Qt.Key.Key_Down: STEP},
}


class Divider(QSplitterHandle):
    """A hairline with a grip. It can be grasped a little beside itself, but not where the scroll bar before it is."""

    SPOKEN_AS = Spoken.Splitter
    TAB_LAST = True

    def __init__(self, parent: QSplitter, name: str) -> None:
        super().__init__(parent.orientation(), parent)
        self.setAccessibleName(name)
        self.setAccessibleDescription("Arrow keys move it.")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Qt's own would cut away all but the line."""
        margins = (BEFORE, 0, BEYOND, 0) if self._upright() else (0, BEFORE, 0, BEYOND)
        self.setContentsMargins(*margins)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = KEYS[self.orientation()].get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
            return
        line = self.geometry().topLeft() + self.contentsRect().topLeft()
        self.moveSplitter((line.x() if self._upright() else line.y()) + step)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.contentsRect()
        painter.fillRect(line, theme().colour(Role.LINE))
        if self.hasFocus():
            painter.fillRect(self._thick(line, theme().ring), theme().colour(Role.FOCUS))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour(Role.ACCENT if self.underMouse() or self.hasFocus() else Role.SCROLL))
        grip = QRectF(self._thick(line, GRIP_THICKNESS))
        spare = ((grip.height() if self._upright() else grip.width()) - GRIP_LENGTH) / 2
        grip = grip.adjusted(0, spare, 0, -spare) if self._upright() else grip.adjusted(spare, 0, -spare, 0)
        painter.drawRoundedRect(grip, GRIP_THICKNESS / 2, GRIP_THICKNESS / 2)

    def _upright(self) -> bool:
        return self.orientation() is Qt.Orientation.Horizontal

    def _thick(self, line: QRect, thick: int) -> QRect:
        before = thick // 2
        after = thick - 1 - before
        return line.adjusted(-before, 0, after, 0) if self._upright() else line.adjusted(0, -before, 0, after)


class Split(QSplitter):
    """Panes beside each other, or `stacked`, with dividers between; gives its sizes for the settings."""

    def __init__(
        self,
        panes: Sequence[QWidget],
        name: str,
        sizes: Sequence[int] = (),
        *,
        stacked: bool = False,
    ) -> None:
        super().__init__(Qt.Orientation.Vertical if stacked else Qt.Orientation.Horizontal)
        self.setAccessibleName(name)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        for pane in panes:
            self.addWidget(pane)
        if sizes:
            self.setSizes([roomy(size) for size in sizes])

    def createHandle(self) -> QSplitterHandle:
        number = self.count() or 1
        return Divider(self, f"Divider {number}: {self.accessibleName()}")

    def set_stretch(self, place: int) -> None:
        """Let one pane take what the others leave."""
        for number in range(self.count()):
            self.setStretchFactor(number, int(number == place))

    def layout_state(self) -> list[int]:
        """Return the sizes of the panes, as they are at the usual size of text."""
        return [unroomy(size) for size in self.sizes()]

    def restore_layout(self, state: Any) -> None:
        """Take over what `layout_state` gave; anything else is ignored."""
        fits = isinstance(state, list) and len(state) == self.count()
        if fits and all(isinstance(size, int) and 0 <= size < 10_000 for size in state) and sum(state):
            self.setSizes([roomy(size) for size in state])
