"""Tabs of the settings dialog that show what is kept: keys, consents, and folders with their sizes."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.screens.settings.presenter import (
    VECTORS,
    DataLocation,
    HeldKeys,
    SettingsPaths,
    SettingsPresenter,
    data_locations,
    size_text,
)
from app.text.formatting import ago, count, matches_all_words
from app.theme import Role, Size
from app.widgets import (
    Action,
    EmptyState,
    FlowText,
    Label,
    Rule,
    SearchField,
    Section,
    button,
    column_layout,
    one_line,
    row_layout,
)
from mcp_tef import Consent, ConsentKind

ABOUT_KEYS = (
    "You type a key when a run starts. It is kept in memory until you quit, or in the system keychain if you tick "
    "that. It is never stored in a workspace, a log or an export."
)
NO_KEYCHAIN = "This system has no keychain that can be used, so keys are kept in memory only."
NO_KEYS = "No keys yet."
SERVER_SECRET = "server:"  # noqa: S105  # prefix of a name, not a secret


class KeysSection(Section):
    """Names of the keys at hand, each with a button that forgets it."""

    def __init__(self, session: Session, presenter: SettingsPresenter) -> None:
        super().__init__(margins=False)
        self._session, self._presenter = session, presenter

    async def load(self) -> None:
        """Read the names of the keys and show them."""
        self._show(await self._presenter.keys())

    def _show(self, found: HeldKeys) -> None:
        self.clear()
        self.add(FlowText(ABOUT_KEYS, role=Role.DIM))
        keychain = f"The keychain of this system: {found.keychain}." if found.keychain else NO_KEYCHAIN
        self.add(FlowText(found.problem or keychain, role=Role.BAD if found.problem else Role.DIM))
        for name in sorted({*found.typed, *found.remembered}):
            self._add_row(name, found.place(name), partial(self._forget_soon, name, found))
        for name in found.variables:
            self._add_row(name, "In the environment", None)
        if not found.names:
            self.add(Rule())
            self.add(FlowText(NO_KEYS, role=Role.DIM))
        self.column.addStretch(1)

    def _add_row(self, name: str, place: str, forget: Callable[[], object] | None) -> None:
        is_secret = name.startswith(SERVER_SECRET)
        title = f"Secret {name.removeprefix(SERVER_SECRET)} of a server" if is_secret else name
        texts = [FlowText(title, strong=True), FlowText(place, size=Size.SMALL, role=Role.DIM)]
        buttons = [_named_button("Forget", forget, f"Forget the key of {one_line(title, 80)}")] if forget else []
        self.add(Rule())
        self.add(_row(texts, buttons))

    def _forget_soon(self, name: str, found: HeldKeys) -> None:
        self._session.spawn(self._forget(name, in_keychain=name in found.remembered), of=self)

    async def _forget(self, name: str, *, in_keychain: bool) -> None:
        await self._presenter.forget_key(name, in_keychain=in_keychain)
        await self.load()


MAX_ROWS, MIN_TO_SEARCH = 100, 8
NO_MATCH = "No permissions match. Clear the search to show all."
ABOUT_CONSENTS = (
    "You allowed these on this computer, exactly as shown. They are kept in your data folder, never in a workspace. "
    "Revoke one, and you are asked again."
)
NO_CONSENTS = "You are asked before a program is started, or before something of yours is sent to an address."
CONSENT_TITLES = {
    ConsentKind.PROGRAM: "Start a program",
    ConsentKind.CONNECTION: "Connect to a server",
    ConsentKind.KEY: "Send a key",
    ConsentKind.TOOL_CALL: "Execute a library tool",
    ConsentKind.PATH: "Read a file",
}


class ConsentsSection(Section):
    """List of everything the user allowed, each with a button that revokes it."""

    def __init__(self, session: Session, presenter: SettingsPresenter) -> None:
        super().__init__(margins=False)
        self._session, self._presenter = session, presenter
        self._consents: tuple[Consent, ...] = ()
        self.search = SearchField("Search consents")
        self._rows = Section(margins=False)
        self.add(self.search)
        self.add(self._rows)
        self.column.addStretch(1)
        self.search.hide()
        self.search.searched.connect(lambda _: self._show())

    async def load(self) -> None:
        """Read the consents and show them."""
        self._consents = await self._presenter.consents()
        self._show()

    def _show(self) -> None:
        self._rows.clear()
        query = self.search.text().strip()
        found = [one for one in self._consents if matches_all_words("\n".join((*one.servers, one.description)), query)]
        self.search.setVisible(len(self._consents) >= MIN_TO_SEARCH or bool(query))
        if not self._consents:
            self._rows.add(EmptyState("terminal-window", "Nothing allowed yet", NO_CONSENTS))
            return
        self._rows.add(FlowText(ABOUT_CONSENTS if found else NO_MATCH, role=Role.DIM))
        for consent in found[:MAX_ROWS]:
            self._rows.add(Rule())
            self._rows.add(self._row(consent))
        if len(found) > MAX_ROWS:
            older = count(len(found) - MAX_ROWS, "older one")
            self._rows.add(FlowText(f"And {older}. Search for a server or a program to see others.", role=Role.DIM))

    def _row(self, consent: Consent) -> QWidget:
        names = ", ".join(consent.servers)
        texts = [
            FlowText(names or CONSENT_TITLES[consent.kind], strong=True),
            FlowText(consent.description, mono=True, max_lines=4),
        ]
        if consent.allowed_at is not None:
            texts.append(FlowText(f"Allowed {ago(consent.allowed_at)}", size=Size.SMALL, role=Role.DIM))
        spoken = f"Revoke {one_line(names or consent.description, 80)}"
        return _row(texts, [_named_button("Revoke", partial(self._revoke_soon, consent), spoken)])

    def _revoke_soon(self, consent: Consent) -> None:
        revoking = self._session.spawn(_revoke(self._session, self._presenter, consent))
        self._session.spawn(self._load_after(revoking), of=self)

    async def _load_after(self, revoking: "asyncio.Task[None]") -> None:
        """Show the rest once the consent is revoked; closing the dialog does not stop the revocation."""
        await asyncio.wait({revoking})
        await self.load()


async def _revoke(session: Session, presenter: SettingsPresenter, consent: Consent) -> None:
    """Revoke a consent and offer to undo it; needs no open dialog."""
    await presenter.revoke(consent)
    what = one_line(", ".join(consent.servers) or consent.description, 40)
    undo, redo = partial(presenter.restore, consent), partial(presenter.revoke, consent)
    session.toast(f"Revoked: {what}", undo, redo, action=f"revoke the consent to {what}")


class DataSection(Section):
    """Folders and files of the application; their sizes are measured when the tab is opened."""

    def __init__(self, session: Session, presenter: SettingsPresenter, paths: SettingsPaths) -> None:
        super().__init__(margins=False)
        self._session, self._presenter = session, presenter
        self._paths = paths

    async def load(self) -> None:
        """Measure the folders and show them."""
        found = await asyncio.to_thread(data_locations, self._paths)
        self.clear()
        for number, location in enumerate(found):
            if number:
                self.add(Rule())
            self.add(self._row(location))
        self.column.addStretch(1)

    def _row(self, location: DataLocation) -> QWidget:
        texts: list[QWidget] = [
            Label(location.title, strong=True),
            FlowText(str(location.path), mono=True, max_lines=2),
            FlowText(location.purpose, size=Size.SMALL, role=Role.DIM),
        ]
        right: list[QWidget] = [Label(size_text(location.size), role=Role.DIM, tabular=True)]
        if location.path.name == VECTORS:
            clear = _named_button("Clear", self._clear_soon, "Clear the vectors")
            clear.setEnabled(location.size > 0)
            right.append(clear)
        folder = location.path if location.path.suffix == "" else location.path.parent
        right.append(_named_button("Show", lambda: self._paths.show(folder), f"Show the folder of {location.title}"))
        return _row(texts, right)

    def _clear_soon(self) -> None:
        self._session.spawn(self._clear(), of=self)

    async def _clear(self) -> None:
        await self._presenter.forget_vectors()
        await self.load()


def _named_button(text: str, do: Callable[[], object], spoken: str) -> QWidget:
    made = button(Action(text=text, do=do))
    made.setAccessibleName(spoken)
    return made


def _row(texts: Sequence[QWidget], right: Sequence[QWidget]) -> QWidget:
    """Return texts above each other with buttons beside them."""
    holder = QWidget()
    row = row_layout(holder, margins=(0, 4, 0, 4), spacing=12)
    column = column_layout(spacing=2)
    for text in texts:
        column.addWidget(text)
    row.addLayout(column, 1)
    for part in right:
        row.addWidget(part, 0, Qt.AlignmentFlag.AlignTop)
    return holder
