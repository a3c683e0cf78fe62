"""One rule for when two names are the same, for uniqueness and for looking up; names are stored as they were typed."""

import unicodedata
from collections.abc import Iterable


def name_key(name: str) -> str:
    """Return what makes a name the same: composed, without blanks around it, on one line, in any case."""
    folded = " ".join(unicodedata.normalize("NFC", name).split()).casefold()
    return unicodedata.normalize("NFC", folded)


def stored_name(name: str, known: Iterable[str]) -> str | None:
    """Return the name that is meant among those that are known: written alike, else the same; None for no such name."""
    names = tuple(known)
    return name if name in names else next((one for one in names if name_key(one) == name_key(name)), None)
