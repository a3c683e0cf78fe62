"""Brings in servers for the page: from where, what of it, and the way back."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from app.core_link.cancellable_work import undertaken
from app.core_link.import_outcomes import Fate, Outcome
from app.core_link.session import Page
from app.screens.servers.import_choice import ImportChoice, choice_of_configs, choice_of_text
from app.screens.servers.import_sheet import ImportSheet
from app.screens.servers.presenter import BY
from app.screens.servers.source_sheet import SourceSheet
from app.text.formatting import count
from mcp_tef import Arrival, FoundConfig, ServerId, ServerSpec, StoppedError

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

    async def bring_in(self, arrivals: Sequence[Arrival]) -> Sequence[Outcome]:
        """Show what configs that were dropped or pasted list, and bring in what is wanted of them."""
        if files := [arrival.path for arrival in arrivals if arrival.path]:
            return await self._take(files)
        return [await self._take_text(arrival) for arrival in arrivals]

    async def _ask(self) -> None:
        sheet = SourceSheet(self._session, self._page)
        if await sheet.done_with() and sheet.choice is not None:
            await self._offer(sheet.choice)

    async def _find(self) -> None:
        what = "Looking for servers on this machine"
        found = await self._session.call_long(what, lambda core: core.server_files.discover(together=True))
        await self._offer(choice_of_configs(found))

    async def _take(self, files: Sequence[Path]) -> Sequence[Outcome]:
        what = f"Reading {count(len(files), 'config')}"
        found = await self._session.call_long(what, lambda core: core.server_files.preview_all(files))
        choice = choice_of_configs(found)
        ticked = await self._offer(choice)
        return [_outcome(config, choice.of(config.path, ticked)) for config in found]

    async def _take_text(self, arrival: Arrival) -> Outcome:
        text = arrival.text
        read = await self._session.call_long("Reading a config", lambda core: core.server_files.preview(text))
        ticked = await self._offer(choice_of_text(read))
        return Outcome(arrival.name, Fate.TAKEN if ticked else Fate.LEFT, _imported(len(ticked)))

    async def _offer(self, choice: ImportChoice) -> Sequence[str]:
        """Show it, and import what is ticked; the keys of what was imported."""
        sheet = ImportSheet(choice, self._page)
        if await sheet.done_with() and await self._apply(choice, sheet.ticked):
            return sheet.ticked
        return ()

    async def _apply(self, choice: ImportChoice, keys: Sequence[str]) -> bool:
        wanted = choice.chosen(keys)
        known = {server.id: server.spec for server in await self._session.call(lambda core: core.servers.list())}
        try:
            servers = await undertaken(
                self._session, "Importing servers", lambda core, work: core.server_files.apply(wanted, by=BY, work=work)
            )
        except StoppedError:
            self._session.toast("The import was cancelled, and no server was kept")
            return False
        before = {server.id: known[server.id] for server in servers if server.id in known}
        await self._arrived(servers[0].id)
        words = f"Imported {count(len(servers), 'server')}. None was started."
        added = [server.id for server in servers if server.id not in before]
        after = {server.id: server.spec for server in servers if server.id in before}
        back, again = partial(self._take_back, added, before), partial(self._bring_again, added, after)
        self._session.toast(words, back, again, deed=f"import {count(len(servers), 'server')}")
        return True

    async def _take_back(self, added: Sequence[ServerId], before: Mapping[ServerId, ServerSpec]) -> None:
        """Remove what was added, and give what was changed its old settings."""
        await self._session.call(lambda core: core.servers.remove(added, by=BY))
        for server_id, spec in before.items():
            await self._put_back(server_id, spec)

    async def _bring_again(self, added: Sequence[ServerId], after: Mapping[ServerId, ServerSpec]) -> None:
        await self._session.call(lambda core: core.servers.restore(added, by=BY))
        for server_id, spec in after.items():
            await self._put_back(server_id, spec)

    async def _put_back(self, server_id: ServerId, spec: ServerSpec) -> None:
        await self._session.call(lambda core: core.servers.edit(server_id, spec, by=BY))


def _outcome(config: FoundConfig, imported: int) -> Outcome:
    if config.problem:
        return Outcome(config.path.name, Fate.REFUSED, config.problem)
    return Outcome(config.path.name, Fate.TAKEN if imported else Fate.LEFT, _imported(imported))


def _imported(servers: int) -> str:
    return f"{count(servers, 'server')} imported." if servers else "Nothing of it was imported."
