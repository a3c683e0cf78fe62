"""Filters, search and sort orders of servers, tools, parameters and calls."""

from datetime import UTC, datetime, timedelta

import pytest

from app.arguments.parameters import SchemaParameter
from app.screens.kit import FilterValues, SortState, ViewState
from app.screens.servers.filters import listed_parameters, listed_servers, listed_tools
from app.screens.servers.tool_call_presenter import listed_calls
from mcp_tef import Server, ServerId, ServerSpec, ServerStatus, Transport
from tests.support.fake_engine import SAMPLE_TOOLS, made_tool
from tests.support.memory_servers import ended_call

NOW = datetime(2026, 11, 22, tzinfo=UTC)


def view(text: str = "", sort: str = "", **filters: str) -> ViewState:
    values = FilterValues({name: (value,) for name, value in filters.items()})
    return ViewState(text=text, filters=values, sort=SortState(sort))


def server(name: str, kind: Transport, status: ServerStatus, tools: int | None, minutes: int | None) -> Server:
    return Server(
        id=ServerId(name),
        spec=ServerSpec(name=name, transport=kind),
        status=status,
        tool_count=tools,
        last_connected_at=None if minutes is None else NOW - timedelta(minutes=minutes),
        created_at=NOW,
        updated_at=NOW,
    )


SERVERS = (
    server("beta", Transport.STDIO, ServerStatus.ACTIVE, 7, 1),
    server("Alpha", Transport.FILE, ServerStatus.ACTIVE, 2, 5),
    server("delta", Transport.STDIO, ServerStatus.FAILED, None, None),
)


@pytest.mark.parametrize(
    ("state", "names"),
    [
        (view(), ["Alpha", "beta", "delta"]),
        (view(state="failed"), ["delta"]),
        (view(kind="stdio"), ["beta", "delta"]),
        (view(kind="stdio", state="active"), ["beta"]),
        (view(changed="yes"), ["beta"]),
        (view(sort="state"), ["delta", "Alpha", "beta"]),
        (view(sort="tools"), ["beta", "Alpha", "delta"]),
        (view(sort="seen"), ["beta", "Alpha", "delta"]),
    ],
)
def test_servers(state: ViewState, names: list[str]) -> None:
    assert [one.name for one in listed_servers(SERVERS, state, {ServerId("beta")})] == names


@pytest.mark.parametrize(
    ("state", "names"),
    [
        (view(only="bare"), ["ping"]),
        (view(only="undescribed"), ["ping"]),
        (view(only="changed"), ["book_repair"]),
        (view(sort="name"), ["book_repair", "ping", "search_bikes", "search_parts"]),
        (view(sort="weight"), ["search_bikes", "book_repair", "search_parts", "ping"]),
    ],
)
def test_tools(state: ViewState, names: list[str]) -> None:
    tools = (*SAMPLE_TOOLS, made_tool("ping", "", "Bike shop"))
    tokens = {"search_bikes": 90, "book_repair": 60, "search_parts": 50, "ping": 9}
    assert [tool.name for tool in listed_tools(tools, state, {"book_repair"}, tokens)] == names


PARAMETERS = (
    SchemaParameter(name="price", type="number", required=False, description="The most it may cost", limits=""),
    SchemaParameter(name="query", type="text", required=True, description="What it is", limits=""),
    SchemaParameter(name="branch", type="one of 2 values", required=False, description="", limits='"harbour"'),
)


@pytest.mark.parametrize(
    ("state", "names"),
    [
        (view(), ["price", "query", "branch"]),
        (view(sort="name"), ["branch", "price", "query"]),
        (view(sort="type"), ["price", "branch", "query"]),
        (view(sort="required"), ["query", "price", "branch"]),
        (view(only="required"), ["query"]),
        (view(only="undescribed"), ["branch"]),
        (view("COST most"), ["price"]),
        (view("harbour"), ["branch"]),
        (view("cost", only="required"), []),
    ],
)
def test_parameters(state: ViewState, names: list[str]) -> None:
    assert [one.name for one in listed_parameters(PARAMETERS, state)] == names


CALLS = (
    ended_call(3, "tandem", seconds=9),
    ended_call(2, "chain", failed="desk is mute."),
    ended_call(1, "bike", tool="book"),
)


@pytest.mark.parametrize(
    ("state", "ids"),
    [
        (view(), ["3", "2", "1"]),
        (view(sort="oldest"), ["1", "2", "3"]),
        (view(sort="longest"), ["3", "2", "1"]),
        (view(outcome="failed"), ["2"]),
        (view("FOUND bike"), ["1"]),
        (view("mute"), ["2"]),
        (view("book"), ["1"]),
    ],
)
def test_calls(state: ViewState, ids: list[str]) -> None:
    assert [call.id for call in listed_calls(CALLS, state)] == ids
