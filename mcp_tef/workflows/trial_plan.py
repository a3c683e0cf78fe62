"""Plan of a trial, as its batch stores it: everything that an interrupted trial needs to go on."""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from mcp_tef.errors import StoreError
from mcp_tef.model.ids import CaseId, DraftId
from mcp_tef.model.json import Json
from mcp_tef.model.trials import TrialGoal


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPlan:
    """Settings of a trial. Hashes are those of the listing and of the draft's tools.

    `predicted` is the direction that the baseline predicted when the trial began: 1, 0 or −1; None where it did not.
    `more` holds the rounds after which the trial had ended first, then those after which each "Run more" ends. For
    `against` and those behind it see `TrialRequest`; plans of older versions lack them.
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

    @property
    def all_rounds(self) -> int:
        """Number of rounds that are planned, with those of "Run more"."""
        return self.more[-1] if self.more else self.rounds

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON."""
        value = {one.name: getattr(self, one.name) for one in fields(self)}
        lists = {name: list(value[name]) for name in ("cases", "guards", "more")}
        return value | lists | {"goal": self.goal.value}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "TrialPlan":
        """Read a stored plan. StoreError where the file holds another shape."""
        try:
            known = {one.name: value[one.name] for one in fields(cls) if one.name in value}
            lists = {name: tuple(map(CaseId, known[name])) for name in ("cases", "guards")}
            more = tuple(map(int, known["more"]))
            return cls(**{**known, **lists, "more": more, "goal": TrialGoal(known["goal"])})
        except (KeyError, TypeError, ValueError) as error:
            raise StoreError("The plan of this trial cannot be read.", hint="Start a new trial.") from error
