"""What somebody brings: a file or a pasted text, and what it turned out to be."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class ArrivalKind(StrEnum):
    """What a file or a text can be."""

    WORKSPACE = "workspace"
    SERVERS = "servers"
    TOOLS = "tools"
    CASES = "cases"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A file, or a text that was pasted (`path` is None then). Where it is none of the kinds, `problem` says why."""

    kind: ArrivalKind | None
    path: Path | None = None
    text: str = ""
    problem: str = ""

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path.name if self.path else "The text"
