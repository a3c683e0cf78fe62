"""From a pair of runs that are compared one click leads to the case, both runs, the tools, and what was confused."""

from dataclasses import replace
from typing import Any

from app.core_link.targets import CompareBatches, ShowBatch, ShowCase, ShowPair, ShowTool
from app.screens.metrics.batch_comparison import Group
from app.screens.metrics.pair_pane import PairPane
from app.screens.metrics.pair_view import half_leads, pair_leads
from mcp_tef import BatchId, BatchRequest, RunComparison, RunFilter, RunSummary, ToolLabel, VerdictKind
from tests.app.screens.metrics.conftest import Desk
from tests.support.windows import until


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
    """What the links say: over both, of a confusion, and of each run."""
    rows = (pane.both, pane.confused, pane.before.links, pane.after.links)
    return [[made.text() for made in row.buttons] for row in rows]


def test_every_link_of_a_pair_leads_to_what_it_names(use: Any) -> None:
    async def story(desk: Desk) -> None:
        found = await two_runs(desk)
        before, after = found.before.summary, found.after.summary
        assert before.batch_id is not None
        assert after.batch_id is not None
        desk.page.open_target(CompareBatches(before.batch_id, after.batch_id))
        compare = desk.page.compare
        await until(lambda: compare.chosen() == (before.batch_id, after.batch_id) and compare.table.rows.rowCount())
        place = next(place for place, pair in enumerate(compare._pairs) if pair.after == after.id)
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

    use(story)


def test_tools_that_one_of_the_runs_confused_are_led_to_side_by_side(use: Any) -> None:
    async def story(desk: Desk) -> None:
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
        was_wrong = pair_leads(_with(found, wrong, right))
        pair = ShowPair(wanted, picked)
        assert [lead.target for lead in was_wrong.confused] == [
            pair,
            replace(pair, advice=True),
        ]
        assert [lead.text for lead in was_wrong.confused] == ["Compare the two", "Suggest a rewrite"]
        assert pair_leads(_with(found, right, right)).confused == ()
        assert (
            pair_leads(_with(found, right, replace(right, selected_tool=None, kind=VerdictKind.NO_TOOL))).confused == ()
        )
        assert pair_leads(_with(found, right, replace(right, expected_server=None))).confused == ()
        second = replace(right, expected_server=None, kind=VerdictKind.WRONG_TOOL)
        assert pair_leads(_with(found, right, second)).confused == ()

    use(story)


def test_an_invented_tool_leads_nowhere(use: Any) -> None:
    async def story(desk: Desk) -> None:
        run = (await two_runs(desk)).after.summary
        invented = replace(run, selected_tool="make_up", selected_server=None, kind=VerdictKind.INVENTED_TOOL)
        assert "Selected tool" in [lead.text for lead in half_leads(run)]
        assert "Selected tool" not in [lead.text for lead in half_leads(invented)]

    use(story)


def test_a_run_without_a_partner_leads_on_too(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.session.call(lambda core: core.open_sample())
        older = await ran(desk)
        run, *others = await runs_of(desk, older)
        only = BatchRequest(cases=tuple(other.case_id for other in others))
        newer = await desk.session.call(lambda core: core.runs.start(only))
        await desk.session.call(lambda core: core.runs.wait(newer.id))
        desk.page.open_target(CompareBatches(older, newer.id))
        compare = desk.page.compare
        await until(lambda: compare.chosen() == (older, newer.id) and compare.table.rows.rowCount())
        compare.show_group(Group.GONE)
        await until(lambda: compare.pair.alone.isVisible())
        case, *_ = compare.pair.alone.buttons
        case.click()
        assert desk.gone == [ShowCase(run.case_id)]
        assert "Run" in [made.text() for made in compare.pair.alone.buttons]
        compare.show_group(Group.FIXED)
        await until(lambda: not compare.pair.alone.isVisible())

    use(story)


def _with(found: RunComparison, before: RunSummary, after: RunSummary) -> RunComparison:
    return replace(found, before=replace(found.before, summary=before), after=replace(found.after, summary=after))
