"""Links from a run to other screens, and runs of many batches that other screens link to."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.core_link.targets import ShowCase, ShowRuns, ShowTool
from app.screens.kit import NO_FILTERS
from app.screens.runs.filters import STATE
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.run_table import PAGE_SIZE
from app.screens.runs.runs_list import MODEL
from mcp_tef import BatchId, BatchRequest, Classification, RunFilter, RunMark, RunStatus, RunSummary, ToolLabel
from tests.app.screens.runs.conftest import Desk
from tests.support.run_factories import run


def visible_rows(desk: Desk) -> list[str]:
    """The queries in the table."""
    pages = desk.page.run_list.table.pages
    return [pages.row(number).cells[1].text for number in range(pages.rowCount())]


async def test_runs_that_another_screen_asked_for_are_shown_out_of_all_batches(ran: Desk) -> None:
    where = RunFilter(marks=(RunMark.WRONG_ARGUMENTS,))
    ran.page.open_target(ShowRuns(where, "Missed"))
    strip = ran.page.run_list.summary_bar
    await ran.until(lambda: strip.note.text() == "Missed")
    await ran.until(lambda: strip.shares[0].value.text() != "…" and len(visible_rows(ran)) == 1)
    share = strip.shares[0]
    assert (share.value.text(), share.name.text(), share.detail.text()) == ("1", "run", "from all batches")
    assert not strip.shares[1].isVisible()
    assert [tally.number.text() for tally in strip.counts] == ["0", "1", "0"]
    assert ran.page.batch_list.current_id() == ""
    ran.page.batch_list.select_first()
    await ran.until(lambda: len(visible_rows(ran)) == 4 and share.name.text() == "correct call")


async def test_runs_asked_for_before_the_screen_was_ever_shown_are_not_lost(new_desk: Desk) -> None:
    await new_desk.session.call(lambda core: core.open_sample())
    batch = await new_desk.session.call(lambda core: core.runs.start(BatchRequest()))
    await new_desk.session.call(lambda core: core.runs.wait(batch.id))
    new_desk.page.request_refresh()
    new_desk.page.open_target(ShowRuns(RunFilter(marks=(RunMark.WRONG_ARGUMENTS,)), "Missed"))
    await new_desk.page.settled()
    await new_desk.until(lambda: new_desk.page.run_list.summary_bar.note.text() == "Missed")
    await new_desk.until(lambda: len(visible_rows(new_desk)) == 1)


class SlowRuns:
    """Runs of a core that counts outcomes only once it may."""

    def __init__(self) -> None:
        self.may_count = asyncio.Event()
        self.listed: list[str] = []

    async def count(self, where: RunFilter) -> int:
        if where.marks:
            await self.may_count.wait()
            return 3
        return 7

    async def list(self, where: RunFilter, **_page: int) -> list[RunSummary]:
        self.listed.append(where.text)
        return []


async def test_who_searches_while_the_runs_asked_for_are_still_counted_keeps_the_search() -> None:
    runs = SlowRuns()
    presenter = over(runs)
    arriving = asyncio.create_task(
        presenter.show_cross_batch(presenter.open_cross_batch("Spare parts", RunFilter(model="a/b")))
    )
    await asyncio.sleep(0)
    await search(presenter, None, "chain")
    runs.may_count.set()
    await arriving
    assert (presenter.table.where.text, presenter.table.where.model) == ("chain", "a/b")
    assert presenter.cross_batch is not None
    assert presenter.cross_batch.counts == (3, 3, 3)


class AnswersByWord:
    """Runs of a core that gives the answer to a search only once it may."""

    def __init__(self, *words: str) -> None:
        self.may = {word: asyncio.Event() for word in words}

    async def count(self, where: RunFilter) -> int:
        if where.text in self.may:
            await self.may[where.text].wait()
        return len(where.text)

    async def list(self, _where: RunFilter, **_page: int) -> list[RunSummary]:
        return []


async def search(presenter: RunsPresenter, batch: BatchId | None, text: str) -> None:
    presenter.change_view(replace(presenter.view, text=text))
    await presenter.show(batch)


def over(runs: object) -> RunsPresenter:
    """A presenter over such runs."""

    async def ask(do: Any) -> Any:
        return await do(SimpleNamespace(runs=runs))

    return RunsPresenter(ask, lambda: datetime.now(UTC))


async def test_an_answer_that_comes_late_does_not_replace_what_was_asked_for_after_it() -> None:
    runs = AnswersByWord("slow")
    presenter = over(runs)
    late = asyncio.create_task(search(presenter, BatchId("b"), "slow"))
    await asyncio.sleep(0)
    await search(presenter, BatchId("b"), "quick")
    runs.may["slow"].set()
    await late
    assert (presenter.table.where.text, presenter.table.total) == ("quick", 5)


async def test_among_runs_asked_for_the_last_of_two_quick_searches_is_shown() -> None:
    runs = AnswersByWord("first", "second")
    presenter = over(runs)
    await presenter.show_cross_batch(presenter.open_cross_batch("Spare parts", RunFilter(model="a/b")))
    first = asyncio.create_task(search(presenter, None, "first"))
    await asyncio.sleep(0)
    second = asyncio.create_task(search(presenter, None, "second"))
    await asyncio.sleep(0)
    runs.may["first"].set()
    await first
    runs.may["second"].set()
    await second
    assert presenter.table.where == RunFilter(model="a/b", text="second")


async def test_a_second_tick_before_the_first_is_answered_adds_to_it() -> None:
    runs = AnswersByWord("slow")
    presenter = over(runs)
    first = asyncio.create_task(search(presenter, BatchId("b"), "slow"))
    await asyncio.sleep(0)
    presenter.change_view(replace(presenter.view, filters=NO_FILTERS.with_values(STATE.name, "failed")))
    second = asyncio.create_task(presenter.show(BatchId("b")))
    await asyncio.sleep(0)
    runs.may["slow"].set()
    await asyncio.gather(first, second)
    assert presenter.table.where == RunFilter(
        batch_id=BatchId("b"), text="slow", statuses=(RunStatus.FAILED,), interrupted=False
    )


async def test_the_figure_of_runs_asked_for_stays_while_they_are_narrowed_and_the_header_counts(ran: Desk) -> None:
    ran.page.open_target(ShowRuns(RunFilter(statuses=(RunStatus.COMPLETED,)), "Judged"))
    await ran.until(lambda: len(visible_rows(ran)) == 4 and ran.page.run_list.summary_bar.shares[0].value.text() == "4")
    actions = {action.text: action for action in ran.page.header._filter_actions()}
    actions["Correct tool, wrong arguments"].do()
    await ran.until(lambda: len(visible_rows(ran)) == 1 and ran.page.header._count.text() == "1 of 4 runs")
    assert ran.page.run_list.summary_bar.shares[0].value.text() == "4"


class TwoPages:
    """Runs of a core that gives the second page only once it may."""

    def __init__(self) -> None:
        self.may_turn = asyncio.Event()

    async def list(self, where: RunFilter, *, limit: int, offset: int) -> list[RunSummary]:
        if offset:
            await self.may_turn.wait()
        return [run(offset + number, status=RunStatus.PENDING) for number in range(limit)]


async def test_chosen_runs_are_those_of_the_table_in_which_they_were_chosen() -> None:
    runs = TwoPages()
    presenter = over(runs)
    presenter.table.reset(RunFilter(batch_id=BatchId("b")), 2 * PAGE_SIZE)
    presenter.table.put_page(0, await runs.list(RunFilter(), limit=PAGE_SIZE, offset=0))
    reading = asyncio.create_task(presenter.rows_at((PAGE_SIZE + 1, 3)))
    await asyncio.sleep(0)
    presenter.table.reset(RunFilter(text="another"), 9)
    runs.may_turn.set()
    assert [one.id for one in await reading] == [f"run-{PAGE_SIZE + 1}", "run-3"]


async def test_a_width_that_was_chosen_stays_whether_models_are_shown_or_not(ran: Desk) -> None:
    table = ran.page.run_list.table
    table.setColumnWidth(MODEL - 1, 301)
    ran.page.open_target(ShowRuns(RunFilter(statuses=(RunStatus.COMPLETED,)), "Judged"))
    await ran.until(lambda: len(visible_rows(ran)) == 4 and not table.isColumnHidden(MODEL))
    assert table.columnWidth(MODEL - 1) == 301


async def test_a_run_leads_to_its_case_and_to_the_tool(ran: Desk) -> None:
    verdict = ran.page.detail.verdict
    await ran.until(lambda: "search_bikes" in verdict.head.sentence.text())
    verdict.head.links.buttons[0].click()
    verdict.pairs[0].expected.links.buttons[0].click()
    cases = await ran.session.call(lambda core: core.cases.list())
    tool = ToolLabel(tool="search_bikes", server="Bike shop")
    assert ran.gone == [ShowCase(cases[0].id), ShowTool(tool)]
    possible = [one.id for one in ran.page.commands() if one.id.startswith("runs.to") and one.needs()]
    assert possible == ["runs.to.case", "runs.to.expected", "runs.to.selected"]


async def test_who_comes_back_finds_the_run_that_was_looked_at(ran: Desk) -> None:
    QTest.keyClick(ran.page.run_list.table, Qt.Key.Key_Down)
    head = ran.page.detail.verdict.head
    await ran.until(lambda: "new chain" in head.query.text())
    here = ran.page.current_target()
    ran.page.open_target(ShowRuns(RunFilter(classifications=(Classification.FP,)), "One too many"))
    await ran.until(
        lambda: ran.page.run_list.summary_bar.note.text() == "One too many" and "new chain" not in head.query.text()
    )
    assert here is not None
    ran.page.open_target(here)
    await ran.until(lambda: "new chain" in head.query.text())
    assert ran.page.current_target() == here
