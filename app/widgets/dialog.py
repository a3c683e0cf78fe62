"""Dialogs that are opened and awaited, never executed."""

import asyncio
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.theme import Role, Size, sized, theme
from app.widgets.accessibility import ReadingOrder, reading_order
from app.widgets.actions import Action, Button, button, press_focused
from app.widgets.fields import SearchField, TextArea
from app.widgets.layouts import clear_layout, column_layout
from app.widgets.panes import FittingPane
from app.widgets.safe_text import one_line
from app.widgets.text_view import FlowText

TITLE_LIMIT, TITLE_LINES = 120, 2
SIDE, BAR, ABOVE, GAP = 24, 8, 20, 12
RIM = QSize(32, 40)


class DialogPane(FittingPane):
    """Body of a dialog; it fills the dialog, and its scroll bar always has its place unless it is hidden."""

    def __init__(self, inside: QWidget, name: str, most: Callable[[], int]) -> None:
        super().__init__(inside, name, most)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def bar(self) -> int:
        """Return the width of the scroll bar."""
        hidden = self.verticalScrollBarPolicy() is Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        return 0 if hidden else self.verticalScrollBar().sizeHint().width()

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(self.bar(), 0)

    def minimumSizeHint(self) -> QSize:
        least = self._inside.minimumSizeHint()
        return QSize(least.width() + self.bar(), min(self._most(), least.height()))

    def hasHeightForWidth(self) -> bool:
        return self._inside.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        return min(self._most(), self._inside.heightForWidth(width - self.bar()))


class Dialog(ReadingOrder, QDialog):
    """A dialog over its window: a title, a `body` to fill, and buttons at the foot.

    Enter presses the focused button, in a field the primary one. Esc closes the dialog, and asks before typed text is
    lost unless `autosaves`.
    """

    autosaves = False
    discard_question = ("Discard what you typed?", "The text in this dialog was not saved.")

    def __init__(self, title: str, parent: QWidget, *, width: int = 520) -> None:
        super().__init__(parent)
        self.setWindowTitle(one_line(title, TITLE_LIMIT))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._below = parent.window()
        self.need(width=width)
        self._ended: asyncio.Future[bool] | None = None
        self._foot_buttons: tuple[Button, ...] = ()
        self._begun = False
        self.title = FlowText(self.windowTitle(), size=Size.LEAD, strong=True, max_lines=TITLE_LINES)
        inside = QWidget()
        self.body = QVBoxLayout(inside)
        self._pane = DialogPane(inside, self.windowTitle(), self._most_inside)
        self._foot = QHBoxLayout()
        self._lay_out_frame()
        self.finished.connect(self._finish)
        theme().apply_to(self)

    def _lay_out_frame(self) -> None:
        column = column_layout(self, margins=(SIDE, ABOVE, SIDE - BAR, ABOVE), spacing=GAP)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(GAP)
        self._foot.setContentsMargins(0, 4, BAR, 0)
        self._foot.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self._pane, 1)
        column.addLayout(self._foot)

    def _room(self) -> QSize:
        """Return the maximum size that fits inside the parent window."""
        return self._below.size() - RIM

    def _most_inside(self) -> int:
        """Return the maximum height of the body that keeps the buttons inside the window."""
        others = self.title.minimumHeight() + self._foot.minimumSize().height()
        return self._room().height() - others - 2 * (ABOVE + GAP)

    def sizeHint(self) -> QSize:
        """Its height follows from the width that it will have."""
        return super().sizeHint().expandedTo(self.minimumSize())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in a search agrees to nothing."""
        enters = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if press_focused(self, event) or (enters and isinstance(self.focusWidget(), SearchField)):
            return
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif not self.close_innermost():
            self.ask_to_close()

    def close_innermost(self) -> bool:
        """Close what is open inside the dialog; return False if nothing is."""
        return False

    def closeEvent(self, event: QCloseEvent) -> None:
        if event.spontaneous() and self.has_unsaved_work():
            event.ignore()
            self.ask_to_close()
        else:
            super().closeEvent(event)

    def ask_to_close(self) -> None:
        """Close the dialog, after a question if that would lose what was typed."""
        if not self.has_unsaved_work():
            self.reject()
            return
        title, text = self.discard_question
        question = Dialog(title, self, width=380)
        question.body.addWidget(FlowText(text, role=Role.DIM))
        question.accepted.connect(self.reject)
        keep = Action(text="Keep editing", do=question.reject)
        question.set_buttons([Action(text="Discard", do=question.accept, kind="danger"), keep])
        question.open()

    def has_unsaved_work(self) -> bool:
        """Return True if closing would lose something."""
        if self.autosaves:
            return False
        lines = (one for one in self.findChildren(QLineEdit) if not isinstance(one, SearchField))
        typed = any(one.isModified() and one.text() for one in lines)
        return typed or any(one.is_changed() for one in self.findChildren(TextArea))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            QTimer.singleShot(0, self, self._begin_where_one_can_act)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep a growing dialog centred, so that its buttons do not leave the screen."""
        super().resizeEvent(event)
        if self.isVisible() and not event.spontaneous():
            self.adjustPosition(self._below)

    def _begin_where_one_can_act(self) -> None:
        """Move the focus out of a pane that needed scrolling only before all was laid out."""
        order = reading_order(self)
        focused = self.focusWidget()
        if order and isinstance(focused, QScrollArea) and focused not in order:
            order[0].setFocus()
        elif not self._begun and focused in self._foot_buttons:
            self._foot_buttons[-1].setFocus()
        self._begun = True

    def need(self, *, width: int = 0, height: int = 0) -> None:
        """Be at least this large, and larger as text is, as far as the window below reaches."""
        room = self._room()
        if width:
            self.setMinimumWidth(min(max(width, sized(width)), room.width()))
        if height:
            self.setMinimumHeight(min(max(height, sized(height)), room.height()))

    def set_buttons(self, actions: Sequence[Action], *, left: Sequence[Action] = ()) -> tuple[Button, ...]:
        """Buttons at the right end, the last one the default if it is primary; `left` ones stand apart."""
        clear_layout(self._foot)
        for action in left:
            self._foot.addWidget(button(action, self))
        self._foot.addStretch(1)
        made = tuple(button(action, self) for action in actions)
        for one in made:
            self._foot.addWidget(one)
        if made and made[-1].kind == "primary":
            made[-1].setDefault(True)
        self._foot_buttons = made
        return made

    def add_scrolling(self, pane: QWidget) -> None:
        """Put a pane that scrolls into the body; its bar is in the margin, so that its fields align with the foot."""
        self._pane.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.body.addWidget(pane, 1)

    async def done_with(self) -> bool:
        """Open it and wait for its end: True where it was accepted."""
        self._ended = asyncio.get_running_loop().create_future()
        self.open()
        try:
            return await self._ended
        except asyncio.CancelledError:
            self.reject()
            raise

    def while_open(self, task: "asyncio.Task[object]") -> None:
        """Cancel a task when the dialog is closed, because nothing could show its result."""
        self.finished.connect(lambda _: task.cancel())

    def _finish(self, result: int) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(result == QDialog.DialogCode.Accepted)


async def ask(parent: QWidget, title: str, text: str, *, yes: str, no: str = "Cancel") -> bool:
    """Ask whether to do something; `yes` is the verb on the button."""
    dialog = Dialog(title, parent, width=420)
    dialog.body.addWidget(FlowText(text, role=Role.DIM))
    dialog.set_buttons([Action(text=no, do=dialog.reject), Action(text=yes, do=dialog.accept, kind="primary")])
    return await dialog.done_with()
