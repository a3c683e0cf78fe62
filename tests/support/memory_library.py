"""The tool library and contacts in memory, behaving as the stores on disk do."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.model.health import LAST_FAILURES, ContactSummary, ServerContact, usual_p95
from mcp_tef.model.ids import LibraryToolId, new_id
from mcp_tef.model.library import Execution, LibraryTool, ToolCategory, ToolDesign, ToolStatus, ToolVersion
from mcp_tef.trust.field_changes import merged_fields
from tests.support.memory_servers import NOW


class MemoryLibrary:
    """Satisfies `LibraryStore`."""

    def __init__(self) -> None:
        self._tools: dict[LibraryToolId, LibraryTool] = {}
        self._removed: dict[LibraryToolId, LibraryTool] = {}
        self._versions: dict[LibraryToolId, list[ToolVersion]] = {}
        self._categories: dict[str, ToolCategory] = {}
        self._executions: list[Execution] = []

    async def add(self, design: ToolDesign, changelog: str = "") -> LibraryTool:
        """A draft in version 1."""
        self._require_free(design.name)
        tool = LibraryTool(id=LibraryToolId(new_id()), design=design, created_at=NOW, updated_at=NOW)
        self._tools[tool.id] = tool
        self._versions[tool.id] = [ToolVersion(version=1, design=design, changelog=changelog, created_at=NOW)]
        return tool

    async def update(
        self, tool_id: LibraryToolId, design: ToolDesign, changelog: str, *, expected_version: int
    ) -> LibraryTool:
        """One more version."""
        tool = await self.get(tool_id)
        if tool.version != expected_version:
            raise ConflictError(f"{tool.name} was changed elsewhere meanwhile.")
        self._require_free(design.name, tool_id)
        self._tools[tool_id] = replace(tool, design=design, version=tool.version + 1)
        version = ToolVersion(version=tool.version + 1, design=design, changelog=changelog, created_at=NOW)
        earlier = [replace(one, is_latest=False) for one in self._versions[tool_id]]
        self._versions[tool_id] = [version, *earlier]
        return self._tools[tool_id]

    async def set_status(
        self, tool_id: LibraryToolId, status: ToolStatus, *, seen: ToolStatus | None = None
    ) -> LibraryTool:
        """Another status."""
        stored = await self.get(tool_id)
        before, after = (replace(stored, status=one) for one in (seen or stored.status, status))
        merged_fields(before, after, stored, f"the tool “{stored.name}”")
        self._tools[tool_id] = replace(await self.get(tool_id), status=status)
        return self._tools[tool_id]

    async def all(self) -> tuple[LibraryTool, ...]:
        """By name."""
        return tuple(sorted(self._tools.values(), key=lambda tool: tool.name))

    async def get(self, tool_id: LibraryToolId) -> LibraryTool:
        """One of them."""
        if tool_id not in self._tools:
            raise NotFoundError("That tool is not in the library any more.")
        return self._tools[tool_id]

    async def versions(self, tool_id: LibraryToolId) -> tuple[ToolVersion, ...]:
        """Newest first."""
        await self.get(tool_id)
        return tuple(self._versions[tool_id])

    async def remove(self, ids: Sequence[LibraryToolId]) -> None:
        """Set them aside."""
        self._removed |= {one: self._tools.pop(one) for one in ids if one in self._tools}

    async def restore(self, ids: Sequence[LibraryToolId]) -> None:
        """Take them back."""
        for one in ids:
            self._require_free(self._removed[one].name)
            self._tools[one] = self._removed.pop(one)

    async def categories(self) -> tuple[ToolCategory, ...]:
        """By name."""
        return tuple(self._categories[name] for name in sorted(self._categories))

    async def save_category(self, category: ToolCategory, *, seen: ToolCategory | None = None) -> None:
        """Add or change."""
        stored = self._categories.get(category.name, category)
        self._categories[category.name] = merged_fields(
            seen or stored, category, stored, f"the category {category.name}"
        )

    async def record(self, executions: Sequence[Execution]) -> None:
        """Keep those of tools that are here."""
        self._executions += [one for one in executions if one.tool_id in self._tools]

    async def executions(self, tool_id: LibraryToolId | None = None, *, limit: int = 1000) -> tuple[Execution, ...]:
        """Newest first."""
        kept = [one for one in self._executions if tool_id in (None, one.tool_id)]
        return tuple(sorted(kept, key=lambda one: one.created_at, reverse=True))[:limit]

    def _require_free(self, name: str, tool_id: LibraryToolId | None = None) -> None:
        if any(tool.name == name and tool.id != tool_id for tool in self._tools.values()):
            raise ConflictError(f"There is a tool named {name} in the library already.")


class MemoryContacts:
    """Satisfies `ContactStore`."""

    def __init__(self) -> None:
        self._contacts: list[ServerContact] = []

    async def record_contacts(self, contacts: Sequence[ServerContact]) -> None:
        """Keep all of them."""
        self._contacts += contacts

    async def contacts(self, since: datetime) -> tuple[ServerContact, ...]:
        """Oldest first."""
        return tuple(one for one in self._ordered() if one.at > since)

    async def summary(self, before: datetime) -> ContactSummary:
        """In short."""
        usual, last = dict[str, int](), list[ServerContact]()
        for server in {one.server for one in self._contacts}:
            of_server = [one for one in self._ordered() if one.server == server and one.at <= before]
            if p95 := usual_p95([one.duration_ms for one in of_server if not one.failed]):
                usual[server] = p95
            last += [one for one in of_server if one.failures < one.contacts][-1:]
            last += [one for one in of_server if one.failures == one.contacts][-LAST_FAILURES:]
        return ContactSummary(before=before, usual_ms=usual, last=tuple(sorted(last, key=lambda one: one.at)))

    def _ordered(self) -> list[ServerContact]:
        return sorted(self._contacts, key=lambda one: one.at)
