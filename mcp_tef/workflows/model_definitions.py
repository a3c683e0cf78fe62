"""Groups, routers, search tools, prompts and client profiles in and out of one YAML file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_yaml, read_text, to_yaml, write_text
from mcp_tef.model.clients import ClientProfile
from mcp_tef.model.definitions import DefinitionKind, PromptTemplate, require_prompt_name
from mcp_tef.model.json import Json
from mcp_tef.model.model_groups import ModelGroup, group_from_json, group_to_json
from mcp_tef.model.model_routers import ModelRouter, router_from_json, router_to_json
from mcp_tef.model.transfer import ImportedItem, ImportStatus
from mcp_tef.model.web_search import SearchTool, search_tool_from_json, search_tool_to_json
from mcp_tef.ports import Store
from mcp_tef.prompts.templates import require_sound
from mcp_tef.trust.import_changes import IMPORTED, edited_names, imported_item, require_named_once, values_over
from mcp_tef.trust.name_keys import stored_name
from mcp_tef.workflows.clients import Clients
from mcp_tef.workflows.model_targets import ModelTargets
from mcp_tef.workflows.prompts import Prompts, read_templates
from mcp_tef.workflows.search_tools import SearchTools

FORMAT: Final = "mcp_tef_models"
_STORED: Final = {"groups": DefinitionKind.GROUP, "routers": DefinitionKind.ROUTE, "searches": DefinitionKind.SEARCH}
_SECTIONS: Final = (*_STORED, "prompts", "clients")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionImport:
    """Preview of importing definitions: the fate of each, and those that it would add or change."""

    source: str
    items: tuple[ImportedItem, ...]
    counts: Mapping[str, int]
    groups: Sequence[ModelGroup]
    routers: Sequence[ModelRouter]
    searches: Sequence[SearchTool]
    versions: Sequence[PromptTemplate]
    clients: Sequence[tuple[ClientProfile, str]]

    @property
    def edited(self) -> tuple[str, ...]:
        """The names of what a person made or edited here and it would change."""
        return edited_names(self.items)


class ModelDefinitions:
    """Exports and imports definitions: a preview that checks the whole file first, then all of it."""

    def __init__(
        self,
        targets: ModelTargets,
        searches: SearchTools,
        store: Store,
        prompts: Prompts,
        clients: Clients,
    ) -> None:
        self._targets = targets
        self._searches = searches
        self._store = store.definitions
        self._together = store.together
        self._prompts = prompts
        self._clients = clients

    async def export(self, path: Path) -> dict[str, int]:
        """Write everything to a file; returns the number of each section. No key is part of it."""
        sections: dict[str, list[Any]] = {
            name: [dict(one.document) for one in await self._store.all(kind)] for name, kind in _STORED.items()
        }
        sections |= {"prompts": [*await self._prompts.documents()], "clients": self._clients.documents()}
        write_text(path, to_yaml({FORMAT: 1, **sections}))
        return {name: len(items) for name, items in sections.items()}

    async def preview(self, path: Path) -> DefinitionImport:
        """Return what importing a file would do; InputError where any of it is not sound."""
        document = _document(path)
        items: list[ImportedItem] = []
        groups = await self._read(document, "groups", path, items, group_from_json, group_to_json)
        routers = await self._read(document, "routers", path, items, router_from_json, router_to_json)
        searches = await self._read(document, "searches", path, items, search_tool_from_json, search_tool_to_json)
        versions = await self._read_prompts(document, path, items)
        clients = self._read_clients(document, path, items)
        return DefinitionImport(
            source=path.name,
            items=tuple(items),
            counts={name: len(_items(document, name, path)) for name in _SECTIONS},
            groups=groups,
            routers=routers,
            searches=searches,
            versions=versions,
            clients=clients,
        )

    async def apply(self, preview: DefinitionImport) -> None:
        """Do what a preview said; InputError or NotFoundError before anything is kept."""
        async with self._together():
            await self._targets.add_all(preview.groups, preview.routers, note=IMPORTED)
            await self._prompts.take_over(preview.versions)
            for tool in preview.searches:
                await self._searches.add(tool, note=IMPORTED)
        for profile, text in preview.clients:
            self._clients.keep(profile, text)

    async def _read(
        self,
        document: Mapping[str, Json],
        section: str,
        path: Path,
        items: list[ImportedItem],
        read: Callable[[Mapping[str, Any]], T],
        written: Callable[[T], Mapping[str, Json]],
    ) -> list[T]:
        """Return what one section adds or changes, each over what is stored by its name; `items` get all fates."""
        kind = _STORED[section]
        stored = {one.name: one for one in await self._store.all(kind)}
        found = []
        for given, name in _named(_items(document, section, path), str(kind), stored, path):
            before = stored.get(name)
            kept = before.document if before else None
            whole = read(values_over(kept, {**given, "name": name} if name else given))
            edited = before is not None and before.note != IMPORTED
            item = imported_item(str(kind), name, kept, written(whole), edited=edited)
            items.append(item)
            found += [whole] if item.fate is not ImportStatus.UNCHANGED else []
        return found

    async def _read_prompts(
        self, document: Mapping[str, Json], path: Path, items: list[ImportedItem]
    ) -> list[PromptTemplate]:
        templates = [read_templates(one) for one in _items(document, "prompts", path)]
        require_named_once("prompt", [one[0].name for one in templates], path.name)
        for template in chain.from_iterable(templates):
            require_prompt_name(template.name)
            require_sound(template)
        incoming = [await self._prompts.incoming(versions) for versions in templates]
        items += [item for item, _ in incoming]
        return [*chain.from_iterable(new for _, new in incoming)]

    def _read_clients(
        self, document: Mapping[str, Json], path: Path, items: list[ImportedItem]
    ) -> list[tuple[ClientProfile, str]]:
        given = _items(document, "clients", path)
        require_named_once("client profile", [str(one.get("name")) for one in given], path.name)
        incoming = [self._clients.incoming(one, path.name) for one in given]
        items += [item for item, _, _ in incoming]
        return [(profile, text) for item, profile, text in incoming if item.fate is not ImportStatus.UNCHANGED]


def _named(
    given: Sequence[dict[str, Any]], kind: str, stored: Mapping[str, object], path: Path
) -> list[tuple[dict[str, Any], str]]:
    """Return the items with the names under which they are kept; InputError for two of one name."""
    names = [one["name"] if isinstance(one.get("name"), str) else "" for one in given]
    require_named_once(kind, [*filter(None, names)], path.name)
    return [(one, stored_name(name, stored) or name) for one, name in zip(given, names, strict=True)]


def _document(path: Path) -> Mapping[str, Json]:
    document = parse_yaml(read_text(path), path.name)
    if not isinstance(document, Mapping) or document.get(FORMAT) != 1:
        raise InputError(f"{path.name} holds no groups and routers.", hint="Write one with: mcp-tef models export")
    if unknown := sorted(set(document) - {FORMAT, *_SECTIONS}):
        hint = f"It may hold {', '.join(_SECTIONS)}."
        raise InputError(f"{path.name} has an unknown part “{unknown[0]}”.", hint=hint)
    return document


def _items(document: Mapping[str, Json], name: str, path: Path) -> list[dict[str, Any]]:
    items = document.get(name) or []
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        raise InputError(f"The {name} in {path.name} are no list of objects.", hint="Export one to see the format.")
    return items
