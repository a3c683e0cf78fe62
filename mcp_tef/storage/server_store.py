"""Servers, their listings, contacts with them, and the tools called by hand, in the workspace file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, func, insert, select, text, update
from sqlmodel import Session, col
from sqlmodel import select as select_rows

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.model.health import KEPT, LAST_FAILURES, WINDOW, ContactKind, ContactSummary, ServerContact, usual_p95
from mcp_tef.model.ids import ServerId, ToolCallId
from mcp_tef.model.runs import FailureInfo
from mcp_tef.model.servers import require_complete
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.ports import NOTHING_SEEN, ignore_progress
from mcp_tef.storage import server_rows
from mcp_tef.storage.columns import attributes, now, one_of, row_of
from mcp_tef.storage.library_tables import SERVER_CONTACTS
from mcp_tef.storage.server_rows import UNCHECKED, cells_of, checked_cells, reached_differently, server_of, spec_of
from mcp_tef.storage.tables import CASE_SERVERS, SERVERS, TOOL_CALLS, ListingRow, ServerRow
from mcp_tef.trust.field_changes import merged_fields
from mcp_tef.trust.name_keys import stored_name

if TYPE_CHECKING:
    from datetime import datetime

    from mcp_tef.model.servers import Server, ServerSpec
    from mcp_tef.model.tools import Listing
    from mcp_tef.ports import CheckResult, ProgressStep
    from mcp_tef.storage.database import Database


class SqliteServers:
    """Satisfies `ServerStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, spec: ServerSpec) -> Server:
        """Store a new server. ConflictError where its name or url is taken."""
        return await self._database.write(lambda session: add_server(session, spec))

    async def update(self, server_id: ServerId, spec: ServerSpec, seen: ServerSpec | None = None) -> Server:
        """Change a server; where it is now reached differently, what the last check found is forgotten."""
        return await self._database.write(lambda session: _update(session, server_id, spec, seen))

    async def apply(
        self,
        added: Sequence[ServerSpec],
        changed: Mapping[ServerId, ServerSpec],
        *,
        seen: Mapping[ServerId, ServerSpec] = NOTHING_SEEN,
        step: ProgressStep = ignore_progress,
    ) -> tuple[Server, ...]:
        """Add and change imported servers in one transaction; ConflictError or NotFoundError changes nothing.

        `step` is called on the store thread between the servers; what it raises takes all of it back.
        """
        return await self._database.write(lambda session: _apply(session, added, changed, seen, step))

    async def get(self, server_id: ServerId) -> Server:
        """One server. NotFoundError."""
        return await self._database.read(lambda session: server_of(_row(session, server_id)))

    async def find(self, name: str) -> Server:
        """The server of that name. NotFoundError with the nearest name."""
        return await self._database.read(lambda session: server_of(named(session, name)))

    async def all(self) -> tuple[Server, ...]:
        """Every server, by name."""
        return await self._database.read(lambda session: tuple(server_of(row) for row in _visible(session)))

    async def remove(self, ids: Sequence[ServerId]) -> None:
        """Hide servers until the next open, which deletes them; `restore` undoes it."""
        await self._database.write(lambda session: _remove(session, ids))

    async def restore(self, ids: Sequence[ServerId]) -> None:
        """Show removed servers again. ConflictError where a name or url was taken meanwhile."""
        await self._database.write(lambda session: _restore(session, ids))

    async def record_check(self, server_id: ServerId, result: CheckResult) -> Server:
        """Store what a connectivity check found."""
        return await self._database.write(lambda session: _record(session, server_id, result))

    async def listing(self, server_id: ServerId) -> Listing | None:
        """The tools as last seen; None where the server was never reached."""
        return await self._database.read(
            lambda session: server_rows.last(session, server_id, _row(session, server_id).name)
        )

    async def accepted_listing(self, server_id: ServerId) -> Listing | None:
        """The tools as the user last saw them, where the server lists something else now."""
        return await self._database.read(
            lambda session: server_rows.last_accepted(session, server_id, _row(session, server_id).name)
        )

    async def accept_listing(self, server_id: ServerId, listing: Listing) -> bool:
        """Take what the server lists as seen; False where it lists something else by now."""
        return await self._database.write(lambda session: server_rows.accept(session, server_id, listing))


def named(session: Session, name: str) -> ServerRow:
    """The row of that name. NotFoundError with the nearest name."""
    rows = {row.name: row for row in _visible(session)}
    if (stored := stored_name(name, rows)) is not None:
        return rows[stored]
    near = get_close_matches(name, rows, n=1)
    raise NotFoundError(
        f"No server is named “{name}”.", hint=f"Did you mean {near[0]}?" if near else "Add the server first."
    )


def _visible(session: Session) -> Sequence[ServerRow]:
    return session.exec(
        select_rows(ServerRow).where(col(ServerRow.removed_at).is_(None)).order_by(col(ServerRow.name))
    ).all()


def _row(session: Session, server_id: ServerId) -> ServerRow:
    row = session.get(ServerRow, server_id)
    if row is None or row.removed_at is not None:
        raise NotFoundError("That server is not here any more.", hint="It may have been removed.")
    return row


def add_server(session: Session, spec: ServerSpec, *, imported: bool = False) -> Server:
    """Store a new server. ConflictError where its name or url is taken."""
    row = ServerRow(**cells_of(spec), imported=int(imported))
    _require_free(session, row)
    session.add(row)
    return _stored(session, row)


def _update(
    session: Session, server_id: ServerId, spec: ServerSpec, seen: ServerSpec | None, *, imported: bool = False
) -> Server:
    row = _row(session, server_id)
    stored = spec_of(row)
    cells = cells_of(require_complete(merged_fields(seen or stored, spec, stored, f"the server “{row.name}”")))
    if reached_differently(row, cells):
        cells |= UNCHECKED
        session.execute(delete(ListingRow).where(col(ListingRow.mcp_server_id) == server_id))
    row.sqlmodel_update(cells | {"imported": int(imported)})
    _require_free(session, row)
    return _stored(session, row)


def _apply(
    session: Session,
    added: Sequence[ServerSpec],
    changed: Mapping[ServerId, ServerSpec],
    seen: Mapping[ServerId, ServerSpec],
    step: ProgressStep,
) -> tuple[Server, ...]:
    whole = len(added) + len(changed)
    step(0, whole)
    edited, fresh = [], []
    for server_id, spec in changed.items():
        edited.append(_update(session, server_id, spec, seen.get(server_id), imported=True))
        step(len(edited), whole)
    for spec in added:
        fresh.append(add_server(session, spec, imported=True))
        step(len(edited) + len(fresh), whole)
    return (*fresh, *edited)


def _require_free(session: Session, row: ServerRow) -> None:
    with session.no_autoflush:
        columns = select_rows(ServerRow.name, ServerRow.url).where(col(ServerRow.removed_at).is_(None))
        others = session.exec(columns.where(col(ServerRow.id) != row.id)).all()
    if (taken := stored_name(row.name, (name for name, _ in others))) is not None:
        raise ConflictError(f"A server named “{taken}” is here already.", hint="Use another name.")
    twin = next((name for name, url in others if row.url and url == row.url), None)
    if twin:
        raise ConflictError(f"The server {twin} has the address {row.url} already.", hint="Use that server.")


def _stored(session: Session, row: ServerRow) -> Server:
    session.flush()
    _attach_cases(session, row)
    session.refresh(row)
    return server_of(row)


def _attach_cases(session: Session, row: ServerRow) -> None:
    """Tie the cases to a server that were tied to a removed one of its name."""
    removed = select(SERVERS.c.id).where(SERVERS.c.name == row.name, SERVERS.c.removed_at.is_not(None))
    ties = CASE_SERVERS.c.mcp_server_id.in_(removed)
    session.execute(update(CASE_SERVERS).where(ties).values(mcp_server_id=row.id).prefix_with("OR IGNORE"))


def _remove(session: Session, ids: Sequence[ServerId]) -> None:
    for server_id in ids:
        _row(session, server_id).removed_at = now()


def _restore(session: Session, ids: Sequence[ServerId]) -> None:
    for server_id in ids:
        row = session.get(ServerRow, server_id)
        if row is None:
            raise NotFoundError("That server is not here any more.", hint="Add it again.")
        _require_free(session, row)
        row.removed_at = None
        session.flush()


def _record(session: Session, server_id: ServerId, result: CheckResult) -> Server:
    row = _row(session, server_id)
    row.sqlmodel_update(checked_cells(result))
    if result.listing is not None:
        server_rows.record(session, server_id, result.listing)
    session.flush()
    session.refresh(row)
    return server_of(row)


MOST_KEPT: Final = 50


class SqliteToolCalls:
    """Satisfies `ToolCallStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, call: ToolCall) -> None:
        """Keep a call before it is sent, and no more than the last fifty of its tool."""
        await self._database.write(lambda session: _begin(session, call))

    async def end(self, call: ToolCall) -> None:
        """Keep what became of it, if it is still there."""
        statement = update(TOOL_CALLS).where(TOOL_CALLS.c.id == call.id).values(_outcome(call))
        await self._database.write(lambda session: session.execute(statement))

    async def of_server(self, server_id: ServerId, tool: str | None = None) -> tuple[ToolCall, ...]:
        """The calls of a server, or of one of its tools, newest first."""
        return await self._database.read(lambda session: _calls(session, server_id, tool))

    async def remove(self, ids: Sequence[ToolCallId]) -> None:
        """Delete calls."""
        statement = delete(TOOL_CALLS).where(TOOL_CALLS.c.id.in_(one_of(ids)))
        await self._database.write(lambda session: session.execute(statement))

    async def restore(self, calls: Sequence[ToolCall]) -> None:
        """Keep calls again that were removed, as they were."""
        if calls:
            await self._database.write(
                lambda session: session.execute(insert(TOOL_CALLS), [_call_cells(call) for call in calls])
            )


