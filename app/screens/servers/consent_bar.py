"""Asks whether a server may be started or contacted, and shows all that this allows."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from app.dialogs.consent import ALLOW, WHY, ConsentView
from app.theme import Role, theme
from app.widgets import Action, FlowText, button
from mcp_tef import ConsentKind, ConsentRequest

QUESTIONS = {
    ConsentKind.PROGRAM: "This server is a program. Start it on this computer?",
    ConsentKind.CONNECTION: "Connect to this server?",
}


class ConsentBar(QFrame):
    """The question with its two answers."""

    agreed = Signal()
    postponed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._view = ConsentView()
        self._question, self._why = FlowText(strong=True), FlowText(role=Role.DIM)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        for part in (self._question, self._why, self._view):
            column.addWidget(part)
        row = QHBoxLayout()
        row.setSpacing(8)
        self._start = button(Action(text=ALLOW[ConsentKind.PROGRAM], do=self.agreed.emit, kind="primary"))
        row.addWidget(self._start)
        row.addWidget(button(Action(text="Not now", do=self.postponed.emit)))
        row.addStretch(1)
        column.addLayout(row)
        self.hide()

    def ask(self, request: ConsentRequest) -> None:
        """Show what would be allowed."""
        self._question.set_text(QUESTIONS[request.kind])
        self._why.set_text(WHY[request.kind])
        self._start.setText(ALLOW[request.kind])
        self._view.show_request(request)
        self.show()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().colour(Role.WARN_TINT))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))
