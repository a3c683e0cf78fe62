"""Comparison of two batches: conclusion, pairs of runs and their links."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from app.core_link.targets import CompareBatches, ShowBatch, ShowCase, ShowPair, ShowTool
from app.screens.metrics.batch_comparison import ComparisonView, PairGroup, default_pair, pair_row
from app.screens.metrics.commands import pair_links, single_run_links
from app.screens.metrics.pair_pane import PairPane, PairView, pair_view, single_sentence
from app.screens.metrics.presenter import MetricsPresenter
from app.screens.metrics.table_rows import pair_cells
from app.widgets import Mark
from mcp_tef import (
    ActualCall,
    Answer,
    BatchId,
    BatchRequest,
    BatchStatus,
    ClaimVerdict,
    Engine,
    ModelSettings,
    PairChange,
    RunComparison,
    RunFilter,
    RunMark,
    RunSummary,
    ToolLabel,
    VerdictKind,
)
from mcp_tef.ports import Question
from tests.app.screens.metrics.conftest import Desk
from tests.support.fake_engine import SAMPLE_TOOLS, FakeEngine, made_tool
from tests.support.run_factories import NOW, Confusions, past_batch, past_runs, remember
from tests.support.windows import until

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


async def test_both_claims_come_first_and_too_few_cases_are_a_result(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    these, like_these = view.claims
    assert (these.verdict, like_these.verdict) == (ClaimVerdict.CANNOT_TELL_YET, ClaimVerdict.CANNOT_TELL_YET)
    assert these.sentence.startswith("Cannot tell yet on these cases: 3 wins, 1 loss in 11 cases; ")
    assert like_these.sentence.startswith("Cannot tell yet for queries like these: +18 points (")
    assert view.short == "3 cases fixed, 1 regressed, 7 unchanged. For queries like these: cannot tell yet."


async def test_pairs_are_counted_by_what_became_of_them(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    assert dict(view.counts) == {
        PairGroup.ALL: 12,
        PairGroup.FIXED: 3,
        PairGroup.REGRESSED: 1,
        PairGroup.UNCHANGED: 7,
        PairGroup.NEW: 0,
        PairGroup.GONE: 1,
        PairGroup.UNCOMPARED: 0,
    }
    assert "Correct tool: 64 % (33–86) before, 82 % (49–95) now; +18 points" in view.detail


async def test_what_regressed_stands_first_in_the_list(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    changes = [pair.change for pair in view.of(PairGroup.ALL)]
    assert changes[:4] == [PairChange.REGRESSED] + [PairChange.FIXED] * 3
    rows = [pair_row(one) for one in await presenter.pairs(view.of(PairGroup.REGRESSED))]
    assert [(row.word, row.before, row.after) for row in rows] == [("regressed", "no tool", "search_files")]
    assert (rows[0].before_mark, rows[0].after_mark) == (RunMark.CORRECT_CALL, RunMark.WRONG)


async def test_each_side_has_the_mark_that_its_run_has_on_the_runs_screen() -> None:
    fake = FakeEngine()
    newer, older = past_batch(1), past_batch(2)
    (right,) = past_runs(older, {"search_code": {"search_code": 1}})
    (again,) = past_runs(newer, {"search_code": {"search_code": 1}})
    remember(fake, (newer, [replace(again, parameters_ok=False)]), (older, [right]))
    presenter = MetricsPresenter(Direct(fake.engine), lambda: NOW)
    view = await compared(presenter)
    (row,) = [pair_row(one) for one in await presenter.pairs(view.of(PairGroup.ALL))]
    _, _, before, after = pair_cells(row)
    assert (before.marks, after.marks) == ((Mark.CHECK,), (Mark.TILDE,))
    assert (before.tip, after.tip) == ("correct call", "correct tool, wrong arguments")


async def test_a_pair_with_one_half_is_told_in_a_sentence(presenter: MetricsPresenter) -> None:
    view = await compared(presenter)
    (gone,) = view.of(PairGroup.GONE)
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
    (pair,) = view.of(PairGroup.ALL)
    found = await presenter.both(pair)
    assert found is not None
    await fake.close()
    return pair_view(found, pair.change)


def _picks(question: Question) -> Answer:
    """Return the marked words of the first tool's description."""
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
    assert (view.before.mark, view.after.mark) == (RunMark.CORRECT_CALL, RunMark.WRONG)
    assert view.title == "Regressed"
    values = {(row.name, row.before, row.after) for row in view.values}
    assert {("Outcome", "correct call", "wrong"), ("Kind", "expected tool", "wrong tool")} <= values


async def test_settings_that_differ_are_named() -> None:
    view = await told(SAMPLE_TOOLS, temperature=1.0)
    assert [(row.name, row.before, row.after) for row in view.settings] == [("Temperature", "0.4", "1")]
    assert view.tools == ()
    assert view.tools_note == "Both runs were offered the same 3 tools."


async def ran(desk: Desk) -> BatchId:
    """The sample, run to its end."""
    batch = await desk.session.call(lambda core: core.runs.start(BatchRequest(name="Sample")))
    await desk.session.call(lambda core: core.runs.wait(batch.id))
    return batch.id


