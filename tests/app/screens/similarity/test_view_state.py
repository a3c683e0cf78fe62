"""View state of the similarity screen: search, filters, settings, and their effect on its views."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core_link.refresh import Refresh
from app.core_link.settings import Settings
from app.core_link.targets import ChangeTool, ShowPair, ShowSimilarTools, ShowTool, ShowToolQuality
from app.screens.similarity.analysis import GatheredTools
from app.screens.similarity.comparison_choices import OTHER, EmbedderMenu, ServersMenu
from app.screens.similarity.labels import MapKind, embedder_label, flagged_text
from app.screens.similarity.notices import missing_tools_details, missing_tools_text
from app.screens.similarity.page import SimilarityPage
from app.screens.similarity.pair_list import PairQuery
from app.screens.similarity.presenter import ComparisonRequest, SimilarityPresenter
from app.screens.similarity.view_state import SimilarityViewState
from mcp_tef import (
    BatchesChanged,
    NoticePublished,
    PairStatus,
    RunsChanged,
    ServersChanged,
    ToolLabel,
    ToolProblem,
    UnreachableSource,
)
from tests.support.similarity_page import Bench, open_pair


def test_what_was_left_is_found_again() -> None:
    settings = Settings(None)
    view_state = SimilarityViewState(settings, "a.db")
    view_state.set_threshold(0.9)
    view_state.set_mode("kind", MapKind.OVERLAP.value)
    view_state.change(text="timer")
    view_state.set_status(PairStatus.SIMILAR_UNTESTED)
    view_state.set_request(ComparisonRequest(embedder="folder:/models/mini", servers=("docs",)))
    again = SimilarityViewState(settings, "a.db")
    assert (again.threshold(), again.mode("kind"), again.mode("view")) == (0.9, MapKind.OVERLAP, "map")
    assert again.query == PairQuery(text="timer")
    assert again.request() == ComparisonRequest(embedder="folder:/models/mini", servers=("docs",))


def test_spoilt_settings_give_the_defaults() -> None:
    settings = Settings(None)
    settings.set("core", {"CONFUSABILITY_THRESHOLD": "9", "EMBEDDING_MODEL_TYPE": "magic:wand"})
    settings.set("similarity.kind", "colourful")
    settings.set("similarity.view", "nowhere")
    view_state = SimilarityViewState(settings, "a.db")
    assert view_state.threshold() == 0.5
    assert (view_state.mode("kind"), view_state.mode("view")) == (MapKind.CONFUSABILITY, "map")
    assert view_state.request() == ComparisonRequest()


async def _never(_: object) -> Any:
    raise AssertionError("nothing is asked of the core")


def test_runs_that_end_can_wait_and_changed_servers_cannot() -> None:
    presenter = SimilarityPresenter(_never)
    assert presenter.handle(NoticePublished("hello")) is Refresh.NONE
    assert presenter.handle(BatchesChanged(ids=(), by="test")) is Refresh.LATER
    assert presenter.handle(ServersChanged(ids=(), by="test")) is Refresh.NOW
    assert presenter.handle(RunsChanged(runs=())) is Refresh.NOW


def test_what_is_missing_is_named_with_its_reason() -> None:
    gathered = GatheredTools(
        unreachable=tuple(UnreachableSource(f"server {number}", "It is off.", "Start it.") for number in range(5)),
        problems=(("docs", ToolProblem(None, "It has no name.")),),
    )
    assert missing_tools_text(gathered) == (
        "Not compared: server 0, server 1, server 2 and 2 more. 1 tool could not be read and was excluded."
    )
    assert missing_tools_details(gathered).splitlines()[-1] == "docs, a tool without a name: It has no name."
    assert missing_tools_text(GatheredTools()) == ""


def test_embedders_have_plain_names() -> None:
    assert embedder_label("fastembed:BAAI/bge") == "Local model"
    assert embedder_label("something else") == "something else"
    assert flagged_text(12, 1_770) == "12 of 1,770 pairs flagged"


def test_the_embedder_that_is_used_stands_in_the_header(qtbot: QtBot) -> None:
    menu = EmbedderMenu()
    qtbot.addWidget(menu)
    wanted: list[str] = []
    menu.wanted.connect(wanted.append)
    menu.show_embedder("", "tfidf")
    assert menu.text() == "By words"
    menu.show_embedder("folder:/models/mini", "folder:mini")
    assert menu.text() == "Model folder"
    assert [action.text for action in menu.actions_offered() if action.checked] == ["Model folder: /models/mini"]
    menu.choose(OTHER)
    assert (menu.current(), wanted) == ("folder:/models/mini", [OTHER])


def test_servers_are_picked_and_let_go(qtbot: QtBot) -> None:
    menu = ServersMenu()
    qtbot.addWidget(menu)
    picked: list[tuple[str, ...]] = []
    menu.picked.connect(picked.append)
    menu.show_servers({"docs": 4, "desk": 1}, ("docs", "gone"))
    assert menu.text() == "docs"
    assert [action.text for action in menu.actions_offered()] == ["All servers", "docs · 4 tools", "desk · 1 tool"]
    for name in ("desk", "docs", ""):
        menu.pick(name)
    assert picked == [("docs", "desk"), (), ()]


async def test_every_pair_is_listed_and_searched_for(page: SimilarityPage, bench: Bench) -> None:
    page.show_view("pairs")
    assert page.view.pairs.table.rows.rowCount() == 15
    page.search.setText("timer")
    await bench.until(lambda: page.view.pairs.table.rows.rowCount() == 5)
    assert page.view.pairs.note.text() == "5 pairs, ordered by confusability"
    page.search.setText("nobody")
    await bench.until(lambda: page.view.pairs.note.text() == "No pairs match. Clear the search to see others.")


async def test_what_was_searched_for_narrows_pairs_groups_and_map_at_the_next_start(bench: Bench) -> None:
    bench.page.show_view("pairs")
    bench.page.search.setText("timer")
    await bench.until(lambda: bench.page.view.pairs.table.rows.rowCount() == 5)
    page = await bench.again()
    assert page.search.text() == "timer"
    assert page.view.pairs.table.rows.rowCount() == 5
    assert len(page.view.map.heatmap._shown.found) == 1
    assert page.view.groups.titles[0].text() == "No groups match. Clear the search to see all."


async def test_a_search_on_the_map_brings_the_tools_out(page: SimilarityPage, bench: Bench) -> None:
    page.search.setText("read_file")
    await bench.until(lambda: page.view.map.heatmap._shown.found)
    assert len(page.view.map.heatmap._shown.found) == 2


async def test_the_work_list_counts_and_a_click_restricts_the_pairs(page: SimilarityPage, bench: Bench) -> None:
    cells = page.view.work_summary.cells
    await bench.until(lambda: cells[PairStatus.SIMILAR_NOT_CONFUSED].number)
    QTest.mouseClick(cells[PairStatus.CONFUSED_NOT_SIMILAR], Qt.MouseButton.LeftButton)
    await bench.until(lambda: page.view.pairs.table.rows.rowCount() == 1)
    assert page.views.current() == "pairs"
    page.view.pairs.chips.chips()[0].remove_wanted.emit()
    await bench.until(lambda: page.view.pairs.table.rows.rowCount() == 15)
    assert not cells[PairStatus.CONFUSED_NOT_SIMILAR].isChecked()


async def test_walking_through_the_list_changes_the_open_pair(bench: Bench) -> None:
    await open_pair(bench)
    page = bench.page
    page.show_view("pairs")
    page.view.pairs.table.select("0-3")
    await bench.until(lambda: page.view.pair.detail is not None and page.view.pair.detail.places == (0, 3))


async def test_copies_on_other_servers_and_groups_are_listed_and_lead_to_the_map(page: SimilarityPage) -> None:
    page.show_view("groups")
    copies = page.view.groups.copies
    assert {cell.text for cell in copies.rows.row(0).cells[:2]} == {"docs/read_file", "desk/read_file"}
    page.view.groups.groups.opened.emit("0")
    assert page.views.current() == "map"
    assert not page.view.map.heatmap.port().fitted


async def test_another_screen_can_ask_for_the_look_alikes_of_a_tool(bench: Bench) -> None:
    bench.page.open_target(ShowSimilarTools((ToolLabel(tool="send_email", server="desk"),)))
    await bench.until(lambda: bench.page.view.pairs.table.rows.rowCount() == 5)
    assert bench.page.views.current() == "pairs"


FILES, CODE = ToolLabel(tool="search_files", server="docs"), ToolLabel(tool="search_code", server="docs")


async def test_another_screen_can_ask_for_a_pair_and_for_what_to_write_instead(bench: Bench) -> None:
    pane = bench.page.view.pair
    bench.page.open_target(ShowPair(CODE, FILES, advice=True))
    await bench.until(lambda: pane.advice.copy.hasFocus())
    bar = pane._pane.verticalScrollBar()
    await bench.until(lambda: bar.value() == min(bar.maximum(), pane.advice.y()) > 0)
    assert pane.detail is not None
    assert set(pane.detail.names) == {"search_files", "search_code"}
    here = bench.page.current_target()
    assert isinstance(here, ShowPair)
    assert {here.first, here.second} == {FILES, CODE}
    assert bench.said == []


async def test_a_tool_whose_server_nobody_named_is_found_by_its_name(bench: Bench) -> None:
    email, timer = ToolLabel(tool="send_email"), ToolLabel(tool="set_timer")
    bench.page.open_target(ShowSimilarTools((email,)))
    await bench.until(lambda: bench.page.view.pairs.table.rows.rowCount() == 5)
    bench.page.open_target(ShowPair(email, timer))
    first, second = replace(timer, server="docs"), replace(email, server="desk")
    await bench.until(lambda: bench.page.current_target() in (ShowPair(first, second), ShowPair(second, first)))
    assert bench.said == []


async def test_another_screen_can_ask_for_the_pairs_of_several_tools(bench: Bench) -> None:
    bench.page.open_target(ShowSimilarTools((CODE, FILES, ToolLabel(tool="send_email", server="desk"))))
    await bench.until(lambda: bench.page.views.current() == "pairs" and bench.page.view.pairs.table.rows.rowCount())
    assert bench.page.search.text() == "docs/search_code|docs/search_files|desk/send_email"


async def test_a_pair_that_is_not_compared_is_said_to_be_so(bench: Bench) -> None:
    bench.page.open_target(ShowPair(CODE, ToolLabel(tool="search_code", server="gone")))
    await bench.until(lambda: bench.said)
    assert "not compared" in bench.said[0]


async def test_each_tool_of_a_pair_leads_to_its_definition_its_quality_and_the_workshop(bench: Bench) -> None:
    await open_pair(bench)
    side = bench.page.view.pair.sides[0]
    for link in (*side.links.buttons, *side.change.buttons):
        link.click()
    definition, quality, change = bench.gone
    assert isinstance(definition, ShowTool)
    assert definition.tool in (FILES, CODE)
    assert quality == ShowToolQuality((definition.tool,))
    assert isinstance(change, ChangeTool)
    assert change.tool == definition.tool
    (other,) = {FILES, CODE} - {definition.tool}
    assert other.tool is not None
    assert other.tool in change.reason


async def test_where_no_pair_is_left_it_is_told_what_hides_them(page: SimilarityPage, bench: Bench) -> None:
    page._choose_status(PairStatus.SIMILAR_UNTESTED)
    page.search.setText("nobody")
    both = "No pairs match. Clear the search or remove the filter to see others."
    await bench.until(lambda: page.view.pairs.note.text() == both)
