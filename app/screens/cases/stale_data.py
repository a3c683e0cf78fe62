"""Data of the cases screen that events make stale."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mcp_tef import (
    BatchesChanged,
    CasesChanged,
    Event,
    RunEnded,
    RunsChanged,
    ServersChanged,
    ServerStateChanged,
)

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


def stale_after(events: Iterable[Event]) -> Stale:
    """Return the data that events make stale."""
    stale = Stale()
    for event in events:
        stale = stale.joined(_stale_after(event))
    return stale


def _stale_after(event: Event) -> Stale:
    match event:
        case CasesChanged(by=by):
            return Stale(cases=by != BY)
        case RunEnded() | RunsChanged() | BatchesChanged():
            return Stale(runs=True)
        case ServersChanged() | ServerStateChanged():
            return Stale(servers=True)
        case _:
            return Stale()
