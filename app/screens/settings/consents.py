"""List of everything the user allowed, each with a button to revoke it."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core_link.session import Session
from app.text.formatting import ago, count
from app.theme import Role, Size
from app.widgets import Action, EmptyState, FlowText, Rule, SearchField, Section, button, one_line
from mcp_tef import Consent, ConsentKind

BY = "settings"
MOST_ROWS, MANY = 100, 8
NONE_FIT = "No permissions match. Clear the search to show all."
WHAT = (
    "You allowed these on this computer, exactly as shown. They are kept in your data folder, never in a workspace. "
    "Revoke one, and you are asked again."
)
NOTHING = "You are asked before a program is started, or before something of yours is sent to an address."
TITLES = {
    ConsentKind.PROGRAM: "Start a program",
    ConsentKind.CONNECTION: "Connect to a server",
    ConsentKind.KEY: "Send a key",
}


class ConsentsSection(Section):
    """Read and changed at once."""

    def __init__(self, session: Session) -> None:
        super().__init__(margins=False)
        self._session = session
        self._consents: tuple[Consent, ...] = ()
        self.search = SearchField("Search consents")
        self._rows = Section(margins=False)
        self.add(self.search)
        self.add(self._rows)
        self.column.addStretch(1)
        self.search.hide()
        self.search.searched.connect(lambda _: self._show())

    async def load(self) -> None:
        """Read what was agreed to and show it."""
        self._consents = tuple(await self._session.call(lambda core: core.servers.consents()))
        self._show()

    def _show(self) -> None:
        self._rows.clear()
        words = self.search.text().casefold().split()
        found = [one for one in self._consents if _says(one, words)]
        self.search.setVisible(len(self._consents) >= MANY or bool(words))
        if not self._consents:
            self._rows.add(EmptyState("terminal-window", "Nothing allowed yet", NOTHING))
            return
        self._rows.add(FlowText(WHAT if found else NONE_FIT, role=Role.DIM))
        for consent in found[:MOST_ROWS]:
            self._rows.add(Rule())
            self._rows.add(_row(consent, partial(self._revoke_soon, consent)))
        if len(found) > MOST_ROWS:
            older = count(len(found) - MOST_ROWS, "older one")
            self._rows.add(FlowText(f"And {older}. Search for a server or a program to see others.", role=Role.DIM))

    def _revoke_soon(self, consent: Consent) -> None:
        revoking = self._session.spawn(_revoke(self._session, consent))
        self._session.spawn(self._load_after(revoking), of=self)

    async def _load_after(self, revoking: "asyncio.Task[None]") -> None:
        """Revoking goes on where the dialog is closed meanwhile."""
        await asyncio.wait({revoking})
        await self.load()


async def _revoke(session: Session, consent: Consent) -> None:
    """Goes on without the dialog, and so does the way back."""

    async def revoke() -> None:
        await session.call(lambda core: core.servers.revoke_consent(consent.fingerprint, by=BY))

    async def agree_again() -> None:
        await session.call(lambda core: core.servers.restore_consent(consent, by=BY))

    await revoke()
    what = one_line(", ".join(consent.servers) or consent.description, 40)
    session.toast(f"Revoked: {what}", agree_again, revoke, deed=f"revoke the consent to {what}")


def _says(consent: Consent, words: Sequence[str]) -> bool:
    told = "\n".join((*consent.servers, consent.description)).casefold()
    return all(word in told for word in words)


def _row(consent: Consent, revoke: Callable[[], object]) -> QWidget:
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(16)
    words = QVBoxLayout()
    words.setSpacing(2)
    names = ", ".join(consent.servers)
    words.addWidget(FlowText(names or TITLES[consent.kind], strong=True))
    words.addWidget(FlowText(consent.description, mono=True, max_lines=4))
    if consent.allowed_at is not None:
        words.addWidget(FlowText(f"Allowed {ago(consent.allowed_at)}", size=Size.SMALL, role=Role.DIM))
    row.addLayout(words, 1)
    taken_back = button(Action(text="Revoke", do=revoke))
    taken_back.setAccessibleName(f"Revoke {one_line(names or consent.description, 80)}")
    row.addWidget(taken_back, 0, Qt.AlignmentFlag.AlignTop)
    return holder
