"""Finds the name that a mistyped one was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, in whatever case; None where none comes close."""
    by_folded = {item.casefold(): item for item in known}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], otherwise: str) -> str:
    """A hint: the nearest name as a question, else `otherwise`."""
    close = nearest(name, known)
    return f"Did you mean {close}?" if close else otherwise
