"""Brings in servers from the configs of other programs: first what would happen, then all of it or nothing."""

import asyncio
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.events import EventStream, ServersTouched
from mcp_tef.formats.cases.texts import read_text
from mcp_tef.formats.servers.entries import ServerEntry
from mcp_tef.formats.servers.forms import Form, read_config
from mcp_tef.model.cancellation import LongWork
from mcp_tef.model.server_import import FoundConfig, ServerImportPreview
from mcp_tef.model.servers import Server
from mcp_tef.model.suggestions import did_you_mean
from mcp_tef.model.transfer import ImportFate
from mcp_tef.ports import ServerStore
from mcp_tef.workflows.server_import_plan import ServerPlan
from mcp_tef.workflows.server_places import ConfigPlace, usual_places
from mcp_tef.workflows.stopping import to_its_end


class ServerFiles:
    """Imports servers from configs, and looks for configs. Nothing that a config names is ever started here."""

    def __init__(
        self, store: ServerStore, events: EventStream, environment: Mapping[str, str], platform: str = sys.platform
    ) -> None:
        self._store = store
        self._events = events
        self._environment = environment
        self._platform = platform

    async def preview(self, source: Path | str) -> ServerImportPreview:
        """What importing a file, or a pasted text, would do; InputError where it cannot be read as a whole."""
        path, form, entries = await asyncio.to_thread(_read, source)
        plan = ServerPlan(await self._store.all(), self._environment)
        return await asyncio.to_thread(_planned, plan, form, entries, path)

    async def preview_all(self, paths: Sequence[Path]) -> tuple[FoundConfig, ...]:
        """What importing files one after the other would do: a server that several of them list comes in once."""
        plan = ServerPlan(await self._store.all(), self._environment)
        return tuple([await asyncio.to_thread(_found, plan, path) for path in paths])

    def chosen(self, preview: ServerImportPreview, names: Collection[str]) -> ServerImportPreview:
        """Only the servers of these names (as the config or as the preview has them); NotFoundError."""
        known = {name for server in preview.servers for name in (server.name, server.label)}
        if missing := [name for name in names if name not in known]:
            raise NotFoundError(
                f"{preview.source} has no server named {missing[0]}.",
                hint=did_you_mean(missing[0], known, "Look at the preview for its names."),
            )
        kept = tuple(server for server in preview.servers if {server.name, server.label} & {*names})
        return replace(preview, servers=kept)

    async def apply(
        self, preview: ServerImportPreview, *, by: str = "", work: LongWork | None = None
    ) -> tuple[Server, ...]:
        """Do what a preview said, in one transaction; ConflictError or NotFoundError, and nothing has changed.

        StoppedError, and nothing has changed, where `work` was stopped before it was done.
        """
        added = [server.spec for server in preview.of(ImportFate.ADDED) if server.spec]
        changed = {
            server.server_id: server.spec
            for server in preview.of(ImportFate.CHANGED)
            if server.server_id and server.spec
        }
        if not (added or changed):
            return ()
        steered = work or LongWork()
        servers = await to_its_end(steered, self._store.apply(added, changed, step=steered.step))
        self._events.publish(ServersTouched(tuple(server.id for server in servers), by))
        return servers

    async def discover(self, project: Path | None = None, *, together: bool = False) -> tuple[FoundConfig, ...]:
        """The configs in the usual places that list servers or cannot be read, and what each would bring.

        `together` counts those before it as brought in, as `preview_all` does.
        """
        places = self._places(project)
        servers = await self._store.all()
        plan, found = ServerPlan(servers, self._environment), list[FoundConfig]()
        for place in places:
            if await asyncio.to_thread(os.path.isfile, place.path):
                own = plan if together else ServerPlan(servers, self._environment)
                found.append(await asyncio.to_thread(_found, own, Path(place.path), place.title))
        return tuple(config for config in found if config.problem or (config.preview and config.preview.servers))

    def _places(self, project: Path | None) -> tuple[ConfigPlace, ...]:
        return usual_places(self._platform, self._environment, os.path.abspath(project) if project else None)


def _found(plan: ServerPlan, path: Path, title: str = "") -> FoundConfig:
    try:
        origin, form, entries = _read(path)
    except InputError as error:
        return FoundConfig(path=path, title=title or path.name, problem=error.message)
    return FoundConfig(path=path, title=title or form.title, preview=_planned(plan, form, entries, origin))


def _planned(plan: ServerPlan, form: Form, entries: tuple[ServerEntry, ...], path: Path | None) -> ServerImportPreview:
    found = tuple(plan.planned(entry, str(path) if path else None) for entry in entries)
    source = path.name if path else "The text"
    return ServerImportPreview(source=source, form=form.form, title=form.title, servers=found)


def _read(source: Path | str) -> tuple[Path | None, Form, tuple[ServerEntry, ...]]:
    if isinstance(source, str):
        return None, *read_config(source)
    path = source.absolute()
    return path, *read_config(read_text(path), path)
