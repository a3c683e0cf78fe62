"""A batch is a plan: what it asks is decided when it begins."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from mcp_tef.events import RunEnded
from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import NO_TOOL
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.tools import Listing
from mcp_tef.ports import CheckResult, Question, Store
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.clients import Clients
from tests.mcp_tef.workflows.test_runs import DESK, finds
from tests.support.similarity_factories import FakeEmbedders, HashedWords
from tests.support.workflow_bench import bench, draft, request, write


class ReachedGate(asyncio.Event):
    """A closed gate that says when somebody stands before it."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = asyncio.Event()

    async def wait(self) -> Literal[True]:
        """Wait until it is opened."""
        self.reached.set()
        return await super().wait()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


async def test_a_batch_that_goes_on_asks_what_it_planned(store: Store) -> None:
    """Neither an edited case nor another description of a tool gets into the rest of a batch."""
    made = bench(store, DESK, finds)
    await made.register("desk")
    cases = await write(made, *(draft(str(number)) for number in range(4)))
    asked = 0

    def script(question: Question) -> Answer:
        nonlocal asked
        asked += 1
        if asked == 2:
            made.selector.gate.clear()
        return finds(question)

    made.selector._script = script
    ended = asyncio.Event()
    stop = made.events.subscribe(lambda event: ended.set() if isinstance(event, RunEnded) else None)
    batch = await made.runs.start(request(concurrency=1))
    await ended.wait()
    await made.runs.cancel(batch.id)
    stop()
    made.selector.gate.set()
    first = made.selector.questions[0]
    for case in cases:
        await store.cases.update(case.id, replace(case.draft, query="Another text", expectation=NO_TOOL))
    made.gateway.servers["desk"] = [replace(one, description="Another description.") for one in DESK["desk"]]
    assert await made.runs.changed_since_planned(batch.id) == tuple(case.name for case in cases)
    await made.runs.resume(batch.id)
    whole = await made.runs.wait(batch.id)
    assert whole.count("TP") == 4
    assert {question.query for question in made.selector.questions} == {case.draft.query for case in cases}
    assert all(question.tools == first.tools for question in made.selector.questions)


@pytest.mark.parametrize("client", ["", "cursor"])
async def test_a_batch_that_goes_on_offers_the_tools_of_its_start_also_before_the_first_answer(
    store: Store, client: str, tmp_path: Path
) -> None:
    """Servers that the batch has listed are not read again, also for cases that were not asked; nor beside others."""
    made = bench(store, {**DESK, "shop": [replace(one, server="shop") for one in DESK["desk"]]}, finds)
    made.runs.clients_of = lambda: Clients(tmp_path, FakeEmbedders(HashedWords()))
    for name in ("desk", "shop"):
        await made.register(name)
    cases = await write(made, draft("1"), draft("2"), draft("3", servers=("desk", "shop")))
    gate = made.selector.gate = ReachedGate()
    asked = ModelSettings(provider="local", model="small", client=client)
    batch = await made.runs.start(request(models=(asked,), concurrency=1))
    await gate.reached.wait()
    await made.runs.cancel(batch.id)
    gate.set()
    first = made.selector.questions[0]
    changed = [replace(one, description="New", raw={**one.raw, "description": "New"}) for one in DESK["desk"]]
    made.gateway.servers["desk"] = changed
    server = await store.servers.find("desk")
    await store.servers.record_check(server.id, CheckResult(listing=Listing(server="desk", tools=tuple(changed))))
    assert await made.runs.changed_since_planned(batch.id) == ("desk/book", "desk/find")
    await made.runs.resume(batch.id)
    await made.runs.wait(batch.id)
    offered = [one.tool for question in made.selector.questions for one in question.tools]
    assert {one.description for one in offered} == {one.tool.description for one in first.tools}
    assert len(made.selector.questions) == 1 + len(cases)
