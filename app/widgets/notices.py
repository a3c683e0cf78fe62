"""Messages of a page: empty states, what is loading, errors, notices and toasts."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QVBoxLayout, QWidget

from app.theme import Role, Size, roomy, sized, theme
from app.widgets.accessibility import Spoken, announce
from app.widgets.actions import Action, Button, IconButton, Links, button
from app.widgets.layouts import clear_layout, column_layout, row_layout
from app.widgets.safe_text import visible
from app.widgets.text_view import FlowText, Label

TOAST_MS = 8_000
TOAST_LIMIT = 600
BELOW_TOAST = 8
LOADING_MS = 150


class IconPicture(QWidget):
    """An icon as a picture."""

    def __init__(self, name: str, role: Role = Role.DIM, size: int = 20) -> None:
        super().__init__()
        self._look = (name, role, sized(size))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self.update)

    def set_icon(self, name: str, role: Role) -> None:
        """Show another."""
        self._look = (name, role, self._look[2])
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(self._look[2], self._look[2])

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).drawPixmap(0, 0, theme().pixmap(*self._look, self.devicePixelRatioF()))


class EmptyState(QWidget):
    """Empty state: title, explanation, and the button that creates the first item."""

    WIDTH = 380

    def __init__(self, icon: str, title: str, sentence: str, actions: Sequence[Action] = ()) -> None:
        super().__init__()
        self._icon = IconPicture(icon, Role.ACCENT, 28)
        self._title = Label(title, size=Size.LEAD, strong=True)
        self._sentence = FlowText(sentence, role=Role.DIM)
        self._sentence.setMaximumWidth(roomy(self.WIDTH))
        self._buttons = Links(8)
        block = QWidget()
        block.setMinimumWidth(roomy(self.WIDTH))
        column = column_layout(block, self._icon, self._title, self._sentence, spacing=8)
        column.addSpacing(8)
        column.addWidget(self._buttons)
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        outer.addWidget(block, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(3)
        self._buttons.set_links(actions)

    def set(self, icon: str, title: str, sentence: str, actions: Sequence[Action] = ()) -> None:
        """Change icon, title, sentence and buttons."""
        self._icon.set_icon(icon, Role.ACCENT)
        self._title.setText(title)
        self._sentence.set_text(sentence)
        self._buttons.set_links(actions)

    def buttons(self) -> tuple[Button, ...]:
        """Return the buttons, from left to right."""
        return tuple(self._buttons.buttons)


class LoadingCover(QWidget):
    """A line of text over a page that has no content yet; a load that is soon done never shows it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("pane", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.text = Label(role=Role.DIM)
        self._delay = QTimer(self, singleShot=True, interval=LOADING_MS)
        self._delay.timeout.connect(self._show)
        column = QVBoxLayout(self)
        column.addWidget(self.text, 0, Qt.AlignmentFlag.AlignCenter)
        self.hide()

    def show_soon(self, text: str) -> None:
        """Cover the page with a text, unless `remove` comes first."""
        self.text.setText(text)
        self._delay.start()

    def remove(self) -> None:
        """Uncover the page."""
        self._delay.stop()
        self.hide()

    def _show(self) -> None:
        self.show()
        self.raise_()
        announce(self, self.text.text())


class Notice(QFrame):
    """A message in the page: what happened, what to do, buttons, and details that open below."""

    SPOKEN_AS = Spoken.AlertMessage

    ICONS = {  # noqa: RUF012
        "bad": ("warning-circle", Role.BAD, Role.BAD_TINT),
        "warn": ("warning", Role.WARN, Role.WARN_TINT),
        "info": ("info", Role.INFO, Role.INFO_TINT),
        "good": ("check-circle", Role.GOOD, Role.GOOD_TINT),
    }

    def __init__(self, kind: str = "bad", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        icon, self._role, self._tint = self.ICONS[kind]
        self._icon = IconPicture(icon, self._role, 16)
        self._message = FlowText(strong=True)
        self._hint = FlowText()
        self._details = FlowText(size=Size.SMALL, mono=True)
        self._toggle = Button("Details", kind="link")
        self._toggle.clicked.connect(lambda: self._details.setVisible(self._details.isHidden()))
        self._actions = row_layout(spacing=8)
        self._upper = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        row = row_layout(self, margins=(16, 10, 16, 10), spacing=10)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        words = column_layout(None, self._message, self._hint, spacing=4)
        self._upper.setSpacing(4)
        self._upper.addLayout(words, 1)
        self._upper.addLayout(self._actions)
        column = column_layout(spacing=4)
        row.addLayout(column, 1)
        column.addLayout(self._upper)
        column.addWidget(self._details)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        """Lay out the actions beside the message where both fit into one line, else below it."""
        margins = self.contentsMargins()
        edges = 16 + self._icon.width() + 10 + 16 + margins.left() + margins.right()
        wanted = self._message.width_of(self._message.text()) + self._actions.sizeHint().width() + 24
        beside = self._hint.isHidden() and wanted + edges <= self.width()
        ways = QBoxLayout.Direction
        self._upper.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    def show_message(self, message: str, hint: str = "", actions: Sequence[Action] = (), details: str = "") -> None:
        """Say it; an empty message hides the notice."""
        self._message.set_text(message)
        self._hint.set_text(hint)
        self._hint.setVisible(bool(hint))
        self._details.set_text(details)
        self._details.hide()
        self._fill_actions(actions, bool(details))
        self.setAccessibleName(visible(f"{message} {hint}".strip()))
        self.setVisible(bool(message))
        if message:
            announce(self, self.accessibleName())

    def clear(self) -> None:
        """Say nothing."""
        self.show_message("")

    def _fill_actions(self, actions: Sequence[Action], details: bool) -> None:
        self._actions.removeWidget(self._toggle)
        clear_layout(self._actions)
        for action in actions:
            self._actions.addWidget(button(action))
        self._actions.addWidget(self._toggle)
        self._toggle.setVisible(details)
        self._actions.addStretch(1)
        self._arrange()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().colour(self._tint))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))


