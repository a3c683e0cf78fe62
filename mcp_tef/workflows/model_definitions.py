"""Groups, routers, search tools, prompts and client profiles in and out of one YAML file."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_yaml, read_text, to_yaml, write_text
from mcp_tef.formats.definition_files import profile_of
from mcp_tef.model.clients import ClientProfile
from mcp_tef.model.definitions import DefinitionKind, PromptTemplate, require_prompt_name
from mcp_tef.model.json import Json
from mcp_tef.model.model_groups import group_from_json
from mcp_tef.model.model_routers import router_from_json
from mcp_tef.model.web_search import search_tool_from_json
from mcp_tef.ports import DefinitionStore
from mcp_tef.prompts.templates import require_sound
from mcp_tef.workflows.clients import Clients, require_client_name
from mcp_tef.workflows.model_targets import ModelTargets
from mcp_tef.workflows.prompts import Prompts, read_templates
from mcp_tef.workflows.search_tools import SearchTools

FORMAT: Final = "mcp_tef_models"
_STORED: Final = {"groups": DefinitionKind.GROUP, "routers": DefinitionKind.ROUTE, "searches": DefinitionKind.SEARCH}
_SECTIONS: Final = (*_STORED, "prompts", "clients")


class ModelDefinitions:
    """Exports and imports definitions. An import is checked as a whole before anything of it is kept."""

    def __init__(
        self,
        targets: ModelTargets,
        searches: SearchTools,
        store: DefinitionStore,
        prompts: Prompts,
        clients: Clients,
    ) -> None:
        self._targets = targets
        self._searches = searches
        self._store = store
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

    async def import_file(self, path: Path) -> dict[str, int]:
        """Keep what a file holds, in the place of what has the same names; InputError before anything is kept.

        Versions of prompts that are not here yet follow those that are.
        """
        document = _document(path)
        groups = [group_from_json(one) for one in _items(document, "groups", path)]
        routers = [router_from_json(one) for one in _items(document, "routers", path)]
        searches = [search_tool_from_json(one) for one in _items(document, "searches", path)]
        versions, clients = _prompts_and_clients(document, path)
        await self._targets.add_all(groups, routers)
        await self._prompts.take_over([*chain.from_iterable(versions)])
        for tool in searches:
            await self._searches.add(tool)
        for profile, text in clients:
            self._clients.keep(profile, text)
        counts = (len(groups), len(routers), len(searches), len(versions), len(clients))
        return dict(zip(_SECTIONS, counts, strict=True))


def _document(path: Path) -> Mapping[str, Json]:
    document = parse_yaml(read_text(path), path.name)
    if not isinstance(document, Mapping) or document.get(FORMAT) != 1:
        raise InputError(f"{path.name} holds no groups and routers.", hint="Write one with: mcp-tef models export")
    if unknown := sorted(set(document) - {FORMAT, *_SECTIONS}):
        hint = f"It may hold {', '.join(_SECTIONS)}."
        raise InputError(f"{path.name} has an unknown part “{unknown[0]}”.", hint=hint)
    return document


def _prompts_and_clients(
    document: Mapping[str, Json], path: Path
) -> tuple[list[tuple[PromptTemplate, ...]], list[tuple[ClientProfile, str]]]:
    """Return the versions of each prompt, and each profile with its text. InputError for one that is not sound."""
    versions = [read_templates(one) for one in _items(document, "prompts", path)]
    clients = [(profile_of(one, path.name), to_yaml(one)) for one in _items(document, "clients", path)]
    for profile, _ in clients:
        require_client_name(profile)
    for template in chain.from_iterable(versions):
        require_prompt_name(template.name)
        require_sound(template)
    return versions, clients


def _items(document: Mapping[str, Json], name: str, path: Path) -> list[dict[str, Any]]:
    items = document.get(name) or []
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        raise InputError(f"The {name} in {path.name} are no list of objects.", hint="Export one to see the format.")
    return items
