"""Record of a trial: its pairs of runs in the planned order, the decision read from them, and the pairs still due."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import PassCriterion
from mcp_tef.model.ids import CaseId, RunId
from mcp_tef.model.runs import NOT_OFFERED_CODE, Arm, Batch, BatchStatus, ModelSettings, RunStatus, RunSummary
from mcp_tef.model.trials import CaseOutcome, GuardOutcome, TrialClaims, TrialEnd, TrialResult
from mcp_tef.model.verdicts import RunMark
from mcp_tef.statistics.candidate_selection import gate_level
from mcp_tef.statistics.case_pairing import correlation, share_change
from mcp_tef.statistics.paired_evidence import ALPHA, PairedCases, evidence
from mcp_tef.statistics.trial_decision import TrialDecision, broken_guards
from mcp_tef.statistics.trial_text import guards_text, plan_text, until_guards_are_asked, verdict_sentence
from mcp_tef.workflows.batch_job import COST_CAP
from mcp_tef.workflows.trial_plan import TrialPlan

FRESH_ROUND = 10_000
"""First round number of runs that ask a nominated guard afresh; rounds of a trial have lower ones."""
FRESH_PAIRS = 6


@dataclass(slots=True)
class TrialRun:
    """One run of a trial: its place, and its mark or failure once it has ended."""

    id: RunId
    case_id: CaseId
    arm: Arm
    round: int
    place: int
    ended: bool = False
    mark: RunMark | None = None
    failure: str = ""

    def passed(self, criterion: PassCriterion) -> bool | None:
        """Return if it meets the criterion; None without a verdict. A tool that was not offered cannot be picked."""
        if self.mark is None:
            return False if self.failure == NOT_OFFERED_CODE else None
        tool_only = criterion is PassCriterion.CORRECT_TOOL
        return self.mark.correct_tool if tool_only else self.mark is RunMark.CORRECT_CALL


@dataclass(slots=True)
class TrialPair:
    """One case in one round, with the run of each arm."""

    case_id: CaseId
    round: int
    runs: dict[Arm, TrialRun] = field(default_factory=dict)

    @property
    def ended(self) -> bool:
        """True if both runs have ended."""
        return len(self.runs) == len(Arm) and all(run.ended for run in self.runs.values())

    @property
    def not_offered(self) -> bool:
        """True if neither arm offered an expected tool, so that asking again is useless."""
        return all(run.failure == NOT_OFFERED_CODE for run in self.runs.values())

    def outcome(self, criterion: PassCriterion) -> tuple[bool, bool] | None:
        """Return the passes of original and draft; None where a run failed, or no arm was asked."""
        passes = [self.runs[arm].passed(criterion) for arm in (Arm.ORIGINAL, Arm.DRAFT)]
        if self.not_offered or passes[0] is None or passes[1] is None:
            return None
        return passes[0], passes[1]


class TrialRecord:
    """Takes in runs in their planned order, and results in any order; the decision reads pairs in the planned order.

    So a replay from the store decides exactly as the trial did. `families` holds the family of each case, or "".
    """

    def __init__(self, plan: TrialPlan, families: Mapping[CaseId, str], criterion: PassCriterion) -> None:
        self.plan = plan
        self.criterion = criterion
        self._deterministic = criterion is PassCriterion.CORRECT_TOOL
        self._numbers = {case_id: number for number, case_id in enumerate(plan.cases)}
        self._family = _family_numbers(plan.cases, families)
        self._runs: dict[RunId, TrialRun] = {}
        self._pairs: dict[tuple[int, int], TrialPair] = {}
        self._order: list[TrialPair] = []
        self._next = 0
        self._read: dict[tuple[CaseId, int], TrialPair] = {}
        self._tried: set[tuple[CaseId, int]] = set()
        self.decision = self._blank()

    def _blank(self) -> TrialDecision:
        return TrialDecision(
            self._family,
            rounds=self.plan.rounds,
            goal=self.plan.goal,
            deterministic=self._deterministic,
            more=self.plan.more,
            alpha=gate_level(self.plan.gate) if self.plan.gate else ALPHA,
        )

    def put(self, run: TrialRun) -> None:
        """Take in a run, planned behind all others or ended."""
        key = (run.round, run.place // len(Arm))
        if key not in self._pairs:
            self._pairs[key] = TrialPair(run.case_id, run.round)
            self._order.append(self._pairs[key])
        self._pairs[key].runs[run.arm] = self._runs[run.id] = run

    def end(self, run_id: RunId, mark: RunMark | None, failure: str) -> None:
        """Note the result of a run."""
        run = self._runs[run_id]
        run.ended, run.mark, run.failure = True, mark, failure
        self.advance()

    def advance(self) -> None:
        """Let the decision read every pair that has ended, up to the first that has not, or to its end."""
        while self._next < len(self._order) and not self.stopped:
            pair = self._order[self._next]
            if pair.case_id in self._numbers and not self._take(pair):
                return
            self._next += 1

    def _take(self, pair: TrialPair) -> bool:
        key = (pair.case_id, pair.round)
        if not pair.ended:
            return False
        found, number = pair.outcome(self.criterion), self._numbers[pair.case_id]
        if key in self._read:
            return True
        if found is not None:
            self._read[key] = pair
            self.decision.add(number, pair.round, *found)
        elif pair.not_offered or key in self._tried:
            self._read[key] = pair
            self.decision.leave_out(number, pair.round)
        self._tried.add(key)
        return True

    @property
    def stopped(self) -> bool:
        """True if the decision takes in no more pairs."""
        return self.decision.end is not None

    @property
    def rest_is_idle(self) -> bool:
        """True if the rest of a round need not be asked: decided after round one, in which every guard was asked."""
        return self.decision.end is TrialEnd.DECIDED and self.decision.look >= 1

    def due(self) -> list[tuple[CaseId, int]]:
        """Return the pairs to plan next as case and round, as far as the calls allow."""
        due, most = self._next_pairs(), self.plan.most_calls
        return due if most is None else due[: max(0, most - len(self._runs)) // len(Arm)]

    def _next_pairs(self) -> list[tuple[CaseId, int]]:
        """Return failed pairs to ask again, else a whole round, else nominated guards."""
        if again := self._failed_once():
            return again
        planned = 1 if self._deterministic else self.plan.all_rounds
        if not self.stopped and self.rounds < planned:
            return [(case_id, self.rounds) for case_id in (*self.plan.cases, *self.plan.guards)]
        return [] if self._deterministic else self._nominated_afresh()

    def _nominated_afresh(self) -> list[tuple[CaseId, int]]:
        """Return the fresh pairs of nominated guards that were not planned yet."""
        asked = {pair.case_id for pair in self._order if pair.round >= FRESH_ROUND}
        fresh = range(FRESH_ROUND, FRESH_ROUND + FRESH_PAIRS)
        return [(case_id, number) for number in fresh for case_id in self.nominated() if case_id not in asked]

    @property
    def rounds(self) -> int:
        """Number of rounds that were planned so far, the last one maybe asked in part."""
        return 1 + max((pair.round for pair in self._order if pair.round < FRESH_ROUND), default=-1)

    def _failed_once(self) -> list[tuple[CaseId, int]]:
        tried: dict[tuple[CaseId, int], list[TrialPair]] = {}
        for pair in self._order:
            tried.setdefault((pair.case_id, pair.round), []).append(pair)
        failed = [key for key, ones in tried.items() if len(ones) == 1 and self._has_failed(ones[0])]
        return [key for key in failed if not self.stopped or key[1] >= FRESH_ROUND or key[0] in self.plan.guards]

    def _has_failed(self, pair: TrialPair) -> bool:
        return pair.ended and not pair.not_offered and pair.outcome(self.criterion) is None

    def planned_runs(self, due: Sequence[tuple[CaseId, int]]) -> Iterator[tuple[CaseId, Arm, int, int]]:
        """Yield case, arm, round and place of the runs of due pairs: shuffled, the arms of a pair in random order."""
        taken: dict[int, int] = {}
        for pair in self._order:
            taken[pair.round] = taken.get(pair.round, 0) + len(Arm)
        for round_ in dict.fromkeys(number for _, number in due):
            cases = [case_id for case_id, number in due if number == round_]
            place = taken.get(round_, 0)
            random = np.random.default_rng([self.plan.seed, round_, place])
            for number in random.permutation(len(cases)):
                arms = list(Arm) if random.random() < 0.5 else list(Arm)[::-1]
                for arm in arms:
                    yield cases[number], arm, round_, place
                    place += 1

    def nominated(self) -> list[CaseId]:
        """Return the guards that broke in some round: passed by the original, not by the draft."""
        found = dict.fromkeys(
            pair.case_id
            for pair in self._of_guards()
            if pair.round < FRESH_ROUND and pair.outcome(self.criterion) == (True, False)
        )
        return list(found)

    def guards(self) -> tuple[GuardOutcome, ...]:
        """Return the nominated guards with their fresh runs; for a deterministic selector the break itself counts."""
        nominated = self.nominated()
        counts = [self._guard_counts(case_id) for case_id in nominated]
        asked = [place for place, count in enumerate(counts) if count[1]]
        broken = dict(zip(asked, broken_guards([counts[place] for place in asked]), strict=True))
        return tuple(
            GuardOutcome(
                case_id=case_id,
                original=counts[place][:2],
                draft=counts[place][2:],
                broken=self._deterministic or broken.get(place, False),
            )
            for place, case_id in enumerate(nominated)
        )

    def _guard_counts(self, case_id: CaseId) -> tuple[int, int, int, int]:
        pairs = [pair for pair in self._of_guards() if pair.case_id == case_id and self._counts_for_guards(pair)]
        found = [outcome for pair in pairs if (outcome := pair.outcome(self.criterion))]
        return sum(one[0] for one in found), len(found), sum(one[1] for one in found), len(found)

    def _counts_for_guards(self, pair: TrialPair) -> bool:
        return self._deterministic or pair.round >= FRESH_ROUND

    @property
    def guards_are_open(self) -> bool:
        """True while a guard was not asked yet, or a nominated one is not asked afresh."""
        ended = {pair.case_id for pair in self._order if pair.ended}
        if not ended.issuperset(self.plan.guards):
            return True
        if self._deterministic:
            return False
        fresh = {pair.case_id for pair in self._order if pair.round >= FRESH_ROUND}
        waiting = any(pair.round >= FRESH_ROUND and not pair.ended for pair in self._order)
        return waiting or not fresh.issuperset(self.nominated())

    def _of_guards(self) -> Iterator[TrialPair]:
        return (pair for pair in self._order if pair.ended and pair.case_id not in self._numbers)

    def not_offered(self) -> list[TrialRun]:
        """Return the draft's run of each pair that was left out since neither arm offers an expected tool."""
        return [pair.runs[Arm.DRAFT] for pair in self._read.values() if pair.not_offered]

    def paired(self, criterion: PassCriterion) -> PairedCases:
        """Return the pairs that the decision has read, by its criterion or another one."""
        if criterion is self.criterion:
            return self.decision.paired()
        other = TrialDecision(self._family, rounds=self.plan.all_rounds, deterministic=self._deterministic)
        for (case_id, round_), pair in self._read.items():
            if found := pair.outcome(criterion):
                other.put(self._numbers[case_id], round_, *found)
        return other.paired()

    def outcomes(self) -> tuple[CaseOutcome, ...]:
        """Return each case with its passes so far."""
        return self._outcomes(self.plan.cases, self._read.values())

    def guard_outcomes(self) -> tuple[CaseOutcome, ...]:
        """Return each guard with its passes in the rounds so far, without those that ask it afresh."""
        return self._outcomes(self.plan.guards, (pair for pair in self._of_guards() if pair.round < FRESH_ROUND))

    def _outcomes(self, cases: Sequence[CaseId], pairs: Iterable[TrialPair]) -> tuple[CaseOutcome, ...]:
        found: dict[CaseId, list[tuple[bool, bool]]] = {case_id: [] for case_id in cases}
        for pair in pairs:
            if one := pair.outcome(self.criterion):
                found[pair.case_id].append(one)
        return tuple(
            CaseOutcome(case_id, len(ones), sum(one[0] for one in ones), sum(one[1] for one in ones))
            for case_id, ones in found.items()
        )

    @property
    def calls(self) -> int:
        """Number of runs that have ended with an answer or a failure."""
        return sum(run.ended and run.failure != NOT_OFFERED_CODE for run in self._runs.values())


