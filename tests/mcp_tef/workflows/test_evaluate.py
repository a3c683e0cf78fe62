"""Runs that are not asked, and the confidence of models that state none."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mcp_tef.events import BatchProgressed, RunsChanged
from mcp_tef.model.answers import Answer, ConfidenceSource
from mcp_tef.model.cases import CaseDraft
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import NOT_OFFERED_CODE, ModelSettings, RunStatus, RunSummary
from mcp_tef.model.verdicts import ConfidenceCategory
from mcp_tef.ports import Question, Store
from mcp_tef.storage.store import open_store
from tests.support.fake_ports import picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

DESK = {"desk": [tool("find"), tool("book")]}
LOCAL = ModelSettings(provider="local", model="small")
UNREADABLE = Answer(calls=None, raw_response={"content": '{"cal'})


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


async def ran(made: Bench, *drafts: CaseDraft, **changes: object) -> tuple[RunSummary, ...]:
    """The runs of one batch over these cases, in the order planned."""
    await made.register("desk")
    await write(made, *drafts)
    batch = await made.runs.start(request(concurrency=1, **changes))
    await made.runs.wait(batch.id)
    return await made.runs.list(RunFilter(batch_id=batch.id))


@pytest.mark.parametrize("model", [LOCAL, ModelSettings()], ids=["model", "baseline"])
async def test_a_case_whose_tool_is_not_offered_is_not_asked_and_its_run_fails_apart(
    store: Store, model: ModelSettings
) -> None:
    made = bench(store, DESK, lambda _: picks("find"))
    runs = await ran(made, draft("good"), draft("typo", "fnd"), models=(model,))
    assert {question.query for question in made.selector.questions} == {"good"}
    (run,) = [run for run in runs if run.query == "typo"]
    assert (run.status, run.mark) == (RunStatus.FAILED, None)
    assert run.failure
    assert run.failure.code == NOT_OFFERED_CODE
    assert run.failure.message.endswith("No server of the case has a tool named fnd. The nearest offered tool is find.")
    (batch,) = await made.runs.batches()
    assert (batch.correct_calls, batch.judged, batch.count("failed"), batch.not_offered) == (1, 1, 1, 1)


async def test_agreement_counts_arguments_and_every_answer_of_the_case(store: Store) -> None:
    sure = Answer(calls=picks("find", at=1).calls, confidence=0.9, confidence_source=ConfidenceSource.SELF_REPORTED)
    replies = [picks("find", at=1), sure, picks("find", at=2), UNREADABLE, picks("find", at=1)]
    runs = await ran(bench(store, DESK, lambda _: replies.pop(0)), draft("one"), models=(LOCAL,), repeats=5)
    assert [(run.confidence, run.confidence_source) for run in sorted(runs, key=lambda run: run.repeat)] == [
        (0.6, "agreement"),
        (0.9, "self-reported"),
        (0.2, "agreement"),
        (None, None),
        (0.6, "agreement"),
    ]


async def test_after_a_resume_the_agreement_covers_the_repeats_from_before(store: Store) -> None:
    replies = [picks("find"), picks("book"), picks("find"), picks("find")]

    def script(_: Question) -> Answer:
        if len(replies) == 3:
            made.selector.gate.clear()
        return replies.pop(0)

    def on(event: object) -> None:
        if isinstance(event, BatchProgressed) and event.done == 2:
            two_done.set()

    made, two_done = bench(store, DESK, script), asyncio.Event()
    made.events.subscribe(on)
    await made.register("desk")
    await write(made, draft("one"))
    batch = await made.runs.start(request(repeats=4, concurrency=1))
    await two_done.wait()
    await made.runs.cancel(batch.id)
    made.selector.gate.set()
    await made.runs.resume(batch.id)
    await made.runs.wait(batch.id)
    runs = sorted(await made.runs.list(RunFilter(batch_id=batch.id)), key=lambda run: run.repeat)
    assert [(run.confidence, run.confidence_source) for run in runs] == [
        (share, "agreement") for share in (0.75, 0.25, 0.75, 0.75)
    ]
    categories = [run.confidence_category for run in runs]
    assert categories == [ConfidenceCategory.ROBUST, None, ConfidenceCategory.ROBUST, ConfidenceCategory.ROBUST]
    (changed,) = made.of(RunsChanged)
    assert isinstance(changed, RunsChanged)
    assert {run.id for run in changed.runs} == {run.id for run in runs[:2]}
    assert (await made.runs.detail(runs[0].id)).past_verdicts == ()


async def test_an_unreadable_answer_is_not_the_choice_of_no_tool(store: Store) -> None:
    replies = [Answer(calls=()), UNREADABLE, UNREADABLE]
    runs = await ran(bench(store, DESK, lambda _: replies.pop(0)), draft("chat", None), models=(LOCAL,), repeats=3)
    assert sorted(run.confidence or 0.0 for run in runs) == [0.0, 0.0, pytest.approx(1 / 3)]
