"""Health of servers: samples from contacts that happen anyway, states by their figures, and watching."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef import Engine, ServerError, ServerSpec, Transport
from mcp_tef.model.health import ContactKind, HealthState, ServerContact, ServerHealth
from mcp_tef.workflows.health import WatchRounds
from tests.support.command_line import command, say
from tests.support.rest_service import http_sample_server

GONE = ServerSpec(name="gone", transport=Transport.STREAMABLE_HTTP, url="http://127.0.0.1:9/mcp")


@pytest.fixture
async def bike_shop() -> AsyncIterator[ServerSpec]:
    """The bundled server, started once for all contacts."""
    async with http_sample_server() as address:
        yield ServerSpec(name="Bike shop", transport=Transport.STREAMABLE_HTTP, url=address)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    """An engine on an empty workspace."""
    async with await Engine.open(tmp_path / "workspace.db") as opened:
        yield opened


async def health_of(engine: Engine, name: str) -> ServerHealth:
    """The health of one server."""
    return (await engine.health.report([name]))[1][0]


async def contacts_of(engine: Engine, name: str) -> tuple[ServerContact, ...]:
    """The contacts of the last hour with one server."""
    return tuple((await engine.health.overview([name])).contacts[name])


async def test_checks_listings_and_calls_are_samples(engine: Engine, bike_shop: ServerSpec) -> None:
    server = await engine.servers.add(bike_shop)
    await engine.consents.allow_server(bike_shop)
    await engine.servers.check(server.id)
    await engine.servers.tools(server.id)
    await engine.calls.call(server.id, "repair_status", {"booking_id": "R-2042"})
    kinds = [one.kind for one in await contacts_of(engine, server.name)]
    assert kinds == [ContactKind.LISTING, ContactKind.LISTING, ContactKind.CALL]
    found = await health_of(engine, server.name)
    assert (found.state, found.error_rate) == (HealthState.HEALTHY, 0.0)
    assert found.p50_ms is not None
    assert found.last_success is not None


async def test_a_failed_check_tells_its_error_and_a_question_to_the_user_is_no_sample(engine: Engine) -> None:
    server = await engine.servers.add(GONE)
    assert await contacts_of(engine, "gone") == ()
    await engine.consents.allow_server(GONE)
    for _ in range(3):
        with pytest.raises(ServerError):
            await engine.servers.tools(server.id)
    found = await health_of(engine, "gone")
    assert (found.state, found.error_rate, found.last_success) == (HealthState.UNAVAILABLE, 1.0, None)
    assert found.last_error
    overall, _ = await engine.health.report()
    assert overall.state is HealthState.UNAVAILABLE


async def test_watching_tells_changes_only_and_never_contacts_what_needs_consent(
    engine: Engine, bike_shop: ServerSpec
) -> None:
    await engine.servers.add(bike_shop)
    await engine.consents.allow_server(bike_shop)
    await engine.servers.add(GONE)
    rounds = 0

    async def wait(_: float) -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 3:
            raise asyncio.CancelledError

    watching = engine.health.watch(wait=wait)
    told = [await anext(watching), await anext(watching)]
    with pytest.raises(asyncio.CancelledError):
        await anext(watching)
    assert [(one.server, one.state, "consent" in one.reason) for one in told] == [
        (bike_shop.name, HealthState.HEALTHY, False),
        ("gone", HealthState.UNKNOWN, True),
    ]
    assert len(await contacts_of(engine, bike_shop.name)) >= 3
    assert await contacts_of(engine, "gone") == ()


def test_a_server_that_fails_is_left_alone_for_longer_and_longer() -> None:
    rounds, checked = WatchRounds(), list[int]()
    for number in range(40):
        for name in rounds.due(["gone"]):
            checked.append(number)
            rounds.ended(name, failed=True)
    assert checked == [0, 2, 6, 14, 30]
    rounds.ended("gone", failed=False)
    assert rounds.due(["gone"]) == ["gone"]


def test_the_command_watches_until_it_is_interrupted(tmp_path: Path) -> None:
    at = ("--workspace", tmp_path / "work.db")
    assert say("servers", "add", "gone", "--url", GONE.url or "", "--yes", *at).code in (0, 3)
    watching = subprocess.Popen(
        command("servers", "health", "--watch", *at), stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert watching.stderr is not None
    assert watching.stderr.readline().startswith("gone ")
    watching.send_signal(signal.SIGINT)
    watching.communicate(timeout=60)
    assert watching.returncode == 130
