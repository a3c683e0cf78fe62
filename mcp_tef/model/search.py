"""Hits of a search by name, and the closest known name for a mistyped one."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum


class SearchHitKind(StrEnum):
    """Kind of item that a search found."""

    SERVER = "server"
    TOOL = "tool"
    CASE = "case"
    BATCH = "batch"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """`id` is the server's, case's or batch's; a tool has its name there, and its server's name in `server`."""

    kind: SearchHitKind
    id: str
    name: str
    detail: str = ""
    server: str = ""


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the known name most similar to `name`, ignoring case; None where no similarity (0–1) reaches `cutoff`."""
    by_folded = {item.casefold(): item for item in known}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=cutoff)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """Return a hint: the nearest name as a question, else `otherwise`."""
    close = nearest(name, known)
    return f"Did you mean {close}?" if close else otherwise
