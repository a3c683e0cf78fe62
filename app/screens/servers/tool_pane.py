"""Panes beside the tool list: one definition, tools that could not be read, and tools that the user excluded."""

import json
from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.screens.servers.definition_changes import ChangesPane
from app.screens.servers.parameter_table import ParameterList
from app.screens.servers.presenter import token_share
from app.screens.servers.schema import parameters
from app.text.formatting import count
from app.theme import Role, Size, height
from app.widgets import (
    Action,
    CardList,
    CardRow,
    DetailPane,
    EmptyState,
    FlowText,
    Label,
    LineText,
    Links,
    Mark,
    MarkLabel,
    Rule,
    ScrollPane,
    button,
    clear_layout,
    one_line,
)
from app.widgets.text_view import CodeView
from mcp_tef import Drift, Tool, ToolProblem

ABOUT_EXCLUDED = "No model is offered these tools, and no analysis counts them. The server still has them."


class ExcludedToolsPane(QWidget):
    """List of excluded tools; `wanted` gives the names to offer again."""

    wanted = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.list = CardList("Tools left out", row_height=height("table_row"), many=True)
        self.list.set_menu(lambda names: [Action(text="Offer again", do=lambda: self.wanted.emit(names))])
        self.list.opened.connect(lambda name: self.wanted.emit((name,)))
        self.list.tell_keys(Enter="Offer the tool again")
        self.again = button(Action(text="Offer all again", do=lambda: self.wanted.emit(tuple(self.list.rows.ids()))))
        self._title = Label(size=Size.TITLE, strong=True)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(self._title, 1)
        head.addWidget(self.again)
        top = QVBoxLayout()
        top.setContentsMargins(16, 16, 16, 12)
        top.setSpacing(8)
        top.addLayout(head)
        top.addWidget(FlowText(ABOUT_EXCLUDED, role=Role.DIM))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(Rule())
        column.addWidget(self.list, 1)

    def show_names(self, names: Sequence[str]) -> None:
        """Show the names of excluded tools."""
        self._title.setText(f"{count(len(names), 'tool')} left out")
        self.list.set_rows([CardRow(id=name, title=one_line(name), mono=True) for name in names])


MOST_PROBLEMS = 200


class DefinitionPane(QWidget):
    """Definition of a tool for reading; `call_wanted` asks to call the tool."""

    call_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.attempt = button(Action(text="Call…", do=self.call_wanted.emit))
        self._name = LineText(size=Size.TITLE, mono=True)
        self._weight = LineText(size=Size.SMALL, role=Role.DIM)
        self._description = FlowText(size=Size.LEAD)
        self.links = Links()
        self.parameters = ParameterList()
        head = QHBoxLayout()
        head.addWidget(self._name, 1)
        head.addWidget(self.attempt)
        head.setSpacing(12)
        top = QVBoxLayout()
        top.setContentsMargins(16, 16, 16, 16)
        top.setSpacing(8)
        top.addLayout(head)
        top.addWidget(self._weight)
        top.addWidget(self._description)
        top.addWidget(self.links)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(Rule())
        column.addWidget(self.parameters)
        column.addStretch(1)

    def show_tool(self, tool: Tool, tools: Sequence[Tool], *, can_be_called: bool) -> None:
        """Show a tool; `tools` are all tools of its server."""
        self._name.set_text(tool.name)
        self.attempt.setVisible(can_be_called)
        self._weight.set_text(token_share(tool, tools))
        missing = not tool.description.strip()
        text = "No description: a model sees only the name." if missing else tool.description
        self._description.set_text(text, Role.WARN if missing else Role.TEXT)
        self.parameters.show_parameters((tool.server, tool.name), parameters(tool.input_schema))


class RejectedToolsPane(QWidget):
    """Definitions that were rejected, each with its reason."""

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(16, 16, 16, 16)
        self._column.setSpacing(12)

    def show_problems(self, problems: Sequence[ToolProblem]) -> None:
        """Show the rejected definitions."""
        clear_layout(self._column)
        self._column.addWidget(Label(f"{count(len(problems), 'definition')} rejected", size=Size.TITLE, strong=True))
        words = "No model is offered these. The other tools of this server are not affected."
        self._column.addWidget(FlowText(words, role=Role.DIM))
        for problem in problems[:MOST_PROBLEMS]:
            self._column.addWidget(_problem(problem))
        self._column.addStretch(1)


def _problem(problem: ToolProblem) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(12)
    row.addWidget(MarkLabel(Mark.NOTE, "rejected"), 0, Qt.AlignmentFlag.AlignTop)
    words = QVBoxLayout()
    words.setSpacing(0)
    words.addWidget(LineText(problem.tool or "A tool without a name", strong=True))
    words.addWidget(FlowText(problem.reason, role=Role.DIM))
    row.addLayout(words, 1)
    return holder


class ToolPane(QStackedWidget):
    """Definition of a tool, rejected tools, changes, or a reason why there is nothing.

    `call_wanted` gives the tool to call, `shown` the tool that was shown.
    """

    call_wanted = Signal(object)
    shown = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._tool: Tool | None = None
        self.reader = DefinitionPane()
        self.reader.call_wanted.connect(lambda: self.call_wanted.emit(self._tool))
        self._raw = CodeView("Raw JSON")
        self._tabs = DetailPane("Tool")
        self._tabs.add_tab("reader", "Definition", self.reader)
        self._tabs.add_tab("raw", "Raw JSON", self._raw, scroll=False)
        self._problems = RejectedToolsPane()
        self._problem_pane = ScrollPane(self._problems, "Problems")
        self._empty = EmptyState("wrench", "", "")
        self.changes = ChangesPane()
        self._changes_pane = ScrollPane(self.changes, "Changes")
        self.left_out = ExcludedToolsPane()
        for part in (self._tabs, self._problem_pane, self._changes_pane, self.left_out, self._empty):
            self.addWidget(part)

    def show_tool(self, tool: Tool, tools: Sequence[Tool], *, can_be_called: bool) -> None:
        """Show a tool; one that is only in a file cannot be called."""
        self._tool = tool
        self.reader.show_tool(tool, tools, can_be_called=can_be_called)
        text = json.dumps(tool.raw, indent=2, ensure_ascii=False, default=str)
        self._raw.show_text(text)
        self.setCurrentWidget(self._tabs)
        self.shown.emit(tool)

    def show_problems(self, problems: Sequence[ToolProblem]) -> None:
        """Show the rejected definitions."""
        self._problems.show_problems(problems)
        self.setCurrentWidget(self._problem_pane)

    def show_changes(self, drift: Drift) -> None:
        """Show the changes since the user accepted the tools."""
        self.changes.show_drift(drift)
        self.setCurrentWidget(self._changes_pane)

    def show_excluded(self, names: Sequence[str]) -> None:
        """Show the excluded tools."""
        self.left_out.show_names(names)
        self.setCurrentWidget(self.left_out)

    def show_nothing(self, title: str, sentence: str) -> None:
        """Show why there is nothing."""
        self._empty.set("wrench", title, sentence)
        self.setCurrentWidget(self._empty)
