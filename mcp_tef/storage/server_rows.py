"""Rows of servers and their tool listings, the last one and the last one that the user has seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sqlmodel import Session

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import without_user_info
from mcp_tef.model.ids import ServerId
from mcp_tef.model.json import fingerprint, written_alike
from mcp_tef.model.servers import (
    AuthType,
    OAuthClient,
    ReferenceKind,
    Server,
    ServerSpec,
    ServerStatus,
    Transport,
    references,
)
from mcp_tef.model.tools import Listing, Tool, ToolProblem
from mcp_tef.storage.columns import attributes, now, row_of
from mcp_tef.storage.tables import ListingRow

if TYPE_CHECKING:
    from mcp_tef.model.json import Json
    from mcp_tef.ports import CheckResult
    from mcp_tef.storage.tables import ServerRow

_TOOL = "name description input_schema output_schema raw place"
_NAMES_ONLY = ("name", "alias", "allowed_tools", "disallowed_tools", "origin", "extra")


def cells_of(spec: ServerSpec) -> dict[str, Any]:
    """The columns that a spec fills. InputError for a secret that is written out instead of named."""
    if spec.secret and not _is_reference(spec.secret):
        raise InputError(
            f"The secret of {spec.name} is written out, and secrets are never stored.",
            hint="Put it into an environment variable and write ${NAME}, or the keychain and write ${keychain:NAME}.",
        )
    return {
        **attributes(spec, "name command cwd path alias env_file project origin"),
        "transport": spec.transport.value,
        "url": _plain_address(spec.url),
        "args": list(spec.args),
        "env": dict(spec.env),
        "headers": dict(spec.headers),
        "auth_type": spec.auth_type.value,
        "secret": spec.secret or None,
        "allowed_tools": list(spec.allowed_tools),
        "disallowed_tools": list(spec.disallowed_tools),
        "extra": dict(spec.extra),
        "oauth": _oauth_to_json(spec.oauth),
    }


def _plain_address(url: str | None) -> str | None:
    """Return an address without a user name and password that are written out; references to them stay."""
    return url if not url or any(references(url)) else without_user_info(url)


def _oauth_to_json(client: OAuthClient) -> Json:
    """Return the fields that differ from the defaults."""
    return {name: value for name, value in asdict(client).items() if value != getattr(OAuthClient(), name)}


def _is_reference(text: str) -> bool:
    """Return whether a text is one reference to a secret, and nothing else."""
    whole = [found for found in references(text) if found.end - found.start == len(text) and found.default is None]
    return bool(whole) and whole[0].kind in (ReferenceKind.VARIABLE, ReferenceKind.KEYCHAIN)


@row_of("mcp_servers")
def spec_of(row: ServerRow) -> ServerSpec:
    """The spec that a row holds."""
    return ServerSpec(
        **attributes(row, "name command cwd path secret alias env_file project origin extra"),
        transport=Transport(row.transport),
        url=_plain_address(row.url),
        args=_texts(row.args),
        env=_named_texts(row.env),
        headers=_named_texts(row.headers),
        auth_type=AuthType(row.auth_type),
        allowed_tools=_texts(row.allowed_tools),
        disallowed_tools=_texts(row.disallowed_tools),
        oauth=OAuthClient(**row.oauth),
    )


def _texts(value: object) -> tuple[str, ...]:
    """Return a cell's list of texts; TypeError where somebody else wrote something different."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise TypeError("it holds something other than a list of texts")
    return tuple(value)


def _named_texts(value: object) -> dict[str, str]:
    """Return a cell's texts by name; TypeError where somebody else wrote something different."""
    if not isinstance(value, dict) or not all(isinstance(one, str) for one in value.values()):
        raise TypeError("it holds something other than texts by name")
    return value


@row_of("mcp_servers")
def server_of(row: ServerRow) -> Server:
    """The server that a row holds."""
    return Server(
        id=ServerId(row.id),
        spec=spec_of(row),
        status=ServerStatus(row.status),
        reason=row.status_reason,
        hint=row.status_hint,
        **attributes(row, "exit_code stderr_tail latency_ms protocol tool_count problem_count"),
        **attributes(row, "last_connected_at created_at updated_at"),
        imported=bool(row.imported),
    )


