"""Search by name in everything of a workspace."""

import pytest

from mcp_tef.model.search import SearchHitKind
from mcp_tef.model.servers import ServerSpec, Transport
from tests.support.fake_engine import FakeEngine, made_tool

TOOLS = (made_tool("search_docs", "Finds pages.", "docs"), made_tool("read_docs", "Reads one.", "docs"))


async def a_workspace() -> FakeEngine:
    engine = FakeEngine({"docs": TOOLS})
    await engine.open_sample()
    server = await engine.servers.add(ServerSpec(name="docs", transport=Transport.FILE, path="docs.json"))
    await engine.servers.check(server.id)
    return engine


async def named(engine: FakeEngine, text: str) -> list[tuple[SearchHitKind, str]]:
    return [(found.kind, found.name) for found in await engine.finding.find(text)]


async def test_every_kind_is_found_by_every_word_and_what_begins_so_comes_first() -> None:
    engine = await a_workspace()
    assert await named(engine, "docs") == [
        (SearchHitKind.SERVER, "docs"),
        (SearchHitKind.TOOL, "search_docs"),
        (SearchHitKind.TOOL, "read_docs"),
    ]
    assert await named(engine, "DOCS read") == [(SearchHitKind.TOOL, "read_docs")]
    assert await named(engine, "chain mountain") == [(SearchHitKind.CASE, "I need a new chain for a mountain bike")]
    assert await named(engine, "docs chain") == []


@pytest.mark.parametrize("typed", ["", "   "])
async def test_nothing_typed_finds_nothing(typed: str) -> None:
    assert await named(await a_workspace(), typed) == []


async def test_what_was_renamed_or_removed_meanwhile_is_not_found_under_its_old_name() -> None:
    engine = await a_workspace()
    (found, *_) = await engine.finding.find("chain")
    case = await engine.cases.get(next(case.id for case in await engine.cases.list() if case.id == found.id))
    await engine.cases.remove([case.id])
    assert await named(engine, "chain") == []
    await engine.cases.restore([case.id])
    assert len(await named(engine, "chain")) == 1


async def test_no_more_is_given_than_was_asked_for() -> None:
    assert len(await (await a_workspace()).finding.find("o", limit=2)) == 2