def _family_numbers(cases: Sequence[CaseId], families: Mapping[CaseId, str]) -> list[int]:
    names = [f"family {families[case_id]}" if families.get(case_id) else case_id for case_id in cases]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return [numbers[name] for name in names]


UNDER_WAY = (BatchStatus.WAITING, BatchStatus.RUNNING, BatchStatus.PAUSED, BatchStatus.INTERRUPTED)

_NO_TOOLS: Mapping[CaseId, str] = {}


def record_of(plan: TrialPlan, cases: Mapping[CaseId, TestCase], *, baseline: bool) -> TrialRecord:
    """Return an empty record for a plan."""
    families = {case_id: case.draft.family for case_id, case in cases.items()}
    return TrialRecord(plan, families, PassCriterion.CORRECT_TOOL if baseline else PassCriterion.CORRECT_CALL)


def stored_run(run: RunSummary, arm: Arm, place: int) -> TrialRun:
    """Return a stored run as a record takes it in."""
    ended = run.status in (RunStatus.COMPLETED, RunStatus.FAILED) and not run.interrupted
    failure = run.failure_code if ended else ""
    return TrialRun(run.id, run.case_id, arm, run.repeat, place, ended, run.mark, failure)


def _end(batch: Batch, record: TrialRecord) -> TrialEnd | None:
    if batch.status in UNDER_WAY:
        return None
    if batch.status is BatchStatus.CANCELLED:
        return TrialEnd.BUDGET if (batch.stopped or "").startswith(COST_CAP) else TrialEnd.CANCELLED
    return record.decision.end or TrialEnd.COMPLETE


