"""Actions as data, and the buttons, menus and rows of links made of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAction,
    QIcon,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPalette,
    QPen,
    QPixmap,
    QRegion,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QMenu,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app.theme import Role, radius, sized, theme
from app.widgets.layouts import row_layout
from app.widgets.spans import paint_icon

ICON, ICON_ROOM, CARET = 16, 21, 12
EDGE = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A verb and what it does. `kind` is plain, primary, quiet, link or danger; `checked` makes it a choice.

    In a menu, those `under` it open beside it. A button shows `keys` as its tooltip where there is no `tip`.
    """

    text: str
    do: Callable[[], object] = lambda: None
    icon: str = ""
    kind: str = "plain"
    keys: str = ""
    enabled: bool = True
    checked: bool | None = None
    tip: str = ""
    apart: bool = False
    under: "tuple[Action, ...]" = ()


class Button(QPushButton):
    """A push button in one of the kinds, with an icon that follows the theme."""

    def __init__(self, text: str, *, kind: str = "plain", icon: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.icon_name = icon
        self.kind = kind
        self._with_icon = True
        self._do: Callable[[], object] = lambda: None
        self.setProperty("kind", kind)
        self.setFont(theme().font(strong=kind == "primary", label=kind in ("plain", "danger")))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        self.setIconSize(QSize(sized(ICON_ROOM), sized(ICON)))
        self.clicked.connect(lambda: self._do())
        theme().changed.connect(self.refresh_icon)
        self.refresh_icon()

    def rewire(self, action: Action) -> None:
        """Do another action from now on, and keep the text."""
        self._do = action.do
        self.setEnabled(action.enabled)
        self.setToolTip(action.tip or action.keys)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.kind == "primary" and self.hasFocus():
            self._paint_inner_ring()

    def _paint_inner_ring(self) -> None:
        """Draw a light line beside the border, which alone hardly stands out from the fill."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        thick = theme().ring - 1
        painter.setPen(QPen(theme().colour(Role.ON_ACCENT), thick))
        inset = theme().ring + thick / 2
        corner = radius("field_and_button") - theme().ring
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), corner, corner)

    def show_icon(self, *, shown: bool) -> None:
        """Have the icon, or only the words where there is no room for both."""
        if shown is not self._with_icon:
            self._with_icon = shown
            self.setIcon(QIcon())
            self.refresh_icon()

    def refresh_icon(self) -> None:
        """Draw the icon in the colours of now."""
        if self.icon_name and self._with_icon:
            role = {"primary": Role.ON_ACCENT, "danger": Role.BAD, "link": Role.ACCENT}.get(self.kind, Role.DIM)
            self.setIcon(_padded(self.icon_name, role))


def press_focused(within: QWidget, event: QKeyEvent) -> bool:
    """Press the button that has the focus if the key is Enter; return True if there was one."""
    focused = within.focusWidget()
    if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or not isinstance(focused, QAbstractButton):
        return False
    if focused.isEnabled() and not event.isAutoRepeat():
        focused.click()
    return True


class MenuOpener(Button):
    """A button with a caret at its right end, for what opens a menu."""

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(sized(28) - 10, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        text, option.text = option.text, ""
        painter = QStylePainter(self)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)
        room = self.rect().adjusted(12, 0, -sized(28), 0)
        centre = Qt.AlignmentFlag.AlignCenter
        painter.drawItemText(room, centre, self.palette(), self.isEnabled(), text, QPalette.ColorRole.ButtonText)
        paint_icon(painter, "caret-down", self.width() - sized(24), self.height() / 2, sized(CARET))


def _padded(name: str, role: Role) -> QIcon:
    """Return an icon with room at its right, since the style leaves too little; dim where it cannot be clicked."""
    icon = QIcon()
    for mode, shade in ((QIcon.Mode.Normal, role), (QIcon.Mode.Disabled, Role.DIM)):
        drawn = theme().pixmap(name, shade, sized(ICON))
        ratio = drawn.devicePixelRatio()
        wide = QPixmap(round(sized(ICON_ROOM) * ratio), round(sized(ICON) * ratio))
        wide.setDevicePixelRatio(ratio)
        wide.fill(Qt.GlobalColor.transparent)
        painter = QPainter(wide)
        painter.drawPixmap(0, 0, drawn)
        painter.end()
        icon.addPixmap(wide, mode)
    return icon


def button(action: Action, parent: QWidget | None = None) -> Button:
    """Return a push button that does the action."""
    made = Button(action.text, kind=action.kind, icon=action.icon, parent=parent)
    made.rewire(action)
    return made


class IconButton(QToolButton):
    """A button that is only an icon; `text` is its name for screen readers and its tooltip."""

    def __init__(self, icon: str, text: str, *, size: int = 16, role: Role = Role.DIM) -> None:
        super().__init__()
        self._look = (icon, role, sized(size))
        self.setAccessibleName(text)
        self.setToolTip(text)
        self.setFixedSize(sized(28), sized(28))
        self.setIconSize(QSize(sized(size), sized(size)))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        theme().changed.connect(self._redraw)
        self._redraw()

    def set_icon(self, icon: str, text: str) -> None:
        """Show another icon with another name."""
        self._look = (icon, *self._look[1:])
        self.setAccessibleName(text)
        self.setToolTip(text)
        self._redraw()

    def _redraw(self) -> None:
        self.setIcon(theme().icon(*self._look))


def cut_corners(popup: QWidget) -> None:
    """Cut the corners of a popup off, which are black where the system does not blend windows."""
    path = QPainterPath()
    path.addRoundedRect(QRectF(popup.rect()), radius("popup"), radius("popup"))
    popup.setMask(QRegion(path.toFillPolygon().toPolygon()))


class PopupMenu(QMenu):
    """A menu with round corners on every system."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        cut_corners(self)


def menu(actions: Sequence[Action], parent: QWidget | None = None) -> QMenu:
    """Return a popup menu of actions; one with `apart` stands below a line."""
    made = PopupMenu(parent)
    made.setWindowFlags(made.windowFlags() | Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint)
    made.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    for action in actions:
        if action.apart:
            made.addSeparator()
        if action.under:
            below = menu(action.under, made)
            below.setTitle(action.text.replace("&", "&&"))
            made.addMenu(below)
        else:
            made.addAction(_entry(action, made))
    return made


def show_menu(actions: Sequence[Action], at: QPoint, parent: QWidget) -> QMenu:
    """Open a menu at a global place; it deletes itself when closed."""
    made = menu(actions, parent)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    made.popup(at)
    return made


def show_menu_under(actions: Sequence[Action], opener: QWidget) -> QMenu:
    """Open a menu under what opens it; its right end stays within the window."""
    made = menu(actions, opener)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    made.ensurePolished()
    left = opener.mapTo(opener.window(), QPoint(0, 0)).x()
    room = max(0, opener.window().width() - EDGE - made.sizeHint().width())
    made.popup(opener.mapToGlobal(QPoint(min(0, room - left), opener.height() + 4)))
    return made


def _entry(action: Action, parent: QMenu) -> QAction:
    entry = QAction(action.text.replace("&", "&&"), parent)
    entry.setEnabled(action.enabled)
    if action.icon:
        entry.setIcon(theme().icon(action.icon))
    if action.checked is not None:
        entry.setCheckable(True)
        entry.setChecked(action.checked)
    if action.keys:
        entry.setShortcut(action.keys)
        entry.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        entry.setShortcutVisibleInContextMenu(True)
    entry.triggered.connect(lambda: action.do())
    return entry


class Links(QWidget):
    """A row of links or buttons; hidden while there are none. Those with an equal text stay, and so does the focus."""

    def __init__(self, spacing: int = 12) -> None:
        super().__init__()
        self.buttons: list[Button] = []
        self._row = row_layout(self, spacing=spacing)
        self._row.addStretch(1)
        self.hide()

    def set_links(self, actions: Sequence[Action]) -> None:
        """Show these."""
        if [(made.text(), made.kind) for made in self.buttons] != [(action.text, action.kind) for action in actions]:
            self._make(actions)
        for made, action in zip(self.buttons, actions, strict=True):
            made.rewire(action)
        self.setVisible(bool(actions))

    def _make(self, actions: Sequence[Action]) -> None:
        for made in self.buttons:
            made.hide()
            made.deleteLater()
        self.buttons = [button(action) for action in actions]
        for place, made in enumerate(self.buttons):
            self._row.insertWidget(place, made)
