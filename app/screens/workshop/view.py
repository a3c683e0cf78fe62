"""Widgets of the workshop screen: drafts and tools at the left, the editor in the middle, cases at the right."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.core_link.settings import Settings
from app.screens.workshop.definition_editor import DefinitionEditor
from app.screens.workshop.draft_tools import DraftTool
from app.screens.workshop.prediction_bar import PredictionBar
from app.screens.workshop.trial_view import ARMS, CASE, WHY, TrialCaseList, TrialFooter, VerdictBanner
from app.text.formatting import count
from app.theme import Role, Size, height, sized
from app.widgets import (
    CardList,
    CardRow,
    Column,
    EmptyState,
    IconButton,
    IncrementalBuild,
    Label,
    MenuButton,
    Notice,
    Rule,
    Span,
    Split,
)
from mcp_tef import Draft, DraftId

if TYPE_CHECKING:
    from app.screens.workshop.draft_verdicts import DraftVerdict

NARROW: Final = 1100
SPLIT: Final = "workshop.split"
WORK: Final = "workshop.work"
PANES: Final = 2
ABOUT: Final = "Cases about this tool"
UNCHANGED: Final = "Cases that must not change"
NO_GUARDS: Final = "Cases of other tools are asked as well, to see that nothing else breaks."
RESULT: Final = Column(key="why", title="Result", width=108, least=60, role=Role.DIM, tip="Broken, or no change")


class ListHead(QWidget):
    """A quiet heading with one button at its right."""

    def __init__(self, title: str, icon: str, tip: str) -> None:
        super().__init__()
        self.button = IconButton(icon, tip)
        self.setFixedHeight(height("rail_header"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 8, 0)
        row.addWidget(Label(title, size=Size.SMALL, role=Role.DIM, label=True))
        row.addStretch(1)
        row.addWidget(self.button)


class WorkshopView(QStackedWidget):
    """Either words about why there is nothing, or the panes. `draft_chosen` and `tool_chosen` give ids."""

    draft_chosen = Signal(str)
    tool_chosen = Signal(str)

    @classmethod
    def in_parts(cls) -> "IncrementalBuild[WorkshopView]":
        """Build it in several turns of the event loop."""
        editor = DefinitionEditor()
        yield
        cases = TrialCaseList(ABOUT, (CASE, WHY, *ARMS), "", UNCHANGED)
        yield
        guards = TrialCaseList(UNCHANGED, (CASE, RESULT, *ARMS), NO_GUARDS, ABOUT)
        yield
        return cls(editor, cases, guards)

    def __init__(self, editor: DefinitionEditor, cases: TrialCaseList, guards: TrialCaseList) -> None:
        super().__init__()
        self.editor, self.cases, self.guards = editor, cases, guards
        self.banner, self.prediction, self.footer = VerdictBanner(), PredictionBar(), TrialFooter()
        self.drafts = CardList("Drafts", row_height=sized(52))
        self.tools = CardList("Tools in this draft, changed ones first", row_height=sized(28))
        self.new, self.add = ListHead("Drafts", "plus", "New draft"), ListHead("Tools", "plus", "Add a tool")
        self.draft_menu, self.tool_menu = MenuButton("Draft"), MenuButton("Tool")
        self.empty = EmptyState("wrench", "", "")
        self.listing = Notice("warn")
        self.menus = self._menus()
        self.left = self._left()
        self.middle = QWidget()
        self.right = Split([cases, guards], "Cases of the trial", [420, 240], stacked=True)
        self.work = Split([self.middle, self.right], "Tool and cases", [450, 450])
        self.work.set_stretch(0)
        self.upper = QWidget()
        self.split = Split([self.left, self.upper], "Drafts and the tool", [204, 900])
        self.split.set_stretch(1)
        self._lay_out()
        self._connect()

    def _menus(self) -> QWidget:
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 8, 16, 0)
        row.setSpacing(8)
        row.addWidget(self.draft_menu, 1)
        row.addWidget(self.tool_menu, 1)
        return bar

    def _left(self) -> QWidget:
        left = QWidget()
        left.setMinimumWidth(168)
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self.new, Rule()):
            column.addWidget(part)
        column.addWidget(self.drafts, 2)
        for part in (Rule(), self.add, Rule()):
            column.addWidget(part)
        column.addWidget(self.tools, 3)
        return left

    def _lay_out(self) -> None:
        self.middle.setMinimumWidth(320)
        self.right.setMinimumWidth(280)
        column = QVBoxLayout(self.middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self.listing, self.menus):
            column.addWidget(part)
        column.addWidget(self.editor, 1)
        panes = QWidget()
        for holder, parts in (
            (self.upper, (self.banner, self.prediction, self.work)),
            (panes, (self.split, self.footer)),
        ):
            below = QVBoxLayout(holder)
            below.setContentsMargins(0, 0, 0, 0)
            below.setSpacing(0)
            for part in parts:
                below.addWidget(part, int(isinstance(part, Split)))
        for page in (QWidget(), self.empty, panes):
            self.addWidget(page)

    def _connect(self) -> None:
        self.drafts.chosen.connect(self.draft_chosen)
        self.tools.chosen.connect(self.tool_chosen)
        self.draft_menu.changed.connect(self.draft_chosen)
        self.tool_menu.changed.connect(self.tool_chosen)

    def show_empty(self) -> None:
        """Show `empty`."""
        self.setCurrentIndex(1)

    def show_panes(self) -> None:
        """Show the panes."""
        self.setCurrentIndex(PANES)
        self.place_panes()

    def show_drafts(self, drafts: Sequence[Draft], chosen: str, verdicts: "Mapping[DraftId, DraftVerdict]") -> None:
        """Show these drafts with the verdicts of their newest trials, one of them chosen."""
        self.drafts.set_rows([_draft_row(one, verdicts.get(one.id)) for one in drafts])
        self.drafts.select(chosen)
        self.draft_menu.set_choices([(str(one.id), one.name) for one in drafts], chosen)

    def show_tools(self, tools: Sequence[DraftTool], chosen: str) -> None:
        """Show these tools, one of them chosen."""
        self.tools.set_rows([_tool_row(one) for one in tools])
        self.tools.select(chosen)
        self.tool_menu.set_choices([(one.key, one.name) for one in tools], chosen)

    def narrow(self) -> bool:
        """Return True if there is no room for the list of drafts."""
        return self.window().width() < sized(NARROW)

    def place_panes(self) -> None:
        """Show menus instead of the lists where there is no room for both."""
        narrow = self.narrow()
        self.left.setVisible(not narrow)
        self.menus.setVisible(narrow)

    def remember(self, settings: Settings) -> None:
        """Keep the sizes of panes."""
        if not self.narrow() and self.currentIndex() == PANES:
            settings.set(SPLIT, self.split.layout_state())
            settings.set(WORK, self.work.layout_state())

    def restore(self, settings: Settings) -> None:
        """Take over what was kept."""
        self.split.restore_layout(settings.get(SPLIT, []))
        self.work.restore_layout(settings.get(WORK, []))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.place_panes()


def _draft_row(draft: Draft, verdict: "DraftVerdict | None") -> CardRow:
    number = len(draft.revisions)
    over = draft.server or "a tools file"
    return CardRow(
        id=draft.id,
        title=draft.name,
        sub=(Span(count(number, "tool") if number else "nothing changed", Role.DIM),),
        sub_right=Span(verdict.text, verdict_role(verdict)) if verdict else Span(over, Role.DIM),
        tip=f"{draft.name}, over {over}",
    )


def verdict_role(verdict: "DraftVerdict | None") -> Role:
    """Return the colour of a verdict."""
    return {True: Role.GOOD, False: Role.BAD, None: Role.TEXT}[verdict.good if verdict else None]


def _tool_row(tool: DraftTool) -> CardRow:
    right = "removed" if tool.removed else "added" if tool.added else count(tool.edits, "edit") if tool.edits else ""
    role = Role.ACCENT if tool.touched else Role.DIM
    return CardRow(id=tool.key, title=tool.name or "no name", right=Span(right, role), mono=True)
