"""Inputs, steps and result of a search for better texts of one server's tools; knows no Qt."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import ApiKeys, CoreCall
from app.core_link.refresh import Refresh
from app.screens.workshop.batch_presenter import (
    BASELINE,
    CAP,
    CrowdBatches,
    NumbersRule,
    OptionField,
    option_problems,
    read_numbers,
)
from app.screens.workshop.writer_choice import WriterChoice, WriterKind
from app.text.formatting import count, money
from mcp_tef import (
    Batch,
    BatchEnded,
    BatchId,
    BatchProgressed,
    BatchStarted,
    CandidateRound,
    ClaimVerdict,
    DraftId,
    DraftsChanged,
    Estimate,
    Event,
    ImprovementEnd,
    ImprovementPlan,
    ImprovementRequest,
    ImprovementResult,
    ImprovementStep,
    ModelSettings,
    RunStatus,
    TefError,
    TextCandidate,
    TrialResult,
    improvement_sentences,
    parse_dollars,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

BUDGET, SEED = "budget", "seed"
BEFORE: Final = (
    "The candidates of each round and a log of the search appear here. It ends with a draft, or says why no text is "
    "better."
)
USUAL_BUDGET: Final = 1_000
RULES: Final = {BUDGET: NumbersRule(0, 1_000_000, number=1), SEED: NumbersRule(0, 1_000_000_000, number=1)}
HOW: Final = (
    "Candidates are made from the working cases that fail, and tried on the working cases. The sealed cases are asked "
    "once, for the final text. Nothing is accepted by itself; the text is kept as a draft."
)
ALL: Final = ""
PASSED: Final = "better on working"


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRow:
    """One candidate as a row: its place, first text, author, failing cases that it fixes, and its outcome."""

    key: str
    round: int
    candidate: TextCandidate
    text: str
    fixed: str
    outcome: str
    passed: bool = False


class ImprovementPresenter(CrowdBatches):
    """One search: planned for a budget, run, stopped, and its result; the next search replaces it."""

    def __init__(self, ask: CoreCall) -> None:
        super().__init__(ask)
        self.servers: tuple[str, ...] = ()
        self.server = ""
        self.tool = ALL
        self.texts: Mapping[str, str] = {}
        self.budget, self.seed = USUAL_BUDGET, 0
        self.writer = WriterChoice()
        self.plan_made: ImprovementPlan | None = None
        self.found: ImprovementResult | None = None
        self.steps: list[tuple[datetime, ImprovementStep]] = []
        self.stopped = False
        self._opened: dict[str, DraftId] = {}
        self._asked: dict[BatchId, tuple[int, float]] = {}
        self._search: asyncio.Future[ImprovementResult] | None = None

    def handle(self, event: Event) -> Refresh:
        match event:
            case BatchProgressed(batch=batch, done=done, cost_usd=cost) if self._is_mine(batch):
                self._asked[batch.id] = (done - batch.counts.get(RunStatus.CANCELLED.value, 0), cost or 0.0)
                return Refresh.LATER
            case BatchStarted() | BatchEnded() | DraftsChanged() if self.under_way:
                return Refresh.NOW
            case _:
                return super().handle(event)

    def _is_mine(self, batch: Batch) -> bool:
        return bool(self.steps and batch.trial and batch.trial.get("draft") == self.steps[-1][1].draft)

    # ------------------------------------------------------------ reading

    async def load(self) -> bool:
        self.loading += 1
        mine, wanted = self.loading, self.server
        servers, texts = await self._ask(lambda core: _read(core, wanted))
        if mine != self.loading:
            return False
        self.servers, self.texts = servers, texts
        if self.server not in servers:
            self.choose_server(servers[0] if servers else "")
            return await self.load() if servers else True
        return True

    async def choose_test(self, batch_id: BatchId) -> None:
        """Do nothing: a search is no batch, so there is no other one to show."""

    # ------------------------------------------------------------ inputs

    def choose_server(self, name: str) -> None:
        """Seek better texts for the tools of a server."""
        if name != self.server:
            self.server, self.tool = name, ALL

    def choose(self, models: Iterable[ModelSettings]) -> None:
        """Ask the last one of these models; a search asks one."""
        super().choose(list(models)[-1:])

    def options(self) -> tuple[OptionField, ...]:
        cap = "" if self.max_cost_usd is None else f"{self.max_cost_usd:g}"
        return (
            OptionField(key=BUDGET, label="Budget in calls", text=str(self.budget), note="The search takes no more."),
            OptionField(
                key=SEED, label="Seed of the split", text=str(self.seed), note="Another seed seals other cases."
            ),
            OptionField(key=CAP, label="Cost cap in $", text=cap, note="Empty: no cap."),
        )

    def set_options(self, texts: Mapping[str, str]) -> dict[str, str]:
        problems = option_problems(texts, RULES)
        if not problems:
            self.budget, self.seed = read_numbers(texts[BUDGET])[0], read_numbers(texts[SEED])[0]
            self.max_cost_usd = parse_dollars(texts[CAP])
        return problems

    def request(self, model: ModelSettings | None = None, writer: WriterChoice | None = None) -> ImprovementRequest:
        """Return the search that would start now, or that would with another model or writer."""
        settings = model or next(iter(self.models), BASELINE)
        return ImprovementRequest(
            server=self.server,
            settings=settings,
            writer=(writer or self.writer).writer(settings),
            budget=self.budget,
            tool=self.tool or None,
            seed=self.seed,
            max_cost_usd=self.max_cost_usd,
        )

    async def plan(self) -> None:
        request, self.planning = self.request(), self.planning + 1
        mine, problem = self.planning, ""
        plan: ImprovementPlan | None = None
        try:
            if request.server:
                plan = await self._ask(lambda core: core.improvements.plan(request))
        except TefError as error:
            problem = f"{error.message} {error.hint or ''}".strip()
        if mine == self.planning:
            self.problem, self.plan_made = problem, plan

    async def estimate_for(self, model: ModelSettings) -> Estimate:
        return await self._estimated(self.request(model))

    async def estimate_of_writer(self, model: ModelSettings) -> Estimate:
        """Return the most that the search takes with a writer of its own."""
        return await self._estimated(self.request(writer=WriterChoice(WriterKind.OTHER, model)))

    async def _estimated(self, request: ImprovementRequest) -> Estimate:
        plan = await self._ask(lambda core: core.improvements.plan(request))
        return Estimate(runs=plan.calls, tokens=None, cost_usd=plan.cost_usd, seconds=None)

    def why_not(self) -> str:
        if self.under_way:
            return "A search is running."
        return self.problem or ("" if self.plan_made else "Select a server with tools first.")

    def size(self) -> int:
        plan = self.plan_made
        return len(plan.working) + len(plan.sealed) if plan else 0

    # ------------------------------------------------------------ running

    @property
    def running(self) -> bool:
        """True while the search asks."""
        return self._search is not None

    async def start(self, keys: ApiKeys) -> ImprovementResult | None:
        """Search, and keep the result; None where the search was stopped, which keeps its steps."""
        plan = self.plan_made
        assert plan is not None
        steps: list[tuple[datetime, ImprovementStep]] = []
        self.found, self.stopped, self.steps = None, False, steps
        self._opened, self._asked = {}, {}

        def hear(step: ImprovementStep) -> None:
            """Take a step on the thread of the core; the next refresh shows it."""
            steps.append((datetime.now(UTC), step))

        search = asyncio.ensure_future(self._ask(lambda core: core.improvements.run(plan, keys, tell=hear)))
        self._search = search
        try:
            self.found = await search
        except asyncio.CancelledError:
            if not self.stopped:
                raise
        finally:
            self._search = None
        return self.found

    async def stop(self) -> None:
        """Stop the search; its steps and candidates stay, and no draft is left."""
        if self._search is not None:
            self.stopped = True
            self._search.cancel()

    # ------------------------------------------------------------ showing

    @property
    def exportable(self) -> bool:
        """True if there is a candidate."""
        return bool(self.rows())

    @property
    def draft_id(self) -> DraftId | None:
        """The draft with the text that was found."""
        return self.found.draft.id if self.found and self.found.draft else None

    async def draft_of(self, row: CandidateRow) -> DraftId:
        """Return the draft of a candidate, made where there is none yet."""
        if self.found and self.found.draft and row.passed and not self.found.pruned:
            return self.found.draft.id
        if row.key not in self._opened:
            server, name = self.server, f"Text {row.key} for {self.server}"[:90]
            self._opened[row.key] = await self._ask(lambda core: _drafted(core, server, name, row.candidate.texts))
        return self._opened[row.key]

    def rounds(self) -> tuple[CandidateRound, ...]:
        """Return the rounds so far."""
        return self.found.rounds if self.found else self.steps[-1][1].rounds if self.steps else ()

    def rows(self) -> tuple[CandidateRow, ...]:
        """Return the candidates of all rounds, the newest round first, its best first."""
        numbered = list(enumerate(self.rounds(), 1))
        return tuple(
            _row(number, place, one, each)
            for number, each in reversed(numbered)
            for place, one in enumerate(each.candidates, 1)
        )

    def sentences(self) -> tuple[str, ...]:
        """Return the state of the search: its plan, its last step, or what it has found."""
        if self.found:
            return improvement_sentences(self.found)[: 3 if self.found.sealed else 1]
        if self.under_way:
            return (self.steps[-1][1].text if self.steps else "The search begins.",)
        if self.stopped:
            return ("The search was stopped, and no text was kept.",)
        plan = self.plan_made
        return (self.problem or (plan.gain if plan else "No search was done yet."),)

    def note(self) -> str:
        """Return what stands below the sentences."""
        if self.under_way or self.stopped:
            return self.progress_text()
        if self.found:
            return "\n".join(filter(None, (" ".join(self.details()), self.progress_text())))
        return f"{HOW} {self._price_text()}".strip()

    def details(self) -> tuple[str, ...]:
        """Return what the search has found besides its result and both claims on the sealed cases."""
        if self.found is None or self.found.end is ImprovementEnd.WORDS_CANNOT_HELP:  # its cases stand in a list
            return ()
        return improvement_sentences(self.found)[3 if self.found.sealed else 1 :]

    def why_nothing(self) -> str:
        """Return what stands in place of candidates: each case that words cannot fix, or what a search shows."""
        if self.stopped:
            return "Press Find a better text to search again."
        hopeless = self.found.hopeless if self.found else ()
        return "\n".join(f"{one.name}: {one.reason}" for one in hopeless) or BEFORE

    def start_text(self) -> str:
        return "Find a better text"

    def plan_text(self) -> str:
        plan = self.plan_made
        if self.problem or plan is None:
            return self.problem
        return f"{self._cost_text(plan)} · up to {count(plan.calls, 'call')}"

    def _price_text(self) -> str:
        """Return the most that the search takes as a sentence, with the calls of the writer; "" without a plan."""
        plan = self.plan_made
        if plan is None:
            return ""
        written = f", {plan.writer_calls} of them to the writer" if plan.writer_calls else ""
        return f"It takes up to {count(plan.calls, 'call')}{written}: {self._cost_text(plan)}."

    def _cost_text(self, plan: ImprovementPlan) -> str:
        cost = "free" if plan.cost_usd == 0 else f"about {money(plan.cost_usd)}" if plan.cost_usd else "cost unknown"
        return cost if self.max_cost_usd is None else f"{cost}, cap {money(self.max_cost_usd)}"

    def provider(self) -> str:
        writer = self.request().writer
        return super().provider() or (writer.provider if writer else "")

    def spent(self) -> tuple[int, float | None]:
        """Return the calls and US dollars so far."""
        if self.found:
            return self.found.calls, self.found.cost_usd
        return sum(done for done, _ in self._asked.values()), sum(cost for _, cost in self._asked.values())

    def progress_text(self) -> str:
        """Return how much was asked: "120 of up to 500 calls · $0.04"."""
        calls, cost = self.spent()
        most = self.found.plan.calls if self.found else self.budget
        return " · ".join(filter(None, (f"{calls:,} of up to {count(most, 'call')}", money(cost) if cost else "")))


def _row(number: int, place: int, one: TextCandidate, each: CandidateRound) -> CandidateRow:
    outcome = _outcome(one, each.gate if place == 1 else None)
    return CandidateRow(
        key=f"{number}.{place}",
        round=number,
        candidate=one,
        text=" · ".join(one.texts.values()) or "no text",
        fixed=f"{one.score:,} of {one.asked:,}" if one.asked else "",
        outcome=outcome,
        passed=outcome == PASSED,
    )


def _outcome(one: TextCandidate, gate: TrialResult | None) -> str:
    """Return where a candidate went out, or what its trial on the working cases said."""
    if one.refused:
        return one.refused
    if gate is None:
        return f"out after {count(one.asked, 'call')}" if one.asked else "not asked"
    if gate.claims.worse:
        return "broke another case"
    return PASSED if gate.claims.on_these_cases.verdict is ClaimVerdict.BETTER else "not better on working"


async def _read(core: "Engine", wanted: str) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """Return the servers whose tools are known, and the descriptions of the tools of one of them."""
    servers = [one for one in await core.servers.list() if one.tool_count]
    server = next((one for one in servers if one.name == wanted), None)
    listing = await core.servers.known_tools(server.id) if server else None
    texts = {tool.name: tool.description for tool in listing.tools} if listing else {}
    return tuple(one.name for one in servers), texts


async def _drafted(core: "Engine", server: str, name: str, texts: Mapping[str, str]) -> DraftId:
    """Return a new draft over a server with these descriptions."""
    taken = {one.name.casefold() for one in await core.drafts.list()}
    names = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 3)))
    draft = await core.drafts.new(next(one for one in names if one.casefold() not in taken), server=server)
    return (await core.drafts.describe(draft.id, texts)).id
