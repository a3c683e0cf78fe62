"""Clients tab: cases whose tool a client cuts, leaves out or does not find, and the profiles with their sources."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtWidgets import QFileDialog, QStackedWidget, QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Session
from app.core_link.targets import Screen, ShowScreen, StartRuns
from app.screens.kit.menus import command_action
from app.screens.models.client_grid import ClientGrid
from app.screens.models.client_profiles import ProfilesPane
from app.screens.models.clients_presenter import NO_TOOLS, ClientsPresenter
from app.screens.models.tab import ModelsTab
from app.text.formatting import count
from app.widgets import Action, DetailPane, EmptyState, Notice
from mcp_tef import Event, InputError

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
        if not self.presenter.clients:
            self._say("Reading", "Each case is searched as every client would. Nothing is sent.", [])
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
        dialog = QFileDialog(self, "Add a client profile", "", "Client profiles (*.yaml *.yml)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda file: self.session.spawn(self.add(Path(file)), of=self))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    async def add(self, file: Path) -> None:
        """Keep a copy of a profile, and show it; what is wrong with the file is said, and nothing is kept of it."""
        try:
            profile = await self.presenter.add(file)
        except InputError as error:
            self.notice.show_message(error.message, error.hint)
            return
        self.notice.clear()
        await self.refresh()
        self.show_item(profile.name)
        self.header_changed.emit()
        self.session.toast(f"Added the client profile {profile.title}")