class Toaster(QObject):
    """Short words below the contents of a widget, which make room for them, with Undo where it can be undone."""

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self._host = host
        self._toast: Toast | None = None

    def show(self, text: str, undo: Callable[[], object] | None = None, *, label: str = "Undo") -> None:
        """Show a message for eight seconds, or until the next one."""
        self.dismiss()
        self._toast = Toast(text, undo, label, self._host)
        self._toast.gone.connect(self.dismiss)
        self._place(self._toast)
        announce(self._toast, self._toast.accessibleName())

    def dismiss(self) -> None:
        """Take it away."""
        if self._toast is not None:
            self._toast.hide()
            self._toast.deleteLater()
            self._toast = None
            self._make_room(0)

    def undo(self) -> bool:
        """Undo what the toast offers to undo; False where it offers nothing."""
        return self._toast is not None and self._toast.undo()

    def _place(self, toast: "Toast") -> None:
        toast.setFixedWidth(min(max(280, toast.sizeHint().width()), self._host.width() - 32))
        if (layout := self._host.layout()) is not None:
            layout.addWidget(toast)
            layout.setAlignment(toast, Qt.AlignmentFlag.AlignHCenter)
            self._make_room(BELOW_TOAST)
        toast.show()

    def _make_room(self, below: int) -> None:
        if (layout := self._host.layout()) is not None:
            layout.setSpacing(below)
            layout.setContentsMargins(0, 0, 0, below)


class Toast(QFrame):
    """One such word; stays while the mouse or the keyboard is on it."""

    SPOKEN_AS = Spoken.AlertMessage

    def __init__(self, text: str, undo: Callable[[], object] | None, label: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._undo = undo
        self.setProperty("popup", True)
        theme().apply_to(self)
        self.setAccessibleName(visible(text))
        self._timer = QTimer(self, interval=TOAST_MS, singleShot=True)
        self.gone = self._timer.timeout
        words = FlowText(visible(text, TOAST_LIMIT))
        words.setMinimumWidth(min(520, words.width_of(words.text()) + 8))
        row = row_layout(self, margins=(16, 8, 8, 8), spacing=None)
        row.addWidget(words, 1)
        if undo is not None:
            row.addWidget(button(Action(text=label, do=self.undo, kind="link")))
        close = IconButton("x", "Close")
        close.clicked.connect(self._end)
        row.addWidget(close)
        self._timer.start()

    def undo(self) -> bool:
        """Do the undoing once."""
        undo, self._undo = self._undo, None
        self._end()
        if undo is None:
            return False
        undo()
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._end()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: object) -> None:
        self._timer.stop()

    def leaveEvent(self, event: object) -> None:
        self._timer.start()

    def _end(self) -> None:
        self._timer.start(0)