def _call_cells(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "mcp_server_id": call.server_id,
        "tool_name": call.tool,
        "arguments": dict(call.arguments),
        "asked_at": call.asked_at,
        **_outcome(call),
    }


def _begin(session: Session, call: ToolCall) -> None:
    session.execute(insert(TOOL_CALLS), [_call_cells(call)])
    of_tool = (TOOL_CALLS.c.mcp_server_id == call.server_id, TOOL_CALLS.c.tool_name == call.tool)
    last = select(TOOL_CALLS.c.id).where(*of_tool).order_by(text("rowid DESC")).limit(MOST_KEPT)
    session.execute(delete(TOOL_CALLS).where(*of_tool, TOOL_CALLS.c.id.not_in(last)))


def _outcome(call: ToolCall) -> dict[str, Any]:
    failure = call.failure
    return {
        "status": call.status.value,
        "execution_time_ms": call.duration_ms,
        "reply": asdict(call.reply) if call.reply else None,
        "error_code": failure.code if failure else None,
        "error_message": failure.message if failure else None,
        "error_hint": failure.hint if failure else None,
    }


def _calls(session: Session, server_id: ServerId, tool: str | None) -> tuple[ToolCall, ...]:
    found = select(TOOL_CALLS, SERVERS.c.name).join(SERVERS, SERVERS.c.id == TOOL_CALLS.c.mcp_server_id)
    found = found.where(TOOL_CALLS.c.mcp_server_id == server_id)
    if tool is not None:
        found = found.where(TOOL_CALLS.c.tool_name == tool)
    return tuple(_call(row) for row in session.execute(found.order_by(TOOL_CALLS.c.asked_at.desc())))


