"""What was interrupted before this start, and the offer to go on with it."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from app.core_link.session import Session
from app.core_link.targets import ResumeBatches
from app.text.formatting import count
from app.widgets import Action, Notice
from mcp_tef import Batch, BatchId, BatchQueued, BatchStarted, BatchStatus, Event

if TYPE_CHECKING:
    from mcp_tef import Engine

DISMISSED_KEY = "runs.dismissed"
MAX_DISMISSED = 100
MAX_NAMED = 4


class InterruptedBatches:
    """Asks once a batch: what was dismissed is not offered again."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._notice: Notice | None = None
        session.events.connect(self._hear)

    async def offer(self, notice: Notice) -> None:
        """Say there which batches were interrupted, if there are any."""
        self._notice = notice
        batches = await self._session.call(lambda core: core.runs.batches())
        dismissed = self._session.settings.get(DISMISSED_KEY, [])
        found = [one for one in batches if one.status is BatchStatus.INTERRUPTED and one.id not in dismissed][::-1]
        if not found:
            return
        left = [await self._session.call(partial(_left, batch_id=one.id)) for one in found]
        actions = [
            Action(text="Resume", do=lambda: self._resume(found)),
            Action(text="Dismiss", do=lambda: self._dismiss(found), kind="link"),
        ]
        notice.show_message(interrupted_text(found, left), "What is finished is kept.", actions)

    def _resume(self, batches: Sequence[Batch]) -> None:
        self._clear()
        self._session.go(ResumeBatches(tuple(batch.id for batch in batches)))

    def _dismiss(self, batches: Sequence[Batch]) -> None:
        self._clear()
        known = self._session.settings.get(DISMISSED_KEY, [])
        self._session.settings.set(DISMISSED_KEY, [*known, *(batch.id for batch in batches)][-MAX_DISMISSED:])

    def _hear(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, BatchQueued | BatchStarted) for event in events):
            self._clear()

    def _clear(self) -> None:
        if self._notice is not None:
            self._notice.clear()


async def _left(core: "Engine", batch_id: BatchId) -> int:
    return await core.runs.left(batch_id)


def interrupted_text(batches: Sequence[Batch], left: Sequence[int]) -> str:
    """What was interrupted, in the order in which it was asked for, and how much of each is left to be run."""
    if len(batches) == 1:
        return f"{batches[0].name or 'A batch'} was interrupted: {_share(batches[0], left[0])} left."
    told = [f"{one.name or 'one'} ({_share(one, number)})" for one, number in zip(batches, left, strict=True)]
    more = [f"{len(told) - MAX_NAMED:,} more"] if len(told) > MAX_NAMED else []
    *first, last = [*told[:MAX_NAMED], *more]
    return f"{len(batches)} batches were interrupted, with runs left: {', '.join(first)} and {last}."


def _share(batch: Batch, left: int) -> str:
    if left == batch.total:
        return f"all {count(left, 'run')}"
    return f"{left:,} of {count(batch.total, 'run')}"
