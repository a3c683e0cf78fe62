"""Base of the tabs of named definitions: cards beside the details of the selected one, and forms that fill them."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from PySide6.QtWidgets import QStackedWidget, QWidget

from app.core_link.commands import Command, always
from app.core_link.session import Session
from app.screens.kit.menus import command_action
from app.screens.models.tab import GROUP, ModelsTab
from app.text.formatting import error_text
from app.theme import height, sized
from app.widgets import (
    Action,
    CardList,
    CardRow,
    Dialog,
    EmptyState,
    Field,
    FlowText,
    LineEdit,
    Notice,
    Picker,
    PickItem,
    Split,
    TextArea,
)
from mcp_tef import TefError


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
        sidebar = left or self.cards
        sidebar.setMinimumWidth(sized(168))
        split = Split([sidebar, detail], f"{self.accessibleName()} and details", sizes)
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


Keep = Callable[[], Awaitable[object]]


class DefinitionDialog(Dialog):
    """A form that is accepted once `keep` did not raise; opened by `kept`."""

    def __init__(self, session: Session, title: str, button: str, parent: QWidget, *, width: int = 480) -> None:
        super().__init__(title, parent, width=width)
        self._session = session
        self.keep: Keep = _keep_nothing
        self._kept: Any = None
        self.notice = Notice("bad")
        self.body.addWidget(self.notice)
        done = Action(text=button, do=lambda: session.spawn(self.agree(), of=self), kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), done])

    async def agree(self) -> None:
        """Have the form kept and accept it, or show in one sentence why not."""
        self.notice.clear()
        try:
            self._kept = await self.keep()
        except TefError as error:
            words = error_text(error)
            self.notice.show_message(words.message, words.hint, details=words.details)
        else:
            self.accept()

    async def kept(self, keep: Keep) -> Any:
        """Open the form and return what `keep` returned; None if the user cancels."""
        self.keep = keep
        return self._kept if await self.done_with() else None

    def add_line(self, label: str, text: str = "", *, note: str = "", hint: str = "") -> LineEdit:
        """Add a field of one line."""
        edit = LineEdit()
        edit.setText(text)
        edit.setPlaceholderText(hint)
        self.body.addWidget(Field(label, edit, note=note))
        return edit

    def add_model(self, label: str, known: Sequence[PickItem], current: str = "", note: str = "") -> Picker:
        """Add a field for one of the known models, or any other that is typed."""
        made = model_picker(label, known, current)
        self.body.addWidget(Field(label, made, note=note))
        return made


async def _keep_nothing() -> None:
    """Do nothing until the form is opened."""


class LinesDialog(DefinitionDialog):
    """Asks for one or several lines of text; `lines` are those that are not empty."""

    def __init__(
        self, session: Session, title: str, button: str, parent: QWidget, *, note: str = "", text: str = ""
    ) -> None:
        super().__init__(session, title, button, parent, width=520)
        self.area = TextArea(lines=4)
        self.area.setPlainText(text)
        self.body.addWidget(FlowText(note)) if note else None
        self.area.setAccessibleName(title)
        self.body.addWidget(self.area)
        self.area.setFocus()

    def lines(self) -> tuple[str, ...]:
        """Return the lines that hold something."""
        return tuple(line.strip() for line in self.area.text().splitlines() if line.strip())


def model_picker(label: str, known: Sequence[PickItem], current: str = "") -> Picker:
    """Return a field for one of the known models, which takes any other name as well."""
    made = Picker(label, "Select a model")
    made.set_items(known)
    made.allow_other("Use {}")
    made.other.connect(made.set_current)
    made.picked.connect(made.set_current)
    made.set_footer("{shown} of {all} known models. You can type any other.")
    made.set_current(current)
    return made


def model_items(labels: Sequence[str]) -> list[PickItem]:
    """Return models as items of a field."""
    return [PickItem(id=label, title=label) for label in labels]
