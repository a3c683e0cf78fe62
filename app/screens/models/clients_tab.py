"""Client profiles: their rules, and each figure with its source, date and confidence."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Session
from app.core_link.targets import Screen, ShowScreen, StartRuns
from app.screens.kit.menus import command_action
from app.screens.models.client_grid import ClientGrid
from app.screens.models.clients_presenter import NO_TOOLS, ClientsPresenter
from app.screens.models.tab import ModelsTab
from app.text.formatting import count
from app.theme import Role, Size, height, sized
from app.widgets import (
    Action,
    CardList,
    CardRow,
    Cell,
    Column,
    DetailPane,
    EmptyState,
    FlowText,
    KeyValues,
    LineText,
    ListTable,
    Notice,
    Row,
    Rule,
    Span,
    Split,
    column_layout,
)
from app.widgets.dialog import ask
from app.widgets.file_dialog import ask_path
from mcp_tef import ClientProfile, Event, InputError

SIDE: Final = 16
CONFIDENCE: Final = "S: source code, D: documentation, C: change log, P: maintainers, I: issues, B: third parties"
FACTS: Final = (
    Column(key="of", title="Figure", width=140, least=90, tip="What the source is about"),
    Column(key="says", title="What is known", stretch=True, least=160, tip="The statement of the source"),
    Column(key="confidence", title="Known from", width=92, least=60, tip=CONFIDENCE),
    Column(key="date", title="Date", width=92, least=60, role=Role.DIM, tip="The day on which the source was read"),
    Column(key="source", title="Source", width=220, least=90, role=Role.DIM, tip="Where the figure was found"),
)
LIMITS: Final = {
    "most_tools": "Tools at most",
    "names.longest": "Longest name",
    "names.longest_prefix": "Longest prefix",
    "texts.description": "Description cut at",
    "texts.parameters": "Parameter text cut at",
    "texts.largest_schema": "Largest schema, bytes",
    "texts.instructions": "Instructions cut at",
    "search.results": "Tools found by search",
}


class ProfilesPane(QWidget):
    """Profiles at the left, the selected one with its sources at the right."""

    def __init__(self) -> None:
        super().__init__()
        self._presenter: ClientsPresenter | None = None
        self.cards = CardList("Client profiles", row_height=height("server_row"))
        self.title = LineText(size=Size.LEAD, strong=True)
        self.note, self.result = FlowText(role=Role.DIM), FlowText()
        self.rules = KeyValues(label_width=150)
        self.facts = ListTable(FACTS, "Sources of the figures")
        self.facts.when_empty = "The profile names no source."
        right = QWidget()
        head = column_layout(
            None, self.title, self.note, self.result, self.rules, margins=(SIDE, 12, SIDE, 12), spacing=8
        )
        column = column_layout(right, head, Rule())
        column.addWidget(self.facts, 1)
        self.cards.setMinimumWidth(sized(180))
        split = Split([self.cards, right], "Profiles and sources", [250, 800])
        split.set_stretch(1)
        column_layout(self, split, spacing=None)
        self.cards.chosen.connect(self._show)

    def show_profiles(self, presenter: ClientsPresenter) -> None:
        """Show all profiles; the selected one stays selected."""
        self._presenter = presenter
        self.cards.set_rows(
            [
                CardRow(id=one.name, title=one.title, sub=(Span(presenter.short_text(one.name), Role.DIM),))
                for one in presenter.clients.values()
            ]
        )
        if not self.cards.current_id():
            self.cards.select_first()
        self._show(self.cards.current_id())

    def _show(self, name: str) -> None:
        presenter = self._presenter
        if presenter is None or name not in presenter.clients:
            return
        profile = presenter.clients[name]
        self.title.set_text(f"{profile.title}, version {profile.version}")
        self.note.set_text(profile.note)
        self.note.setVisible(bool(profile.note))
        result = presenter.result_text(name)
        self.result.set_text(result)
        self.result.setVisible(bool(result))
        self.rules.set_rows(_rules(profile))
        self.facts.set_rows([_fact_row(place, profile) for place in range(len(profile.facts))])


def _rules(profile: ClientProfile) -> list[tuple[str, str]]:
    limits = [(LIMITS[key], f"{limit:,}") for key, limit in profile.limits().items()]
    told = "reach the model" if profile.uses_instructions else "not known to reach the model"
    rows = [("Name of a tool", profile.names.pattern), *limits, ("Server instructions", told)]
    if profile.search:
        rows.append(("Search", f"{profile.search.method}, over {', '.join(profile.search.reads)}"))
    return [*rows, ("Checked", profile.checked)]


def _fact_row(place: int, profile: ClientProfile) -> Row:
    fact = profile.facts[place]
    texts = (fact.of, fact.says, fact.confidence, fact.date, fact.source)
    return Row(str(place), tuple(Cell(text=text, tip=text) for text in texts))


GROUP: Final = "Clients"
GRID, PROFILES = "grid", "profiles"
ADD, RUN, SHOW_GRID, SHOW_PROFILES = (f"models.client_{name}" for name in ("add", "run", "grid", "profiles"))


class ClientsTab(ModelsTab):
    """The grid of cases and clients, and the profiles."""

    search_hint = "Search cases"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Clients")
        self.presenter = ClientsPresenter(session.call)
        self.notice = Notice("bad")
        self.grid, self.profiles = ClientGrid(session.go), ProfilesPane()
        self.empty = EmptyState("grid-four", "", "")
        self._content = QStackedWidget()
        self._content.addWidget(self.empty)
        self._content.addWidget(self.grid)
        self.tabs = DetailPane("Parts of the clients")
        self.tabs.add_tab(GRID, "Cases and clients", self._content, scroll=False)
        self.tabs.add_tab(PROFILES, "Profiles and sources", self.profiles, scroll=False)
        self.body.addWidget(self.notice)
        self.body.addWidget(self.tabs, 1)
        self.grid.detail.profile_wanted.connect(self.show_item)
        self._wanted, self._broken = "", False
        made = partial(Command, group=GROUP)
        self._commands = {
            one.id: one
            for one in (
                made(id=SHOW_GRID, text="Show cases and clients", do=partial(self.tabs.set_current, GRID)),
                made(
                    id=SHOW_PROFILES, text="Show the profiles of clients", do=partial(self.tabs.set_current, PROFILES)
                ),
                made(id=ADD, text="Add a client profile from a file", do=self.ask_file, keys="Ctrl+N"),
                made(id=RUN, text="Run test cases as clients show them", do=lambda: session.go(StartRuns())),
            )
        }

    async def refresh(self) -> None:
        await self.presenter.load()
        if self.presenter.problem or self._broken:
            self._broken = bool(self.presenter.problem)
            self.notice.show_message(self.presenter.problem)
        self.profiles.show_profiles(self.presenter)
        if self._wanted and self.profiles.cards.select(self._wanted):
            self._wanted = ""
        self._show_grid()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def find_rows(self, text: str) -> None:
        self.grid.find_rows(text)

    def show_item(self, item: str) -> None:
        self.tabs.set_current(PROFILES)
        if not self.profiles.cards.select(item):
            self._wanted = item

    def current_item(self) -> str:
        return self.profiles.cards.current_id() if self.tabs.current() == PROFILES else ""

    def count_text(self) -> str:
        return count(len(self.presenter.clients), "client") if self.presenter.clients else ""

    def buttons(self) -> Sequence[Action]:
        return (
            command_action(self._commands[ADD], "Add a profile…", icon="plus"),
            command_action(self._commands[RUN], "Run as clients…", kind="primary", icon="play"),
        )

    def commands(self) -> Sequence[Command]:
        return tuple(self._commands.values())

    def first_focus(self) -> QWidget | None:
        if self.tabs.current() == PROFILES:
            return self.profiles.cards
        if self._content.currentWidget() is self.grid:
            return self.grid.table
        return next(iter(self.empty.buttons()), self.tabs.tabs)

    # ------------------------------------------------------------ showing

    def _show_grid(self) -> None:
        why = self.presenter.empty
        if why == NO_TOOLS:
            self._say("No tools yet", why, [self._go("Go to Servers", Screen.SERVERS)])
        elif why:
            self._say("No cases yet", why, [self._go("Go to Test cases", Screen.CASES)])
        elif self._broken and not self.presenter.rows:
            self._say("A profile cannot be read", "Correct the file or delete it, and come back.", [])
        elif self.presenter.rows:
            self.grid.show_grid(self.presenter)
            had_focus = self.tabs.tabs.hasFocus()
            self._content.setCurrentWidget(self.grid)
            if had_focus:
                self.grid.table.setFocus()

    def _say(self, title: str, sentence: str, actions: Sequence[Action]) -> None:
        self.empty.set("grid-four", title, sentence, actions)
        self._content.setCurrentWidget(self.empty)

    def _go(self, text: str, screen: Screen) -> Action:
        return Action(text=text, do=lambda: self.session.go(ShowScreen(screen)), kind="primary")

    # ------------------------------------------------------------ own profiles

    def ask_file(self) -> None:
        """Ask for the file of a profile."""
        title, filters = "Add a client profile", "Client profiles (*.yaml *.yml)"
        ask_path(self, title, lambda file: self.session.spawn(self.add(file), of=self), filters=filters)

    async def add(self, file: Path) -> None:
        """Keep a copy of a profile, and show it; one of its name is replaced with a yes, and undo brings it back.

        What is wrong with the file is said, and nothing is kept of it.
        """
        try:
            item, profile, text = await self.presenter.preview(file)
        except InputError as error:
            self.notice.show_message(error.message, error.hint)
            return
        changes = "\n".join(f"{one.field}: {one.before} → {one.after}" for one in item.changes)
        if item.edited and not await ask(self, f"Change the client profile {profile.name}?", changes, yes="Change"):
            return
        before = await self.presenter.keep(profile, text)
        self.notice.clear()
        await self._show_kept(profile.name)
        done = f"{'Changed' if before else 'Added'} the client profile {profile.title}"
        self.session.toast(done, partial(self._put_back, profile.name, before, text))

    async def _put_back(self, name: str, text: str, seen: str) -> None:
        await self.presenter.put_back(name, text, seen)
        await self._show_kept(name)

    async def _show_kept(self, name: str) -> None:
        await self.refresh()
        self.show_item(name)
        self.header_changed.emit()
