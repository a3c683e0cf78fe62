"""Data of the cases screen that events make stale."""

from dataclasses import dataclass
from typing import Final

BY: Final = "cases screen"


@dataclass(frozen=True, slots=True)
class Stale:
    """Parts of the screen's data that must be read again."""

    cases: bool = False
    runs: bool = False
    servers: bool = False

    def __bool__(self) -> bool:
        return self.cases or self.runs or self.servers

    def joined(self, other: "Stale") -> "Stale":
        """Return the union of both."""
        return Stale(self.cases or other.cases, self.runs or other.runs, self.servers or other.servers)


EVERYTHING: Final = Stale(cases=True, runs=True, servers=True)