@row_of("tool_calls")
def _call(row: Any) -> ToolCall:
    failed = row.error_code is not None
    return ToolCall(
        id=ToolCallId(row.id),
        server_id=ServerId(row.mcp_server_id),
        server=row.name,
        tool=row.tool_name,
        arguments=row.arguments,
        asked_at=row.asked_at,
        status=ToolCallStatus(row.status),
        duration_ms=row.execution_time_ms,
        reply=_reply_from_json(row.reply) if row.reply is not None else None,
        failure=FailureInfo(row.error_code, row.error_message, row.error_hint) if failed else None,
    )


def _reply_from_json(value: Mapping[str, Any]) -> ToolReply:
    return ToolReply(**{**value, "content": tuple(value["content"])})


class SqliteContacts:
    """Satisfies `ContactStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._folded_at: datetime | None = None

    async def record_contacts(self, contacts: Sequence[ServerContact]) -> None:
        """Keep contacts, and once an hour fold those that are older than seven days into hours."""

        def work(session: Session) -> None:
            if contacts:
                session.execute(insert(SERVER_CONTACTS), [_contact_cells(one) for one in contacts])
            if self._folded_at is None or now() - self._folded_at > WINDOW:
                _fold(session)
                self._folded_at = now()

        await self._database.write(work)

    async def contacts(self, since: datetime) -> tuple[ServerContact, ...]:
        """The contacts after a moment, oldest first."""
        found = select(SERVER_CONTACTS).where(SERVER_CONTACTS.c.at > since)
        ordered = found.order_by(SERVER_CONTACTS.c.at, SERVER_CONTACTS.c.id)
        return await self._database.read(lambda session: tuple(map(_contact, session.execute(ordered))))

    async def summary(self, before: datetime) -> ContactSummary:
        """The contacts up to a moment in short."""
        return await self._database.read(lambda session: _summary(session, before))


def _contact_cells(contact: ServerContact) -> dict[str, Any]:
    names = [column.name for column in SERVER_CONTACTS.columns if column.name != "id"]
    return {name: getattr(contact, name) for name in names}


@row_of("server_contacts")
def _contact(row: Any) -> ServerContact:
    return ServerContact(
        kind=None if row.kind is None else ContactKind(row.kind),
        **attributes(row, "server at duration_ms error contacts failures"),
    )


def _summary(session: Session, before: datetime) -> ContactSummary:
    """Return the contacts up to a moment; successes are counted by their duration, which SQLite does fastest."""
    table, durations = SERVER_CONTACTS.c, defaultdict[str, list[int]](list)
    counted = select(table.server, table.duration_ms, func.count()).where(table.at <= before, table.failures == 0)
    for server, duration, count in session.execute(counted.group_by(table.server, table.duration_ms)):
        durations[server] += [duration] * count
    usual = {server: p95 for server, taken in durations.items() if (p95 := usual_p95(taken)) is not None}
    newest = func.row_number().over(partition_by=table.server, order_by=table.at.desc())
    failures = select(table.id, newest.label("place")).where(table.at <= before, table.failures == table.contacts)
    failed = failures.subquery()
    ids = [*session.scalars(select(failed.c.id).where(failed.c.place <= LAST_FAILURES))]
    for some in (table.failures < table.contacts, table.failures > 0):
        last = select(table.id, func.max(table.at)).where(table.at <= before, some)
        ids += session.scalars(last.group_by(table.server))
    rows = session.execute(select(SERVER_CONTACTS).where(table.id.in_(one_of(ids))).order_by(table.at, table.id))
    return ContactSummary(before=before, usual_ms=usual, last=tuple(map(_contact, rows)))


def _fold(session: Session) -> None:
    """Put the contacts before the last seven days, which are single, into one row for each server and hour."""
    table = SERVER_CONTACTS.c
    old = (table.at < now() - KEPT) & table.kind.is_not(None)
    hour = func.strftime("%Y-%m-%d %H:00:00.000000", table.at)
    folded = select(
        table.server,
        hour,
        func.sum(table.contacts),
        func.sum(table.failures),
        func.cast(func.avg(table.duration_ms), table.duration_ms.type),
        func.max(table.error),
    )
    columns = ["server", "at", "contacts", "failures", "duration_ms", "error"]
    session.execute(insert(SERVER_CONTACTS).from_select(columns, folded.where(old).group_by(table.server, hour)))
    session.execute(delete(SERVER_CONTACTS).where(old))
