"""Two batches beside each other, over the real workflows in memory."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from app.screens.metrics.batch_comparison import ComparisonView, Group, default_pair, pair_row, rounded_up
from app.screens.metrics.pair_view import PairView, pair_view, single_sentence
from app.screens.metrics.presenter import MetricsPresenter
from mcp_tef import ActualCall, Answer, BatchId, BatchRequest, BatchStatus, Engine, ModelSettings, PairChange
from mcp_tef.ports import Question
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine, made_tool
from tests.support.run_factories import NOW, Confusions, past_batch, past_runs, remember

T = TypeVar("T")
BEFORE: Confusions = {"search_code": {"search_code": 6, "search_files": 4}, None: {None: 2}}
AFTER: Confusions = {"search_code": {"search_code": 9, "search_files": 1}, None: {"search_files": 1}}


class Direct:
    """Asks the core at once, in the same loop."""

    def __init__(self, core: Engine) -> None:
        self._core = core

    def __call__(self, work: Callable[[Engine], Awaitable[T]]) -> Awaitable[T]:
        return work(self._core)


@pytest.fixture
def presenter() -> MetricsPresenter:
    """Ten cases that ran in two batches, one more only in the newer and one only in the older."""
    fake = FakeEngine()
    newer, older = past_batch(1), past_batch(2)
    remember(fake, (newer, past_runs(newer, AFTER)), (older, past_runs(older, BEFORE)))
    return MetricsPresenter(Direct(fake.engine), lambda: NOW)


async def compared(presenter: MetricsPresenter) -> ComparisonView:
    await presenter.load()
    pair = presenter.default_pair()
    assert pair == ("batch-2", "batch-1")
    return await presenter.compare(*pair)


async def test_the_reading_comes_first_and_too_few_runs_are_a_result(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    assert view.reading == "Not enough runs to tell"
    assert view.good is None
    assert view.sentence.startswith("Not enough runs to tell: 3 fixed and 1 regressed of 11 pairs")
    assert view.short.startswith("3 fixed, 1 regressed, 7 unchanged. A difference this small needs about")


async def test_pairs_are_counted_by_what_became_of_them(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    assert dict(view.counts) == {
        Group.ALL: 12,
        Group.FIXED: 3,
        Group.REGRESSED: 1,
        Group.UNCHANGED: 7,
        Group.NEW: 0,
        Group.GONE: 1,
        Group.UNCOMPARED: 0,
    }
    assert "Right tool: 64 % (35–85) before, 82 % (52–95) now; +18 points" in view.detail


async def test_what_regressed_stands_first_in_the_list(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    changes = [pair.change for pair in view.of(Group.ALL)]
    assert changes[:4] == [PairChange.REGRESSED] + [PairChange.FIXED] * 3
    rows = [pair_row(one) for one in await presenter.pairs(view.of(Group.REGRESSED))]
    assert [(row.word, row.before, row.after) for row in rows] == [("regressed", "no tool", "search_files")]
    assert (rows[0].before_right, rows[0].after_right) == (True, False)


async def test_a_pair_with_one_half_is_told_in_a_sentence(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    (gone,) = view.of(Group.GONE)
    assert await presenter.both(gone) is None
    (row,) = [pair_row(one) for one in await presenter.pairs([gone])]
    assert single_sentence(row) == "Only the older batch ran this case. It selected: no tool."


def test_the_last_two_batches_of_one_name_are_compared_first() -> None:
    done = [past_batch(n, name=name) for n, name in enumerate(["Nightly", "Everyday", "Edge", "Everyday"], 1)]
    assert default_pair(done) == ("batch-4", "batch-2")
    assert default_pair(done[:3]) == ("batch-2", "batch-1")
    assert default_pair(done[:1]) is None
    running = past_batch(0, name="Everyday")
    live = [replace(running, status=BatchStatus.RUNNING), *done]
    assert default_pair(live) == ("batch-4", "batch-2")


@pytest.mark.parametrize(("number", "rounded"), [(7, 7), (42, 42), (161, 170), (2_871, 2_900)])
def test_how_many_more_it_takes_is_told_to_two_digits(number: int, rounded: int) -> None:
    assert rounded_up(number) == rounded


async def told(first_tools: object, **second: object) -> PairView:
    """The same case run twice over the real workflows; the second time the tool or the model is another."""
    fake = FakeEngine(script=_picks)
    cases = await fake.open_sample()
    request = BatchRequest(cases=(cases[0].id,), name="Sample")
    before = await fake.runs.start(request)
    await fake.runs.wait(before.id)
    fake.gateway.servers = {"Bike shop": first_tools}  # type: ignore[dict-item]  # tools, whatever their number
    models = (ModelSettings(**second),) if second else request.models  # type: ignore[arg-type]  # settings by name
    after = await fake.runs.start(BatchRequest(cases=(cases[0].id,), name="Sample", models=models))
    await fake.runs.wait(after.id)
    presenter = MetricsPresenter(Direct(fake.engine), lambda: NOW)
    view = await presenter.compare(BatchId(before.id), BatchId(after.id))
    (pair,) = view.of(Group.ALL)
    found = await presenter.both(pair)
    assert found is not None
    await fake.close()
    return pair_view(found, pair.change)


def _picks(question: Question) -> Answer:
    """What the description of the first tool says to pick."""
    first = question.tools[0].tool
    number = 5 if "used" in first.description else 10
    return Answer(
        calls=(ActualCall(tool=first.name, server=first.server, arguments={"text": "bike", "limit": number}),)
    )


USED = made_tool(
    "search_bikes", "Find used bikes for sale by type, size or price.", "Bike shop", ("text",), text={"type": "string"}
)


async def test_definitions_that_changed_are_shown_with_marked_words() -> None:
    view = await told((USED, *SAMPLE_TOOLS[1:]))
    (tool,) = view.tools
    assert (tool.name, tool.word) == ("Bike shop / search_bikes", "definition changed")
    assert [one.text for one in tool.after if one.changed] == ["used"]
    assert any(line.startswith("-") and "minLength" in line for line in tool.lines)
    assert view.tools_note == "1 tool differs, 2 tools are the same."


async def test_parameters_that_differ_come_before_those_that_do_not() -> None:
    view = await told((USED, *SAMPLE_TOOLS[1:]))
    assert [(row.name, row.before, row.after, row.same) for row in view.parameters] == [
        ("limit", "10", "5", False),
        ("text", '"bike"', '"bike"', True),
    ]


async def test_both_choices_stand_beside_what_was_expected() -> None:
    view = await told((SAMPLE_TOOLS[1], SAMPLE_TOOLS[0], SAMPLE_TOOLS[2]))
    assert view.expected == "Bike shop / search_bikes"
    assert "".join(one.text for one in view.before.choice) == "search_bikes"
    assert "".join(one.text for one in view.after.choice) == "search_parts"
    assert (view.before.right, view.after.right) == (True, False)
    assert view.title == "Regressed"
    assert ("Outcome", "correct tool", "missed the expected tool") in [
        (row.name, row.before, row.after) for row in view.values
    ]


async def test_settings_that_differ_are_named() -> None:
    view = await told(SAMPLE_TOOLS, temperature=1.0)
    assert [(row.name, row.before, row.after) for row in view.settings] == [("Temperature", "0.4", "1")]
    assert view.tools == ()
    assert view.tools_note == "Both runs were offered the same 3 tools."
