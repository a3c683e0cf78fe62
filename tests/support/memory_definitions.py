"""Versioned definitions in memory, behaving as the store on disk does."""

from collections.abc import Mapping

from mcp_tef.errors import NotFoundError
from mcp_tef.model.definitions import DefinitionKind, StoredDefinition
from mcp_tef.model.json import Json
from mcp_tef.trust.field_changes import merged_fields
from tests.support.memory_servers import NOW


class MemoryDefinitions:
    """Satisfies `DefinitionStore`."""

    def __init__(self) -> None:
        self._versions: dict[tuple[DefinitionKind, str], list[StoredDefinition]] = {}
        self._hidden: dict[tuple[DefinitionKind, str], int] = {}

    async def add(
        self,
        kind: DefinitionKind,
        name: str,
        document: Mapping[str, Json],
        note: str = "",
        *,
        seen: Mapping[str, Json] | None = None,
    ) -> StoredDefinition:
        """One more version."""
        if seen or (seen is not None and self._shown(kind, name)):
            latest = await self.get(kind, name)
            document = merged_fields(seen, document, latest.document, f"the {kind} {name}")
            if document == latest.document:
                return latest
        versions = self._versions.setdefault((kind, name), [])
        made = StoredDefinition(
            kind=kind, name=name, version=len(versions) + 1, document=document, note=note, created_at=NOW
        )
        versions.append(made)
        return made

    async def all(self, kind: DefinitionKind) -> tuple[StoredDefinition, ...]:
        """The latest ones, by name."""
        names = sorted(name for of, name in self._versions if of is kind and self._shown(of, name))
        return tuple([await self.get(kind, name) for name in names])

    async def versions(self, kind: DefinitionKind, name: str) -> tuple[StoredDefinition, ...]:
        """Newest first."""
        found = self._shown(kind, name)
        if not found:
            raise NotFoundError(f"There is no {kind} named {name}.")
        return tuple(reversed(found))

    async def get(self, kind: DefinitionKind, name: str, version: int | None = None) -> StoredDefinition:
        """One of them."""
        for one in await self.versions(kind, name):
            if version in (None, one.version):
                return one
        raise NotFoundError(f"The {kind} {name} has no version {version}.")

    async def remove(self, kind: DefinitionKind, name: str) -> None:
        """Hide them."""
        await self.versions(kind, name)
        self._hidden[kind, name] = len(self._versions[kind, name])

    async def restore(self, kind: DefinitionKind, name: str) -> None:
        """Show them again."""
        self._hidden.pop((kind, name), None)

    def _shown(self, kind: DefinitionKind, name: str) -> list[StoredDefinition]:
        return self._versions.get((kind, name), [])[self._hidden.get((kind, name), 0) :]
