"""State of the quality screen, without a window."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from app.core_link.refresh import Refresh
from app.screens.kit import FilterValues, ViewState
from app.screens.quality.labels import QualityLevel
from app.screens.quality.presenter import FIELDS, QualityPresenter, QualityState, quality_row
from mcp_tef import (
    CasesChanged,
    GradedQuality,
    ModelReview,
    ModelSettings,
    Secret,
    ServerError,
    ServerFault,
    ServersChanged,
    ServerStateChanged,
    ServerStatus,
    TefError,
    Tool,
    ToolProblem,
    ToolQuality,
)
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine, made_tool
from tests.support.fake_ports import command_server, http_server
from tests.support.quality_page import finding, judged, names
from tests.support.windows import HeldAsks

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
NAMELESS = made_tool("doIt", "", "desk")
EXITED = ServerError(ServerFault.EXITED, "Could not start mail: it ended.", hint="Look.")
GRADE = GradedQuality(7, "Clear enough.")
REVIEW = ModelReview(
    model="openai/gpt-4.1-mini", clarity=GRADE, completeness=GRADE, conciseness=GRADE, suggested="Do it.", cost_usd=0.01
)
GPT = ModelSettings(provider="openai", model="gpt-4.1-mini")


def filtered(**values: str) -> ViewState:
    """A view with one value in each of these filters."""
    return ViewState(filters=FilterValues({name: (value,) for name, value in values.items()}))


class Bench:
    """A presenter over a core in memory, with servers that have been asked once."""

    def __init__(self, servers: Mapping[str, Sequence[Tool] | TefError]) -> None:
        self.fake = FakeEngine(servers)
        self.names = tuple(servers)
        self.presenter = QualityPresenter(self.ask)

    async def ask(self, work: "Callable[[Engine], Awaitable[T]]") -> T:
        return await work(self.fake.engine)

    async def load(self) -> QualityPresenter:
        for name in self.names:
            server = await self.fake.servers.add(http_server(name))
            await self.fake.servers.check(server.id)
        await self.presenter.load()
        return self.presenter


async def test_tools_come_from_worst_to_best_and_are_counted() -> None:
    presenter = await Bench({"desk": [NAMELESS], "Bike shop": SAMPLE_TOOLS}).load()
    assert names(presenter.tools())[0] == "doIt"
    assert presenter.state is QualityState.FULL
    assert presenter.badge() == presenter.levels()[QualityLevel.ERROR] == 1


async def test_one_tool_alone_is_judged_too() -> None:
    presenter = await Bench({"desk": [NAMELESS]}).load()
    assert names(presenter.tools()) == ["doIt"]
    assert presenter.cards() == ()


async def test_without_servers_and_without_tools_it_says_which() -> None:
    assert (await Bench({}).load()).state is QualityState.NO_SERVERS
    nothing = await Bench({"desk": EXITED}).load()
    assert nothing.state is QualityState.NO_TOOLS
    assert nothing.missing_summary() == "Not checked: desk."
    assert nothing.missing_reasons() == "desk: Could not start mail: it ended. Look."


async def test_judging_never_connects_to_a_server() -> None:
    bench = Bench({"desk": [NAMELESS]})
    await bench.load()
    asked = list(bench.fake.gateway.asked)
    await bench.fake.servers.add(command_server())
    await bench.presenter.load()
    assert bench.fake.gateway.asked == asked
    assert bench.presenter.missing_summary() == "Not checked: files."
    assert "Not connected yet." in bench.presenter.missing_reasons()


async def test_a_server_that_fell_silent_is_judged_as_last_seen_and_named() -> None:
    bench = Bench({"desk": [NAMELESS]})
    presenter = await bench.load()
    bench.fake.gateway.servers["desk"] = EXITED
    await bench.fake.servers.check(presenter.server_ids["desk"])
    await presenter.load()
    assert names(presenter.tools()) == ["doIt"]
    assert presenter.missing_summary() == "Not up to date: desk."
    assert presenter.missing_reasons().startswith("desk, not up to date: Could not start mail")


async def test_a_rejected_definition_is_listed_with_its_error_and_costs_no_tokens() -> None:
    bench = Bench({"desk": [NAMELESS]})
    raw = {"name": "pay", "description": "Pay an invoice by bank transfer."}
    bench.fake.gateway.problems = (ToolProblem("pay", "It has no inputSchema.", 1, raw),)
    presenter = await bench.load()
    rejected = presenter.get("desk/pay")
    assert rejected is not None
    assert (rejected.score, rejected.tokens) == (0, 0)
    assert rejected.findings[0].sentence == "The tool has no inputSchema."
    assert presenter.badge() == 2


async def test_a_list_that_was_cut_short_is_named_with_the_reason() -> None:
    bench = Bench({"desk": [NAMELESS]})
    bench.fake.gateway.problems = (ToolProblem(None, "The listing was cut short because its pages repeat."),)
    presenter = await bench.load()
    assert presenter.missing_summary() == "Tool list incomplete: desk."
    assert presenter.missing_reasons() == "desk: The listing was cut short because its pages repeat."


async def test_many_silent_servers_are_not_all_named() -> None:
    presenter = await Bench(dict.fromkeys("abcde", EXITED)).load()
    assert presenter.missing_summary() == "Not checked: a, b, c and 2 more."


async def test_servers_are_shown_the_heaviest_first_below_all_of_them() -> None:
    presenter = await Bench({"desk": [NAMELESS], "Bike shop": SAMPLE_TOOLS}).load()
    every, shop, desk = presenter.cards()
    assert (every.name, every.tools, every.tokens) == ("", 4, shop.tokens + desk.tokens)
    assert (shop.name, desk.name, desk.levels[QualityLevel.ERROR]) == ("Bike shop", "desk", 1)
    presenter.view = filtered(server="desk")
    assert presenter.token_summary() == f"{desk.tokens} tokens if all are offered"


async def test_filters_let_through_by_server_level_and_words() -> None:
    presenter = await Bench({"desk": [NAMELESS], "Bike shop": SAMPLE_TOOLS}).load()
    presenter.view = filtered(server="Bike shop")
    assert "doIt" not in names(presenter.shown())
    presenter.view = filtered(level=QualityLevel.ERROR)
    assert names(presenter.shown()) == ["doIt"]
    presenter.view = ViewState(text="REPAIR workshop")
    assert names(presenter.shown()) == ["book_repair"]
    presenter.view = ViewState(text="nothing has this")
    assert presenter.state is QualityState.NOTHING_FITS


def test_the_filter_for_unsafe_text_goes_across_severities() -> None:
    unsafe = judged("a", finding("poisoning-order"), finding("description-missing"))
    harmless = judged("b", finding("description-missing"))
    risks = FilterValues({"level": (QualityLevel.RISKS,)})
    assert FIELDS.fits(quality_row(unsafe), risks)
    assert FIELDS.fits(quality_row(unsafe), FilterValues({"level": (QualityLevel.WARNING,)}))
    assert not FIELDS.fits(quality_row(harmless), risks)


async def test_a_filter_on_a_server_that_is_gone_is_dropped() -> None:
    bench = Bench({"desk": [NAMELESS]})
    presenter = await bench.load()
    presenter.view = filtered(server="gone", level=QualityLevel.ERROR)
    await presenter.load()
    assert presenter.view == filtered(level=QualityLevel.ERROR)


async def test_an_opinion_stays_with_a_definition_until_that_changes() -> None:
    bench = Bench({"desk": [NAMELESS]})
    presenter = await bench.load()
    (known,) = presenter.tools()
    assert presenter.add_review(replace(known, review=REVIEW)) == replace(known, review=REVIEW)
    await presenter.load()
    assert presenter.tools()[0].review == REVIEW
    current = presenter.current()
    assert current is not None
    assert current.tools[0].review == REVIEW
    bench.fake.gateway.servers["desk"] = [made_tool("doIt", "Do it now, please, for the user.", "desk")]
    await bench.fake.servers.check(presenter.server_ids["desk"])
    await presenter.load()
    assert presenter.tools()[0].review is None


async def test_an_opinion_on_a_tool_that_is_gone_changes_nothing() -> None:
    presenter = await Bench({"desk": [NAMELESS]}).load()
    assert presenter.add_review(judged("stranger")) is None
    assert names(presenter.tools()) == ["doIt"]


async def test_a_model_is_asked_about_the_chosen_tools_only() -> None:
    bench = Bench({"desk": [NAMELESS], "Bike shop": SAMPLE_TOOLS})
    bench.fake.keys.set("openai", Secret("key"))
    presenter = await bench.load()
    heard: list[ToolQuality] = []
    await presenter.review(presenter.tools()[:2], GPT, heard.append)
    assert len(bench.fake.writer.tasks) == len(heard) == 2
    assert all(one.failure for one in heard)


async def test_a_change_of_servers_makes_the_report_stale_and_a_start_does_not() -> None:
    bench = Bench({"desk": [NAMELESS]})
    await bench.load()
    (server,) = await bench.fake.servers.list()
    presenter = bench.presenter
    assert presenter.handle(ServerStateChanged(server)) is Refresh.NOW
    assert presenter.handle(ServerStateChanged(replace(server, status=ServerStatus.STARTING))) is Refresh.NONE
    assert presenter.handle(ServersChanged(())) is Refresh.NOW
    assert presenter.handle(CasesChanged(())) is Refresh.NONE


async def test_the_cost_of_a_review_is_estimated() -> None:
    presenter = await Bench({"desk": [NAMELESS]}).load()
    estimate = await presenter.estimate(presenter.tools(), GPT)
    assert estimate.tokens
    assert estimate.cost_usd
    assert (await presenter.estimate(presenter.tools(), ModelSettings(provider="ollama", model="x"))).cost_usd is None


async def test_a_reading_that_comes_late_never_replaces_a_later_one() -> None:
    bench = Bench({"desk": [NAMELESS]})
    asks = HeldAsks(bench.fake.engine)
    bench.presenter = QualityPresenter(asks)
    await bench.load()
    asks.holding = True
    earlier = asyncio.create_task(bench.presenter.load())
    await asks.held(1)
    asks.waiting[0].set()
    await asks.held(2)
    asks.holding = False
    bench.fake.gateway.servers["desk"] = [NAMELESS, *SAMPLE_TOOLS]
    (server,) = await bench.fake.servers.list()
    await bench.fake.servers.tools(server.id)
    assert await bench.presenter.load()
    bench.fake.gateway.servers["desk"] = [NAMELESS]
    await bench.fake.servers.tools(server.id)
    asks.waiting[1].set()
    assert not await earlier
    assert len(bench.presenter.tools()) == 1 + len(SAMPLE_TOOLS)