def _claims(record: TrialRecord) -> TrialClaims:
    claims = record.decision.claims()
    if record.guards_are_open:
        claims = replace(claims, on_these_cases=until_guards_are_asked(claims.on_these_cases))
    return replace(claims, guards=record.guards())


def result_of(
    batch: Batch,
    record: TrialRecord,
    settings: ModelSettings,
    names: Mapping[CaseId, str],
    tried: int,
    missing: Mapping[CaseId, str] = _NO_TOOLS,
) -> TrialResult:
    """Return what a trial has shown so far; `tried` counts the different ones tried on its cases.

    `missing` names by case the expected tools that were not offered.
    """
    plan, decision, claims = record.plan, record.decision, _claims(record)
    wins, losses, ties = decision.counts
    broken = [names.get(one.case_id, one.case_id) for one in claims.guards if one.broken]
    change = {one: share_change(record.paired(one)) for one in PassCriterion}
    other = next(one for one in PassCriterion if one is not record.criterion)
    unasked = record.not_offered()
    text = partial(guards_text, len(plan.guards), claims.guards)
    return TrialResult(
        batch_id=batch.id,
        draft_name=plan.draft_name,
        model=settings.label,
        criterion=record.criterion,
        claims=claims,
        sentence=verdict_sentence(claims, "" if record.guards_are_open or not any(decision.counts) else text(broken)),
        plan=plan_text(claims),
        wins=wins,
        losses=losses,
        pairs=wins + losses + ties,
        left_out=decision.left_out,
        evidence=None if settings.offline else (evidence(wins, losses), evidence(losses, wins)),
        shares=change[record.criterion],
        other_shares=change[other],
        outcomes=record.outcomes(),
        icc=correlation(decision.paired()),
        drafts_tried=tried,
        calls=record.calls,
        planned_calls=len(Arm) * (len(plan.cases) + len(plan.guards)) * (1 if settings.offline else plan.all_rounds),
        cost_usd=batch.cost_usd,
        seed=plan.seed,
        end=_end(batch, record),
        guards=len(plan.guards),
        guard_outcomes=record.guard_outcomes(),
        of_prompts=bool(plan.prompts),
        not_offered=len(unasked),
        missing_tools=_named(unasked, names, missing),
    )


def _named(
    unasked: Sequence[TrialRun], names: Mapping[CaseId, str], missing: Mapping[CaseId, str]
) -> Mapping[str, str]:
    return {names.get(one.case_id, one.case_id): missing.get(one.case_id, "") for one in unasked}
