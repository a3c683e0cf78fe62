"""What came of files and texts that somebody brought, one by one."""

from dataclasses import dataclass
from enum import StrEnum


class Fate(StrEnum):
    """What became of something that was dropped or pasted."""

    TAKEN = "Taken"
    LEFT = "Left out"
    REFUSED = "Not taken"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file or text that was brought, and why."""

    name: str
    fate: Fate
    words: str
