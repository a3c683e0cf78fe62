"""Panes beside the tool list: one definition, changed definitions, rejected tools and excluded tools."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.arguments.parameters import parameters
from app.screens.servers.listing_notes import ListingNotesPane
from app.screens.servers.parameter_table import ParameterList
from app.screens.servers.presenter import token_share
from app.text.formatting import count
from app.text.text_diff import Stretch, difference
from app.theme import Role, Size, height
from app.widgets import (
    Action,
    Button,
    CardList,
    CardRow,
    DetailPane,
    EmptyState,
    FlowText,
    Label,
    LineText,
    Links,
    Rule,
    ScrollPane,
    Span,
    button,
    clear_layout,
    column_layout,
    one_line,
    row_layout,
)
from app.widgets.text_view import CodeView
from mcp_tef import DefinitionChange, Drift, Tool, ToolDrift, ToolProblem

CHANGE_TEXTS: Final[Mapping[DefinitionChange, str]] = {
    DefinitionChange.ADDED: "new",
    DefinitionChange.REMOVED: "removed",
    DefinitionChange.CHANGED: "changed",
}
MOST_NAMED: Final = 3
NO_DESCRIPTION: Final = (Stretch("No description"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionDiff:
    """Old and new description of a tool (None if it has none), warnings, and the difference of the definitions."""

    name: str
    change: str
    before: tuple[Stretch, ...] | None
    after: tuple[Stretch, ...] | None
    same_description: bool
    warnings: tuple[str, ...]
    lines: tuple[str, ...]


def definition_diff(tool: ToolDrift) -> DefinitionDiff:
    """Return the changes of one tool as the screen shows them."""
    old, new = (definition.description if definition else None for definition in (tool.before, tool.after))
    before, after = difference(old or "", new or "")
    return DefinitionDiff(
        name=tool.name,
        change=CHANGE_TEXTS[tool.change.change],
        before=_shown(old, before),
        after=_shown(new, after),
        same_description=old == new,
        warnings=tuple(finding.sentence for finding in tool.findings),
        lines=tuple(tool.change.diff.splitlines()) if tool.before and tool.after else (),
    )


def _shown(description: str | None, marked: tuple[Stretch, ...]) -> tuple[Stretch, ...] | None:
    return None if description is None else marked or NO_DESCRIPTION


def most_urgent_first(drift: Drift) -> list[ToolDrift]:
    """Return tools with suspicious text first, then those with a new description, then the others."""
    return sorted(drift.tools, key=lambda tool: (not tool.findings, not tool.redescribed))


def summary(drift: Drift) -> str:
    """Return the number of changes: "3 tools changed since you accepted them: 1 new, 1 removed, 1 changed."."""
    often = Counter(CHANGE_TEXTS[tool.change.change] for tool in drift.tools)
    counts = ", ".join(f"{often[text]} {text}" for text in CHANGE_TEXTS.values() if often[text])
    them = "it" if len(drift.tools) == 1 else "them"
    return f"{count(len(drift.tools), 'tool')} changed since you accepted {them}: {counts}."


def warning(drift: Drift) -> str:
    """Return what to check before a model is offered these tools."""
    since = "you allowed this server" if drift.agreed else "you accepted it"
    parts = []
    if drift.redescribed:
        parts.append(f"The description changed after {since}: {_named(drift.redescribed)}.")
    if drift.suspicious:
        parts.append(f"These contain hidden text, or instructions to a model: {_named(drift.suspicious)}.")
    return " ".join(parts)


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


MOST_TOOLS = 50
MOST_LINES = 200
WHAT_TO_DO = "Runs use the new definitions already. Read them, then accept them or remove the server."
LINE_ROLES = {"+": Role.GOOD, "-": Role.BAD, "@": Role.DIM}


class ChangesPane(QWidget):
    """Definition changes of a server, added one tool per turn so that the window stays responsive."""

    accepted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.accept = button(Action(text="Accept changes", do=self.accepted.emit, kind="primary"))
        self._drift: Drift | None = None
        self._waiting: list[ToolDrift] = []
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._add_one)
        self._list = column_layout(spacing=16)
        head = row_layout(spacing=16)
        head.addWidget(Label("What changed", size=Size.TITLE, strong=True), 1)
        head.addWidget(self.accept, 0, Qt.AlignmentFlag.AlignTop)
        column = column_layout(
            self, head, FlowText(WHAT_TO_DO, role=Role.DIM), self._list, margins=(16, 16, 16, 16), spacing=12
        )
        column.addStretch(1)

    def show_drift(self, drift: Drift) -> None:
        """Show the changes."""
        if drift == self._drift:
            return
        self._drift = drift
        clear_layout(self._list)
        self._waiting = most_urgent_first(drift)
        self._turn.start()

    def _add_one(self) -> None:
        if not self._waiting or self._list.count() == MOST_TOOLS:
            self._turn.stop()
            if self._waiting:
                self._list.addWidget(FlowText(f"And {len(self._waiting)} more.", role=Role.DIM))
            return
        self._list.addWidget(_DefinitionDiffCard(definition_diff(self._waiting.pop(0))))


class _DefinitionDiffCard(QWidget):
    """Changes of one tool: both descriptions, warnings, and the whole definition behind a button."""

    def __init__(self, view: DefinitionDiff) -> None:
        super().__init__()
        self._view = view
        self._lines = FlowText(size=Size.SMALL, mono=True)
        self._lines.hide()
        self._toggle = Button("Definition line by line", kind="link")
        self._toggle.clicked.connect(self._turn)
        self._toggle.setVisible(bool(view.lines))
        column = column_layout(self, Rule(), self._head(view), _sides(view), spacing=8)
        for sentence in view.warnings:
            column.addWidget(FlowText(sentence, role=Role.WARN))
        column.addWidget(self._lines)

    def _turn(self) -> None:
        self._lines.set_spans(_difference(self._view.lines))
        self._lines.setVisible(self._lines.isHidden())

    def _head(self, view: DefinitionDiff) -> QHBoxLayout:
        row = row_layout(spacing=12)
        row.addWidget(LineText(view.name, mono=True, strong=True), 1)
        row.addWidget(self._toggle)
        row.addWidget(Label(view.change, size=Size.SMALL, role=Role.DIM, strong=True))
        return row


def _sides(view: DefinitionDiff) -> QHBoxLayout:
    row = row_layout(spacing=16)
    if view.same_description:
        row.addWidget(FlowText("The description is unchanged; another part of the definition changed.", role=Role.DIM))
        return row
    for caption, text, back in (("Before", view.before, Role.BAD_TINT), ("Now", view.after, Role.GOOD_TINT)):
        if text is not None:
            row.addLayout(_side(caption, text, back), 1)
    return row


def _side(caption: str, text: Sequence[Stretch], back: Role) -> QVBoxLayout:
    shown = FlowText()
    shown.set_spans([Span(one.text, back=back if one.changed else None) for one in text])
    column = column_layout(None, Label(caption, size=Size.SMALL, role=Role.DIM, label=True), shown, spacing=4)
    column.addStretch(1)
    return column


def _difference(lines: Sequence[str]) -> list[Span]:
    shown = [Span(f"{line}\n", LINE_ROLES.get(line[:1], Role.TEXT), mono=True) for line in lines[:MOST_LINES]]
    more = len(lines) - MOST_LINES
    return [*shown, Span(f"… {count(more, 'more line')}", Role.DIM)] if more > 0 else shown


ABOUT_EXCLUDED = "No model is offered these tools, and no analysis counts them. The server still has them."


class ExcludedToolsPane(QWidget):
    """List of excluded tools; `wanted` gives the names to offer again."""

    wanted = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.list = CardList("Tools left out", row_height=height("table_row"), many=True)
        self.list.set_menu(lambda names: [Action(text="Offer again", do=lambda: self.wanted.emit(names))])
        self.list.opened.connect(lambda name: self.wanted.emit((name,)))
        self.list.describe_keys(Enter="Offer the tool again")
        self.again = button(Action(text="Offer all again", do=lambda: self.wanted.emit(tuple(self.list.rows.ids()))))
        self._title = Label(size=Size.TITLE, strong=True)
        head = row_layout(spacing=16)
        head.addWidget(self._title, 1)
        head.addWidget(self.again)
        top = column_layout(None, head, FlowText(ABOUT_EXCLUDED, role=Role.DIM), margins=(16, 16, 16, 12), spacing=8)
        column = column_layout(self, top, Rule())
        column.addWidget(self.list, 1)

    def show_names(self, names: Sequence[str]) -> None:
        """Show the names of excluded tools."""
        self._title.setText(f"{count(len(names), 'tool')} left out")
        self.list.set_rows([CardRow(id=name, title=one_line(name), mono=True) for name in names])


class DefinitionPane(QWidget):
    """Definition of a tool for reading; `call_wanted` asks to call the tool, `case_wanted` for a case about it."""

    call_wanted = Signal()
    case_wanted = Signal()

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
        head.addWidget(button(Action(text="Write a test case", do=self.case_wanted.emit, kind="primary")))
        head.setSpacing(12)
        top = column_layout(
            None, head, self._weight, self._description, self.links, margins=(16, 16, 16, 16), spacing=8
        )
        column = column_layout(self, top, Rule(), self.parameters)
        column.addStretch(1)

    def show_tool(self, tool: Tool, tokens: Mapping[str, int], *, can_be_called: bool) -> None:
        """Show a tool; `tokens` are those of each tool of its server."""
        self._name.set_text(tool.name)
        self.attempt.setVisible(can_be_called)
        self._weight.set_text(token_share(tool, tokens))
        missing = not tool.description.strip()
        text = "No description: a model sees only the name." if missing else tool.description
        self._description.set_text(text, Role.WARN if missing else Role.TEXT)
        self.parameters.show_parameters((tool.server, tool.name), parameters(tool.input_schema))


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
        self._problems = ListingNotesPane()
        self._problem_pane = ScrollPane(self._problems, "Problems")
        self._empty = EmptyState("wrench", "", "")
        self.changes = ChangesPane()
        self._changes_pane = ScrollPane(self.changes, "Changes")
        self.left_out = ExcludedToolsPane()
        for part in (self._tabs, self._problem_pane, self._changes_pane, self.left_out, self._empty):
            self.addWidget(part)

    def show_tool(self, tool: Tool, tokens: Mapping[str, int], *, can_be_called: bool) -> None:
        """Show a tool; one that is only in a file cannot be called."""
        self._tool = tool
        self.reader.show_tool(tool, tokens, can_be_called=can_be_called)
        text = json.dumps(tool.raw, indent=2, ensure_ascii=False, default=str)
        self._raw.show_text(text)
        self.setCurrentWidget(self._tabs)
        self.shown.emit(tool)

    def show_problems(self, problems: Sequence[ToolProblem]) -> None:
        """Show the rejected definitions."""
        self._problems.show_problems(problems)
        self.setCurrentWidget(self._problem_pane)

    def show_instructions(self, text: str) -> None:
        """Show what the server tells a model besides its tools."""
        self._problems.show_instructions(text)
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
