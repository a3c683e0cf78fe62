"""Panes beside each other, with a hairline between them that can be taken hold of, by mouse and by keys."""

from collections.abc import Sequence
from typing import Any, Final

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

from app.theme import Role, roomy, theme, unroomy
from app.widgets.accessibility import Spoken

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
        """The sizes of the panes, as they are at the usual size of text."""
        return [unroomy(size) for size in self.sizes()]

    def restore_layout(self, state: Any) -> None:
        """Take over what `layout_state` gave; anything else is ignored."""
        fits = isinstance(state, list) and len(state) == self.count()
        if fits and all(isinstance(size, int) and 0 <= size < 10_000 for size in state) and sum(state):
            self.setSizes([roomy(size) for size in state])
