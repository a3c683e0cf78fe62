"""Tools of the library with their versions and executions, in the workspace file."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import delete, exists, insert, select, text, update
from sqlmodel import Session

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.model.ids import ExecutionId, LibraryToolId, new_id
from mcp_tef.model.library import (
    Execution,
    ExecutionStatus,
    LibraryTool,
    ToolCategory,
    ToolDesign,
    ToolStatus,
    ToolVersion,
    design_from_json,
    design_to_json,
)
from mcp_tef.storage.columns import now, one_of, row_of, storable
from mcp_tef.storage.database import Database, chunks
from mcp_tef.storage.library_tables import (
    LIBRARY_CATEGORIES,
    LIBRARY_EXECUTIONS,
    LIBRARY_TOOLS,
    LIBRARY_VERSIONS,
)
from mcp_tef.trust.field_changes import merged_fields

MOST_EXECUTIONS: Final = 1000
_LATEST = (LIBRARY_VERSIONS.c.tool_id == LIBRARY_TOOLS.c.id) & (LIBRARY_VERSIONS.c.version == LIBRARY_TOOLS.c.version)


class SqliteLibrary:
    """Satisfies `LibraryStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, design: ToolDesign, changelog: str = "") -> LibraryTool:
        """Keep a new tool as a draft, in version 1. ConflictError where its name is taken."""

        def work(session: Session) -> LibraryTool:
            tool_id = LibraryToolId(new_id())
            _require_free(session, design.name, tool_id)
            session.execute(insert(LIBRARY_TOOLS).values(id=tool_id, name=design.name))
            _add_version(session, tool_id, 1, design, changelog)
            return _get(session, tool_id)

        return await self._database.write(work)

    async def update(
        self, tool_id: LibraryToolId, design: ToolDesign, changelog: str, *, expected_version: int
    ) -> LibraryTool:
        """Keep a new version. ConflictError where the latest is another than expected, or the name is taken."""

        def work(session: Session) -> LibraryTool:
            tool = _get(session, tool_id)
            if tool.version != expected_version:
                hint = "Look at it again, and repeat the change."
                raise ConflictError(f"{tool.name} was changed elsewhere meanwhile.", hint=hint)
            _require_free(session, design.name, tool_id)
            values = {"name": design.name, "version": tool.version + 1, "updated_at": now()}
            session.execute(update(LIBRARY_TOOLS).where(LIBRARY_TOOLS.c.id == tool_id).values(values))
            _add_version(session, tool_id, tool.version + 1, design, changelog)
            return _get(session, tool_id)

        return await self._database.write(work)

    async def set_status(
        self, tool_id: LibraryToolId, status: ToolStatus, *, seen: ToolStatus | None = None
    ) -> LibraryTool:
        """Give a tool a status. NotFoundError; ChangedMeanwhileError where it has another one than was seen."""

        def work(session: Session) -> LibraryTool:
            stored = _get(session, tool_id)
            before, after = (replace(stored, status=one) for one in (seen or stored.status, status))
            merged_fields(before, after, stored, f"the tool “{stored.name}”")
            values = {"status": status.value, "updated_at": now()}
            session.execute(update(LIBRARY_TOOLS).where(LIBRARY_TOOLS.c.id == tool_id).values(values))
            return _get(session, tool_id)

        return await self._database.write(work)

    async def all(self) -> tuple[LibraryTool, ...]:
        """Every tool, by name."""
        return await self._database.read(_all)

    async def get(self, tool_id: LibraryToolId) -> LibraryTool:
        """One tool. NotFoundError."""
        return await self._database.read(lambda session: _get(session, tool_id))

    async def versions(self, tool_id: LibraryToolId) -> tuple[ToolVersion, ...]:
        """Every version of a tool, newest first."""

        def work(session: Session) -> tuple[ToolVersion, ...]:
            latest = _get(session, tool_id).version
            found = select(LIBRARY_VERSIONS).where(LIBRARY_VERSIONS.c.tool_id == tool_id)
            rows = session.execute(found.order_by(LIBRARY_VERSIONS.c.version.desc()))
            return tuple(_version(row, latest) for row in rows)

        return await self._database.read(work)

    async def remove(self, ids: Sequence[LibraryToolId]) -> None:
        """Hide tools until the next open."""
        await self._hide(ids, hidden=True)

    async def restore(self, ids: Sequence[LibraryToolId]) -> None:
        """Undo a removal. ConflictError where a name was taken since."""
        await self._hide(ids, hidden=False)

    async def _hide(self, ids: Sequence[LibraryToolId], *, hidden: bool) -> None:
        def work(session: Session) -> None:
            rows = session.execute(select(LIBRARY_TOOLS).where(LIBRARY_TOOLS.c.id.in_(one_of(ids)))).all()
            for row in rows if not hidden else ():
                _require_free(session, row.name, LibraryToolId(row.id))
            named = LIBRARY_TOOLS.c.id.in_(one_of(ids))
            session.execute(update(LIBRARY_TOOLS).where(named).values(removed_at=now() if hidden else None))

        await self._database.write(work)

    async def categories(self) -> tuple[ToolCategory, ...]:
        """Every category, by name."""

        def work(session: Session) -> tuple[ToolCategory, ...]:
            rows = session.execute(select(LIBRARY_CATEGORIES).order_by(LIBRARY_CATEGORIES.c.name))
            return tuple(map(_category, rows))

        return await self._database.read(work)

    async def save_category(self, category: ToolCategory, *, seen: ToolCategory | None = None) -> None:
        """Add a category, or change what differs from the one seen in that of its name. ChangedMeanwhileError."""

        def work(session: Session) -> None:
            named = LIBRARY_CATEGORIES.c.name == storable(category.name)
            row = session.execute(select(LIBRARY_CATEGORIES).where(named)).first()
            made = category
            if row is not None:
                stored = _category(row)
                made = merged_fields(seen or stored, category, stored, f"the category {stored.name}")
            values = {"description": made.description, "parent": made.parent, "updated_at": now()}
            if row is not None:
                session.execute(update(LIBRARY_CATEGORIES).where(named).values(values))
            else:
                session.execute(insert(LIBRARY_CATEGORIES).values(name=category.name, **values))

        await self._database.write(work)

    async def record(self, executions: Sequence[Execution]) -> None:
        """Keep executions that ended; those of tools that are gone are dropped."""

        def work(session: Session) -> None:
            touched = {one.tool_id for one in executions}
            here = set(
                session.execute(select(LIBRARY_TOOLS.c.id).where(LIBRARY_TOOLS.c.id.in_(one_of(touched)))).scalars()
            )
            for piece in chunks([one for one in executions if one.tool_id in here]):
                session.execute(insert(LIBRARY_EXECUTIONS), [_execution_cells(one) for one in piece])
            for tool_id in here:
                _drop_oldest(session, tool_id)

        await self._database.write(work)

    async def executions(self, tool_id: LibraryToolId | None = None, *, limit: int = 1000) -> tuple[Execution, ...]:
        """Executions of a tool, or of all, newest first."""

        def work(session: Session) -> tuple[Execution, ...]:
            named = select(LIBRARY_EXECUTIONS, LIBRARY_TOOLS.c.name.label("tool")).join(LIBRARY_TOOLS)
            if tool_id is not None:
                named = named.where(LIBRARY_EXECUTIONS.c.tool_id == tool_id)
            rows = session.execute(named.order_by(text("library_executions.rowid DESC")).limit(limit))
            return tuple(map(_execution, rows))

        return await self._database.read(work)


def _category(row: Any) -> ToolCategory:
    return ToolCategory(name=row.name, description=row.description, parent=row.parent)


def _require_free(session: Session, name: str, tool_id: LibraryToolId) -> None:
    table = LIBRARY_TOOLS.c
    taken = exists().where((table.name == name) & table.removed_at.is_(None) & (table.id != tool_id))
    if session.execute(select(taken)).scalar_one():
        raise ConflictError(f"There is a tool named {name} in the library already.", hint="Use another name.")


def _add_version(session: Session, tool_id: LibraryToolId, version: int, design: ToolDesign, changelog: str) -> None:
    row = {"tool_id": tool_id, "version": version, "changelog": changelog, "design": design_to_json(design)}
    session.execute(insert(LIBRARY_VERSIONS).values(row))


def _get(session: Session, tool_id: LibraryToolId) -> LibraryTool:
    found = _all(session, (tool_id,))
    if not found:
        raise NotFoundError("That tool is not in the library any more.", hint="It may have been deleted.")
    return found[0]


def _all(session: Session, ids: Iterable[LibraryToolId] = ()) -> tuple[LibraryTool, ...]:
    tools = select(LIBRARY_TOOLS, LIBRARY_VERSIONS.c.design).join(LIBRARY_VERSIONS, _LATEST)
    tools = tools.where(LIBRARY_TOOLS.c.removed_at.is_(None)).order_by(LIBRARY_TOOLS.c.name)
    rows = session.execute(tools.where(LIBRARY_TOOLS.c.id.in_(one_of(ids))) if ids else tools)
    return tuple(map(_tool, rows))


@row_of("library_tools")
def _tool(row: Any) -> LibraryTool:
    return LibraryTool(
        id=LibraryToolId(row.id),
        design=design_from_json(row.design),
        status=ToolStatus(row.status),
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


@row_of("library_versions", "tool_id")
def _version(row: Any, latest: int) -> ToolVersion:
    return ToolVersion(
        version=row.version,
        design=design_from_json(row.design),
        changelog=row.changelog,
        is_latest=row.version == latest,
        created_at=row.created_at,
    )


def _execution_cells(execution: Execution) -> dict[str, Any]:
    names = [column.name for column in LIBRARY_EXECUTIONS.columns]
    return {name: getattr(execution, name) for name in names} | {"input": dict(execution.input)}


@row_of("library_executions")
def _execution(row: Any) -> Execution:
    names = [column.name for column in LIBRARY_EXECUTIONS.columns]
    cells = {name: getattr(row, name) for name in names}
    ids = {"id": ExecutionId(row.id), "tool_id": LibraryToolId(row.tool_id)}
    return Execution(**cells | ids | {"tool": row.tool, "status": ExecutionStatus(row.status)})


def _drop_oldest(session: Session, tool_id: str) -> None:
    table = LIBRARY_EXECUTIONS
    ordered = select(table.c.id).where(table.c.tool_id == tool_id).order_by(text("rowid DESC"))
    session.execute(delete(table).where(table.c.id.in_(ordered.offset(MOST_EXECUTIONS))))
