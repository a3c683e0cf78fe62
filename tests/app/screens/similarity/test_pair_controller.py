"""The open pair: recommendations, model requests and links."""

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.core_link.model_requests import ModelFormField
from app.core_link.targets import ShowRuns
from app.screens.similarity.labels import MapKind
from app.screens.similarity.page import SimilarityPage
from mcp_tef import Overlap, OverlapWeights, Similarity
from mcp_tef.embedding.tfidf import TfidfLexicon
from mcp_tef.workflows.similarity import SimilarityAnalyses
from tests.support.fake_engine import FakeEngine, made_tool
from tests.support.similarity_page import Bench, answer, docs_and_desk, open_pair, place, registered

if TYPE_CHECKING:
    pass


async def test_a_click_on_the_map_opens_the_pair_side_by_side(page: SimilarityPage, bench: Bench) -> None:
    pair = place(bench, "docs/set_timer"), place(bench, "desk/send_email")
    spot = page.view.map.heatmap.place_of(pair).center()
    QTest.mouseClick(page.view.map.heatmap, Qt.MouseButton.LeftButton, pos=spot)
    await bench.until(lambda: page.view.pair.detail is not None and page.view.pair.detail.places == tuple(sorted(pair)))
    await bench.until(page.view.pair.isVisible)


async def test_closing_the_pair_gives_the_map_the_room_and_the_keyboard(bench: Bench) -> None:
    await open_pair(bench)
    page = bench.page
    page.view.pair.close_button.click()
    assert not page.view.pair.isVisible()
    assert page.view.map.heatmap.hasFocus()
    assert page.view_state.mode("pair") == "no"


async def test_escape_puts_the_pair_away(bench: Bench) -> None:
    await open_pair(bench)
    QTest.keyClick(bench.page.view.map.heatmap, Qt.Key.Key_Escape)
    assert not bench.page.view.pair.isVisible()


async def test_runs_that_confused_the_pair_can_be_shown(bench: Bench) -> None:
    await open_pair(bench)
    observed = bench.page.view.pair.observed
    assert observed.headline.text() == "Confused in 8 of 35 runs"
    observed.findChildren(QPushButton)[-1].click()
    (target,) = bench.gone
    assert isinstance(target, ShowRuns)
    assert target.title == "search_files selected where search_code was expected"
    assert await bench.session.call(lambda core: core.runs.count(target.where)) == 7


async def test_recommendations_come_one_by_one_with_what_they_change(bench: Bench) -> None:
    await open_pair(bench)
    advice = bench.page.view.pair.advice
    number = int(advice.place.text().split(" of ")[1])
    assert number > 1
    first = advice.action.text()
    advice.next_button.click()
    assert advice.place.text() == f"2 of {number}"
    assert advice.action.text() != first
    advice.previous_button.click()
    assert advice.action.text() == first
    assert "without a model" in advice.author.text()


async def test_news_of_runs_leave_the_recommendation_that_is_read_where_it_is(bench: Bench) -> None:
    await open_pair(bench)
    advice = bench.page.view.pair.advice
    advice.next_button.click()
    read = advice.action.text()
    bench.page.request_refresh()
    await bench.page.settled()
    assert advice.action.text() == read
    await open_pair(bench, "docs/read_file", "docs/search_code")
    assert not advice.place.text().startswith("2")


async def long_texts() -> FakeEngine:
    """Two servers, and a third with a tool of which much is told."""
    fake = await docs_and_desk()
    await registered(fake, long=[made_tool("read_all", "Read a file of the workspace. " * 60, "long")])
    return fake


@pytest.mark.parametrize("engine", [long_texts])
async def test_news_of_runs_leave_whole_descriptions_whole(bench: Bench) -> None:
    await open_pair(bench, "long/read_all", "docs/read_file")
    pane = bench.page.view.pair
    assert pane.whole.isVisible()
    pane.whole.click()
    assert not pane.whole.isVisible()
    bench.page.request_refresh()
    await bench.page.settled()
    assert not pane.whole.isVisible()


