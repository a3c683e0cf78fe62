"""State of the tab for steal tests: inputs, estimate, start, and the result of the test shown; uses no Qt."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from app.core_link.model_requests import ApiKeys, CoreCall
from app.screens.workshop.batch_presenter import (
    BASELINE,
    CAP,
    CrowdBatches,
    NumbersRule,
    OptionField,
    option_problems,
    read_numbers,
)
from app.text.formatting import count
from mcp_tef import (
    Batch,
    BatchId,
    Estimate,
    ModelSettings,
    StealRequest,
    StealResult,
    StolenPair,
    StolenTool,
    TefError,
    parse_dollars,
)

if TYPE_CHECKING:
    from mcp_tef import Engine

ROUNDS, MARGIN = "rounds", "margin"
RULES: Final = {ROUNDS: NumbersRule(1, 20, number=1), MARGIN: NumbersRule(0, 99, number=1)}


class StealPresenter(CrowdBatches):
    """Inputs of a steal test; the test that is shown, and the cases that went differently for one of its tools."""

    stealing = True

    def __init__(self, ask: CoreCall) -> None:
        super().__init__(ask)
        self.servers: tuple[str, ...] = ()
        self.server = ""
        self._left_out: set[str] = set()
        self.rounds, self.margin = 3, 5
        self.result: StealResult | None
        self.tool = self._picked = ""
        self._pairs: tuple[StolenPair, ...] = ()

    # ------------------------------------------------------------ reading

    async def load(self) -> bool:
        self.loading += 1
        mine = self.loading
        servers, tests = await self._ask(_read)
        if mine != self.loading:
            return False
        self.servers = servers
        if self.server not in servers:
            self.server = servers[-1] if servers else ""
        self.take_tests(tests)
        await self._read_result()
        return mine == self.loading

    async def _read_result(self) -> None:
        batch_id = self.batch_id
        found, pairs = await self._ask(lambda core: _result(core, batch_id))
        if batch_id == self.batch_id:
            self.result, self._pairs = found, pairs
            self.choose_tool(self._picked)

    async def choose_test(self, batch_id: BatchId) -> None:
        self.batch_id = batch_id
        await self._read_result()

    def tools(self) -> tuple[StolenTool, ...]:
        """Return the tools of the test that is shown, the worst first."""
        return self.result.tools if self.result else ()

    def choose_tool(self, key: str) -> None:
        """Show the cases of a tool; those of the first one where it is not there."""
        self._picked = key
        known = [tool_key(one.server, one.tool) for one in self.tools()]
        self.tool = key if key in known else next(iter(known), "")

    def pairs(self) -> tuple[StolenPair, ...]:
        """Return the cases of the selected tool that went differently, those that were lost first."""
        mine = [one for one in self._pairs if tool_key(one.server, one.tool) == self.tool]
        return tuple(sorted(mine, key=lambda one: not one.lost))

    # ------------------------------------------------------------ inputs

    def choose_server(self, name: str) -> None:
        """Ask what this server takes from the others."""
        self.server = name

    def others(self) -> tuple[str, ...]:
        """Return the servers whose tools may be taken, if they are wanted."""
        return tuple(name for name in self.servers if name != self.server)

    def among(self) -> tuple[str, ...]:
        """Return the servers whose tools may be taken."""
        return tuple(name for name in self.others() if name not in self._left_out)

    def toggle_among(self, name: str) -> None:
        """Ask about the tools of a server, or no longer."""
        self._left_out ^= {name}

    def choose(self, models: Iterable[ModelSettings]) -> None:
        """Ask the last one of these models; a steal test asks one."""
        super().choose(list(models)[-1:])

    def options(self) -> tuple[OptionField, ...]:
        cap = "" if self.max_cost_usd is None else f"{self.max_cost_usd:g}"
        return (
            OptionField(
                key=ROUNDS,
                label="Repeats of each case",
                text=str(self.rounds),
                note="Each asks every case with and without the server. The baseline is asked once.",
            ),
            OptionField(
                key=MARGIN, label="Margin in points", text=str(self.margin), note="Smaller losses do not count."
            ),
            OptionField(key=CAP, label="Cost cap in $", text=cap, note="Empty: no cap."),
        )

    def set_options(self, texts: Mapping[str, str]) -> dict[str, str]:
        problems = option_problems(texts, RULES)
        if not problems:
            self.rounds, self.margin = read_numbers(texts[ROUNDS])[0], read_numbers(texts[MARGIN])[0]
            self.max_cost_usd = parse_dollars(texts[CAP])
        return problems

    def request(self, model: ModelSettings | None = None) -> StealRequest:
        """Return the test that would start now."""
        return StealRequest(
            server=self.server,
            among=self.among(),
            settings=model or next(iter(self.models), BASELINE),
            rounds=self.rounds,
            margin=self.margin / 100,
            max_cost_usd=self.max_cost_usd,
        )

    async def plan(self) -> None:
        request, self.planning = self.request(), self.planning + 1
        mine, problem = self.planning, ""
        estimate: Estimate | None = None
        try:
            if request.among:
                estimate = await self._ask(lambda core: core.crowds.estimate(request))
        except TefError as error:
            problem = f"{error.message} {error.hint or ''}".strip()
        if mine == self.planning:
            self.problem, self.estimate = problem, estimate

    async def estimate_for(self, model: ModelSettings) -> Estimate:
        request = self.request(model)
        return await self._ask(lambda core: core.crowds.estimate(request))

    def why_not(self) -> str:
        if self.under_way:
            return "A steal test is running."
        return self.problem or ("" if self.among() else "Select a server whose tools may be taken.")

    def size(self) -> int:
        """Return the number of cases: each is asked with and without the server in every round."""
        rounds = 1 if all(model.offline for model in self.models) else self.rounds
        return self.estimate.runs // (2 * rounds) if self.estimate else 0

    async def start(self, keys: ApiKeys) -> Batch:
        request = self.request()
        batch = await self._ask(lambda core: core.crowds.start_steal(request, keys, may_pause=True))
        self.batch_id = batch.id
        return batch

    # ------------------------------------------------------------ words

    def how_text(self) -> str:
        """Return model, calls, cost and exit code of the test that is shown, and how many tools have no case."""
        result = self.result
        if result is None:
            return ""
        unknown = f"{count(len(result.unknown), 'more tool')} without a case" if result.unknown else ""
        code = f"exit code {int(result.worse)} in a pipeline, margin {100 * result.margin:.0f} points"
        among = f"{result.server} among {count(len(result.among), 'server')}"
        lost = sum(one.lost for one in self._pairs)
        changed = f"{lost:,} lost, {len(self._pairs) - lost:,} won"
        return " · ".join(filter(None, (among, changed, result.model, self.ended_text(), code, unknown)))

    async def report(self) -> str:
        from mcp_tef import steal_html

        assert self.result is not None
        return steal_html(self.result)


def tool_key(server: str, tool: str) -> str:
    """Return the key of a row."""
    return f"{server} / {tool}"


async def _read(core: "Engine") -> tuple[tuple[str, ...], tuple[Batch, ...]]:
    """Return the servers whose tools are known, and the tests."""
    servers = [one for one in await core.servers.list() if one.tool_count]
    return tuple(server.name for server in servers), await core.crowds.tests(stealing=True)


async def _result(core: "Engine", batch_id: BatchId | None) -> tuple[StealResult | None, tuple[StolenPair, ...]]:
    if batch_id is None:
        return None, ()
    return await core.crowds.steal_result(batch_id), await core.crowds.stolen_pairs(batch_id)
