"""What came of files and texts that somebody brought, one by one."""

from dataclasses import dataclass
from enum import StrEnum


class DropStatus(StrEnum):
    """What became of something that was dropped or pasted."""

    TAKEN = "Taken"
    LEFT = "Left out"
    REFUSED = "Not taken"


@dataclass(frozen=True, slots=True)
class DropOutcome:
    """What came of one file or text that was brought, and why."""

    name: str
    fate: DropStatus
    words: str
