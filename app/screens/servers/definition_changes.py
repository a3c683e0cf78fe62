"""Tools whose definitions changed since the user accepted them: old and new text with the differences marked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.text.formatting import count
from app.text.text_diff import Stretch, difference
from app.theme import Role, Size
from app.widgets import Action, Button, FlowText, Label, LineText, Rule, Span, button, clear_layout
from mcp_tef import DefinitionChange, Drift, Tool, ToolDrift

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
    old, new = _description(tool.before), _description(tool.after)
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


def _description(definition: Tool | None) -> str | None:
    return definition.description if definition else None


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
        self._list = QVBoxLayout()
        self._list.setSpacing(16)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(Label("What changed", size=Size.TITLE, strong=True), 1)
        head.addWidget(self.accept, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(12)
        column.addLayout(head)
        column.addWidget(FlowText(WHAT_TO_DO, role=Role.DIM))
        column.addLayout(self._list)
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(Rule())
        column.addLayout(self._head(view))
        column.addLayout(_sides(view))
        for sentence in view.warnings:
            column.addWidget(FlowText(sentence, role=Role.WARN))
        column.addWidget(self._lines)

    def _turn(self) -> None:
        self._lines.set_spans(_difference(self._view.lines))
        self._lines.setVisible(self._lines.isHidden())

    def _head(self, view: DefinitionDiff) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(LineText(view.name, mono=True, strong=True), 1)
        row.addWidget(self._toggle)
        row.addWidget(Label(view.change, size=Size.SMALL, role=Role.DIM, strong=True))
        return row


def _sides(view: DefinitionDiff) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(16)
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
    column = QVBoxLayout()
    column.setSpacing(4)
    column.addWidget(Label(caption, size=Size.SMALL, role=Role.DIM, label=True))
    column.addWidget(shown)
    column.addStretch(1)
    return column


def _difference(lines: Sequence[str]) -> list[Span]:
    shown = [Span(f"{line}\n", LINE_ROLES.get(line[:1], Role.TEXT), mono=True) for line in lines[:MOST_LINES]]
    more = len(lines) - MOST_LINES
    return [*shown, Span(f"… {count(more, 'more line')}", Role.DIM)] if more > 0 else shown
