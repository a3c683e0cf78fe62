"""The navigation at the left edge, with an icon, a word and a count for each place, and the side buttons of a mouse."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QWindow
from PySide6.QtWidgets import QAbstractButton, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Role, Size, height, radius, sized, theme, width
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, IconButton, show_menu
from app.widgets.layouts import column_layout, row_layout
from app.widgets.safe_text import one_line, tip
from app.widgets.spans import LinePainter, paint_box, paint_icon

ICONS_ONLY = 56
ARROW, ICON, CARET = 20, 20, 12
LEAST_SHARE = 0.65  # of the height of an item, where large text leaves no room for all


class NavItem(QAbstractButton):
    """One destination; with `icons_only`, its text is the tooltip."""

    def __init__(self, key: str, icon: str, text: str) -> None:
        super().__init__()
        self.key = key
        self.badge = 0
        self.icons_only = False
        self.icon_name = icon
        self._line = LinePainter()
        self.setText(text)
        self.setCheckable(True)
        self.setMaximumHeight(height("nav_item"))
        self.setMinimumHeight(round(LEAST_SHARE * height("nav_item")))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.update_name()

    def update_name(self) -> None:
        """Set its name for screen readers, and its tooltip."""
        more = f", {self.badge} to look at" if self.badge else ""
        self.setAccessibleName(f"{self.text()}{more}")
        self.setToolTip(tip(f"{self.text()}{more}") if self.icons_only else "")
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(sized(width("nav")) - 16, height("nav_item"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box, corner, chosen = QRectF(self.rect()), radius("nav_item"), self.isChecked()
        if chosen or self.underMouse():
            painter.setPen(theme().outline(Role.ACCENT if chosen else Role.CONTROL))
            painter.setBrush(theme().colour(Role.NAV_CURRENT if chosen else Role.HOVER))
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), corner, corner)
        if self.hasFocus():
            paint_box(painter, self.rect(), Role.FOCUS, None, corner, theme().ring)
        self._paint_content(painter, box, chosen)
        if self.badge:
            self._paint_badge(painter)

    def _paint_content(self, painter: QPainter, box: QRectF, chosen: bool) -> None:
        side, name = sized(ICON), f"{self.icon_name}-fill" if chosen else self.icon_name
        left = (self.width() - side) // 2 if self.icons_only else 8
        paint_icon(painter, name, left, self.height() / 2, side, Role.ACCENT if chosen else Role.DIM)
        if not self.icons_only:
            font = theme().font(strong=chosen, label=not chosen)
            self._line.text(painter, box.adjusted(16 + side, 0, -sized(34), 0), self.text(), font, Role.TEXT)

    def _paint_badge(self, painter: QPainter) -> None:
        text = str(self.badge) if self.badge < 100 else "99+"
        font = theme().font(Size.SMALL, strong=True, tabular=True)
        wide = max(sized(20), self._line.width(text, font) + 12)
        middle = self.height() / 2 - (sized(8) if self.icons_only else 0)
        box = QRectF(self.width() - wide - (0 if self.icons_only else 8), middle - sized(10), wide, sized(20))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme().colour(Role.BAD_TINT))
        painter.drawRoundedRect(box, sized(10), sized(10))
        self._line.text(painter, box, text, font, Role.BAD, Qt.AlignmentFlag.AlignHCenter)


class NavHead(QAbstractButton):
    """The product and what is open; a click offers to open something else."""

    def __init__(self, title: str, actions: Callable[[], Sequence[Action]]) -> None:
        super().__init__()
        self.icons_only = False
        self._subtitle = ""
        self._line = LinePainter()
        self.setText(title)
        self.setFixedHeight(sized(44))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(lambda: show_menu(actions(), self.mapToGlobal(self.rect().bottomLeft()), self))

    def set_subtitle(self, text: str, whole: str) -> None:
        """Show the open workspace: a short name, and the full path as tooltip."""
        self._subtitle = one_line(text)
        self.setAccessibleName(f"{self.text()}, {self._subtitle}")
        self.setToolTip(tip(whole))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.underMouse() or self.hasFocus():
            paint_box(painter, self.rect(), Role.FOCUS if self.hasFocus() else None, Role.HOVER, 6, theme().ring)
        side = sized(CARET)
        if self.icons_only:
            place, letter = QRectF(0, 4, self.width(), sized(20)), self.text()[:1].upper()
            middle = Qt.AlignmentFlag.AlignHCenter
            self._line.text(painter, place, letter, theme().font(strong=True), Role.TEXT, middle)
            paint_icon(painter, "caret-down", (self.width() - side) // 2, 4 + sized(22) + side // 2, side)
            return
        room = QRectF(8, 3, self.width() - 18 - side, sized(20))
        self._line.text(painter, room, self.text(), theme().font(Size.LEAD, strong=True), Role.TEXT)
        self._line.text(painter, room.translated(0, sized(19)), self._subtitle, theme().font(Size.SMALL), Role.DIM)
        paint_icon(painter, "caret-down", self.width() - side - 8, self.height() / 2, side)


class Navigation(QWidget):
    """Destinations from top to bottom, then those at the foot. `wanted` gives the key of the one clicked."""

    SPOKEN_AS = Spoken.Grouping

    wanted = Signal(str)

    def __init__(self, title: str, head_actions: Callable[[], Sequence[Action]]) -> None:
        super().__init__()
        self.head = NavHead(title, head_actions)
        self.back = IconButton("arrow-left", "Back (Alt+Left)")
        self.forward = IconButton("arrow-right", "Forward (Alt+Right)")
        self._items: dict[str, NavItem] = {}
        self._more = NavItem("", "dots-three", "More")
        self._places = QVBoxLayout()
        self._foot = QVBoxLayout()
        self.setProperty("pane", "sunken")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Navigation")
        column = column_layout(self, self.head, self._history_row(), margins=(8, 8, 9, 12), spacing=12)
        for part in (self._places, self._foot):
            part.setSpacing(2)
        column.addLayout(self._places)
        self._more.setCheckable(False)
        self._more.hide()
        self._more.clicked.connect(self._open_more)
        column.addWidget(self._more)
        column.addStretch(1)
        column.addLayout(self._foot)
        self.set_icons_only(False)

    def _history_row(self) -> QHBoxLayout:
        row = row_layout()
        for arrow in (self.back, self.forward):
            arrow.setFixedSize(sized(ARROW), sized(ARROW))
            row.addWidget(arrow)
        row.addStretch(1)
        self.set_history_buttons(back=False, forward=False)
        return row

    def set_history_buttons(self, *, back: bool, forward: bool) -> None:
        """Enable or disable the back and forward buttons."""
        self.back.setEnabled(back)
        self.forward.setEnabled(forward)

    def add(
        self, key: str, icon: str, text: str, *, foot: bool = False, page: bool = True, hidden: bool = False
    ) -> None:
        """Add a destination; `page` False for one that only opens something, `hidden` for one below "More"."""
        item = NavItem(key, icon, text)
        item.setCheckable(page)
        item.clicked.connect(lambda: self._clicked(key))
        self._items[key] = item
        (self._foot if foot else self._places).addWidget(item)
        if hidden:
            item.hide()
            self._more.show()

    def reveal(self, key: str) -> bool:
        """Show a destination that stands below "More" among the others; return False if it does already."""
        item = self._items[key]
        if not item.isHidden():
            return False
        item.show()
        self._more.setVisible(any(one.isHidden() for one in self._items.values()))
        return True

    def _open_more(self) -> None:
        below = [one for one in self._items.values() if one.isHidden()]
        actions = [
            Action(text=item.text(), do=partial(self.wanted.emit, item.key), icon=item.icon_name) for item in below
        ]
        show_menu(actions, self._more.mapToGlobal(self._more.rect().bottomLeft()), self._more)

    def set_current(self, key: str) -> None:
        """Mark the current destination."""
        for item in self._items.values():
            if item.isCheckable():
                item.setChecked(item.key == key)

    def set_badge(self, key: str, number: int) -> None:
        """Show the number of items in a place that need attention."""
        self._items[key].badge = number
        self._items[key].update_name()

    def set_icons_only(self, icons_only: bool) -> None:
        """Show icons only, or icons with text."""
        self.setFixedWidth(sized(ICONS_ONLY if icons_only else width("nav")))
        self.head.icons_only = icons_only
        for item in (*self._items.values(), self._more):
            item.icons_only = icons_only
            item.update_name()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().colour(Role.SUNKEN))
        painter.fillRect(self.width() - 1, 0, 1, self.height(), theme().colour(Role.LINE))

    def _clicked(self, key: str) -> None:
        item = self._items[key]
        if item.isCheckable():
            item.setChecked(True)
        self.wanted.emit(key)


class MouseNavigation(QObject):
    """Hears the side buttons before any widget of a window does."""

    back = Signal()
    forward = Signal()

    def watch(self, window: QWindow) -> None:
        """Listen to a window from now on."""
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QMouseEvent) or event.type() != QEvent.Type.MouseButtonPress:  # in cheap order
            return False
        signals = {Qt.MouseButton.BackButton: self.back, Qt.MouseButton.ForwardButton: self.forward}
        signal = signals.get(event.button())
        if signal is not None:
            signal.emit()
        return signal is not None
