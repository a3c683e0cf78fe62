"""Whose keys are at hand, and where they are kept; never a key itself."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.session import Session
from app.theme import Role, Size
from app.widgets import Action, FlowText, Rule, Section, button, one_line
from mcp_tef import TefError

if TYPE_CHECKING:
    from mcp_tef import KeyRing

WHAT = (
    "A key is typed when a run starts. It is kept in memory until you quit, or in the keychain of this system if you "
    "ask for that, and never in a workspace, a log or an export."
)
NO_KEYCHAIN = "This system has no keychain that can be used, so keys are kept in memory only."
NOTHING = "No keys yet."
SERVER = "server:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Names alone: of who has a key, and of the variables that hold one."""

    typed: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    keychain: str = ""
    problem: str = ""


def held(keys: "KeyRing") -> Held:
    """Return the keys in a key ring; reading a keychain may take a moment."""
    known = Held(typed=keys.typed_providers(), variables=keys.variables(), keychain=keys.keychain())
    try:
        return replace(known, remembered=keys.remembered())
    except TefError as error:
        return replace(known, problem=error.message)


class KeysSection(Section):
    """Read when somebody turns to it; a key is forgotten at once."""

    def __init__(self, session: Session) -> None:
        super().__init__(margins=False)
        self._session = session

    async def load(self) -> None:
        """Read who has a key and show it."""
        self.show_held(await self._session.call(lambda core: asyncio.to_thread(held, core.keys)))

    def show_held(self, found: Held) -> None:
        """Show whose keys there are."""
        self.clear()
        self.add(FlowText(WHAT, role=Role.DIM))
        keychain = f"The keychain of this system: {found.keychain}." if found.keychain else NO_KEYCHAIN
        self.add(FlowText(found.problem or keychain, role=Role.BAD if found.problem else Role.DIM))
        for name in sorted({*found.typed, *found.remembered}):
            kept = [
                *(["in memory until you quit"] if name in found.typed else []),
                *(["in the keychain"] if name in found.remembered else []),
            ]
            self._add_row(name, " and ".join(kept).capitalize(), partial(self._forget_soon, name, found))
        for name in found.variables:
            self._add_row(name, "In the environment", None)
        if not (found.typed or found.remembered or found.variables):
            self.add(Rule())
            self.add(FlowText(NOTHING, role=Role.DIM))
        self.column.addStretch(1)

    def _add_row(self, name: str, where: str, forget: Callable[[], object] | None) -> None:
        server = name.startswith(SERVER)
        title = f"The secret {name.removeprefix(SERVER)} of a server" if server else name
        self.add(Rule())
        self.add(_row(title, where, forget))

    def _forget_soon(self, name: str, found: Held) -> None:
        self._session.spawn(self._forget(name, in_keychain=name in found.remembered), of=self)

    async def _forget(self, name: str, *, in_keychain: bool) -> None:
        await self._session.call(lambda core: asyncio.to_thread(_forget, core.keys, name, in_keychain))
        await self.load()


def _forget(keys: "KeyRing", name: str, in_keychain: bool) -> None:
    keys.forget(name)
    if in_keychain:
        keys.forget_remembered(name)


def _row(title: str, where: str, forget: Callable[[], object] | None) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    words = QVBoxLayout()
    words.setSpacing(2)
    words.addWidget(FlowText(title, strong=True))
    words.addWidget(FlowText(where, size=Size.SMALL, role=Role.DIM))
    row.addLayout(words, 1)
    if forget is not None:
        made = button(Action(text="Forget", do=forget))
        made.setAccessibleName(f"Forget the key of {one_line(title, 80)}")
        row.addWidget(made, 0, Qt.AlignmentFlag.AlignTop)
    return holder
