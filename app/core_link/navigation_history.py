"""Navigation history, for going back and forward."""

from dataclasses import dataclass

from app.core_link.targets import Target

LONGEST = 100


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A visited screen, with the target that it showed; None for the screen as a whole."""

    place: str
    target: Target | None = None


class NavigationHistory:
    """The entries behind the user and, after going back, those ahead."""

    def __init__(self) -> None:
        self._behind: list[HistoryEntry] = []
        self._ahead: list[HistoryEntry] = []

    def leave(self, stop: HistoryEntry) -> None:
        """Remember an entry that is left for a new one, and forget those ahead."""
        self._behind = [*self._behind[1 - LONGEST :], stop]
        self._ahead.clear()

    def can_go_back(self) -> bool:
        """Return True if an entry lies behind."""
        return bool(self._behind)

    def can_go_forward(self) -> bool:
        """Return True if an entry lies ahead."""
        return bool(self._ahead)

    def back(self, here: HistoryEntry) -> HistoryEntry:
        """Return the last entry that differs from the present one."""
        return _step(self._behind, self._ahead, here)

    def forward(self, here: HistoryEntry) -> HistoryEntry:
        """Return the entry from which the user went back."""
        return _step(self._ahead, self._behind, here)


def _step(taken: list[HistoryEntry], left: list[HistoryEntry], here: HistoryEntry) -> HistoryEntry:
    if here not in left[-1:]:
        left.append(here)
    stop = here
    while taken and stop == here:
        stop = taken.pop()
    return stop
