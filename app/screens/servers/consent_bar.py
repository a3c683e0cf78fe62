"""Asks whether a program may be started, and shows all of what would be."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from app.launches import WHY, LaunchView
from app.theme import Role, theme
from app.widgets import Action, FlowText, button
from mcp_tef import ServerSpec


class ConsentBar(QFrame):
    """The question with its two answers."""

    agreed = Signal()
    put_off = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._launch = LaunchView()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(FlowText("This server is a program. Start it on this computer?", strong=True))
        column.addWidget(FlowText(WHY, role=Role.DIM))
        column.addWidget(self._launch)
        row = QHBoxLayout()
        row.setSpacing(8)
        self._start = button(Action(text="Start it", do=self.agreed.emit, kind="primary"))
        row.addWidget(self._start)
        row.addWidget(button(Action(text="Not now", do=self.put_off.emit)))
        row.addStretch(1)
        column.addLayout(row)
        self.hide()

    def ask(self, spec: ServerSpec) -> None:
        """Show what would be started."""
        self._launch.show_launch(spec)
        self.show()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().colour(Role.WARN_TINT))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))