async def two_runs(desk: Desk) -> RunComparison:
    """A run of the newer batch that chose a tool, beside the same case's of the older one."""
    await desk.session.call(lambda core: core.open_sample())
    older, newer = await ran(desk), await ran(desk)
    (after, *_) = [one for one in await runs_of(desk, newer) if one.selected_tool]
    (before,) = [one for one in await runs_of(desk, older) if one.case_id == after.case_id]
    return await desk.session.call(lambda core: core.compare.runs(before.id, after.id))


async def runs_of(desk: Desk, batch: BatchId) -> tuple[RunSummary, ...]:
    return tuple(await desk.session.call(lambda core: core.runs.list(RunFilter(batch_id=batch))))


def texts(pane: PairPane) -> list[list[str]]:
    """Return the texts of the links: for both runs, of a confusion, and of each run."""
    rows = (pane.both, pane.confused, pane.before.links, pane.after.links)
    return [[made.text() for made in row.buttons] for row in rows]


async def test_every_link_of_a_pair_leads_to_what_it_names(desk: Desk) -> None:
    found = await two_runs(desk)
    before, after = found.before.summary, found.after.summary
    assert before.batch_id is not None
    assert after.batch_id is not None
    desk.page.open_target(CompareBatches(before.batch_id, after.batch_id))
    compare = desk.page.compare
    await until(lambda: compare.chosen() == (before.batch_id, after.batch_id) and compare.table.rows.rowCount())
    place = next(place for place, pair in enumerate(compare._pairs) if pair.shown[1] == after.id)
    await until(lambda: compare.table.rows.row(place).id)
    compare.table.select(str(place))
    await until(lambda: f"“{after.query}”" == compare.pair.query.text() and compare.pair.both.isVisible())
    pane = compare.pair
    both, _, *runs = texts(pane)
    assert (both[0], runs) == ("Test case", [["Run", "Selected tool"], ["Run", "Selected tool"]])
    for made in (pane.both.buttons[0], *pane.before.links.buttons, *pane.after.links.buttons):
        made.click()
    tool = ToolLabel(tool=after.selected_tool or "", server=after.selected_server)
    assert desk.gone == [
        ShowCase(after.case_id),
        ShowBatch(before.batch_id, before.id),
        ShowTool(tool),
        ShowBatch(after.batch_id, after.id),
        ShowTool(tool),
    ]


async def test_tools_that_one_of_the_runs_confused_are_led_to_side_by_side(desk: Desk) -> None:
    found = await two_runs(desk)
    wanted, picked = ToolLabel(tool="wanted", server="docs"), ToolLabel(tool="picked", server="docs")
    right = replace(
        found.after.summary,
        expected_tool="wanted",
        expected_server="docs",
        selected_tool="wanted",
        selected_server="docs",
        kind=VerdictKind.MATCH,
    )
    wrong = replace(right, selected_tool="picked", kind=VerdictKind.WRONG_TOOL)
    was_wrong = pair_links(_with(found, wrong, right))
    pair = ShowPair(wanted, picked)
    assert [link.target for link in was_wrong.confused] == [
        pair,
        replace(pair, advice=True),
    ]
    assert [link.text for link in was_wrong.confused] == ["Compare the two", "Suggest a rewrite"]
    assert pair_links(_with(found, right, right)).confused == ()
    assert pair_links(_with(found, right, replace(right, selected_tool=None, kind=VerdictKind.NO_TOOL))).confused == ()
    assert pair_links(_with(found, right, replace(right, expected_server=None))).confused == ()
    second = replace(right, expected_server=None, kind=VerdictKind.WRONG_TOOL)
    assert pair_links(_with(found, right, second)).confused == ()


async def test_an_invented_tool_leads_nowhere(desk: Desk) -> None:
    run = (await two_runs(desk)).after.summary
    invented = replace(run, selected_tool="make_up", selected_server=None, kind=VerdictKind.INVENTED_TOOL)
    assert "Selected tool" in [link.text for link in single_run_links(run)]
    assert "Selected tool" not in [link.text for link in single_run_links(invented)]


async def test_a_run_without_a_partner_leads_on_too(desk: Desk) -> None:
    await desk.session.call(lambda core: core.open_sample())
    older = await ran(desk)
    run, *others = await runs_of(desk, older)
    only = BatchRequest(cases=tuple(other.case_id for other in others))
    newer = await desk.session.call(lambda core: core.runs.start(only))
    await desk.session.call(lambda core: core.runs.wait(newer.id))
    desk.page.open_target(CompareBatches(older, newer.id))
    compare = desk.page.compare
    await until(lambda: compare.chosen() == (older, newer.id) and compare.table.rows.rowCount())
    compare.show_group(PairGroup.GONE)
    await until(lambda: compare.pair.alone.isVisible())
    case, *_ = compare.pair.alone.buttons
    case.click()
    assert desk.gone == [ShowCase(run.case_id)]
    assert "Run" in [made.text() for made in compare.pair.alone.buttons]
    compare.show_group(PairGroup.FIXED)
    await until(lambda: not compare.pair.alone.isVisible())


def _with(found: RunComparison, before: RunSummary, after: RunSummary) -> RunComparison:
    return replace(found, before=replace(found.before, summary=before), after=replace(found.after, summary=after))
