"""Batches: what a user sees of starting, steering and reading runs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, ModelError, ModelFault
from mcp_tef.events import BatchEnded, BatchProgressed, BatchStarted, RunEnded
from mcp_tef.model.answers import Answer, ConfidenceSource
from mcp_tef.model.ids import RunId
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchStatus, ModelSettings, RunStatus
from mcp_tef.model.secrets import Secret
from mcp_tef.model.verdicts import Classification, VerdictKind
from mcp_tef.ports import Question, Store
from mcp_tef.storage.store import open_store
from mcp_tef.trust.consents import ConsentError
from mcp_tef.workflows.tool_sources import ToolCache
from tests.support.fake_ports import FakeKeys, Reply, command_server, picks, silent, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

DESK = {"desk": [tool("find"), tool("book")]}
CLOUD = ModelSettings(provider="cloud", model="big")
LOCAL = ModelSettings(provider="local", model="small")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


def finds(_: Question) -> Answer:
    return picks("find")


def rate_limited(seconds: float | None = None) -> ModelError:
    return ModelError(ModelFault.RATE, "local asked to slow down.", retry_after=seconds)


async def done(made: Bench, **changes: object) -> BatchEnded:
    batch = await made.runs.start(request(**changes))
    await made.runs.wait(batch.id)
    ended = made.said[-1]
    assert isinstance(ended, BatchEnded)
    return ended


async def test_every_case_is_run_with_every_model_as_often_as_asked(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"), draft("two"), draft("three"))
    ended = await done(made, models=(LOCAL, ModelSettings()), repeats=2)
    runs = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    assert Counter((run.query, run.model) for run in runs) == {
        (query, model): 2 for query in ("one", "two", "three") for model in (LOCAL.label, "offline/retrieval")
    }
    assert ended.batch.status is BatchStatus.COMPLETED


async def test_counts_of_all_outcomes_add_up_to_the_runs_planned(store: Store) -> None:
    replies: dict[str, Reply] = {
        "right": picks("find"),
        "wrong": picks("book"),
        "nothing": Answer(calls=()),
        "small talk": Answer(calls=()),
        "eager": picks("find"),
        "broken": ModelError(ModelFault.KEY_WRONG, "local refused the key."),
    }
    made = bench(store, DESK, lambda question: replies[question.query])
    await made.register("desk")
    await write(made, *(draft(query, None if query in ("small talk", "eager") else "find") for query in replies))
    ended = await done(made, models=(LOCAL,))
    assert {key: count for key, count in ended.batch.counts.items() if count} == {
        "TP": 1,
        "FN": 2,
        "TN": 1,
        "FP": 1,
        "failed": 1,
    }


async def test_a_run_keeps_the_words_of_what_went_wrong(store: Store) -> None:
    made = bench(store, DESK, lambda _: ModelError(ModelFault.QUOTA, "The quota is used up.", hint="Top it up."))
    await made.register("desk")
    await write(made, draft("one"))
    ended = await done(made, models=(LOCAL,))
    (run,) = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    assert run.status is RunStatus.FAILED
    assert run.failure
    assert (run.failure.code, run.failure.message, run.failure.hint) == (
        "quota_used_up",
        "The quota is used up.",
        "Top it up.",
    )


async def test_a_server_that_fails_fails_its_own_cases_and_no_other(store: Store) -> None:
    made = bench(store, {**DESK, "mute": silent("mute")}, finds)
    await made.register("desk", "mute")
    await write(made, draft("good"), draft("bad", servers=("desk", "mute")))
    ended = await done(made)
    runs = {run.query: run for run in await made.runs.list(RunFilter(batch_id=ended.batch.id))}
    assert runs["good"].classification is Classification.TP
    assert runs["bad"].status is RunStatus.FAILED
    assert runs["bad"].failure
    assert "mute" in runs["bad"].failure.message


async def test_a_server_is_asked_for_its_tools_once_a_batch_and_afresh_in_the_next(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(10)))
    await done(made)
    assert made.gateway.asked == ["desk"]
    made.gateway.servers["desk"] = [tool("find"), tool("seek")]
    ended = await done(made)
    runs = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    detail = await made.runs.detail(runs[0].id)
    assert detail.snapshot
    assert [item.offered_name for item in detail.snapshot.tools] == ["find", "seek"]


async def test_the_tools_of_a_run_stay_as_they_were_when_the_server_changes(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"))
    ended = await done(made)
    made.gateway.servers["desk"] = [tool("other")]
    await done(made)
    (run,) = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    snapshot = (await made.runs.detail(run.id)).snapshot
    assert snapshot
    assert [item.tool.name for item in snapshot.tools] == ["find", "book"]


async def test_a_rate_limit_is_waited_out_for_as_long_as_the_provider_asked(store: Store) -> None:
    replies: list[Reply] = [rate_limited(7.0), rate_limited(3.0), picks("find")]
    made = bench(store, DESK, lambda _: replies.pop(0))
    await made.register("desk")
    await write(made, draft("one"))
    ended = await done(made, models=(LOCAL,))
    assert made.slept == [7.0, 3.0]
    (run,) = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    assert run.classification is Classification.TP
    assert (await made.runs.detail(run.id)).attempts == 3


async def test_without_a_retry_after_the_waits_grow(store: Store) -> None:
    made = bench(store, DESK, lambda _: rate_limited())
    await made.register("desk")
    await write(made, draft("one"))
    await done(made, models=(LOCAL,))
    assert len(made.slept) == 3
    for attempt, seconds in enumerate(made.slept):
        assert 0.25 * 2**attempt <= seconds <= 0.5 * 2**attempt


async def test_a_wrong_key_is_not_tried_again(store: Store) -> None:
    made = bench(store, DESK, lambda _: ModelError(ModelFault.KEY_WRONG, "local refused the key."))
    await made.register("desk")
    await write(made, draft("one"))
    await done(made, models=(LOCAL,))
    assert len(made.selector.questions) == 1


async def test_no_more_runs_are_under_way_than_allowed(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(20)))
    await done(made, concurrency=3)
    assert made.selector.most_under_way == 3


async def test_cancel_keeps_finished_runs_and_the_rest_can_be_resumed(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(6)))
    ended = asyncio.Event()

    def on(event: object) -> None:
        if isinstance(event, RunEnded) and event.run.classification:
            made.selector.gate.clear()
            ended.set()

    stop = made.events.subscribe(on)
    seen = 0

    def script(question: Question) -> Answer:
        nonlocal seen
        seen += 1
        if seen == 2:
            made.selector.gate.clear()
        return finds(question)

    made.selector._script = script
    batch = await made.runs.start(request(concurrency=1))
    await ended.wait()
    await made.runs.cancel(batch.id)
    cancelled = await made.runs.batch(batch.id)
    assert cancelled.status is BatchStatus.CANCELLED
    assert (cancelled.count("TP"), cancelled.count("cancelled")) == (2, 4)
    stop()
    made.selector.gate.set()
    made.selector._script = finds
    asked = len(made.selector.questions)
    await made.runs.resume(batch.id)
    whole = await made.runs.wait(batch.id)
    assert (whole.status, whole.count("TP"), whole.count("cancelled")) == (BatchStatus.COMPLETED, 6, 0)
    assert len(made.selector.questions) - asked == 4


async def test_retry_runs_the_failed_ones_again_and_no_other(store: Store) -> None:
    down = {"two"}
    made = bench(
        store,
        DESK,
        lambda question: ModelError(ModelFault.DOWN, "local is down.") if question.query in down else finds(question),
    )
    await made.register("desk")
    await write(made, draft("one"), draft("two"))
    ended = await done(made, models=(LOCAL,))
    assert ended.batch.count("failed") == 1
    down.clear()
    await made.runs.retry_failed(ended.batch.id)
    after = await made.runs.wait(ended.batch.id)
    assert (after.count("TP"), after.count("failed")) == (2, 0)
    assert [question.query for question in made.selector.questions] == ["one", "two", "two"]


async def test_a_paused_batch_starts_nothing_until_it_goes_on(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"), draft("two"))
    batch = await made.runs.start(request(concurrency=1))
    made.runs.pause(batch.id)
    for _ in range(20):
        await asyncio.sleep(0)
    assert made.selector.questions == []
    made.runs.proceed(batch.id)
    assert (await made.runs.wait(batch.id)).count("TP") == 2


async def test_a_cloud_model_without_a_key_fails_at_once_and_says_where_to_put_one(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"))
    with pytest.raises(ModelError) as caught:
        await made.runs.start(request(models=(CLOUD,)))
    assert caught.value.fault is ModelFault.KEY_MISSING
    assert "CLOUD_API_KEY" in caught.value.hint
    assert await made.runs.batches() == ()


async def test_the_key_reaches_the_selector_and_only_that_of_its_provider(store: Store) -> None:
    made = bench(store, DESK, finds, keys=FakeKeys(cloud="sk-cloud", other="sk-other"))
    await made.register("desk")
    await write(made, draft("one"))
    await done(made, models=(CLOUD, LOCAL))
    held = {question.settings.label: question.key for question in made.selector.questions}
    assert held == {CLOUD.label: Secret("sk-cloud"), LOCAL.label: None}


async def test_no_command_is_run_that_nobody_agreed_to(store: Store) -> None:
    made = bench(store, {"files": [tool("find", "files")]}, finds)
    await store.servers.add(command_server("files"))
    await write(made, draft("one", servers=("files",)))
    with pytest.raises(ConsentError) as caught:
        await made.runs.start(request())
    assert [one.target for one in caught.value.requests] == ['"serve" "--all"']
    assert made.gateway.asked == []


async def test_a_server_that_is_changed_while_a_batch_waits_is_not_started_without_a_word(store: Store) -> None:
    made = bench(store, {"files": [tool("find", "files")]}, finds)
    server = await store.servers.add(command_server("files"))
    (case,) = await write(made, draft("one", servers=("files",)))
    toolbox = ToolCache(made.gateway, store.servers, store.runs, made.consents, seconds=1, separator="-")
    await made.consents.allow_server(server.spec)
    await store.servers.update(server.id, replace(server.spec, args=("--everything",)))
    with pytest.raises(ConsentError):
        await toolbox.tools_for(case, RunId("any"))
    assert made.gateway.asked == []


async def test_repeats_without_a_confidence_get_their_agreement(store: Store) -> None:
    replies = [picks("find"), picks("find"), picks("book"), picks("find")]
    made = bench(store, DESK, lambda _: replies.pop(0))
    await made.register("desk")
    await write(made, draft("one"))
    ended = await done(made, repeats=4, concurrency=1)
    runs = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    assert sorted(run.confidence or 0.0 for run in runs) == [0.25, 0.75, 0.75, 0.75]
    assert {run.confidence_source for run in runs} == {ConfidenceSource.AGREEMENT.value}
    assert (ended.batch.count("TP"), ended.batch.count("FN")) == (3, 1)


async def test_an_unreadable_answer_completes_its_run_as_no_tool(store: Store) -> None:
    made = bench(store, DESK, lambda _: Answer(calls=None, raw_response={"content": '{"cal'}))
    await made.register("desk")
    await write(made, draft("one"))
    ended = await done(made, models=(LOCAL,))
    (run,) = await made.runs.list(RunFilter(batch_id=ended.batch.id))
    assert (run.status, run.classification, run.kind) == (RunStatus.COMPLETED, Classification.FN, VerdictKind.NO_TOOL)
    assert (await made.runs.detail(run.id)).answer == Answer(calls=None, raw_response={"content": '{"cal'})


async def test_a_batch_tells_its_start_each_end_and_how_far_it_is(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(5)))
    await done(made)
    assert len(made.of(BatchStarted)) == len(made.of(BatchEnded)) == 1
    assert len({event.run.id for event in made.of(RunEnded) if isinstance(event, RunEnded)}) == 5
    last = made.of(BatchProgressed)[-1]
    assert isinstance(last, BatchProgressed)
    assert (last.done, last.batch.count("pending"), last.seconds_left) == (5, 0, 0.0)


async def test_nothing_to_run_is_said_and_nothing_is_stored(store: Store) -> None:
    made = bench(store, DESK, finds)
    with pytest.raises(InputError, match="no test case to run"):
        await made.runs.start(request())
    assert await made.runs.batches() == ()


async def test_a_batch_that_runs_cannot_be_deleted(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"))
    made.selector.gate.clear()
    batch = await made.runs.start(request())
    with pytest.raises(InputError, match="running cannot be deleted"):
        await made.runs.remove_batches([batch.id])
    made.selector.gate.set()
    await made.runs.wait(batch.id)
    await made.runs.remove_batches([batch.id])
    assert await made.runs.batches() == ()


async def test_a_batch_that_has_ended_can_be_called_otherwise(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"))
    made.selector.gate.clear()
    batch = await made.runs.start(request())
    with pytest.raises(InputError, match="running cannot be renamed"):
        await made.runs.rename_batch(batch.id, "Sooner")
    made.selector.gate.set()
    await made.runs.wait(batch.id)
    assert (await made.runs.rename_batch(batch.id, "  Before the new texts ")).name == "Before the new texts"
    assert [known.name for known in await made.runs.batches()] == ["Before the new texts"]


async def test_a_batch_that_is_resumed_twice_at_once_is_run_once(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, *(draft(str(number)) for number in range(3)))
    batch = await made.runs.start(request())
    await made.runs.cancel(batch.id)
    made.selector.questions.clear()
    one, other = await asyncio.gather(*(made.runs.resume(batch.id) for _ in range(2)), return_exceptions=True)
    assert not isinstance(one, BaseException)
    assert isinstance(other, InputError)
    assert other.message == "The batch is running already."
    assert (await made.runs.wait(batch.id)).count("TP") == 3
    assert len(made.selector.questions) == 3


async def test_closing_interrupts_what_runs_so_that_it_can_be_resumed(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"))
    made.selector.gate.clear()
    batch = await made.runs.start(request())
    await made.runs.close()
    assert (await made.runs.batch(batch.id)).status is BatchStatus.INTERRUPTED
    made.selector.gate.set()
    await made.runs.resume(batch.id)
    assert (await made.runs.wait(batch.id)).count("TP") == 1
