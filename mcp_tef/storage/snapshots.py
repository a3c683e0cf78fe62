"""Snapshots of the tools offered to runs: equal definitions and equal snapshots are stored once."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import insert, select, update
from sqlmodel import Session

from mcp_tef.errors import NotFoundError
from mcp_tef.model.answers import ActualCall
from mcp_tef.model.ids import RunId, SnapshotId, new_id
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import OfferedTool, Snapshot, Tool
from mcp_tef.storage.columns import now, one_of, one_of_bound, row_of
from mcp_tef.storage.database import PreparedStatement
from mcp_tef.storage.run_tables import RUNS, SNAPSHOT_TOOLS, SNAPSHOTS, TOOLS
from mcp_tef.storage.server_rows import spec_of
from mcp_tef.storage.tables import LISTINGS, SERVERS, ListingRow, ServerRow


@dataclass(slots=True)
class Directory:
    """Index of the tools of one snapshot: row ids by name, positions by offered name."""

    by_server: dict[tuple[str, str], str] = field(default_factory=dict)
    by_name: dict[str, list[str]] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)

    def tool_id(self, call: ActualCall) -> str | None:
        """The row of the tool that was called; None where it was invented, or could be several."""
        if call.server is not None:
            return self.by_server.get((call.server, call.tool))
        found = self.by_name.get(call.tool, [])
        return found[0] if len(found) == 1 else None


STRANGERS: Final = "strangers"
"""Id of the hidden server that holds tools which belong to no server of the workspace."""


def save(
    session: Session,
    tools: Sequence[OfferedTool],
    first_run: RunId,
    strangers: Collection[str] = (),
    *,
    noted: bool = True,
) -> SnapshotId:
    """Store the tools as they are now, and where `noted`, that `first_run` saw them.

    NotFoundError for an unknown run or server. Servers in `strangers` need not be in the workspace.
    """
    if session.execute(select(RUNS.c.id).where(RUNS.c.id == first_run)).first() is None:
        raise NotFoundError("That run is not here any more.", hint="Its batch was removed.")
    tool_ids = _save_tools(session, [offered.tool for offered in tools], first_run, strangers)
    named = list(zip((offered.offered_name for offered in tools), tool_ids, strict=True))
    snapshot_id = _save_snapshot(session, named)
    if noted:
        session.execute(update(RUNS).where(RUNS.c.id == first_run).values(snapshot_id=snapshot_id))
    return SnapshotId(snapshot_id)


def load(session: Session, snapshot_id: str) -> Snapshot:
    """The tools of a snapshot, in the order offered."""
    rows = session.execute(
        select(SNAPSHOT_TOOLS.c.offered_name, TOOLS)
        .select_from(SNAPSHOT_TOOLS)
        .join(TOOLS, TOOLS.c.id == SNAPSHOT_TOOLS.c.tool_id)
        .where(SNAPSHOT_TOOLS.c.snapshot_id == snapshot_id)
        .order_by(SNAPSHOT_TOOLS.c.position)
    )
    return Snapshot(SnapshotId(snapshot_id), tuple(OfferedTool(row.offered_name, _tool(row)) for row in rows))


_DIRECTORIES = PreparedStatement(
    select(
        SNAPSHOTS.c.id.label("snapshot_id"),
        SNAPSHOT_TOOLS.c.position,
        SNAPSHOT_TOOLS.c.offered_name,
        TOOLS.c.id,
        TOOLS.c.server_name,
        TOOLS.c.name,
    )
    .select_from(SNAPSHOTS)
    .outerjoin(SNAPSHOT_TOOLS, SNAPSHOT_TOOLS.c.snapshot_id == SNAPSHOTS.c.id)
    .outerjoin(TOOLS, TOOLS.c.id == SNAPSHOT_TOOLS.c.tool_id)
    .where(SNAPSHOTS.c.id.in_(one_of_bound("ids")))
)


def directories(session: Session, snapshot_ids: Iterable[str]) -> Mapping[str, Directory]:
    """The directory of each snapshot that is still here."""
    rows = _DIRECTORIES.run(session, ids=json.dumps(list(snapshot_ids)))
    found: defaultdict[str, Directory] = defaultdict(Directory)
    for snapshot_id, position, offered_name, tool_id, server, name in rows:
        directory = found[snapshot_id]
        if tool_id is not None:
            directory.by_server[server, name] = tool_id
            directory.by_name.setdefault(name, []).append(tool_id)
            directory.positions[offered_name] = position
    return found


def _save_tools(session: Session, tools: Sequence[Tool], first_run: RunId, strangers: Collection[str]) -> list[str]:
    names = {tool.server for tool in tools}
    servers = _server_ids(session, names.difference(strangers)) | _hidden_ids(session, names.intersection(strangers))
    keys = [(servers[tool.server], tool.fingerprint) for tool in tools]
    ids = _known(session, keys)
    rows = {key: _cells(tool, key, first_run) for key, tool in zip(keys, tools, strict=True) if key not in ids}
    if rows:
        session.execute(insert(TOOLS), list(rows.values()))
    ids |= {key: row["id"] for key, row in rows.items()}
    return [ids[key] for key in keys]


def _server_ids(session: Session, names: set[str]) -> dict[str, str]:
    shown_last = SERVERS.c.removed_at.is_(None)
    rows = session.execute(
        select(SERVERS.c.name, SERVERS.c.id).where(SERVERS.c.name.in_(one_of(names))).order_by(shown_last)
    )
    ids = {row.name: row.id for row in rows}
    for name in sorted(names - ids.keys()):
        raise NotFoundError(
            f"The tools of {name} cannot be kept: no server has that name.", hint="Run the case again with its servers."
        )
    return ids


def _hidden_ids(session: Session, strangers: set[str]) -> dict[str, str]:
    """Return the id of the hidden server for each stranger; its row is removed, so that it is listed nowhere."""
    if strangers and session.get(ServerRow, STRANGERS) is None:
        hidden = ServerRow(id=STRANGERS, name=STRANGERS, transport=Transport.FILE.value, removed_at=now())
        session.add(hidden)
        session.flush()
    return dict.fromkeys(strangers, STRANGERS)


def _known(session: Session, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    rows = session.execute(
        select(TOOLS.c.mcp_server_id, TOOLS.c.fingerprint, TOOLS.c.id).where(
            TOOLS.c.mcp_server_id.in_(one_of({server for server, _ in keys})),
            TOOLS.c.fingerprint.in_(one_of({digest for _, digest in keys})),
        )
    )
    return {(row.mcp_server_id, row.fingerprint): row.id for row in rows}


def _cells(tool: Tool, key: tuple[str, str], first_run: RunId) -> dict[str, Any]:
    server_id, digest = key
    moment = now()
    return {
        "id": new_id(),
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "mcp_server_id": server_id,
        "test_run_id": first_run,
        "created_at": moment,
        "updated_at": moment,
        "server_name": tool.server,
        "raw_definition": tool.raw,
        "fingerprint": digest,
    }


def _save_snapshot(session: Session, named: Sequence[tuple[str, str]]) -> str:
    digest = fingerprint(named)
    known = session.execute(select(SNAPSHOTS.c.id).where(SNAPSHOTS.c.fingerprint == digest)).scalar()
    if known:
        return str(known)
    snapshot_id = new_id()
    session.execute(insert(SNAPSHOTS), [{"id": snapshot_id, "fingerprint": digest, "created_at": now()}])
    rows = [
        {"snapshot_id": snapshot_id, "position": position, "tool_id": tool_id, "offered_name": name}
        for position, (name, tool_id) in enumerate(named)
    ]
    if rows:
        session.execute(insert(SNAPSHOT_TOOLS), rows)
    return snapshot_id


@row_of("tool_definitions")
def _tool(row: Any) -> Tool:
    return Tool(
        server=row.server_name,
        name=row.name,
        description=row.description,
        input_schema=row.input_schema,
        output_schema=row.output_schema,
        raw=row.raw_definition,
    )


_CHOICES = select(
    RUNS.c.id,
    RUNS.c.snapshot_id,
    RUNS.c.expected_server_name,
    RUNS.c.expected_tool_name,
    RUNS.c.selected_server_name,
    RUNS.c.selected_tool_name,
).where(RUNS.c.snapshot_id.is_not(None))
_SEEN = (
    select(SNAPSHOT_TOOLS.c.snapshot_id, TOOLS.c.mcp_server_id, TOOLS.c.server_name, TOOLS.c.name, TOOLS.c.fingerprint)
    .select_from(SNAPSHOT_TOOLS)
    .join(TOOLS, TOOLS.c.id == SNAPSHOT_TOOLS.c.tool_id)
)

_Tool = tuple[str, str]


def changed_definitions(session: Session, ids: Iterable[str]) -> dict[RunId, tuple[str, ...]]:
    """Those of some runs, with the names of the tools.

    A tool that is gone counts, one that the user left out does not, nor does a server that is gone.
    """
    runs = session.execute(_CHOICES.where(RUNS.c.id.in_(one_of(ids)))).all()
    changed = _changed(session, {run.snapshot_id for run in runs}, {tool for run in runs for _, tool in _choices(run)})
    found = {RunId(run.id): _among(run, changed[run.snapshot_id]) for run in runs}
    return {run_id: names for run_id, names in found.items() if names}


def _choices(run: Any) -> list[tuple[str | None, str]]:
    both = ((run.expected_server_name, run.expected_tool_name), (run.selected_server_name, run.selected_tool_name))
    return [(server, tool) for server, tool in both if tool]


def _among(run: Any, changed: set[_Tool]) -> tuple[str, ...]:
    wanted = _choices(run)
    hits = (name for server, name in sorted(changed) if (server, name) in wanted or (None, name) in wanted)
    return tuple(dict.fromkeys(hits))


def _changed(session: Session, snapshots: set[str], names: set[str]) -> defaultdict[str, set[_Tool]]:
    found: defaultdict[str, set[_Tool]] = defaultdict(set)
    wanted = _SEEN.where(SNAPSHOT_TOOLS.c.snapshot_id.in_(one_of(snapshots)), TOOLS.c.name.in_(one_of(names)))
    seen = session.execute(wanted).all()
    listed = _listed(session, {tool.mcp_server_id for tool in seen}, names)
    for tool in seen:
        now = listed.get(tool.mcp_server_id)
        if now is not None and now.differs(tool):
            found[tool.snapshot_id].add((tool.server_name, tool.name))
    return found


def _listed(session: Session, servers: set[str], names: set[str]) -> Mapping[str, "_Listed"]:
    both = select(ServerRow, ListingRow).join(LISTINGS, LISTINGS.c.mcp_server_id == SERVERS.c.id)
    return {
        row.id: _Listed(spec_of(row), _raws(listing, names))
        for row, listing in session.execute(both.where(SERVERS.c.id.in_(one_of(servers))))
    }


@row_of("server_listings", "mcp_server_id")
def _raws(row: ListingRow, names: set[str]) -> Mapping[str, Json]:
    return {tool["name"]: tool["raw"] for tool in row.listing["tools"] if tool["name"] in names}


@dataclass(frozen=True, slots=True)
class _Listed:
    """Listing of a server now, of the tools in question."""

    spec: ServerSpec
    raws: Mapping[str, Json]

    def differs(self, tool: Any) -> bool:
        """By the hash that was taken of the definition, under the server's name of then."""
        raw = self.raws.get(tool.name)
        if raw is None:
            return self.spec.wants(tool.name)
        then: str = tool.fingerprint
        return fingerprint({"server": tool.server_name, "raw": raw}) != then
