"""Pane for what a server lists beside its tools: rejected definitions, and instructions to the model."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import FlowText, Label, LineText, Mark, MarkLabel, clear_layout, column_layout, row_layout
from mcp_tef import ToolProblem

MOST_PROBLEMS = 200
ABOUT_REJECTED = "No model is offered these. The other tools of this server are not affected."
ABOUT_INSTRUCTIONS = "The server sends this text when it is greeted. Some clients put it into the prompt."


class ListingNotesPane(QWidget):
    """Notes of a listing: definitions that were rejected, each with its reason, or the server's instructions."""

    def __init__(self) -> None:
        super().__init__()
        self._column = column_layout(self, margins=(16, 16, 16, 16), spacing=12)

    def show_instructions(self, text: str) -> None:
        """Show the instructions of the server, as plain text."""
        self._show("Instructions to the model", ABOUT_INSTRUCTIONS, [FlowText(text)])

    def show_problems(self, problems: Sequence[ToolProblem]) -> None:
        """Show the rejected definitions."""
        title = f"{count(len(problems), 'definition')} rejected"
        self._show(title, ABOUT_REJECTED, [_problem(problem) for problem in problems[:MOST_PROBLEMS]])

    def _show(self, title: str, about: str, parts: Sequence[QWidget]) -> None:
        clear_layout(self._column)
        for part in (Label(title, size=Size.TITLE, strong=True), FlowText(about, role=Role.DIM), *parts):
            self._column.addWidget(part)
        self._column.addStretch(1)


def _problem(problem: ToolProblem) -> QWidget:
    holder = QWidget()
    row = row_layout(holder, spacing=12)
    row.addWidget(MarkLabel(Mark.NOTE, "rejected"), 0, Qt.AlignmentFlag.AlignTop)
    words = column_layout(
        None, LineText(problem.tool or "A tool without a name", strong=True), FlowText(problem.reason, role=Role.DIM)
    )
    row.addLayout(words, 1)
    return holder
