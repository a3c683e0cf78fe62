"""Asks whether a program may be started, and shows all of what would be."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from app.screens.servers.presenter import Launch
from app.theme import Role, theme
from app.widgets import Action, FlowText, KeyValues, Span, button


class ConsentBar(QFrame):
    """The question with its two answers."""

    agreed = Signal()
    put_off = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._launch = KeyValues()
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addWidget(FlowText("This server is a program. Start it on this computer?", strong=True))
        why = "It runs with your rights, and nobody has agreed to this command yet. Any change of it asks again."
        column.addWidget(FlowText(why, role=Role.DIM))
        column.addWidget(self._launch)
        row = QHBoxLayout()
        row.setSpacing(8)
        self._start = button(Action(text="Start it", do=self.agreed.emit, kind="primary"))
        row.addWidget(self._start)
        row.addWidget(button(Action(text="Not now", do=self.put_off.emit)))
        row.addStretch(1)
        column.addLayout(row)
        self.hide()

    def ask(self, launch: Launch) -> None:
        """Show the whole command, its folder and the names of its variables."""
        quoted = [Span(word if word and " " not in word else f"'{word}'", mono=True) for word in launch.argv]
        spaced = [part for word in quoted for part in (word, Span(" ", mono=True))]
        rows: list[tuple[str, str | list[Span]]] = [("Command", spaced)]
        rows.append(("Folder", [Span(launch.folder, mono=True)] if launch.folder else "the one mcp-tef was started in"))
        names = ", ".join(launch.variables)
        rows.append(("Variables", [Span(names, mono=True)] if names else "none of its own"))
        self._launch.set_rows(rows)
        self.show()

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().colour(Role.WARN_TINT))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))
