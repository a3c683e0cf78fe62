"""Base of the tabs of named definitions: cards beside the details of the selected one, or why there are none."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.commands import Command, always
from app.core_link.session import Session
from app.screens.kit.menus import command_action
from app.screens.models.tab import GROUP, ModelsTab
from app.theme import height, sized
from app.widgets import Action, CardList, CardRow, EmptyState, Split


class DefinitionTab(ModelsTab):
    """Lists definitions that are called `NOUN`, with one selected; deleting one can be undone."""

    NOUN: ClassVar[str]
    ICON: ClassVar[str]
    WHY_EMPTY: ClassVar[str]

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session, name)
        self.cards = CardList(name, row_height=height("server_row"))
        self.empty = EmptyState(self.ICON, "", "")
        self.stack = QStackedWidget()
        self._pending = ""
        self.body.addWidget(self.stack, 1)
        self.cards.chosen.connect(lambda _: self._select())
        self.cards.delete_wanted.connect(lambda _: session.spawn(self.delete(), of=self))
        self.cards.describe_keys(Del=f"Delete the {self.NOUN}; can be undone")

    def lay_out(self, detail: QWidget, left: QWidget | None = None, sizes: Sequence[int] = (220, 860)) -> Split:
        """Put the details beside the cards, or beside a pane that holds them."""
        rail = left or self.cards
        rail.setMinimumWidth(sized(168))
        split = Split([rail, detail], f"{self.accessibleName()} and details", sizes)
        split.set_stretch(1)
        for part in (QWidget(), self.empty, split):
            self.stack.addWidget(part)
        return split

    def show_cards(self, rows: Sequence[CardRow]) -> None:
        """Show the definitions, or the empty state."""
        self.cards.set_rows(rows)
        if not rows:
            new = command_action(self.commands()[0], f"New {self.NOUN}…", kind="primary", icon="plus")
            self.empty.set(self.ICON, f"No {self.NOUN}s yet", self.WHY_EMPTY, [new])
        self.stack.setCurrentIndex(2 if rows else 1)
        if self._pending and self.cards.select(self._pending):
            self._pending = ""
        if rows and not self.cards.current_id():
            self.cards.select_first()
        self._select()

    def _select(self) -> None:
        if self.cards.current_id():
            self.show_selected()
        self.header_changed.emit()

    def show_item(self, item: str) -> None:
        self._pending = item
        if self.cards.select(item):
            self._pending = ""

    def current_item(self) -> str:
        return self.cards.current_id()

    def first_focus(self) -> QWidget | None:
        return self.cards if self.cards.rows.rowCount() else next(iter(self.empty.buttons()), None)

    async def delete(self) -> None:
        """Delete the selected definition; this can be undone."""
        name = self.cards.current_id()
        if name:
            put_back = await self.remove(name)
            self.session.toast(f"Deleted {name}", put_back, partial(self.remove, name), action=f"delete {name}")

    async def added(self, name: str, undo: Callable[[], object], again: Callable[[], object]) -> None:
        """Say that a definition was added, and select it."""
        self.session.toast(f"Added {name}", undo, again, action=f"add {name}")
        self._pending = name
        await self.refresh()
        self.cards.setFocus()

    @abstractmethod
    def show_selected(self) -> None:
        """Show the details of the selected definition."""

    @abstractmethod
    async def remove(self, name: str) -> Callable[[], object]:
        """Remove a definition, and return what puts it back."""

    # ------------------------------------------------------------ commands

    def command(
        self,
        key: str,
        text: str,
        do: Callable[[], object],
        keys: str = "",
        needs: Callable[[], bool] | None = None,
        unless: str = "",
    ) -> Command:
        """Return a command of this tab; it needs a selected definition unless it says otherwise."""
        chosen = (lambda: bool(self.cards.current_id())) if needs is None else needs
        return Command(
            id=f"models.{key}",
            text=text,
            do=partial(self.session.do, do),
            keys=keys,
            needs=chosen,
            unless=unless or f"Select a {self.NOUN} first",
            group=GROUP,
        )

    def new_command(self, do: Callable[[], object]) -> Command:
        """Return the command that makes a new definition, which is to be the first of the tab."""
        return self.command(f"new_{self.NOUN.replace(' ', '_')}", f"Make a new {self.NOUN}", do, "Ctrl+N", always)

    def delete_command(self) -> Command:
        """Return the command that deletes the selected definition."""
        return self.command(f"delete_{self.NOUN.replace(' ', '_')}", f"Delete the {self.NOUN}", self.delete)

    def menu_of(self, commands: Sequence[Command]) -> list[Action]:
        """Return commands as links."""
        return [command_action(one, kind="link") for one in commands if one.needs()]
