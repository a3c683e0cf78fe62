"""Where the user has been, to go back and forward."""

from dataclasses import dataclass

from app.core_link.targets import Target

LONGEST = 100


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A screen with what was shown on it, as a target that the screen understands; None where that is no matter."""

    place: str
    target: Target | None = None


class NavigationHistory:
    """The stops behind the user and, after going back, those ahead."""

    def __init__(self) -> None:
        self._behind: list[HistoryEntry] = []
        self._ahead: list[HistoryEntry] = []

    def leave(self, stop: HistoryEntry) -> None:
        """Remember a stop that is left for a new one; what was ahead is forgotten."""
        self._behind = [*self._behind[1 - LONGEST :], stop]
        self._ahead.clear()

    def can_go_back(self) -> bool:
        """Whether a stop lies behind."""
        return bool(self._behind)

    def can_go_forward(self) -> bool:
        """Whether a stop lies ahead."""
        return bool(self._ahead)

    def back(self, here: HistoryEntry) -> HistoryEntry:
        """The last stop that is not the one where the user is."""
        return _step(self._behind, self._ahead, here)

    def forward(self, here: HistoryEntry) -> HistoryEntry:
        """The next stop of those that were gone back from."""
        return _step(self._ahead, self._behind, here)


def _step(taken: list[HistoryEntry], left: list[HistoryEntry], here: HistoryEntry) -> HistoryEntry:
    if here not in left[-1:]:
        left.append(here)
    stop = here
    while taken and stop == here:
        stop = taken.pop()
    return stop