def reached_differently(row: ServerRow, cells: Mapping[str, Any]) -> bool:
    """Return whether new columns lead to another place, so that the result of the last check is outdated."""
    return any(getattr(row, name) != value for name, value in cells.items() if name not in _NAMES_ONLY)


UNCHECKED: Mapping[str, Any] = {
    "status": ServerStatus.INACTIVE.value,
    "status_reason": None,
    "status_hint": None,
    "exit_code": None,
    "stderr_tail": None,
    "latency_ms": None,
    "protocol": None,
    "tool_count": None,
    "problem_count": 0,
}


def checked_cells(result: CheckResult) -> dict[str, Any]:
    """The columns that a check fills; a failed check leaves what was seen before."""
    listing = result.listing
    if listing is None:
        return {
            "status": ServerStatus.FAILED.value,
            "status_reason": result.reason,
            "status_hint": result.hint,
            **attributes(result, "exit_code stderr_tail"),
            "latency_ms": None,
        }
    return {
        **UNCHECKED,
        "status": ServerStatus.ACTIVE.value,
        **attributes(listing, "latency_ms protocol"),
        "tool_count": len(listing.tools),
        "problem_count": len(listing.problems),
        "last_connected_at": now(),
    }


def listing_to_json(listing: Listing) -> Json:
    """A listing for one cell."""
    return {
        **attributes(listing, "protocol latency_ms instructions"),
        "tools": [attributes(tool, _TOOL) for tool in listing.tools],
        "problems": [[one.tool, one.reason, one.place, one.raw] for one in listing.problems],
    }


def listing_from_json(server: str, value: Json) -> Listing:
    """The listing in a cell, under the server's name of today."""
    return Listing(
        server=server,
        tools=tuple(Tool(server=server, **tool) for tool in value["tools"]),
        problems=tuple(ToolProblem(*problem) for problem in value["problems"]),
        protocol=value["protocol"],
        latency_ms=value["latency_ms"],
        instructions=value.get("instructions", ""),
    )


def record(session: Session, server_id: ServerId, listing: Listing) -> None:
    """Keep a new listing. The first one counts as seen; later ones only where they define the same tools."""
    value = listing_to_json(listing)
    row = session.get(ListingRow, server_id)
    if row is None:
        session.add(ListingRow(mcp_server_id=server_id, listing=value))
        return
    if not _lists_the_same(row, value):
        seen = "listing" if row.accepted_listing is None else "accepted_listing"
        row.accepted_listing = None if _defined(row, seen) == definitions(value) else getattr(row, seen)
    row.listing, row.seen_at = value, now()


def last(session: Session, server_id: ServerId, name: str) -> Listing | None:
    """Return the last listing of a server, under its name of today."""
    row = session.get(ListingRow, server_id)
    return _listing(row, name, "listing") if row else None


def last_accepted(session: Session, server_id: ServerId, name: str) -> Listing | None:
    """Return the listing that the user saw last, if the server lists something else now."""
    row = session.get(ListingRow, server_id)
    return _listing(row, name, "accepted_listing") if row and row.accepted_listing is not None else None


@row_of("server_listings", "mcp_server_id")
def _listing(row: ListingRow, name: str, column: str) -> Listing:
    return listing_from_json(name, getattr(row, column))


@row_of("server_listings", "mcp_server_id")
def _lists_the_same(row: ListingRow, value: Json) -> bool:
    return written_alike(row.listing["tools"], value["tools"])


@row_of("server_listings", "mcp_server_id")
def _defined(row: ListingRow, column: str) -> Mapping[str, str]:
    return definitions(getattr(row, column))


def accept(session: Session, server_id: ServerId, listing: Listing) -> bool:
    """Take a listing as seen, unless the server lists something else by now."""
    row = session.get(ListingRow, server_id)
    if row is None or _defined(row, "listing") != definitions(listing_to_json(listing)):
        return False
    row.accepted_listing = None
    return True


def definitions(value: Json) -> Mapping[str, str]:
    """The hash of every raw definition in a stored listing, by the tool's name."""
    return {tool["name"]: fingerprint(tool["raw"]) for tool in value["tools"]}
