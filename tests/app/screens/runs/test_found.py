"""Runs that another screen asked for, on the runs page."""

from typing import Any

from mcp_tef import BatchRequest, Classification, RunFilter
from tests.app.screens.runs.conftest import Desk


def visible_rows(desk: Desk) -> list[str]:
    """The queries in the table."""
    pages = desk.page.list.table.pages
    return [pages.row(number).cells[1].text for number in range(pages.rowCount())]


def test_runs_that_another_screen_asked_for_are_shown_out_of_all_batches(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.open()
        await desk.run_offline()
        where = RunFilter(classifications=(Classification.FN,))
        desk.page.arrive(("filter", where, "Missed"))
        strip = desk.page.list.strip
        await desk.until(lambda: strip.note.text() == "Missed")
        await desk.until(lambda: strip.figure.text() != "…" and len(visible_rows(desk)) == 1)
        assert strip.detail.text() == "out of all batches"
        assert strip.figure.text() == "1"
        assert desk.page.rail.current_id() == ""
        desk.page.rail.select_first()
        await desk.until(lambda: len(visible_rows(desk)) == 4 and strip.caption.text() == "right")

    use(story)


def test_runs_asked_for_before_the_screen_was_ever_shown_are_not_lost(use: Any) -> None:
    async def story(desk: Desk) -> None:
        await desk.session.call(lambda core: core.open_sample())
        batch = await desk.session.call(lambda core: core.runs.start(BatchRequest()))
        await desk.session.call(lambda core: core.runs.wait(batch.id))
        desk.page.request_refresh()
        desk.page.arrive(("filter", RunFilter(classifications=(Classification.FN,)), "Missed"))
        await desk.page.settled()
        await desk.until(lambda: desk.page.list.strip.note.text() == "Missed")
        await desk.until(lambda: len(visible_rows(desk)) == 1)

    use(story)
