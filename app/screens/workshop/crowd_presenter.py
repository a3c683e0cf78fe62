"""Settings of crowd tests, and what the one that is shown has found; knows no Qt."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import ApiKeys, CoreCall
from app.screens.workshop.batch_presenter import (
    CAP,
    CrowdBatches,
    NumbersRule,
    OptionField,
    label_text,
    option_problems,
    read_numbers,
)
from app.text.formatting import count, percent
from mcp_tef import (
    Batch,
    BatchId,
    CaseId,
    CrowdKind,
    CrowdPoint,
    CrowdRequest,
    CrowdResult,
    CrowdSource,
    Estimate,
    ModelSettings,
    RetrievalPoint,
    RunSummary,
    TefError,
    TestCase,
    ToolLabel,
    parse_dollars,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

ALL: Final = "all"
BUNDLED: Final = "bundled"
SIZES, SEARCH, ROUNDS, MARGIN = "sizes", "search", "rounds", "margin"
RULES: Final = {
    SIZES: NumbersRule(1, 1_000),
    SEARCH: NumbersRule(1, 1_000, needed=False),
    ROUNDS: NumbersRule(1, 20, number=1, needed=False),
    MARGIN: NumbersRule(0, 99, number=1),
}
FIRST: Final = 5
KINDS: Final = (
    (CrowdKind.NEAR, "Nearest first"),
    (CrowdKind.FAR, "Farthest first"),
    (CrowdKind.SERVERS, "Whole servers"),
)


class CrowdPresenter(CrowdBatches):
    """Inputs of a crowd test; the test that is shown, its offline line, and the wrong runs of one of its points."""

    def __init__(self, ask: CoreCall) -> None:
        super().__init__(ask)
        self._cases: dict[str, tuple[CaseId, ...]] = {}
        self._expected: dict[CaseId, ToolLabel] = {}
        self.servers: tuple[str, ...] = ()
        self.tool = ALL
        self.kind = CrowdKind.NEAR
        self.among: tuple[str, ...] = ()
        self.sizes: tuple[int, ...] = (0, 10, 30, 60, 120, 300)
        self.search: tuple[int, ...] = ()
        self.rounds: int | None = None
        self.margin = 10
        self.accept_equivalents = False
        self.line: tuple[RetrievalPoint, ...] = ()
        self.result: CrowdResult | None
        self.point: int | None = None
        self._picked = False
        self.wrong: tuple[RunSummary, ...] = ()

    # ------------------------------------------------------------ reading

    async def load(self) -> bool:
        self.loading += 1
        mine = self.loading
        cases, servers, tests = await self._ask(_read)
        if mine != self.loading:
            return False
        self._expected, self.servers = _expected(cases), servers
        self._cases = {}
        for case_id, label in sorted(self._expected.items(), key=lambda one: label_text(one[1])):
            self._cases[label_text(label)] = (*self._cases.get(label_text(label), ()), case_id)
        self.tool = self.tool if self.tool in self._cases else ALL
        self.among = tuple(name for name in self.among if name in servers)
        self.take_tests(tests)
        await self._read_result()
        return mine == self.loading

    async def _read_result(self) -> None:
        batch_id = self.batch_id
        found = await self._ask(lambda core: core.crowds.result(batch_id)) if batch_id else None
        if batch_id != self.batch_id:
            return
        if self.result is None or found is None or found.batch_id != self.result.batch_id:
            self._picked = False
        self.result = found
        await self._show_point(self.point if self._picked else _first_wrong(found))

    async def choose_test(self, batch_id: BatchId) -> None:
        self.batch_id = batch_id
        await self._read_result()

    async def show_point(self, place: int) -> None:
        """Show the wrong runs of a point by its place in the result; until then those of the first loss are shown."""
        self._picked = True
        await self._show_point(place)

    async def _show_point(self, place: int | None) -> None:
        self.point = place if self.result and place is not None and place < len(self.result.points) else None
        point, batch_id = self.shown_point(), self.batch_id
        if point is None or batch_id is None:
            self.wrong = ()
            return
        wrong = await self._ask(lambda core: core.crowds.wrong_runs(batch_id, point))
        if batch_id == self.batch_id and point == self.shown_point():
            self.wrong = wrong

    def shown_point(self) -> CrowdPoint | None:
        """Return the point whose wrong runs are shown."""
        return self.result.points[self.point] if self.result and self.point is not None else None

    # ------------------------------------------------------------ inputs

    @property
    def has_cases(self) -> bool:
        """True if a test case expects a tool."""
        return bool(self._cases)

    def tools(self) -> list[tuple[str, str]]:
        """Return key and label of the tools that cases expect, for a menu; all of them first."""
        total = sum(map(len, self._cases.values()))
        every = (ALL, "All tools" if total else "No tool")
        return [every, *((key, f"{key}, {count(len(ids), 'case')}") for key, ids in self._cases.items())]

    def case_ids(self) -> tuple[CaseId, ...]:
        """Return the cases of the selected tool."""
        if self.tool == ALL:
            return tuple(one for ids in self._cases.values() for one in ids)
        return self._cases.get(self.tool, ())

    def expected(self, run: RunSummary) -> ToolLabel | None:
        """Return the tool that a run should have selected; None where its case was removed."""
        return self._expected.get(run.case_id)

    def toggle_source(self, key: str) -> None:
        """Take strangers from the bundled crowd, or from a server as well or no longer."""
        if key == BUNDLED:
            self.among = ()
        elif key in self.among:
            self.among = tuple(name for name in self.among if name != key)
        else:
            self.among = (*self.among, key)

    def options(self) -> tuple[OptionField, ...]:
        cap = "" if self.max_cost_usd is None else f"{self.max_cost_usd:g}"
        rounds = "" if self.rounds is None else str(self.rounds)
        return (
            OptionField(
                key=SIZES,
                label="Numbers of other tools",
                text=", ".join(str(size) for size in self.sizes if size),
                note="Each case is asked without other tools, too.",
            ),
            OptionField(
                key=SEARCH,
                label="With a search in front, tools found",
                text=", ".join(map(str, self.search)),
                note="Such as 5, 10. Each adds a curve where only the first tools of a search are offered.",
            ),
            OptionField(
                key=ROUNDS,
                label="Repeats of each case",
                text=rounds,
                note="Empty: twice, in another order, or five times for whole servers. The baseline is asked once.",
            ),
            OptionField(key=MARGIN, label="Points that count as lost", text=str(self.margin)),
            OptionField(key=CAP, label="Cost cap in $", text=cap, note="Empty: no cap."),
        )

    def set_options(self, texts: Mapping[str, str]) -> dict[str, str]:
        problems = option_problems(texts, RULES)
        if not problems:
            self.sizes = tuple(sorted({0, *read_numbers(texts[SIZES])}))
            self.search = tuple(dict.fromkeys(read_numbers(texts[SEARCH])))
            self.rounds = next(iter(read_numbers(texts[ROUNDS])), None)
            self.margin = read_numbers(texts[MARGIN])[0]
            self.max_cost_usd = parse_dollars(texts[CAP])
        return problems

    def request(self) -> CrowdRequest:
        """Return the test that would start now."""
        return CrowdRequest(
            cases=self.case_ids(),
            models=self.models,
            sizes=self.sizes,
            kind=self.kind,
            search=self.search,
            source=CrowdSource(servers=self.among),
            margin=self.margin / 100,
            rounds=self.rounds,
            accept_equivalents=self.accept_equivalents,
            max_cost_usd=self.max_cost_usd,
        )

    async def plan(self) -> None:
        """Estimate the test, and find out without a model what a search finds among so many tools."""
        request, self.planning = self.request(), self.planning + 1
        mine, problem = self.planning, ""
        line: tuple[RetrievalPoint, ...] = ()
        estimate: Estimate | None = None
        try:
            if request.cases:
                line, estimate = await self._ask(partial(_planned, request=request))
        except TefError as error:
            problem = f"{error.message} {error.hint or ''}".strip()
        if mine == self.planning:
            self.problem, self.line, self.estimate = problem, line, estimate

    async def estimate_for(self, model: ModelSettings) -> Estimate:
        request = replace(self.request(), models=(model,))
        return await self._ask(lambda core: core.crowds.estimate(request))

    def why_not(self) -> str:
        if self.under_way:
            return "A crowd test is running."
        return self.problem or ("" if self.case_ids() else "No test case expects a tool yet.")

    def size(self) -> int:
        return len(self.case_ids())

    async def start(self, keys: ApiKeys) -> Batch:
        request = self.request()
        batch = await self._ask(lambda core: core.crowds.start(request, keys, may_pause=True))
        self.batch_id = batch.id
        return batch

    # ------------------------------------------------------------ words

    def line_text(self) -> str:
        """Return what a search finds at both ends of the offline line."""
        if not self.line:
            return ""
        ends = [f"{percent(dict(one.recall)[FIRST])} among {one.strangers:,}" for one in (self.line[0], self.line[-1])]
        return f"Found by search, first {FIRST} tools: {' and '.join(ends)} other tools. No model was asked."

    def how_text(self) -> str:
        """Return kind, cases, calls and cost of the test that is shown."""
        result = self.result
        if result is None:
            return ""
        kind = dict(KINDS)[result.kind].lower()
        crowds = count(result.crowds, "crowd") if result.kind is CrowdKind.SERVERS else "one fixed crowd"
        return " · ".join(filter(None, (count(result.cases, "case"), f"{kind}, {crowds}", self.ended_text())))

    async def report(self) -> str:
        from mcp_tef import crowd_html

        assert self.result is not None
        return crowd_html(self.result, self.line)


def _first_wrong(result: CrowdResult | None) -> int | None:
    """Return the place of the smallest lost point, else of the last point of the first curve that has runs."""
    points = list(enumerate(result.points)) if result else []
    lost = [place for place, one in points if one.lost]
    asked = [place for place, one in points if one.rate.n and one.model == points[0][1].model and one.search is None]
    return lost[0] if lost else asked[-1] if asked else None


def _expected(cases: Sequence[TestCase]) -> dict[CaseId, ToolLabel]:
    """Return the first tool that each case expects."""
    calls = [(case, case.draft.expectation.first_call) for case in cases]
    return {
        case.id: ToolLabel(tool=call.tool, server=call.server or next(iter(case.draft.servers), None))
        for case, call in calls
        if call is not None
    }


async def _read(core: "Engine") -> tuple[tuple[TestCase, ...], tuple[str, ...], tuple[Batch, ...]]:
    cases, servers = await core.cases.list(), await core.servers.list()
    return tuple(cases), tuple(server.name for server in servers), await core.crowds.tests(stealing=False)


async def _planned(core: "Engine", request: CrowdRequest) -> tuple[tuple[RetrievalPoint, ...], Estimate]:
    """Return the offline line and the estimate."""
    line = await core.crowds.retrieval(request.cases, kind=request.kind, sizes=request.sizes, source=request.source)
    return line, await core.crowds.estimate(request)
