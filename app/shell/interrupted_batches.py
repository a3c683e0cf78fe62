"""The offer to resume batches that were interrupted before this start."""

from collections.abc import Sequence

from app.core_link.session import Session
from app.core_link.targets import ResumeBatches
from app.shell.presenter import ShellPresenter
from app.text.formatting import count
from app.widgets import Action, Notice
from mcp_tef import Batch, BatchQueued, BatchStarted, Event

DISMISSED_KEY = "runs.dismissed"
MAX_DISMISSED = 100
MAX_NAMED = 4


class InterruptedBatches:
    """Offers each interrupted batch until the user dismisses it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._notice: Notice | None = None
        session.events.connect(self._on_events)

    async def offer(self, notice: Notice) -> None:
        """Show in a notice which batches were interrupted, if there are any."""
        self._notice = notice
        dismissed = self._session.settings.get(DISMISSED_KEY, [])
        if not (batches := await ShellPresenter(self._session).interrupted_batches(dismissed)):
            return
        found = [batch for batch, _ in batches]
        actions = [
            Action(text="Resume", do=lambda: self._resume(found)),
            Action(text="Dismiss", do=lambda: self._dismiss(found), kind="link"),
        ]
        notice.show_message(interrupted_text(batches), "What is finished is kept.", actions)

    def _resume(self, batches: Sequence[Batch]) -> None:
        self._clear()
        self._session.go(ResumeBatches(tuple(batch.id for batch in batches)))

    def _dismiss(self, batches: Sequence[Batch]) -> None:
        self._clear()
        known = self._session.settings.get(DISMISSED_KEY, [])
        self._session.settings.set(DISMISSED_KEY, [*known, *(batch.id for batch in batches)][-MAX_DISMISSED:])

    def _on_events(self, events: tuple[Event, ...]) -> None:
        if any(isinstance(event, BatchQueued | BatchStarted) for event in events):
            self._clear()

    def _clear(self) -> None:
        if self._notice is not None:
            self._notice.clear()


def interrupted_text(batches: Sequence[tuple[Batch, int]]) -> str:
    """Return a sentence that names the interrupted batches, oldest first, and how many runs of each are left."""
    if len(batches) == 1:
        batch, left = batches[0]
        return f"{batch.name or 'A batch'} was interrupted: {_share(batch, left)} left."
    texts = [f"{batch.name or 'one'} ({_share(batch, left)})" for batch, left in batches]
    more = [f"{len(texts) - MAX_NAMED:,} more"] if len(texts) > MAX_NAMED else []
    *first, last = [*texts[:MAX_NAMED], *more]
    return f"{len(batches)} batches were interrupted, with runs left: {', '.join(first)} and {last}."


def _share(batch: Batch, left: int) -> str:
    if left == batch.total:
        return f"all {count(left, 'run')}"
    return f"{left:,} of {count(batch.total, 'run')}"
