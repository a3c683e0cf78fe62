"""Searches for a better text: the request, the split of the cases, the candidates of each round, and the result."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from mcp_tef.model.drafts import Draft
from mcp_tef.model.ids import CaseId, DraftId
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.trials import TrialResult

RULES = "rules"
"""Author of candidates that no model wrote."""


class ImprovementEnd(StrEnum):
    """Result of a search: BETTER and PROMISING are about the sealed cases, the last six have not opened them."""

    BETTER = "better"
    PROMISING = "promising"
    NOT_CONFIRMED = "not_confirmed"
    WORSE = "worse"
    NOTHING_FAILS = "nothing_fails"
    WORDS_CANNOT_HELP = "words_cannot_help"
    NO_CANDIDATE = "no_candidate"
    BUDGET = "budget"
    UNREACHABLE = "unreachable"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImprovementRequest:
    """Settings of a search for better texts of one server's tools.

    `settings` is the model that asks; `writer` writes candidates beside the rules. `budget` is the most calls of both.
    With `tool`, only texts of cases about that tool are sought.
    """

    server: str
    settings: ModelSettings
    budget: int
    tool: str | None = None
    suites: tuple[str, ...] = ()
    writer: ModelSettings | None = None
    rounds: int = 5
    guards: int = 20
    seed: int = 0
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImprovementPlan:
    """Split of the cases by a seed, and the most that a search takes. No sealed case is shown to a writer.

    `gain` tells in one line the smallest gain that the sealed cases can show. `calls` counts all, of which up to
    `writer_calls` go to the writer; `cost_usd` is the most that all of them cost.
    """

    request: ImprovementRequest
    working: tuple[CaseId, ...]
    sealed: tuple[CaseId, ...]
    gain: str
    calls: int
    cost_usd: float | None
    writer_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingFailure:
    """A working case that fails, as candidates are made from it; `selected` is the tool that was called, or None."""

    case_id: CaseId
    name: str
    query: str
    expected: str
    selected: str | None
    wrong_parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HopelessCase:
    """A failing case that no wording can fix, with the reason as a sentence."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCandidate:
    """Proposed descriptions by tool; `author` is a model, or RULES. `refused` is the reason it was not asked.

    `score` counts the screened runs that passed, of `asked`.
    """

    texts: Mapping[str, str]
    author: str = RULES
    reason: str = ""
    refused: str = ""
    score: int = 0
    asked: int = 0


@dataclass(frozen=True, slots=True)
class CandidateRound:
    """One round: its candidates, those of the gate first, and the trial of the gate on the working cases."""

    candidates: tuple[TextCandidate, ...]
    gate: TrialResult | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImprovementStep:
    """A step of a search over a draft, as a sentence; calls, cost and rounds are those up to it."""

    text: str
    draft: DraftId
    calls: int = 0
    cost_usd: float | None = None
    rounds: tuple[CandidateRound, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ImprovementResult:
    """Everything that a search has done. `working` and `sealed` are the trials of the final text's gate and opening.

    `draft` holds the final text, None where there is none. `pruned` are sentences that earned nothing.
    """

    plan: ImprovementPlan
    end: ImprovementEnd
    note: str = ""
    failing: int = 0
    hopeless: tuple[HopelessCase, ...] = ()
    rounds: tuple[CandidateRound, ...] = ()
    pruned: tuple[str, ...] = ()
    working: TrialResult | None = None
    sealed: TrialResult | None = None
    draft: Draft | None = None
    calls: int = 0
    cost_usd: float | None = None