async def test_a_recommendation_can_be_copied_and_saved_as_patch_and_override(bench: Bench, tmp_path: Path) -> None:
    await open_pair(bench)
    advice = bench.page.view.pair.advice
    shown = advice.current()
    assert shown is not None
    advice.copy.click()
    assert QGuiApplication.clipboard().text() == shown.revised
    for button, name in ((advice.patch, "patch.json"), (advice.override, "override.json")):
        button.click()
        answer(bench, tmp_path / name)
    await bench.until(lambda: len(bench.said) == 3)
    assert json.loads((tmp_path / "patch.json").read_text("utf-8")) == [dict(step) for step in shown.patch]
    assert json.loads((tmp_path / "override.json").read_text("utf-8")) == shown.override


async def test_a_model_is_asked_after_its_cost_was_shown(bench: Bench) -> None:
    await open_pair(bench)
    page = bench.page
    page.view.pair.advice.ask.click()
    await bench.until(lambda: page.pair.requests.dialog is not None)
    sheet = page.pair.requests.dialog
    assert sheet is not None
    sheet._take_other("ollama/qwen3:8b")
    await bench.until(lambda: sheet.estimate.text())
    assert sheet.estimate.text().startswith("1 pair · about ")
    sheet.ask.click()
    await bench.until(lambda: bench.said)
    assert bench.said[0].startswith("ollama/qwen3:8b wrote about 0 pairs, 1 failed")
    assert "is a draft" in page.view.pair.advice.notice.accessibleName()
    assert not page.pair.requests.busy


async def test_a_missing_key_is_asked_for_before_anything_is_spent(bench: Bench) -> None:
    await open_pair(bench)
    page = bench.page
    page.pair.request_advice()
    await bench.until(lambda: page.pair.requests.dialog is not None)
    sheet = page.pair.requests.dialog
    assert sheet is not None
    sheet._take_other("openai/gpt-4.1-mini")
    await bench.until(lambda: sheet.fields[ModelFormField.KEY].isVisible())
    sheet.ask.click()
    await bench.until(lambda: "is missing" in sheet.key.accessibleDescription())
    sheet.reject()
    await bench.until(lambda: page.pair.requests.dialog is None)


async def test_other_weights_are_told_of_beside_the_map_at_once(page: SimilarityPage, bench: Bench) -> None:
    page._choose_kind(MapKind.OVERLAP)
    await open_pair(bench)
    told = page.view.pair.overlap
    await bench.until(lambda: told.text().startswith("Overlap 0."))
    before = told.text()
    page.view.map.weights.fields["Parameters"].setValue(1.0)
    await bench.until(lambda: told.text() != before)


class HeldOverlap(SimilarityAnalyses):
    """Tells of an overlap only while it may."""

    def __init__(self, fake: FakeEngine) -> None:
        super().__init__(fake.embedders, TfidfLexicon(), fake.store.metrics)
        self.may_tell = asyncio.Event()
        self.may_tell.set()
        self.asked = 0

    async def overlap(self, similarity: Similarity, weights: OverlapWeights | None = None) -> Overlap:
        self.asked += 1
        await self.may_tell.wait()
        return await super().overlap(similarity, weights)


async def with_held_overlap() -> FakeEngine:
    fake = await docs_and_desk()
    fake.similarity = HeldOverlap(fake)
    return fake


@pytest.mark.parametrize("engine", [with_held_overlap])
async def test_an_overlap_that_is_told_late_does_not_come_back_to_who_looks_at_something_else_by_then(
    bench: Bench,
) -> None:
    page, told = bench.page, bench.page.view.pair.overlap
    page._choose_kind(MapKind.OVERLAP)
    await open_pair(bench)
    await bench.until(lambda: told.text().startswith("Overlap 0."))
    await bench.session.begun()
    held = bench.fake.similarity
    assert isinstance(held, HeldOverlap)
    await bench.session.value(lambda _: held.may_tell.clear())
    before = held.asked
    await open_pair(bench)
    await bench.until(lambda: held.asked > before)
    page._choose_kind(MapKind.SIMILARITY)
    await bench.until(lambda: not told.text())
    await bench.session.value(lambda _: held.may_tell.set())
    await bench.session.begun()
    assert not told.text()
