"""Steps of drafts that another window or command made: an undo here does not take them back unseen."""

from collections.abc import Mapping
from datetime import datetime

from mcp_tef import Draft, DraftId, InputError


class ForeignSteps:
    """The steps that were added elsewhere to drafts while they were shown here."""

    def __init__(self) -> None:
        self._found: set[tuple[DraftId, int, datetime]] = set()

    def note(self, before: Draft | None, after: Draft, *, own: bool = False) -> None:
        """Compare a draft with the one that was shown before; with `own` the last new step was made here."""
        known = before.steps if before else after.steps
        new = [_key(after, step.number) for step in after.steps if step not in known]
        ours = {new.pop()} if own and new else set()
        self._found = (self._found | set(new)) - ours

    def note_all(self, before: Mapping[DraftId, Draft], after: Mapping[DraftId, Draft]) -> None:
        """Compare drafts that were read again with those that were shown before."""
        for draft_id, draft in after.items():
            if (shown := before.get(draft_id)) is not draft:
                self.note(shown, draft)

    def require_own(self, draft: Draft) -> None:
        """Raise InputError where the last step that applies was made elsewhere."""
        if draft.step and _key(draft, draft.step) in self._found:
            said = f"Step {draft.step} of the draft {draft.name} was made in another window or command."
            raise InputError(said, hint="Select an earlier step in the history to take it back.")


def _key(draft: Draft, number: int) -> tuple[DraftId, int, datetime]:
    return draft.id, number, draft.steps[number - 1].made_at
