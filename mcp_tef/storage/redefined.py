"""Which runs expected or picked a tool that its server defines otherwise by now."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlmodel import Session

from mcp_tef.model.ids import RunId
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.servers import ServerSpec
from mcp_tef.storage.ids import one_of
from mcp_tef.storage.naming import row_of
from mcp_tef.storage.server_rows import spec_of
from mcp_tef.storage.tables import LISTINGS, RUNS, SERVERS, SNAPSHOT_TOOLS, TOOLS, ListingRow, ServerRow

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


def redefined(session: Session, ids: Iterable[str]) -> dict[RunId, tuple[str, ...]]:
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
    """What a server lists now, of the tools that are asked about."""

    spec: ServerSpec
    raws: Mapping[str, Json]

    def differs(self, tool: Any) -> bool:
        """By the hash that was taken of the definition, under the server's name of then."""
        raw = self.raws.get(tool.name)
        if raw is None:
            return self.spec.wants(tool.name)
        then: str = tool.fingerprint
        return fingerprint({"server": tool.server_name, "raw": raw}) != then
