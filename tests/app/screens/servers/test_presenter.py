"""State of the servers screen and its calls into the core."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

import pytest

from app.screens.kit import ViewState
from app.screens.servers.presenter import ServersPresenter, failure_details, probe_summary, token_share
from mcp_tef import (
    ComparedTool,
    ConsentError,
    Listing,
    Server,
    ServerError,
    ServerFault,
    ServerSpec,
    ServerStateChanged,
    ServerStatus,
    TefError,
    Tool,
    ToolProblem,
    ToolSet,
    Transport,
)
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine
from tests.support.fake_ports import command_server, http_server, tool

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
BROKEN = ServerError(
    ServerFault.EXITED,
    "Could not start mail: the program ended at once.",
    hint="Look at its last lines.",
    context={"exit_code": 1, "stderr_tail": "no token\n"},
)


class Direct:
    """The core, asked on this very loop."""

    def __init__(self, fake: FakeEngine) -> None:
        self._fake = fake

    async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
        return await do(self._fake.engine)

    async def value(self, do: "Callable[[Engine], T]") -> T:
        return do(self._fake.engine)


class Bench:
    """A presenter over a core in memory, with a clock that the test moves."""

    def __init__(self, servers: dict[str, Sequence[Tool] | TefError]) -> None:
        self.fake = FakeEngine(servers)
        self.now = 100.0
        self.presenter = ServersPresenter(Direct(self.fake), lambda: self.now)

    async def add(self, *specs: ServerSpec) -> list[Server]:
        made = [await self.presenter.add(spec) for spec in specs]
        for server in made:
            if server.spec.transport is not Transport.STDIO:
                await self.presenter.check(server.id)
        await self.presenter.load()
        return made


async def test_servers_come_with_what_they_listed() -> None:
    bench = Bench({"desk": SAMPLE_TOOLS, "files": []})
    desk, files = await bench.add(http_server(), command_server())
    assert bench.presenter.summary() == "2 servers, 3 tools"
    assert [one.name for one in bench.presenter.tools_of(desk.id)] == ["search_bikes", "search_parts", "book_repair"]
    assert bench.presenter.tools_of(files.id) == ()


async def test_a_program_that_nobody_agreed_to_is_not_started_but_asked_about() -> None:
    bench = Bench({"files": [tool("read")]})
    (files,) = await bench.add(command_server())
    assert bench.fake.gateway.asked == []
    assert bench.presenter.consent_request(files.id)
    assert bench.presenter.state_detail(bench.presenter.servers[files.id]) == "needs your consent"
    with pytest.raises(ConsentError):
        await bench.presenter.check(files.id)


async def test_not_now_is_respected_until_the_user_wants_to_connect() -> None:
    bench = Bench({"files": [tool("read")]})
    (files,) = await bench.add(command_server())
    request = bench.presenter.consent_request(files.id)
    assert request
    bench.presenter.postponed(files.id)
    assert not bench.presenter.consent_request(files.id)
    bench.presenter.ask_again(files.id, request)
    assert bench.presenter.consent_request(files.id) == request


async def test_a_failure_is_said_shortly_in_the_list_and_in_full_behind_details() -> None:
    bench = Bench({"desk": BROKEN})
    (desk,) = await bench.add(http_server())
    failed = bench.presenter.servers[desk.id]
    assert bench.presenter.state_detail(failed) == "the program ended at once"
    assert bench.presenter.attention_count() == 1
    assert failure_details(failed) == "Exit code 1\nLast lines of its output:\nno token"


async def test_a_starting_server_tells_for_how_long() -> None:
    bench = Bench({"desk": SAMPLE_TOOLS})
    (desk,) = await bench.add(http_server())
    starting = replace(bench.presenter.servers[desk.id], status=ServerStatus.STARTING)
    assert bench.presenter.take([ServerStateChanged(starting)])
    bench.now += 9.2
    assert bench.presenter.state_detail(starting) == "9 s so far"
    assert bench.presenter.any_starting()


async def test_a_check_that_ended_wants_a_fresh_look() -> None:
    bench = Bench({"desk": SAMPLE_TOOLS})
    (desk,) = await bench.add(http_server())
    assert not bench.presenter.take([ServerStateChanged(bench.presenter.servers[desk.id])])


async def test_search_finds_servers_and_tools() -> None:
    bench = Bench({"desk": SAMPLE_TOOLS, "other": [tool("weather")]})
    desk, other = await bench.add(http_server(), http_server("other"))
    bench.presenter.view = ViewState(text="weath")
    assert [server.id for server in bench.presenter.shown()] == [other.id]
    bench.presenter.view = ViewState(text="repair")
    assert [one.name for one in bench.presenter.tools_of(desk.id)] == ["book_repair"]
    bench.presenter.view = ViewState(text="desk")
    assert len(bench.presenter.tools_of(desk.id)) == 3


def test_the_head_tells_state_answer_and_age() -> None:
    now = datetime(2026, 11, 21, 14, 0, tzinfo=UTC)
    server = Server(
        id=http_server().name,  # type: ignore[arg-type]  # any text will do
        spec=http_server(),
        status=ServerStatus.ACTIVE,
        latency_ms=310,
        last_connected_at=now - timedelta(minutes=2),
        created_at=now,
        updated_at=now,
    )
    presenter = ServersPresenter(Direct(FakeEngine()), lambda: 0.0)
    assert presenter.state_summary(server, now) == "Active · answered in 0.31 s · 2 min ago"
    file = replace(server, spec=ServerSpec(name="file", transport=Transport.FILE, path="x.json"))
    assert presenter.state_summary(file, now) == "Read · 2 min ago"
    failed = replace(server, status=ServerStatus.FAILED)
    assert presenter.state_summary(failed, now) == "Failed · last seen 2 min ago"


def test_what_was_heard_is_told_with_what_was_set_aside() -> None:
    tools = tuple(tool(f"tool_{number}") for number in range(8))
    listing = Listing(server="x", tools=tools, problems=(ToolProblem("bad", "no name"),), latency_ms=1240)
    words = probe_summary(listing)
    assert words.startswith("Answered in 1.2 s with 8 tools; 1 rejected. tool_0, tool_1")
    assert words.endswith("…")


def test_the_weight_is_a_share_of_the_servers() -> None:
    tool = SAMPLE_TOOLS[0]
    assert token_share(tool, {tool.name: 193, "other": 1_000}) == "193 of the server’s 1,193 tokens"
    assert token_share(tool, {}) == ""


async def test_the_tokens_of_a_tool_are_those_that_quality_counts() -> None:
    bench = Bench({"desk": SAMPLE_TOOLS})
    (desk,) = await bench.add(http_server())
    assert bench.presenter.tokens_of(desk.id) == {}
    assert await bench.presenter.count_tokens(desk.id)
    report = await bench.fake.quality.review(ToolSet(tools=tuple(ComparedTool(t.name, t) for t in SAMPLE_TOOLS)))
    assert bench.presenter.tokens_of(desk.id) == {one.tool.tool.name: one.tokens for one in report.tools}
    assert not await bench.presenter.count_tokens(desk.id)


async def test_a_server_that_is_removed_while_servers_are_read_is_no_error() -> None:
    bench = Bench({"docs": [tool("read", "docs")], "desk": [tool("find", "desk")]})
    docs, desk = await bench.add(http_server("docs"), http_server("desk"))

    class RemovedMeanwhile(Direct):
        async def call(self, do: "Callable[[Engine], Awaitable[T]]") -> T:
            answer = await super().call(do)
            if isinstance(answer, tuple):
                await bench.fake.servers.remove([docs.id])
            return answer

    presenter = ServersPresenter(RemovedMeanwhile(bench.fake), lambda: 0.0)
    await presenter.load()
    assert [*presenter.listings] == [desk.id]
