"""Base of the tabs of the Models screen, and the list of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Session
from app.widgets import Action, Spoken, column_layout
from mcp_tef import Event


@dataclass(frozen=True, slots=True)
class TabSpec:
    """A tab; class `kind` of `module` is imported and built when the tab is first shown."""

    key: str
    label: str
    module: str
    kind: str

    def make(self, session: Session) -> "ModelsTab":
        """Import and build the tab."""
        made = getattr(import_module(f"app.screens.models.{self.module}"), self.kind)(session)
        assert isinstance(made, ModelsTab)
        return made


GROUP: Final = "Models"
TABS: Final = (
    TabSpec("catalogue", "Catalogue", "catalogue_tab", "CatalogueTab"),
    TabSpec("groups", "Groups", "groups_tab", "GroupsTab"),
    TabSpec("prompts", "Prompts", "prompts_tab", "PromptsTab"),
    TabSpec("clients", "Clients", "clients_tab", "ClientsTab"),
    TabSpec("routes", "Routes", "routes_tab", "RoutesTab"),
    TabSpec("search", "Search", "search_tab", "SearchTab"),
)
"""The tabs in the order of the header."""


class ModelsTab(QWidget):
    """A tab: the page gives it events and shows its count, buttons, search field and commands in the header.

    `header_changed` asks the page to show count and buttons again. A tab with a `search_hint` gets the search field.
    """

    SPOKEN_AS = Spoken.Grouping
    header_changed = Signal()
    search_hint = ""

    def __init__(self, session: Session, name: str) -> None:
        super().__init__()
        self.session = session
        self.stale = True
        self.loaded = False
        self.setAccessibleName(name)
        self.body = column_layout(self)

    async def refresh(self) -> None:
        """Fetch and show the tab's data."""

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes this tab out of date."""
        return Refresh.NONE

    def find_rows(self, text: str) -> None:
        """Show only what contains the text of the search field."""

    def show_item(self, item: str) -> None:
        """Select an item, now or with the next refresh."""

    def current_item(self) -> str:
        """Return what `show_item` takes for the selected item."""
        return ""

    def count_text(self) -> str:
        """Return the count beside the title."""
        return ""

    def buttons(self) -> Sequence[Action]:
        """Return the buttons of the header, the primary one last."""
        return ()

    def commands(self) -> Sequence[Command]:
        """Return the commands that the window offers while the tab is visible."""
        return ()

    def first_focus(self) -> QWidget | None:
        """Return the widget that has the keyboard when the tab is shown."""
        return None

    def unsaved(self) -> int:
        """Return the number of edits that cannot be saved as they are."""
        return 0

    async def finish(self) -> None:
        """Save or drop what is unsaved, before the window closes."""
