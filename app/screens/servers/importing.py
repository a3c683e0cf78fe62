"""Brings in servers for the page: from where, what of it, and the way back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from app.screens.servers.import_choice import ImportChoice, choice_of_configs
from app.screens.servers.import_sheet import ImportSheet
from app.screens.servers.presenter import BY
from app.screens.servers.source_sheet import SourceSheet
from app.session import Page
from app.text import count
from mcp_tef import Server, ServerId, ServerSpec

Arrived = Callable[[ServerId], Awaitable[None]]


class Importing:
    """Asks, shows, does; `arrived` is called with the first server that came in."""

    def __init__(self, page: Page, arrived: Arrived) -> None:
        self._page = page
        self._session = page.session
        self._arrived = arrived

    def ask(self) -> None:
        """Ask for a config."""
        self._session.spawn(self._ask())

    def find(self) -> None:
        """Look for configs of other programs on this machine."""
        self._session.spawn(self._find())

    def take(self, files: Sequence[Path]) -> None:
        """Bring in what files list."""
        self._session.spawn(self._take(files))

    async def _ask(self) -> None:
        sheet = SourceSheet(self._session, self._page)
        if await sheet.done_with() and sheet.choice is not None:
            await self._offer(sheet.choice)

    async def _find(self) -> None:
        found = await self._session.call(lambda core: core.server_files.discover(together=True))
        await self._offer(choice_of_configs(found))

    async def _take(self, files: Sequence[Path]) -> None:
        found = await self._session.call(lambda core: core.server_files.preview_all(files))
        await self._offer(choice_of_configs(found))

    async def _offer(self, choice: ImportChoice) -> None:
        sheet = ImportSheet(choice, self._page)
        if await sheet.done_with():
            await self._apply(choice, sheet.ticked)

    async def _apply(self, choice: ImportChoice, keys: Sequence[str]) -> None:
        wanted = choice.chosen(keys)
        known = {server.id: server.spec for server in await self._session.call(lambda core: core.servers.list())}
        servers = await self._session.call(lambda core: core.server_files.apply(wanted, by=BY))
        before = {server.id: known[server.id] for server in servers if server.id in known}
        await self._arrived(servers[0].id)
        words = f"Imported {count(len(servers), 'server')}. None was started."
        self._session.toast(words, undo=lambda: self._take_back(servers, before))

    async def _take_back(self, servers: Sequence[Server], before: Mapping[ServerId, ServerSpec]) -> None:
        """Remove what was added, and give what was changed its old settings."""
        added = [server.id for server in servers if server.id not in before]
        await self._session.call(lambda core: core.servers.remove(added, by=BY))
        for server_id, spec in before.items():
            await self._put_back(server_id, spec)

    async def _put_back(self, server_id: ServerId, spec: ServerSpec) -> None:
        await self._session.call(lambda core: core.servers.edit(server_id, spec, by=BY))
