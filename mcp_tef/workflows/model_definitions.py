"""Groups, routers and search tools of a workspace in and out of one YAML file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_yaml, read_text, to_yaml, write_text
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.json import Json
from mcp_tef.model.model_groups import group_from_json
from mcp_tef.model.model_routers import router_from_json
from mcp_tef.model.web_search import search_tool_from_json
from mcp_tef.ports import DefinitionStore
from mcp_tef.workflows.model_targets import ModelTargets
from mcp_tef.workflows.search_tools import SearchTools

FORMAT: Final = "mcp_tef_models"
_SECTIONS: Final = {"groups": DefinitionKind.GROUP, "routers": DefinitionKind.ROUTE, "searches": DefinitionKind.SEARCH}


class ModelDefinitions:
    """Exports and imports definitions. An import is checked as a whole before anything of it is kept."""

    def __init__(self, targets: ModelTargets, searches: SearchTools, store: DefinitionStore) -> None:
        self._targets = targets
        self._searches = searches
        self._store = store

    async def export(self, path: Path) -> dict[str, int]:
        """Write everything to a file; returns the number of each section. No key is part of it."""
        sections = {
            name: [dict(one.document) for one in await self._store.all(kind)] for name, kind in _SECTIONS.items()
        }
        write_text(path, to_yaml({FORMAT: 1, **sections}))
        return {name: len(items) for name, items in sections.items()}

    async def import_file(self, path: Path) -> dict[str, int]:
        """Keep what a file holds, in the place of what has the same names; InputError before anything is kept."""
        document = parse_yaml(read_text(path), path.name)
        if not isinstance(document, Mapping) or document.get(FORMAT) != 1:
            raise InputError(f"{path.name} holds no groups and routers.", hint="Write one with: mcp-tef models export")
        if unknown := sorted(set(document) - {FORMAT, *_SECTIONS}):
            raise InputError(
                f"{path.name} has an unknown part “{unknown[0]}”.", hint=f"It may hold {', '.join(_SECTIONS)}."
            )
        groups = [group_from_json(one) for one in _items(document, "groups", path)]
        routers = [router_from_json(one) for one in _items(document, "routers", path)]
        searches = [search_tool_from_json(one) for one in _items(document, "searches", path)]
        await self._targets.add_all(groups, routers)
        for tool in searches:
            await self._searches.add(tool)
        return {"groups": len(groups), "routers": len(routers), "searches": len(searches)}


def _items(document: Mapping[str, Json], name: str, path: Path) -> list[dict[str, Any]]:
    items = document.get(name) or []
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        raise InputError(f"The {name} in {path.name} are no list of objects.", hint="Export one to see the format.")
    return items
