"""One search for a better text: failing cases, screening, gate, pruning, and one opening of the sealed cases."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcp_tef.errors import InputError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import MARGIN
from mcp_tef.model.drafts import Draft, name_of
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.improvements import (
    CandidateRound,
    HopelessCase,
    ImprovementEnd,
    ImprovementPlan,
    ImprovementResult,
    ImprovementStep,
    TextCandidate,
    WorkingFailure,
)
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Arm, Batch, RunSummary
from mcp_tef.model.secrets import Secret
from mcp_tef.model.trials import TrialGoal, TrialRequest, TrialResult
from mcp_tef.scoring.differentiation.candidate_texts import added_sentences, say_the_same, without_sentence
from mcp_tef.scoring.phrases import ticked
from mcp_tef.statistics.candidate_selection import better_half, halving_sizes, passes_gate, sealed_end
from mcp_tef.statistics.improvement_text import early_end, failed_text
from mcp_tef.statistics.trial_decision import rules_out
from mcp_tef.statistics.trial_text import unasked_reason
from mcp_tef.workflows.cost_budget import TOO_LOW
from mcp_tef.workflows.drafts import Drafts
from mcp_tef.workflows.improve_candidates import MOST_CANDIDATES, CandidateSource, hinted_cases
from mcp_tef.workflows.model_writing import CappedWriter
from mcp_tef.workflows.prediction import Predictions
from mcp_tef.workflows.runs import Runs
from mcp_tef.workflows.trials import Trials

MOST_ROUNDS = 3
SEALED_BUDGET = 0.4
ARMS = len(Arm)


class SearchEndedError(Exception):
    """Early end of a search, with what is to be said about it."""

    def __init__(self, end: ImprovementEnd, note: str = "") -> None:
        super().__init__(note)
        self.end = end
        self.note = note


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """Everything that a search works with. `source` makes its candidates once the failures are known.

    `writer` gives the writer with what is left of the cost cap; None where no model writes.
    """

    drafts: Drafts
    trials: Trials
    runs: Runs
    predictions: Predictions
    source: Callable[[Sequence[WorkingFailure]], CandidateSource]
    writer: Callable[[float | None], Awaitable[CappedWriter]] | None
    cases: Mapping[CaseId, TestCase]
    keys: Mapping[str, Secret]
    tell: Callable[[ImprovementStep], None]


@dataclass
class _Screened:
    """A candidate that may be asked, with the step of the draft that holds it."""

    candidate: TextCandidate
    step: int

    @property
    def rank(self) -> tuple[float, ...]:
        """Share of the screened runs that passed; of equal ones the shorter text is better."""
        share = self.candidate.score / self.candidate.asked if self.candidate.asked else 0.0
        return share, -float(sum(map(len, self.candidate.texts.values())))

    def add(self, passed: int, asked: int) -> None:
        """Count further runs."""
        score, before = self.candidate.score + passed, self.candidate.asked + asked
        self.candidate = replace(self.candidate, score=score, asked=before)


@dataclass
class ImprovementSession:
    """A search over the stored draft that holds all its candidates as steps."""

    plan: ImprovementPlan
    draft: Draft
    parts: SearchParts
    calls: int = 0
    cost_usd: float | None = 0.0
    failing: int = 0
    hopeless: list[HopelessCase] = field(default_factory=list)
    rounds: list[CandidateRound] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)
    working: TrialResult | None = None
    sealed: TrialResult | None = None
    pool: list[TextCandidate] = field(default_factory=list)

    async def search(self) -> ImprovementResult:
        """Return what was found, also where the search ended early; errors of the store and of missing keys pass."""
        found: Draft | None = None
        note = ""
        try:
            failures = await self._diagnosed()
            best = await self._shortened(await self._gated(failures))
            found = await self.parts.drafts.describe(self.draft.id, best.candidate.texts)
            end = await self._opened(found.step)
        except SearchEndedError as ended:
            end, note = ended.end, ended.note
        return ImprovementResult(
            plan=self.plan,
            end=end,
            note=note,
            failing=self.failing,
            hopeless=tuple(self.hopeless),
            rounds=tuple(self.rounds),
            pruned=tuple(self.pruned),
            working=self.working,
            sealed=self.sealed,
            draft=found,
            calls=self.calls,
            cost_usd=self.cost_usd,
        )

    async def _diagnosed(self) -> list[WorkingFailure]:
        """Ask every working case alone with and without a hint; return the failures that words can fix."""
        self._tell("Looking for failing cases, and if words can fix them.")
        working = self.plan.working
        result, runs = await self._ask("failing cases", working, step=0, hints=True)
        calls = {run.case_id: run for run in runs if run.arm is Arm.ORIGINAL}
        hinted = hinted_cases(result, runs)
        if result.left_out and not hinted:
            raise SearchEndedError(ImprovementEnd.UNREACHABLE, failed_text(result))
        found = [self._failure(self.parts.cases[case_id], calls[case_id]) for case_id in hinted]
        why = {one: unasked_reason(result, one.name) or self._why_hopeless(one, hinted[one.case_id]) for one in found}
        return self._fixable(list(why.items()))

    def _fixable(self, found: Sequence[tuple[WorkingFailure, str]]) -> list[WorkingFailure]:
        """Return the failures about the tool of the request that are not hopeless, and note the others."""
        tool = self.plan.request.tool
        about = [(one, reason) for one, reason in found if tool in (None, one.expected, one.selected)]
        self.failing = len(about)
        self.hopeless = [HopelessCase(one.name, reason) for one, reason in about if reason]
        if len(self.hopeless) < self.failing:
            return [one for one, reason in about if not reason]
        raise SearchEndedError(ImprovementEnd.WORDS_CANNOT_HELP if about else ImprovementEnd.NOTHING_FAILS)

    def _failure(self, case: TestCase, run: RunSummary) -> WorkingFailure:
        first = case.draft.expectation.first_call
        return WorkingFailure(
            case_id=case.id,
            name=case.name,
            query=case.draft.query,
            expected=first.tool if first else "",
            selected=run.selected_tool,
            wrong_parameters=tuple(dict.fromkeys((*(one.parameter for one in run.findings), *run.hallucinated))),
        )

    def _why_hopeless(self, failure: WorkingFailure, passes_with_hint: bool) -> str:
        """Return why no words can fix a failing case; "" where they may."""
        tools = self.parts.source(()).tools
        expected, selected = tools.get(failure.expected), tools.get(failure.selected or "")
        if not failure.expected:
            return "It expects no tool, so there is no description to improve."
        if expected is None:
            return f"{ticked(failure.expected)} is a tool of another server."
        if selected and selected is not expected and say_the_same(expected, selected):
            one, other = ticked(expected.name), ticked(selected.name)
            return f"{one} and {other} say the same and take the same, so no text tells them apart: offer only one."
        if not passes_with_hint:
            return "It fails even with its own query as an example: it is ambiguous, or the schema does not fit."
        return ""

    async def _gated(self, failures: Sequence[WorkingFailure]) -> _Screened:
        """Return the first candidate that passes the gate of its round."""
        source, cases = self.parts.source(failures), [one.case_id for one in failures]
        for number in range(1, MOST_ROUNDS + 1):
            if found := await self._round(number, source, cases):
                return found
        raise SearchEndedError(ImprovementEnd.NO_CANDIDATE)

    async def _round(self, number: int, source: CandidateSource, cases: Sequence[CaseId]) -> _Screened | None:
        """Return the best candidate of a round where it passes the gate."""
        made = await self._made(source)
        refused = tuple(one for one in made if one.refused)
        new = [one for one in made if not one.refused]
        # The best of the pool comes first: where calls allow one candidate only, a screened one is tried.
        asked = [*self.pool[:1], *new, *self.pool[1:]][:MOST_CANDIDATES]
        self._tell(f"Round {number}: {len(asked)} candidates, {len(refused)} refused.")
        ranked = await self._screened(asked, cases, number)
        candidates = tuple(one.candidate for one in ranked)
        self.rounds.append(CandidateRound((*candidates, *refused)))
        gate = await self._gate(ranked[0], number) if ranked else None
        self.rounds[-1] = replace(self.rounds[-1], gate=gate)
        self.pool = list(candidates[1:])
        self.working = gate if gate and passes_gate(gate.claims) else None
        return ranked[0] if self.working else None

    async def _made(self, source: CandidateSource) -> list[TextCandidate]:
        """Return the new candidates of a round: those of the writer first."""
        found: list[TextCandidate] = []
        if self.parts.writer and self._left > self._reserve:
            written = await source.from_writer(await self.parts.writer(self._left_usd))
            found += written.candidates
            self._spend(1, written.cost_usd)
        return found + source.from_rules(MOST_CANDIDATES - sum(not one.refused for one in found))

    async def _screened(
        self, candidates: Sequence[TextCandidate], cases: Sequence[CaseId], number: int
    ) -> list[_Screened]:
        """Return the candidates, the best first, by successive halving on the failing cases as far as calls allow."""
        found = self._with_room(candidates, len(cases))
        ones = [_Screened(one, (await self.parts.drafts.describe(self.draft.id, one.texts)).step) for one in found]
        known = ones[: sum(map(self._is_known, found))]
        ranked = list(ones)
        for size in halving_sizes(len(ones)):
            rung = ranked[:size]
            asked = [one for one in rung if one not in known]
            if self._left - self._reserve < ARMS * len(cases) * ((len(asked) + 1) // 2):
                break
            await self._compare(asked, cases, number)
            ranked = [rung[at] for at in better_half([one.rank for one in rung])] + _rest(ranked, rung)
            if self.plan.request.settings.offline:
                break
        return ranked

    def _with_room(self, candidates: Sequence[TextCandidate], cases: int) -> list[TextCandidate]:
        """Return the candidates that are known, then those that can be screened with calls left for a gate."""
        known = list(filter(self._is_known, candidates))
        new = [one for one in candidates if one not in known]
        pairs = (self._left - self._reserve - ARMS * len(self.plan.working)) // (ARMS * max(1, cases))
        return [*known, *new[: max(0 if known else 1, ARMS * pairs)]]

    def _is_known(self, candidate: TextCandidate) -> bool:
        """Return True if asking would tell nothing new: the baseline was asked before, and answers alike each time."""
        return self.plan.request.settings.offline and candidate.asked > 0

    async def _compare(self, rung: Sequence[_Screened], cases: Sequence[CaseId], number: int) -> None:
        """Ask candidates as the arms of a trial for each two of them; a single one beside the original."""
        for pair in (rung[place : place + ARMS] for place in range(0, len(rung), ARMS)):
            against = pair[0].step if len(pair) > 1 else 0
            result, _ = await self._ask(f"screening {number}", cases, step=pair[-1].step, against=against)
            asked = sum(one.pairs for one in result.outcomes)
            pair[-1].add(sum(one.draft for one in result.outcomes), asked)
            if len(pair) > 1:
                pair[0].add(sum(one.original for one in result.outcomes), asked)

    async def _gate(self, best: _Screened, number: int) -> TrialResult | None:
        """Try a candidate on the working cases, with guards; None where no case is about it."""
        cases, guards = await self._scope(best.step)
        if not cases:
            return None
        self._tell(f"Round {number}: trying the best candidate on {len(cases)} working cases, {len(guards)} guards.")
        rounds = self._affordable(len(cases) + len(guards), self._left - self._reserve)
        result, _ = await self._ask(
            f"gate {number}", cases, guards=guards, step=best.step, rounds=rounds, gate=number, goal=TrialGoal.QUICK
        )
        return result

    async def _scope(self, step: int) -> tuple[tuple[CaseId, ...], tuple[CaseId, ...]]:
        """Return the working cases that a state of the draft affects, and guards among the others."""
        request = self.plan.request
        draft = replace(await self.parts.drafts.get(self.draft.id), step=step)
        scope = await self.parts.predictions.scope(
            draft, request.guards, seed=request.seed, among=frozenset(self.plan.working)
        )
        return tuple(scope.affected), scope.guards

    async def _shortened(self, best: _Screened) -> _Screened:
        """Leave out added sentences without which the candidate is no worse within the margin."""
        self._tell("Leaving out sentences that earn nothing.")
        original = {name_of(raw): str(raw.get("description") or "") for raw in self.draft.base}
        affected, guards = await self._scope(best.step)
        added = {key: added_sentences(original[key], text) for key, text in best.candidate.texts.items()}
        for name, sentence in [(key, one) for key, sentences in added.items() for one in sentences]:
            changed = _without(best.candidate.texts, name, sentence, original[name])
            if kept := await self._no_worse(best, changed, (*affected, *guards)):
                best = kept
                self.pruned.append(sentence)
        return best

    async def _no_worse(self, best: _Screened, texts: Mapping[str, str], cases: Sequence[CaseId]) -> _Screened | None:
        """Return the candidate with shorter texts where it is no worse; None where it is, or nothing could show it."""
        offline, rounds = self.plan.request.settings.offline, self.plan.request.rounds
        left = self._left - self._reserve
        if not texts or ARMS * len(cases) > left or not (offline or rules_out(len(cases) * rounds) <= MARGIN):
            return None
        step = (await self.parts.drafts.describe(self.draft.id, texts)).step
        rounds = self._affordable(len(cases), left)
        result, _ = await self._ask("pruning", cases, step=step, against=best.step, rounds=rounds)
        low = result.shares.difference.low
        if result.losses if offline else low is None or low < -MARGIN:
            return None
        return _Screened(replace(best.candidate, texts=texts), step)

    async def _opened(self, step: int) -> ImprovementEnd:
        """Try the final text on the sealed cases, once."""
        self._tell("Opening the sealed cases.")
        rounds = self._affordable(len(self.plan.sealed), self._left)
        self.sealed, _ = await self._ask(
            "sealed cases", self.plan.sealed, step=step, rounds=rounds, goal=TrialGoal.SURE
        )
        return sealed_end(self.sealed.claims, len(self.plan.sealed))

    async def _ask(
        self,
        title: str,
        cases: Sequence[CaseId],
        *,
        rounds: int = 1,
        goal: TrialGoal = TrialGoal.FULL,
        **options: object,
    ) -> tuple[TrialResult, Sequence[RunSummary]]:
        """Run one trial to its end; SearchEndedError where it ended otherwise than planned."""
        request = TrialRequest(
            draft=self.draft.id,
            settings=self.plan.request.settings,
            cases=tuple(cases),
            rounds=rounds,
            goal=goal,
            seed=self.plan.request.seed,
            max_cost_usd=self._left_usd,
            most_calls=self._left,
            name=f"{self.draft.name}: {title}",
        )
        try:
            started = await self.parts.trials.start(replace(request, **options), self.parts.keys)  # type: ignore[arg-type]
        except InputError as error:
            if error.code != TOO_LOW or not self.calls:
                raise
            raise SearchEndedError(ImprovementEnd.BUDGET, error.message) from error
        batch = await self._ended(started.id)
        result = await self.parts.trials.result(batch.id)
        self._spend(result.calls, batch.cost_usd)
        if early := early_end(result, batch.stopped or ""):
            raise SearchEndedError(*early)
        return result, await self.parts.runs.list(RunFilter(batch_id=batch.id))

    async def _ended(self, batch_id: BatchId) -> Batch:
        """Wait for the end of a trial; a search that is cancelled cancels it, since it would go on asking."""
        try:
            return await self.parts.runs.wait(batch_id)
        except asyncio.CancelledError:
            if batch_id in self.parts.runs.active():
                await self.parts.runs.cancel(batch_id)
            raise

    def _affordable(self, cases: int, calls: int) -> int:
        """Return how many rounds of so many cases the calls allow; SearchEndedError where there is not one."""
        rounds = min(self.plan.request.rounds, calls // (ARMS * cases))
        if rounds < 1:
            raise SearchEndedError(ImprovementEnd.BUDGET, "Allow more calls.")
        return rounds

    def _tell(self, text: str) -> None:
        step = ImprovementStep(text=text, draft=self.draft.id, calls=self.calls, cost_usd=self.cost_usd)
        self.parts.tell(replace(step, rounds=tuple(self.rounds)))

    def _spend(self, calls: int, cost_usd: float | None) -> None:
        self.calls += calls
        self.cost_usd = None if cost_usd is None or self.cost_usd is None else self.cost_usd + cost_usd

    @property
    def _left(self) -> int:
        return max(0, self.plan.request.budget - self.calls)

    @property
    def _left_usd(self) -> float | None:
        cap = self.plan.request.max_cost_usd
        return None if cap is None else max(0.0, cap - (self.cost_usd or 0.0))

    @property
    def _reserve(self) -> int:
        """Calls that are kept for the sealed cases: all rounds, or two fifths of the budget, but at least one round."""
        once = ARMS * len(self.plan.sealed)
        rounds = 1 if self.plan.request.settings.offline else self.plan.request.rounds
        return max(once, min(once * rounds, int(SEALED_BUDGET * self.plan.request.budget)))


def _without(texts: Mapping[str, str], name: str, sentence: str, original: str) -> dict[str, str]:
    """Return the texts without a sentence of one tool; where that leaves the original, without this tool."""
    shorter = without_sentence(texts[name], sentence)
    rest = {key: text for key, text in texts.items() if key != name}
    return rest if shorter == original.strip() else {**rest, name: shorter}


def _rest(ranked: Sequence[_Screened], rung: Sequence[_Screened]) -> list[_Screened]:
    """Return those that are not among the better half of the rung, the best first."""
    kept = {rung[at].step for at in better_half([one.rank for one in rung])}
    return sorted((one for one in ranked if one.step not in kept), key=lambda one: one.rank, reverse=True)
