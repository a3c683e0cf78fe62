"""Verdicts of the newest trials of all drafts, and the history of one draft with its trials; knows no Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import CoreCall
from app.screens.workshop.trial_presenter import evidence_text
from app.text.formatting import ago
from mcp_tef import (
    INSTRUCTIONS,
    Batch,
    BatchId,
    BatchStatus,
    ClaimVerdict,
    Draft,
    DraftId,
    ToolRevision,
    TrialResult,
    joint_verdict,
    newest_trials,
    trials_by_step,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

SHORT: Final = {
    ClaimVerdict.BETTER: "better here",
    ClaimVerdict.WORSE: "worse here",
    ClaimVerdict.NO_WORTHWHILE_CHANGE: "not worthwhile",
    ClaimVerdict.CANNOT_TELL_YET: "cannot tell yet",
}
BROKEN: Final = "broke a case"
UNDER_WAY: Final = (BatchStatus.WAITING, BatchStatus.RUNNING, BatchStatus.PAUSED)
MOST_FIELDS: Final = 3
Results = Mapping[BatchId, TrialResult]


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """Verdict of a trial in a few words; `good` is None where it is neither better nor worse."""

    text: str
    good: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftHistoryRow:
    """One step of a draft: the changed values, when it was made, and the verdict of its newest trial."""

    step: int
    changes: str
    made: str
    verdict: DraftVerdict | None = None
    current: bool = False


class DraftVerdicts:
    """Verdicts by draft; the result of a trial is read again only after it has changed."""

    def __init__(self, ask: CoreCall) -> None:
        self._ask = ask
        self._known: dict[BatchId, tuple[object, TrialResult]] = {}
        self.of_drafts: Mapping[DraftId, DraftVerdict] = {}

    async def load(self, shown: Sequence[TrialResult] = ()) -> None:
        """Read the verdicts of all drafts; results that are `shown` already are not read again."""
        trials = newest_trials(await self._ask(_batches))
        results = await self._results([one for ones in trials.values() for one in ones], shown)
        self.of_drafts = {draft: _verdict(ones, results) for draft, ones in trials.items()}

    async def history(self, draft: Draft) -> tuple[DraftHistoryRow, ...]:
        """Return the steps of a draft, the newest first, also those that were undone, then the listing."""
        whole = replace(draft, step=len(draft.steps))
        trials = trials_by_step(await self._ask(_batches), whole)
        results = await self._results([one for ones in trials.values() for one in ones])
        made = ("", *(ago(step.made_at) for step in draft.steps))
        rows = (
            DraftHistoryRow(
                step=number,
                changes=_changes(whole, number) if number else "The listing, unchanged",
                made=made[number],
                verdict=_verdict(trials[number], results) if number in trials else None,
                current=number == draft.step,
            )
            for number in range(len(draft.steps) + 1)
        )
        return tuple(reversed(tuple(rows)))

    async def _results(self, batches: Sequence[Batch], shown: Sequence[TrialResult] = ()) -> Results:
        state = {one.id: _state(one) for one in batches}
        self._known |= {one.batch_id: (state[one.batch_id], one) for one in shown if one.batch_id in state}
        stale = [one for one in state if self._known.get(one, (None,))[0] != state[one]]
        read = await self._ask(partial(_read, ids=stale)) if stale else ()
        self._known |= dict(zip(stale, ((state[one.batch_id], one) for one in read), strict=True))
        return {one: self._known[one][1] for one in state}


def _state(batch: Batch) -> object:
    """Return what changes with the result of a trial: also runs that are judged again change the tally."""
    return batch.status, dict(batch.counts), dict(batch.tally), (batch.trial or {}).get("more")


def _verdict(batches: Sequence[Batch], results: Results) -> DraftVerdict:
    found = [results[one.id] for one in batches]
    if any(one.status in UNDER_WAY for one in batches):
        return DraftVerdict(evidence_text(found).partition(" in ")[0])
    if any(guard.broken for one in found for guard in one.claims.guards):
        return DraftVerdict(BROKEN, good=False)
    verdict = joint_verdict(found)
    good = {ClaimVerdict.BETTER: True, ClaimVerdict.WORSE: False}.get(verdict)
    return DraftVerdict(SHORT[verdict], good)


def _changes(draft: Draft, number: int) -> str:
    """Return the values that a step changed: "find_parts: description"; an added or removed tool by that word."""
    before, after = dict(draft.states[number - 1]), dict(draft.states[number])
    pairs = [
        ToolRevision(before.get(key), after.get(key))
        for key in dict.fromkeys((*before, *after))
        if before.get(key) is not after.get(key)
    ]
    told = draft.instructions_states[number - 1] != draft.instructions_states[number]
    return "; ".join(filter(None, [*map(_change_text, pairs), INSTRUCTIONS if told else ""])) or "No change"


def _change_text(one: ToolRevision) -> str:
    if one.before is None or one.after is None:
        return f"{one.name} {'added' if one.before is None else 'removed'}"
    paths = [" / ".join(path) for path in one.fields]
    rest = f" and {len(paths) - MOST_FIELDS:,} more" if len(paths) > MOST_FIELDS else ""
    return f"{one.name}: {', '.join(paths[:MOST_FIELDS])}{rest}" if paths else ""


async def _batches(core: "Engine") -> tuple[Batch, ...]:
    return await core.runs.batches()


async def _read(core: "Engine", ids: Sequence[BatchId]) -> tuple[TrialResult, ...]:
    return tuple([await core.trials.result(batch_id) for batch_id in ids])
