"""Protocols of the stores of the tool library and of definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mcp_tef.model.definitions import DefinitionKind, StoredDefinition
    from mcp_tef.model.ids import LibraryToolId
    from mcp_tef.model.json import Json
    from mcp_tef.model.library import Execution, LibraryTool, ToolCategory, ToolDesign, ToolStatus, ToolVersion


class LibraryStore(Protocol):
    """The tool library on disk. Names are unique (ConflictError); unknown ids raise NotFoundError."""

    async def add(self, design: ToolDesign, changelog: str = "") -> LibraryTool:
        """Keep a new tool as a draft, in version 1."""
        ...

    async def update(
        self, tool_id: LibraryToolId, design: ToolDesign, changelog: str, *, expected_version: int
    ) -> LibraryTool:
        """Keep a new version; ConflictError where the latest one is another than expected."""
        ...

    async def set_status(
        self, tool_id: LibraryToolId, status: ToolStatus, *, seen: ToolStatus | None = None
    ) -> LibraryTool:
        """Give a tool a status; ChangedMeanwhileError where it has another one than was seen."""
        ...

    async def all(self) -> tuple[LibraryTool, ...]:
        """Return every tool, by name."""
        ...

    async def get(self, tool_id: LibraryToolId) -> LibraryTool: ...
    async def versions(self, tool_id: LibraryToolId) -> tuple[ToolVersion, ...]:
        """Return every version of a tool, newest first."""
        ...

    async def remove(self, ids: Sequence[LibraryToolId]) -> None:
        """Hide tools until the next open, so that `restore` undoes it."""
        ...

    async def restore(self, ids: Sequence[LibraryToolId]) -> None: ...
    async def categories(self) -> tuple[ToolCategory, ...]: ...
    async def save_category(self, category: ToolCategory, *, seen: ToolCategory | None = None) -> None:
        """Add a category, or change what differs from the one seen in that of its name; ChangedMeanwhileError."""
        ...

    async def record(self, executions: Sequence[Execution]) -> None:
        """Keep executions that ended; of each tool the last thousand stay."""
        ...

    async def executions(self, tool_id: LibraryToolId | None = None, *, limit: int = 1000) -> tuple[Execution, ...]:
        """Return the executions of a tool, or of all, newest first."""
        ...


class DefinitionStore(Protocol):
    """Prompts, model groups, routes and search tools on disk; unknown names raise NotFoundError."""

    async def add(
        self,
        kind: DefinitionKind,
        name: str,
        document: Mapping[str, Json],
        note: str = "",
        *,
        seen: Mapping[str, Json] | None = None,
    ) -> StoredDefinition:
        """Store the next version of a name, the first for a new one; numbers are never reused.

        Where `seen` is given, only what differs from it is changed; an empty one saw that there was none.
        ChangedMeanwhileError where the same was changed since; NotFoundError where what was seen is gone.
        """
        ...

    async def all(self, kind: DefinitionKind) -> tuple[StoredDefinition, ...]:
        """Return the latest version of each name, by name."""
        ...

    async def versions(self, kind: DefinitionKind, name: str) -> tuple[StoredDefinition, ...]:
        """Return every version of a name, newest first."""
        ...

    async def get(self, kind: DefinitionKind, name: str, version: int | None = None) -> StoredDefinition:
        """Return one version of a name, or the latest."""
        ...

    async def remove(self, kind: DefinitionKind, name: str) -> None:
        """Hide every version of a name."""
        ...

    async def restore(self, kind: DefinitionKind, name: str) -> None:
        """Undo a removal."""
        ...
