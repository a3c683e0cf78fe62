"""The presenters of the runs screen over the real workflows in memory."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from app.core_link.refresh import Refresh
from app.screens.kit import NO_FILTERS, ViewState
from app.screens.runs.batch_events import ScreenChanges
from app.screens.runs.filters import OUTCOME
from app.screens.runs.presenter import MAX_RUNS_PER_TURN, RunsPresenter
from app.screens.runs.start_presenter import StartPresenter
from mcp_tef import (
    BatchEnded,
    BatchesChanged,
    BatchProgressed,
    BatchRequest,
    BatchStarted,
    BatchStatus,
    CasesChanged,
    ConfidenceSource,
    Engine,
    Event,
    ModelSettings,
    NoticePublished,
    RunEnded,
    RunFilter,
    RunId,
    RunsChanged,
    ServersChanged,
)
from tests.support.fake_engine import FakeEngine
from tests.support.run_factories import NOW, batch, run, wrong_run

T = TypeVar("T")


class Direct:
    """Asks the core at once, in the same loop."""

    def __init__(self, core: Engine) -> None:
        self._core = core

    def __call__(self, work: Callable[[Engine], Awaitable[T]]) -> Awaitable[T]:
        return work(self._core)


@pytest.fixture
async def fake() -> AsyncIterator[FakeEngine]:
    engine = FakeEngine()
    await engine.open_sample()
    yield engine
    await engine.close()


@pytest.fixture
def presenter(fake: FakeEngine) -> RunsPresenter:
    return RunsPresenter(Direct(fake.engine), lambda: NOW)


async def run_all(fake: FakeEngine, **changes: object) -> list[Event]:
    """Run the sample, and hear everything."""
    heard: list[Event] = []
    stop = fake.subscribe(heard.append)
    started = await fake.runs.start(replace(BatchRequest(name="Sample"), **changes))  # type: ignore[arg-type]
    await fake.runs.wait(started.id)
    stop()
    return heard


async def test_whether_a_description_misleads_is_asked_once_until_runs_change(fake: FakeEngine) -> None:
    asked: list[object] = []

    def ask(work: Callable[[Engine], Awaitable[T]]) -> Awaitable[T]:
        asked.append(work)
        return work(fake.engine)

    presenter = RunsPresenter(ask, lambda: NOW)
    sure = wrong_run(confidence_source=ConfidenceSource.LOGPROB.value)
    assert not await presenter.misleading.shows(run())
    assert asked == []
    assert [await presenter.misleading.shows(sure) for _ in range(3)] == [True] * 3
    assert not await presenter.misleading.shows(replace(sure, id=RunId("other"), confidence_source=None))
    assert len(asked) == 2
    for event in (RunEnded(run()), RunsChanged(runs=(sure,)), BatchesChanged(())):
        presenter.handle(event)
        assert await presenter.misleading.shows(sure)
    assert len(asked) == 5


def changes_of(presenter: RunsPresenter, *events: Event) -> ScreenChanges:
    """Let the presenter handle events, and return what they change."""
    for event in events:
        presenter.handle(event)
    return presenter.take_changes()


async def test_a_workspace_without_runs_shows_no_batch(presenter: RunsPresenter) -> None:
    await presenter.load()
    assert (presenter.current, presenter.summary(), presenter.table.total) == (None, None, 0)
    assert len(presenter.cases) == 4


async def test_a_finished_baseline_adds_how_often_its_ranking_had_the_tool_in_front(
    presenter: RunsPresenter, fake: FakeEngine
) -> None:
    await run_all(fake)
    await presenter.load()
    assert await presenter.load_metrics()
    assert not await presenter.load_metrics()
    summary = presenter.summary()
    assert summary is not None
    assert summary.shares[0].detail == "1/4 (3–78)"
    assert "expected tool first in" in summary.note


async def test_a_filter_narrows_the_table_and_not_the_figure(presenter: RunsPresenter, fake: FakeEngine) -> None:
    await run_all(fake)
    await presenter.load()
    before = presenter.summary()
    right = (presenter.batch or batch()).correct_calls
    presenter.change_view(ViewState(filters=NO_FILTERS.with_values(OUTCOME.name, "correct_call")))
    await presenter.show(presenter.current)
    assert 0 < presenter.table.total == right < 4
    assert presenter.summary() == before


async def test_runs_whose_tools_changed_are_marked_when_they_are_read(
    presenter: RunsPresenter, fake: FakeEngine
) -> None:
    await run_all(fake)
    await presenter.load()
    first = presenter.table.row(0)
    assert first is not None
    fake.store.runs.outdated = {first.id: ("search_bikes",)}
    await presenter.load()
    assert [(presenter.table.row(place) or first).changed_tools for place in range(2)] == [("search_bikes",), ()]


async def test_a_batch_that_runs_is_followed_to_its_end(presenter: RunsPresenter, fake: FakeEngine) -> None:
    await presenter.load()
    heard = await run_all(fake)
    started = next(event for event in heard if isinstance(event, BatchStarted))
    assert changes_of(presenter, started).new_batches
    await presenter.show(started.batch.id)
    changes = changes_of(presenter, *heard[1:])
    assert changes.summary
    assert len(changes.rows.changed) == 4
    assert [event.batch.status for event in changes.ended] == [BatchStatus.COMPLETED]
    assert (presenter.summary() or pytest.fail("no summary")).shares[0].value == "25 %"


def test_runs_of_another_batch_change_no_row(presenter: RunsPresenter) -> None:
    changes_of(presenter, BatchStarted(batch(1)), BatchStarted(batch(2)))
    presenter.current = batch(1).id
    presenter.table.reset(RunFilter(batch_id=batch(1).id), 1)
    presenter.table.put_page(0, [run(1)])
    assert changes_of(presenter, RunEnded(run(1, batch_id=batch(2).id))).rows.changed == ()


def test_very_many_events_become_few_sets_of_changes(presenter: RunsPresenter) -> None:
    changes_of(presenter, BatchStarted(batch(1)))
    presenter.current = batch(1).id
    presenter.table.reset(RunFilter(batch_id=batch(1).id), 400)
    for page in range(2):
        presenter.table.put_page(page, [run(page * 200 + number) for number in range(200)])
    changes = changes_of(presenter, *(RunEnded(run(number % 400)) for number in range(1000)))
    assert changes.rows.changed == tuple(range(MAX_RUNS_PER_TURN))
    assert presenter.take_changes().rows.changed == tuple(range(MAX_RUNS_PER_TURN, 400))
    assert not presenter.changes.runs


def test_a_paused_batch_says_so_until_it_goes_on_or_ends(presenter: RunsPresenter) -> None:
    changes_of(presenter, BatchStarted(batch(1)))
    presenter.batches.set_paused(batch(1).id, paused=True)
    assert (presenter.batches.newest_active() or batch(2)).status is BatchStatus.PAUSED
    presenter.handle(BatchProgressed(batch=batch(1), done=7, tokens=0, cost_usd=None, seconds_left=1.0))
    assert (presenter.batches.newest_active() or batch(2)).status is BatchStatus.PAUSED
    presenter.handle(BatchEnded(batch(1, status=BatchStatus.COMPLETED)))
    assert presenter.batches.newest_active() is None


def test_a_resumed_batch_that_is_shown_is_read_anew(presenter: RunsPresenter) -> None:
    changes_of(presenter, BatchStarted(batch(1)), BatchEnded(batch(1, status=BatchStatus.CANCELLED)))
    presenter.current = batch(1).id
    assert changes_of(presenter, BatchStarted(batch(1))).reload
    assert not changes_of(presenter, BatchStarted(batch(1))).reload


async def test_a_batch_that_ends_while_the_list_is_read_is_shown_as_ended(fake: FakeEngine) -> None:
    class Slow(Direct):
        async def __call__(self, work: Callable[[Engine], Awaitable[T]]) -> T:
            answer = await work(fake.engine)
            presenter.handle(BatchEnded(replace(started, status=BatchStatus.COMPLETED)))
            return answer

    presenter = RunsPresenter(Slow(fake.engine), lambda: NOW)
    started = await fake.runs.start(BatchRequest(name="Sample"))
    await presenter.load()
    assert [one.status for one in presenter.batches.all()] == [BatchStatus.COMPLETED]
    await presenter.reload_counts([started.id])
    assert [one.status for one in presenter.batches.all()] == [BatchStatus.COMPLETED]


@pytest.mark.parametrize(
    ("event", "urgency"),
    [
        (CasesChanged(()), Refresh.LATER),
        (BatchesChanged(ids=(), by="test"), Refresh.LATER),
        (ServersChanged(ids=(), by="test"), Refresh.LATER),
        (NoticePublished("hello"), Refresh.NONE),
    ],
)
def test_events_make_the_page_stale_if_it_shows_what_they_change(
    presenter: RunsPresenter, event: Event, urgency: Refresh
) -> None:
    assert presenter.handle(event) is urgency
    changes = presenter.take_changes()
    assert (changes.cases, changes.batches) == (isinstance(event, CasesChanged), isinstance(event, BatchesChanged))


async def test_the_detail_of_a_run_that_is_gone_is_nothing(presenter: RunsPresenter) -> None:
    assert await presenter.detail(run(99).id) is None


async def test_the_form_offers_suites_tags_and_models(fake: FakeEngine) -> None:
    starting = StartPresenter(Direct(fake.engine))
    await starting.load()
    await starting.load_models()
    assert (starting.suites, starting.tags) == (("Sample",), ("shop",))
    assert {row.label for row in starting.models} == {"offline/words", "ollama/qwen3:8b", "openai/gpt-4.1-mini"}


async def test_a_key_is_asked_for_only_where_one_is_needed(fake: FakeEngine) -> None:
    starting = StartPresenter(Direct(fake.engine))
    cloud = await starting.key_need(ModelSettings(provider="openai", model="gpt-4.1-mini"))
    local = await starting.key_need(ModelSettings(provider="openai", model="x", base_url="http://localhost:1/v1"))
    baseline = await starting.key_need(ModelSettings())
    assert (cloud.needed, local.needed, baseline.needed) == (True, False, False)
    assert cloud.variable == "OPENAI_API_KEY"
    assert cloud.missing(" ") == "A key for openai is missing. Type one, or set OPENAI_API_KEY."
    assert cloud.missing("sk-1") == ""
