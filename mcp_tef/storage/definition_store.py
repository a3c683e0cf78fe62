"""Versioned definitions (prompts, model groups, routers, search tools) in the workspace file."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Text, exists, func, insert, select, update
from sqlmodel import Field, Session

from mcp_tef.errors import NotFoundError
from mcp_tef.model.definitions import DefinitionKind, StoredDefinition
from mcp_tef.model.json import Json
from mcp_tef.storage.columns import OBJECT, Moment, SafeText, StoredRow, now, row_of, storable, table_of
from mcp_tef.storage.database import Database
from mcp_tef.trust.field_changes import merged_fields, same


class DefinitionRow(StoredRow, table=True):
    """One version of a definition. Those of a removed name stay hidden, so that no run names a reused number."""

    __tablename__ = "definitions"

    kind: str = Field(primary_key=True, sa_type=Text)
    name: str = Field(primary_key=True, sa_type=SafeText)
    version: int = Field(primary_key=True)
    document: Any = Field(sa_type=OBJECT)
    note: str = Field(default="", sa_type=SafeText)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    removed_at: datetime | None = Field(default=None, sa_type=Moment)


DEFINITIONS = table_of(DefinitionRow)
_THERE = DEFINITIONS.c.removed_at.is_(None)


class SqliteDefinitions:
    """Satisfies `DefinitionStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(
        self,
        kind: DefinitionKind,
        name: str,
        document: Mapping[str, Json],
        note: str = "",
        *,
        seen: Mapping[str, Json] | None = None,
    ) -> StoredDefinition:
        """Store the next version of a name, merged with what was stored since it was seen. ChangedMeanwhileError."""

        def work(session: Session) -> StoredDefinition:
            latest = _latest(session, kind, name, seen)
            merged = merged_fields(seen or {}, document, latest.document, f"the {kind} {name}") if latest else document
            if latest and same(merged, latest.document):
                return latest
            numbers = select(func.max(DEFINITIONS.c.version)).where(_named(kind, name))
            version = (session.execute(numbers).scalar_one() or 0) + 1
            row = {"kind": kind, "name": name, "version": version, "document": merged, "note": note}
            session.execute(insert(DEFINITIONS).values(row))
            return _get(session, kind, name, version)

        return await self._database.write(work)

    async def all(self, kind: DefinitionKind) -> tuple[StoredDefinition, ...]:
        """The latest version of each name, by name."""

        def work(session: Session) -> tuple[StoredDefinition, ...]:
            found = select(DEFINITIONS).where(DEFINITIONS.c.kind == kind, _THERE)
            rows = session.execute(found.order_by(DEFINITIONS.c.name, DEFINITIONS.c.version))
            return tuple({row.name: _definition(row) for row in rows}.values())

        return await self._database.read(work)

    async def versions(self, kind: DefinitionKind, name: str) -> tuple[StoredDefinition, ...]:
        """Every version of a name, newest first. NotFoundError."""
        return await self._database.read(lambda session: _versions(session, kind, name))

    async def get(self, kind: DefinitionKind, name: str, version: int | None = None) -> StoredDefinition:
        """One version, or the latest. NotFoundError."""
        return await self._database.read(lambda session: _get(session, kind, name, version))

    async def remove(self, kind: DefinitionKind, name: str) -> None:
        """Hide every version of a name. NotFoundError."""

        def work(session: Session) -> None:
            _get(session, kind, name)
            session.execute(update(DEFINITIONS).where(_named(kind, name), _THERE).values(removed_at=now()))

        await self._database.write(work)

    async def restore(self, kind: DefinitionKind, name: str) -> None:
        """Show the hidden versions of a name again."""
        shown = update(DEFINITIONS).where(_named(kind, name)).values(removed_at=None)
        await self._database.write(lambda session: session.execute(shown))


def _named(kind: DefinitionKind, name: str) -> Any:
    return (DEFINITIONS.c.kind == kind) & (DEFINITIONS.c.name == storable(name))


def _latest(
    session: Session, kind: DefinitionKind, name: str, seen: Mapping[str, Json] | None
) -> StoredDefinition | None:
    """Return the definition that an edit changes; None where it replaces all, or is new. NotFoundError."""
    there = seen is not None and (seen or session.execute(select(exists().where(_named(kind, name), _THERE))).scalar())
    return _get(session, kind, name) if there else None


def _versions(session: Session, kind: DefinitionKind, name: str) -> tuple[StoredDefinition, ...]:
    found = select(DEFINITIONS).where(_named(kind, name), _THERE).order_by(DEFINITIONS.c.version.desc())
    rows = tuple(map(_definition, session.execute(found)))
    if not rows:
        raise NotFoundError(f"There is no {kind} named {name}.")
    return rows


def _get(session: Session, kind: DefinitionKind, name: str, version: int | None = None) -> StoredDefinition:
    rows = _versions(session, kind, name)
    found = next((row for row in rows if version in (None, row.version)), None)
    if found is None:
        raise NotFoundError(f"The {kind} {name} has no version {version}.", hint=f"The latest is {rows[0].version}.")
    return found


@row_of("definitions", "name")
def _definition(row: Any) -> StoredDefinition:
    if not isinstance(row.document, dict):
        raise TypeError("The document is not an object.")
    return StoredDefinition(
        kind=DefinitionKind(row.kind),
        name=row.name,
        version=row.version,
        document=row.document,
        note=row.note,
        created_at=row.created_at,
    )
