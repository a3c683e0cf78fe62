"""Plan of a trial, as its batch stores it so that it can go on later, and the trials of each draft."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from mcp_tef.errors import InputError, StoreError
from mcp_tef.model.drafts import Draft, KeyedTools, offered_fingerprint
from mcp_tef.model.ids import CaseId, DraftId
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.run_fields import REPEATS
from mcp_tef.model.runs import Arm, Batch, ModelSettings, is_baseline
from mcp_tef.model.trials import TrialGoal, TrialRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """Settings of a trial. Hashes are those of the listing and of the draft's tools.

    `predicted` is the direction that the baseline predicted when the trial began: 1, 0 or −1; None where it did not.
    `more` holds the rounds after which the trial had ended first, then those after which each "Run more" ends. For
    `against` and those behind it see `TrialRequest`; plans of older versions lack them. `prompts` are the labels
    of both arms of a trial without a draft.
    """

    draft: DraftId
    draft_name: str
    step: int
    listing_hash: str
    draft_hash: str
    cases: tuple[CaseId, ...]
    guards: tuple[CaseId, ...]
    rounds: int
    goal: TrialGoal
    seed: int
    same_against_same: bool = False
    more: tuple[int, ...] = ()
    against: int = 0
    hints: bool = False
    gate: int = 0
    most_calls: int | None = None
    predicted: int | None = None
    prompts: tuple[str, ...] = ()

    @property
    def all_rounds(self) -> int:
        """Number of rounds that are planned, with those of "Run more"."""
        return self.more[-1] if self.more else self.rounds

    def arms(self, models: Sequence[ModelSettings]) -> dict[Arm, ModelSettings]:
        """Return the settings of both arms, from those of the batch in its order."""
        return {Arm.ORIGINAL: models[0], Arm.DRAFT: models[1 if self.prompts else 0]}

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON."""
        value = {one.name: getattr(self, one.name) for one in fields(self)}
        lists = {name: list(value[name]) for name in ("cases", "guards", "more", "prompts")}
        return value | lists | {"goal": self.goal.value}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "TrialPlan":
        """Read a stored plan. StoreError where the file holds another shape."""
        try:
            known = {one.name: value[one.name] for one in fields(cls) if one.name in value}
            lists: dict[str, tuple[str, ...]] = {one: tuple(map(CaseId, known[one])) for one in ("cases", "guards")}
            lists["prompts"] = tuple(map(str, known.get("prompts", ())))
            more = tuple(map(int, known["more"]))
            return cls(**{**known, **lists, "more": more, "goal": TrialGoal(known["goal"])})
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError("The plan of this trial cannot be read.", hint="Start a new trial.") from error


def alike(batches: Sequence[Batch]) -> tuple[Batch, ...]:
    """Return the first of these and those that differ from it in the model only, the last of each; oldest first."""
    found: dict[tuple[str, ...], Batch] = {}
    first: tuple[object, ...] = ()
    for batch in batches:
        plan = plan_of(batch)
        asked = (plan.draft_hash, plan.cases, plan.guards, plan.seed, plan.same_against_same)
        one = (*asked, any(map(is_baseline, batch.models)))
        first = first or one
        if one == first:
            found.setdefault(batch.models, batch)
    return tuple(reversed(found.values()))


def plan_of(batch: Batch) -> TrialPlan:
    """Return the plan of a batch that is a trial; InputError for others, StoreError."""
    if not batch.trial:
        raise InputError("That batch is not a trial.", hint="Select a batch that tried a draft.")
    return TrialPlan.from_json(batch.trial)


def prompt_plan(request: TrialRequest, against: ModelSettings) -> TrialPlan:
    """Return the plan of a trial of two prompts; InputError where nothing could differ or be asked."""
    settings = request.settings
    if settings.offline:
        raise InputError("A baseline reads no prompt.", hint="Name a model with --model.")
    if (against.prompt, against.variables) == (settings.prompt, settings.variables):
        raise InputError(f"Both arms would be asked with {settings.prompt}.", hint="Name another version or value.")
    cases = tuple(dict.fromkeys(request.cases))
    if not cases:
        raise InputError("There is no case to try the prompts on.", hint="Write or import a case.")
    REPEATS.check(request.rounds)
    return TrialPlan(
        draft=DraftId(""),
        draft_name=f"{settings.prompt} against {against.prompt}",
        step=0,
        listing_hash="",
        draft_hash=fingerprint({"prompt": settings.prompt, "variables": [list(one) for one in settings.variables]}),
        cases=cases,
        guards=tuple(case_id for case_id in dict.fromkeys(request.guards) if case_id not in cases),
        rounds=request.rounds,
        goal=request.goal,
        seed=request.seed,
        prompts=(against.prompt, settings.prompt),
    )


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
