"""Widgets of the workshop screen: its tabs; drafts and tools at the left, the editor, cases at the right."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from app.core_link.commands import Command
from app.core_link.session import Page
from app.core_link.settings import Settings
from app.core_link.targets import ShowCrowdTest, ShowStealTest, Target
from app.screens.workshop.commands import GROUP, TOOL_KEYS
from app.screens.workshop.definition_editor import DefinitionEditor
from app.screens.workshop.draft_tools import DraftTool
from app.screens.workshop.prediction_bar import PredictionBar
from app.screens.workshop.rival_presenter import RivalTool
from app.screens.workshop.trial_view import ARMS, CASE, RANK, WHY, TrialCaseList, TrialFooter, VerdictBanner
from app.text.formatting import count
from app.theme import Role, Size, height, sized
from app.widgets import (
    Action,
    CardList,
    CardRow,
    Column,
    EmptyState,
    FittingPane,
    FlowText,
    IconButton,
    IncrementalBuild,
    Label,
    MenuButton,
    Notice,
    Rule,
    Segmented,
    Span,
    Split,
)
from mcp_tef import INSTRUCTIONS, Draft, DraftId, ModelSettings

if TYPE_CHECKING:
    from app.screens.workshop.batch_tab import BatchTab
    from app.screens.workshop.draft_verdicts import DraftVerdict

NARROW: Final = 1100
SPLIT: Final = "workshop.split"
WORK: Final = "workshop.work"
PANES: Final = 2
MOST_RIVAL: Final = 260
ABOUT: Final = "Cases about this tool"
UNCHANGED: Final = "Cases that must not change"
NO_GUARDS: Final = "Cases of other tools are asked as well, to see that nothing else breaks."
DRAFT, BETTER, CROWD, STEAL = "draft", "better", "crowd", "steal"
TABS: Final = ((DRAFT, "Draft"), (BETTER, "Find a better text"), (CROWD, "Crowd test"), (STEAL, "Steal test"))
T = TypeVar("T")
RESULT: Final = Column(key="why", title="Result", width=108, least=60, role=Role.DIM, tip="Broken, or no change")


class ListHead(QWidget):
    """A quiet heading with one button at its right."""

    def __init__(self, title: str, icon: str, tip: str) -> None:
        super().__init__()
        self.button = IconButton(icon, tip)
        self.setFixedHeight(height("list_header"))
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 8, 0)
        row.addWidget(Label(title, size=Size.SMALL, role=Role.DIM, label=True))
        row.addStretch(1)
        row.addWidget(self.button)


class RivalPane(QWidget):
    """The tool that was selected in place of the one being changed, as it was offered; nothing of it can be edited."""

    def __init__(self) -> None:
        super().__init__()
        self.title = FlowText(strong=True)
        self.text = FlowText(size=Size.SMALL)
        self.close_button = IconButton("x", "Close the tool that was selected instead")
        self.close_button.clicked.connect(lambda: self.show_tool(None))
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 8, 8, 8)
        column.setSpacing(4)
        column.addLayout(head)
        column.addWidget(self.text)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(FittingPane(inside, "Selected instead", lambda: sized(MOST_RIVAL)))
        outer.addWidget(Rule())
        self.hide()

    def show_tool(self, tool: RivalTool | None) -> None:
        """Show a tool, or nothing."""
        self.setVisible(tool is not None)
        if tool is not None:
            self.title.set_spans(
                [Span("Selected in that run: "), Span(tool.name, mono=True), Span(f" of {tool.server}", Role.DIM)]
            )
            spans = [Span(tool.description or "No description.")]
            for name, text in tool.parameters:
                spans += [Span("\n"), Span(name, mono=True), Span(f"  {text}" if text else "", Role.DIM)]
            self.text.set_spans(spans)


class WorkshopView(QStackedWidget):
    """Either words about why there is nothing, or the panes. `draft_chosen` and `tool_chosen` give ids."""

    draft_chosen = Signal(str)
    tool_chosen = Signal(str)

    @classmethod
    def in_parts(cls) -> "IncrementalBuild[WorkshopView]":
        """Build it in several turns of the event loop."""
        editor = DefinitionEditor()
        yield
        cases = TrialCaseList(ABOUT, (CASE, WHY, RANK, *ARMS), "", UNCHANGED)
        yield
        guards = TrialCaseList(UNCHANGED, (CASE, RESULT, RANK, *ARMS), NO_GUARDS, ABOUT)
        yield
        return cls(editor, cases, guards)

    def __init__(self, editor: DefinitionEditor, cases: TrialCaseList, guards: TrialCaseList) -> None:
        super().__init__()
        self.editor, self.cases, self.guards = editor, cases, guards
        self.banner, self.prediction, self.footer = VerdictBanner(), PredictionBar(), TrialFooter()
        self.drafts = CardList("Drafts", row_height=sized(52))
        self.tools = CardList("Tools in this draft, changed ones first", row_height=sized(28))
        self.new, self.add = ListHead("Drafts", "plus", "New draft"), ListHead("Tools", "plus", "Add a tool")
        self.draft_menu, self.tool_menu, self._tools = MenuButton("Draft"), MenuButton("Tool"), tuple[DraftTool, ...]()
        self.tool_menu.setToolTip(TOOL_KEYS)
        self.empty = EmptyState("wrench", "", "")
        self.listing = Notice("warn")
        self.menus = self._menus()
        self.left = self._left()
        self.middle = QWidget()
        self.right = Split([cases, guards], "Cases of the trial", [420, 240], stacked=True)
        self.rival = RivalPane()
        self.beside = QWidget()
        self.work = Split([self.middle, self.beside], "Tool and cases", [450, 450])
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
        self.beside.setMinimumWidth(280)
        right = QVBoxLayout(self.beside)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self.rival)
        right.addWidget(self.right, 1)
        column = QVBoxLayout(self.middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self.listing, self.menus, self.editor):
            column.addWidget(part, int(part is self.editor))
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

    def show_tools(self, tools: tuple[DraftTool, ...], chosen: str) -> None:
        """Show these tools, one of them chosen."""
        if tools != self._tools:  # 500 rows are not made again after each pause in typing
            self._tools = tools
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
    number = sum(one.name != INSTRUCTIONS for one in draft.revisions)
    told = [count(number, "tool")] if number else []
    changed = " and ".join([*told, *(["instructions"] if len(draft.revisions) > number else [])])
    over = draft.server or "a tools file"
    return CardRow(
        id=draft.id,
        title=draft.name,
        sub=(Span(changed or "nothing changed", Role.DIM),),
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


class WorkshopTabs(QObject):
    """The choice in the header and what it shows; `turned` tells that another tab is shown or has other buttons."""

    turned = Signal()

    def __init__(self, page: Page, draft: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self.choice = Segmented(TABS, "Part of the Workshop")
        self.stack = QStackedWidget()
        self.stack.addWidget(draft)
        self._made: dict[str, BatchTab[Any]] = {}
        page.header.place(self.choice, beside_title=True)
        self.choice.changed.connect(lambda _: self._turn())

    @property
    def tab(self) -> "BatchTab[Any] | None":
        """The tab that is shown; None for the draft."""
        return self._tab(self.choice.current())

    def _tab(self, key: str) -> "BatchTab[Any] | None":
        if key == DRAFT:
            return None
        if key not in self._made:
            self._made[key] = _make(key, self._page)
            self._made[key].changed.connect(self.turned)
            self.stack.addWidget(self._made[key])
        return self._made[key]

    def show_tab(self, key: str) -> None:
        """Turn to a tab."""
        self.choice.set_current(key)
        self._turn()

    def _turn(self) -> None:
        tab = self.tab
        self.stack.setCurrentIndex(0 if tab is None else self.stack.indexOf(tab))
        self.turned.emit()
        self._page.request_refresh()

    def open_target(self, target: Target) -> None:
        """Show a test, or the draft for every other target."""
        if isinstance(target, ShowCrowdTest):
            if target.batch_id is not None and (tab := self._tab(CROWD)) is not None:
                tab.presenter.batch_id = target.batch_id
            self.show_tab(CROWD)
        elif isinstance(target, ShowStealTest):
            if target.server and (tab := self._tab(STEAL)) is not None:
                tab.ask_about(target.server)
            self.show_tab(STEAL)
        else:
            self.show_tab(DRAFT)

    def target(self) -> Target | None:
        """Return the test that is shown as a target; None for the draft and for a search."""
        tab = self.tab
        if tab is None:
            return None
        if self.choice.current() == CROWD:
            return ShowCrowdTest(tab.presenter.batch_id)
        return ShowStealTest() if self.choice.current() == STEAL else None

    def or_draft(self, of_tab: "Callable[[BatchTab[Any]], T]", of_draft: Callable[[], T]) -> Callable[[], T]:
        """Return a function that asks the tab that is shown, or does `of_draft` for the draft."""
        return lambda: of_draft() if (tab := self.tab) is None else of_tab(tab)

    def find_text(self, server: str, models: Sequence[ModelSettings], cap: float | None) -> None:
        """Turn to the search for better texts; for the server, with the model of a draft's trial where there is one."""
        if server and (tab := self._tab(BETTER)) is not None:
            tab.find_for(server, models, cap)
        self.show_tab(BETTER)

    async def refresh(self) -> None:
        """Read and show the tab again."""
        if (tab := self.tab) is not None:
            await tab.refresh()

    def buttons(self) -> list[Action]:
        """Return the header's buttons of a tab."""
        tab = self.tab
        if tab is None or not tab.presenter.exportable:
            return []
        tests = [Action(text="Tests", do=tab.open_tests, icon="caret-down")] if len(tab.presenter.tests) > 1 else []
        return [*tests, Action(text="Export", do=tab.export, icon="export")]

    def commands(self) -> tuple[Command, ...]:
        """Return the commands of the tabs."""
        shown = (
            Command(
                id=f"workshop.show_{key}", text=f"Show the {label.lower()}", do=partial(self.show_tab, key), group=GROUP
            )
            for key, label in TABS
            if key != BETTER
        )
        pause = Command(
            id="workshop.pause",
            text="Pause the test, or go on with it",
            do=self.or_draft(lambda tab: tab.pause(), lambda: None),
            needs=self.or_draft(lambda tab: tab.presenter.under_way, lambda: False),
            unless="No crowd test or steal test is running",
            group=GROUP,
        )
        return (*shown, pause)


def _make(key: str, page: Page) -> "BatchTab[Any]":
    if key == BETTER:
        from app.screens.workshop.improvement_tab import ImprovementTab

        return ImprovementTab(page)
    if key == CROWD:
        from app.screens.workshop.crowd_tab import CrowdTab

        return CrowdTab(page)
    from app.screens.workshop.steal_tab import StealTab

    return StealTab(page)
