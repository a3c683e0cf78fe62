"""Dialogs that are opened and awaited, never executed."""

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.theme import Role, Size, sized, theme
from app.widgets.actions import Action, Button, button
from app.widgets.flow import FlowText
from app.widgets.focus import ReadingOrder, reading_order
from app.widgets.notices import clear_layout
from app.widgets.plain import one_line

TITLE_LIMIT, TITLE_LINES = 120, 2
SIDE, BAR = 24, 8


class Sheet(ReadingOrder, QDialog):
    """A dialog over its window: a title, a `body` to fill, and buttons at the foot; Esc closes it."""

    def __init__(self, title: str, parent: QWidget, *, width: int = 520) -> None:
        super().__init__(parent)
        self.setWindowTitle(one_line(title, TITLE_LIMIT))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._below = parent.window()
        self.need(width=width)
        self._ended: asyncio.Future[bool] | None = None
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(SIDE, 20, SIDE, 20)
        column.setSpacing(12)
        self.title = FlowText(self.windowTitle(), size=Size.LEAD, strong=True, max_lines=TITLE_LINES)
        column.addWidget(self.title)
        self.body = QVBoxLayout()
        self.body.setSpacing(12)
        column.addLayout(self.body, 1)
        column.addSpacing(4)
        self._foot = QHBoxLayout()
        self._foot.setSpacing(8)
        column.addLayout(self._foot)
        self.finished.connect(self._finish)
        theme().wear(self)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            QTimer.singleShot(0, self, self._begin_where_one_can_act)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """What grows by itself stays in the middle of its window, so that its buttons do not leave the screen."""
        super().resizeEvent(event)
        if self.isVisible() and not event.spontaneous():
            self.adjustPosition(self._below)

    def _begin_where_one_can_act(self) -> None:
        """A pane that was too low for its text before all was laid out needs no scrolling, so it is no place to be."""
        order = reading_order(self)
        if order and isinstance(focused := self.focusWidget(), QScrollArea) and focused not in order:
            order[0].setFocus()

    def need(self, *, width: int = 0, height: int = 0) -> None:
        """Be at least this large, and larger as text is, as far as the window below reaches."""
        room = self._below.size()
        if width:
            self.setMinimumWidth(max(width, min(sized(width), room.width())))
        if height:
            self.setMinimumHeight(max(height, min(sized(height), room.height())))

    def set_buttons(self, actions: Sequence[Action], *, left: Sequence[Action] = ()) -> tuple[Button, ...]:
        """Buttons at the right end, the last one the default; `left` ones stand apart."""
        clear_layout(self._foot)
        for action in left:
            self._foot.addWidget(button(action, self))
        self._foot.addStretch(1)
        made = tuple(button(action, self) for action in actions)
        for one in made:
            self._foot.addWidget(one)
        if made:
            made[-1].setDefault(True)
        return made

    def add_scrolling(self, pane: QWidget) -> None:
        """Put a pane that scrolls into the body; its bar stands in the margin, so that its fields end with the foot."""
        self._column.setContentsMargins(SIDE, 20, SIDE - BAR, 20)
        self._foot.setContentsMargins(0, 0, BAR, 0)
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
        """Give a task up when the sheet is closed, since what it would show is gone."""
        self.finished.connect(lambda _: task.cancel())

    def _finish(self, result: int) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(result == QDialog.DialogCode.Accepted)


async def ask(parent: QWidget, title: str, text: str, *, yes: str, no: str = "Cancel", danger: bool = False) -> bool:
    """Ask whether to do something; `yes` is the verb on the button."""
    sheet = Sheet(title, parent, width=420)
    sheet.body.addWidget(FlowText(text, role=Role.DIM))
    kind = "danger" if danger else "primary"
    sheet.set_buttons(
        [Action(text=no, do=sheet.reject), Action(text=yes, do=sheet.accept, kind=kind)],
    )
    return await sheet.done_with()
