"""One pair side by side, its recommendations, and what a model is asked."""

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.asking import Blank
from mcp_tef import RunFilter
from tests.support.similarity_page import Bench, answer, on_page, open_pair, place


@on_page
async def test_a_click_on_the_map_opens_the_pair_side_by_side(bench: Bench) -> None:
    page = bench.page
    pair = place(bench, "docs/set_timer"), place(bench, "desk/send_email")
    spot = page.view.map.heatmap.place_of(pair).center()
    QTest.mouseClick(page.view.map.heatmap, Qt.MouseButton.LeftButton, pos=spot)
    await bench.until(lambda: page.view.pair.detail is not None and page.view.pair.detail.places == tuple(sorted(pair)))
    assert page.view.pair.isVisible()


@on_page
async def test_closing_the_pair_gives_the_map_the_room_and_the_keyboard(bench: Bench) -> None:
    await open_pair(bench)
    page = bench.page
    page.view.pair.close_button.click()
    assert not page.view.pair.isVisible()
    assert page.view.map.heatmap.hasFocus()
    assert not page.kept.pair_wanted()


@on_page
async def test_escape_puts_the_pair_away(bench: Bench) -> None:
    await open_pair(bench)
    QTest.keyClick(bench.page.view.map.heatmap, Qt.Key.Key_Escape)
    assert not bench.page.view.pair.isVisible()


@on_page
async def test_runs_that_confused_the_pair_can_be_shown(bench: Bench) -> None:
    await open_pair(bench)
    observed = bench.page.view.pair.observed
    assert observed.headline.text() == "Confused in 8 of 35 runs"
    observed.findChildren(QPushButton)[-1].click()
    ((screen, target),) = bench.went
    assert isinstance(target, tuple)
    kind, where, title = target
    assert (screen, kind, title) == ("runs", "filter", "search_files picked where search_code was expected")
    assert isinstance(where, RunFilter)
    assert await bench.session.call(lambda core: core.runs.count(where)) == 7


@on_page
async def test_recommendations_come_one_by_one_with_what_they_change(bench: Bench) -> None:
    await open_pair(bench)
    advice = bench.page.view.pair.advice
    number = int(advice.place.text().split(" of ")[1])
    assert number > 1
    first = advice.action.text()
    advice.forth.click()
    assert advice.place.text() == f"2 of {number}"
    assert advice.action.text() != first
    advice.back.click()
    assert advice.action.text() == first
    assert "without a model" in advice.author.text()


@on_page
async def test_a_recommendation_can_be_copied_and_saved_as_patch_and_override(bench: Bench, tmp_path: Path) -> None:
    await open_pair(bench)
    advice = bench.page.view.pair.advice
    shown = advice.current()
    while shown is None or shown.revised is None:
        advice.forth.click()
        shown = advice.current()
    advice.copy.click()
    assert QGuiApplication.clipboard().text() == shown.revised
    for button, name in ((advice.patch, "patch.json"), (advice.override, "override.json")):
        button.click()
        answer(bench, tmp_path / name)
    await bench.until(lambda: len(bench.toasts) == 3)
    assert json.loads((tmp_path / "patch.json").read_text("utf-8")) == [dict(step) for step in shown.patch]
    assert json.loads((tmp_path / "override.json").read_text("utf-8")) == shown.override


@on_page
async def test_a_file_that_cannot_be_written_is_said_so(bench: Bench, tmp_path: Path) -> None:
    await open_pair(bench)
    bench.page.view.pair.advice.patch.click()
    answer(bench, tmp_path / "no" / "such" / "folder.json")
    await bench.until(lambda: bench.failures)
    assert bench.failures.pop()[0] == "folder.json could not be written."
    assert not bench.toasts


@on_page
async def test_a_model_is_asked_after_its_cost_was_shown(bench: Bench) -> None:
    await open_pair(bench)
    page = bench.page
    page.view.pair.advice.ask.click()
    await bench.until(lambda: page.pair.advising.sheet is not None)
    sheet = page.pair.advising.sheet
    assert sheet is not None
    sheet._take_other("ollama/qwen3:8b")
    await bench.until(lambda: sheet.estimate.text())
    assert sheet.estimate.text().startswith("1 pair · about ")
    sheet.ask.click()
    await bench.until(lambda: bench.toasts)
    assert bench.toasts[0][0].startswith("ollama/qwen3:8b wrote about 0 pairs, 1 failed")
    assert "is a draft" in page.view.pair.advice.notice.accessibleName()
    assert not page.pair.advising.busy


@on_page
async def test_a_missing_key_is_asked_for_before_anything_is_spent(bench: Bench) -> None:
    await open_pair(bench)
    page = bench.page
    page.pair.ask_about_it()
    await bench.until(lambda: page.pair.advising.sheet is not None)
    sheet = page.pair.advising.sheet
    assert sheet is not None
    sheet._take_other("openai/gpt-4.1-mini")
    await bench.until(lambda: sheet.fields[Blank.KEY].isVisible())
    sheet.ask.click()
    await bench.until(lambda: "is missing" in sheet.key.accessibleDescription())
    sheet.reject()
    await bench.until(lambda: page.pair.advising.sheet is None)
