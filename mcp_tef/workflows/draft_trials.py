"""Trials of drafts among all batches: the newest of each draft, and those of each of its steps; pure."""

from collections.abc import Iterable, Mapping

from mcp_tef.model.drafts import Draft, KeyedTools, offered_fingerprint
from mcp_tef.model.ids import DraftId
from mcp_tef.model.runs import Batch
from mcp_tef.workflows.trial_plan import alike


def newest_trials(batches: Iterable[Batch]) -> Mapping[DraftId, tuple[Batch, ...]]:
    """Return the newest trial of each draft, one batch of each model; `batches` are the newest first."""
    found: dict[DraftId, list[Batch]] = {}
    for batch in batches:
        if draft := _draft_of(batch):
            found.setdefault(draft, []).append(batch)
    return {draft: alike(ones) for draft, ones in found.items()}


def trials_by_step(batches: Iterable[Batch], draft: Draft) -> Mapping[int, tuple[Batch, ...]]:
    """Return the newest trial of each step of a draft that applies, by number; 0 is the listing.

    Steps that leave the same tools share their trials.
    """
    own = [one for one in batches if _draft_of(one) == draft.id]
    tried = [one for one in own if one.trial and not one.trial.get("same_against_same")]
    states = zip(draft.states, draft.instructions_states, strict=True)
    found = {number: _with_tools(tried, *state) for number, state in enumerate(states)}
    return {number: alike(ones) for number, ones in found.items() if ones}


def _with_tools(batches: Iterable[Batch], state: KeyedTools, instructions: str) -> list[Batch]:
    """Return the trials of a draft that had these tools and instructions."""
    tools = offered_fingerprint((raw for _, raw in state), instructions)
    return [one for one in batches if one.trial and one.trial.get("draft_hash") == tools]


def _draft_of(batch: Batch) -> DraftId | None:
    """Return the draft that a trial compares with the original; None for other batches."""
    trial = batch.trial or {}
    draft = trial.get("draft")
    of_candidates = trial.get("against") or trial.get("hints")
    return DraftId(draft) if isinstance(draft, str) and draft and not of_candidates else None
