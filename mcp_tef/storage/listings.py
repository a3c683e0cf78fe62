"""What servers list, on disk: the listing of the last check, and the one that the user last saw where it differs."""

from collections.abc import Mapping

from sqlmodel import Session

from mcp_tef.model.ids import ServerId
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.tools import Listing
from mcp_tef.storage.columns import now
from mcp_tef.storage.naming import row_of
from mcp_tef.storage.server_rows import listing_from_json, listing_to_json
from mcp_tef.storage.tables import ListingRow


def record(session: Session, server_id: ServerId, listing: Listing) -> None:
    """Keep a new listing. The first one counts as seen; later ones only where they define the same tools."""
    value = listing_to_json(listing)
    row = session.get(ListingRow, server_id)
    if row is None:
        session.add(ListingRow(mcp_server_id=server_id, listing=value))
        return
    seen = "listing" if row.accepted is None else "accepted"
    row.accepted = None if _defined(row, seen) == definitions(value) else getattr(row, seen)
    row.listing, row.seen_at = value, now()


def last(session: Session, server_id: ServerId, name: str) -> Listing | None:
    """What the server of that name listed last."""
    row = session.get(ListingRow, server_id)
    return _listing(row, name, "listing") if row else None


def last_accepted(session: Session, server_id: ServerId, name: str) -> Listing | None:
    """What the user last saw of it, where it lists something else now."""
    row = session.get(ListingRow, server_id)
    return _listing(row, name, "accepted") if row and row.accepted is not None else None


@row_of("server_listings", "mcp_server_id")
def _listing(row: ListingRow, name: str, column: str) -> Listing:
    return listing_from_json(name, getattr(row, column))


@row_of("server_listings", "mcp_server_id")
def _defined(row: ListingRow, column: str) -> Mapping[str, str]:
    return definitions(getattr(row, column))


def accept(session: Session, server_id: ServerId, listing: Listing) -> bool:
    """Take a listing as seen, unless the server lists something else by now."""
    row = session.get(ListingRow, server_id)
    if row is None or _defined(row, "listing") != definitions(listing_to_json(listing)):
        return False
    row.accepted = None
    return True


def definitions(value: Json) -> Mapping[str, str]:
    """The hash of every raw definition in a stored listing, by the tool's name."""
    return {tool["name"]: fingerprint(tool["raw"]) for tool in value["tools"]}
