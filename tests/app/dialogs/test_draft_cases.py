"""The review of drafted cases: one key each, undo, and nothing added before it is wanted."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.dialogs.draft_cases import DraftCasesDialog, call_text
from app.dialogs.draft_cases_presenter import CaseReview, ReviewDecision
from app.dialogs.model_request_dialog import ModelRequestDialog
from app.screens.servers.page import ServersPage
from app.widgets import Dialog
from mcp_tef import CaseDraft, CaseOrigin, DraftedCase, DraftKind, ExpectedCall, ServerError, ServerFault
from tests.support.cases_page import a_bike_shop
from tests.support.displayed_text import drawn
from tests.support.fake_engine import FakeEngine
from tests.support.windows import PageBench, opened_dialog, page_bench

Key, CTRL = Qt.Key, Qt.KeyboardModifier.ControlModifier
Servers = PageBench[ServersPage]


def drafted(*queries: str) -> list[DraftedCase]:
    return [
        DraftedCase(DraftKind.DIRECT, "shop", "find", CaseDraft(name=query, query=query, origin=CaseOrigin.GENERATED))
        for query in queries
    ]


def typed(case: DraftedCase, query: str) -> tuple[DraftedCase, str]:
    """The case with another query; one that says “find” is refused."""
    refused = "It names the tool find." if "find" in query else ""
    return replace(case, draft=replace(case.draft, query=query, name=query)), refused


def a_review() -> CaseReview:
    review = CaseReview(typed)
    review.offer(drafted("one", "two", "three"))
    return review


def kept(review: CaseReview) -> list[str]:
    return [one.query for one in review.with_decision(ReviewDecision.KEPT)]


# ---------------------------------------------------------------- the review without a window


def test_decisions_are_counted_and_undone_one_by_one() -> None:
    review = a_review()
    review.decide(["1"], ReviewDecision.KEPT)
    review.decide(["2", "3"], ReviewDecision.DROPPED)
    assert review.counts_text == "1 kept, 2 dropped, 0 left"
    assert review.undo() == "2"
    assert review.counts_text == "1 kept, 0 dropped, 2 left"
    assert review.undo() == "1"
    assert review.undo() == ""
    assert not review.is_started


def test_typing_in_a_query_is_one_step_and_stays_generated() -> None:
    review = a_review()
    for text in ("o", "on", "on time"):
        review.edit("1", text)
    review.decide(["1"], ReviewDecision.KEPT)
    assert (kept(review), review.rows["1"].case.draft.name) == (["on time"], "on time")
    assert review.rows["1"].case.draft.origin is CaseOrigin.GENERATED
    review.undo()
    assert review.rows["1"].query == "on time"
    review.undo()
    assert (review.rows["1"].query, review.can_undo) == ("one", False)


def test_a_draft_without_a_query_cannot_be_kept() -> None:
    review = a_review()
    review.edit("1", "  ")
    review.decide(["1"], ReviewDecision.KEPT)
    assert not kept(review)


def test_an_edited_query_that_breaks_a_rule_is_kept_no_more_until_it_is_mended() -> None:
    review = a_review()
    review.decide(["1"], ReviewDecision.KEPT)
    review.edit("1", "find it")
    review.decide(["1"], ReviewDecision.KEPT)
    assert (kept(review), review.rows["1"].problem) == ([], "It names the tool find.")
    review.edit("1", "look for it")
    review.decide(["1"], ReviewDecision.KEPT)
    assert (kept(review), review.rows["1"].problem) == (["look for it"], "")


def test_new_drafts_replace_only_undecided_ones_and_never_repeat_a_query() -> None:
    review = a_review()
    review.decide(["1"], ReviewDecision.KEPT)
    review.decide(["2"], ReviewDecision.DROPPED)
    review.offer(drafted("one", "two", "four", "four", "known"), known=["known"])
    assert [one.query for one in review.rows.values()] == ["one", "two", "four"]
    assert kept(review) == ["one"]
    assert review.is_started


def test_the_next_undecided_draft_is_searched_from_the_top_at_the_end() -> None:
    review = a_review()
    review.decide(["2"], ReviewDecision.KEPT)
    assert [review.next_left(row) for row in ("1", "3", "")] == ["3", "1", "1"]
    review.decide(["1", "3"], ReviewDecision.DROPPED)
    assert review.next_left("3") == ""


def test_arguments_read_like_a_call_and_matchers_like_words() -> None:
    call = ExpectedCall(tool="find", parameters={"text": {"$contains": "bike"}, "limit": 5, "sizes": ["S"]})
    assert call_text(call) == 'text: contains "bike", limit: 5, sizes: ["S"]'
    assert call_text(None) == ""


# ---------------------------------------------------------------- the dialog


@pytest.fixture
async def servers(qapp: QApplication) -> AsyncIterator[Servers]:
    """The servers screen over a shop whose tools are known."""
    async with page_bench(ServersPage, await a_bike_shop()) as made:
        yield made


async def opened(bench: Servers, command: str = "servers.draft") -> DraftCasesDialog:
    """The dialog, with drafts."""
    await bench.until(lambda: bench.page.server_list.current_id())
    next(one for one in bench.page.commands() if one.id == command).do()
    dialog = await opened_dialog(bench.page, DraftCasesDialog)
    await bench.until(lambda: dialog.table.rows.rowCount())
    return dialog


def press(dialog: DraftCasesDialog, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(dialog.focusWidget() or dialog.table, key)


async def stored(bench: Servers) -> list[CaseDraft]:
    """The generated cases of the workspace."""
    cases = await bench.session.call(lambda core: core.cases.list())
    return [case.draft for case in cases if case.draft.origin is CaseOrigin.GENERATED]


async def test_cases_are_kept_dropped_and_edited_with_one_key_and_added_at_the_end(servers: Servers) -> None:
    dialog = await opened(servers)
    number = dialog.table.rows.rowCount()
    second = dialog.table.rows.row(1).id
    press(dialog, Key.Key_K, Key.Key_D, Key.Key_E)
    assert dialog.query.hasFocus()
    QTest.keyClicks(dialog.query, "Anything else")
    press(dialog, Key.Key_Return)
    assert dialog.counts.text() == f"2 kept, 1 dropped, {number - 3} left"
    assert await stored(servers) == []
    dialog.undo()
    dialog.undo()
    dialog.undo()
    assert dialog.table.current_id() == second
    assert dialog.counts.text() == f"1 kept, 0 dropped, {number - 1} left"
    assert dialog.add.text() == "Add 1 case"
    dialog.add.click()
    await servers.session.begun()
    (case,) = await stored(servers)
    assert case.family
    servers.session.undo()
    await servers.session.undone()
    assert await stored(servers) == []
    servers.session.redo()
    await servers.session.undone()
    assert await stored(servers) == [case]


async def test_only_the_selected_tool_is_drafted_for_and_its_kept_cases_are_not_drafted_again(servers: Servers) -> None:
    await servers.until(lambda: servers.page.pane.tools.current_id())
    tool = servers.page.tool_commands.selected()[0].name
    dialog = await opened(servers, "servers.tools.draft")
    tools = {one.case.tool for one in dialog._review.rows.values()}
    assert tools == {tool, ""}
    query = dialog.query.text()
    press(dialog, Key.Key_K)
    dialog.add.click()
    await servers.session.begun()
    again = await opened(servers, "servers.tools.draft")
    assert query not in [one.query for one in again._review.rows.values()]


async def test_escape_goes_back_to_the_list_and_then_asks_before_a_review_is_lost(servers: Servers) -> None:
    dialog = await opened(servers)
    press(dialog, Key.Key_K, Key.Key_E)
    press(dialog, Key.Key_Escape)
    assert dialog.table.hasFocus()
    press(dialog, Key.Key_Escape)
    question = next(one for one in dialog.findChildren(Dialog) if one.isVisible())
    assert dialog.isVisible()
    question.accept()
    assert not dialog.isVisible()
    assert await stored(servers) == []


async def test_what_a_model_writes_replaces_the_undecided_drafts_and_what_breaks_a_rule_is_counted(
    servers: Servers,
) -> None:
    dialog = await opened(servers)
    press(dialog, Key.Key_K)
    mine = [one.query for one in dialog._review.with_decision(ReviewDecision.KEPT)]

    fits = {"text": "two wheels"}
    texts = ("Is there anything with two wheels?", "Use search_bikes or search_parts for two wheels")
    asked = {"direct": [{"query": text, "parameters": fits} for text in texts]}
    servers.fake.writer.script = lambda _task: json.dumps(asked)
    dialog.ask.click()
    sheet = await opened_dialog(dialog, ModelRequestDialog)
    sheet.model.other.emit("ollama/qwen3:8b")
    await servers.until(sheet.estimate.text)
    assert "3 tools" in sheet.estimate.text()
    sheet.ask.click()
    await servers.until(lambda: any(one.query == texts[0] for one in dialog._review.rows.values()))
    queries = {one.query for one in dialog._review.rows.values()}
    assert queries >= {*mine, texts[0]}
    assert texts[1] not in queries
    assert "left out" in drawn(dialog.notice)
    assert [one.query for one in dialog._review.with_decision(ReviewDecision.KEPT)] == mine


async def test_a_server_that_cannot_be_read_says_why(qapp: QApplication) -> None:
    fake = FakeEngine({"Bike shop": ServerError(ServerFault.REFUSED, "The shop is closed.")})
    await fake.open_sample()
    async with page_bench(ServersPage, fake) as bench:
        await bench.until(lambda: bench.page.server_list.current_id())
        bench.page.tool_commands.draft_for_server()
        dialog = await opened_dialog(bench.page, DraftCasesDialog)
        await bench.until(dialog.notice.isVisible)
        assert "The shop is closed." in drawn(dialog.notice)
        assert not dialog.add.isEnabled()
        assert not dialog.ask.isEnabled()
