"""A batch is a plan: what it asks is decided when it begins."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.events import RunEnded
from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import NO_TOOL
from mcp_tef.ports import Question, Store
from mcp_tef.storage.store import open_store
from tests.mcp_tef.workflows.test_runs import DESK, finds
from tests.support.workflow_bench import bench, draft, request, write


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
