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
from mcp_tef import DefinitionChange, Drift, ToolDrift

WORDS: Final[Mapping[DefinitionChange, str]] = {
    DefinitionChange.ADDED: "new",
    DefinitionChange.REMOVED: "gone",
    DefinitionChange.CHANGED: "changed",
}
MOST_NAMED: Final = 3
NONE: Final = (Stretch("No description"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionDiff:
    """A tool's old description beside its new one (None where there is none), suspicions, and the whole difference."""

    name: str
    word: str
    before: tuple[Stretch, ...] | None
    after: tuple[Stretch, ...] | None
    same_words: bool
    warnings: tuple[str, ...]
    lines: tuple[str, ...]


def definition_diff(tool: ToolDrift) -> DefinitionDiff:
    """One tool for the screen."""
    old = tool.before.description if tool.before else ""
    new = tool.after.description if tool.after else ""
    before, after = difference(old, new)
    return DefinitionDiff(
        name=tool.name,
        word=WORDS[tool.change.change],
        before=(before if old else NONE) if tool.before else None,
        after=(after if new else NONE) if tool.after else None,
        same_words=old == new,
        warnings=tuple(finding.sentence for finding in tool.findings),
        lines=tuple(tool.change.diff.splitlines()) if tool.before and tool.after else (),
    )


def most_urgent_first(drift: Drift) -> list[ToolDrift]:
    """Tools with suspicious words, then those that describe themselves otherwise, then the others."""
    return sorted(drift.tools, key=lambda tool: (not tool.findings, not tool.redescribed))


def summary(drift: Drift) -> str:
    """How much differs: 3 tools differ from what you last saw: 1 new, 1 gone, 1 changed."""
    often = Counter(WORDS[tool.change.change] for tool in drift.tools)
    told = ", ".join(f"{often[word]} {word}" for word in WORDS.values() if often[word])
    differ = "differs" if len(drift.tools) == 1 else "differ"
    return f"{count(len(drift.tools), 'tool')} {differ} from what you last saw: {told}."


def warning(drift: Drift) -> str:
    """What deserves a second look, before a model is offered these tools."""
    since = "you agreed to start this server" if drift.agreed else "you last looked"
    parts = []
    if drift.redescribed:
        parts.append(f"The description changed after {since}: {_named(drift.redescribed)}.")
    if drift.suspicious:
        parts.append(f"There are words aimed at a model, or hidden ones: {_named(drift.suspicious)}.")
    return " ".join(parts)


def _named(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


MOST_TOOLS = 50
MOST_LINES = 200
WHAT_TO_DO = "Runs use the new texts already. Accept them once you have read them, or leave the server out."
LOOKS = {"+": Role.GOOD, "-": Role.BAD, "@": Role.DIM}


class ChangesPane(QWidget):
    """Shows a drift, one tool at a time so that nothing waits; `accepted` says that the user has seen it."""

    accepted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.accept = button(Action(text="Accept as seen", do=self.accepted.emit, kind="primary"))
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
        """Show what differs."""
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
    """One tool: both descriptions, suspicions, and the definitions line by line behind a button."""

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
        row.addWidget(Label(view.word, size=Size.SMALL, role=Role.DIM, strong=True))
        return row


def _sides(view: DefinitionDiff) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(16)
    if view.same_words:
        row.addWidget(FlowText("The description is the same; something else in the definition is not.", role=Role.DIM))
        return row
    for caption, text, back in (("Before", view.before, Role.BAD_TINT), ("Now", view.after, Role.GOOD_TINT)):
        if text is not None:
            row.addLayout(_side(caption, text, back), 1)
    return row


def _side(caption: str, text: Sequence[Stretch], back: Role) -> QVBoxLayout:
    said = FlowText()
    said.set_spans([Span(one.text, back=back if one.changed else None) for one in text])
    column = QVBoxLayout()
    column.setSpacing(4)
    column.addWidget(Label(caption, size=Size.SMALL, role=Role.DIM, label=True))
    column.addWidget(said)
    column.addStretch(1)
    return column


def _difference(lines: Sequence[str]) -> list[Span]:
    shown = [Span(f"{line}\n", LOOKS.get(line[:1], Role.TEXT), mono=True) for line in lines[:MOST_LINES]]
    more = len(lines) - MOST_LINES
    return [*shown, Span(f"… {count(more, 'more line')}", Role.DIM)] if more > 0 else shown
