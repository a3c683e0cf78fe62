"""Results of dropped or pasted files and texts, one by one."""

from dataclasses import dataclass
from enum import StrEnum


class DropStatus(StrEnum):
    """The result for one dropped or pasted file."""

    TAKEN = "Taken"
    LEFT = "Left out"
    REFUSED = "Not taken"


@dataclass(frozen=True, slots=True)
class DropOutcome:
    """The result for one file or text, and the reason."""

    name: str
    status: DropStatus
    text: str
