"""What the page remembers, what events mean to it, what its words say."""

from typing import Any

from pytestqt.qtbot import QtBot

from app.core_link.refresh import Refresh
from app.core_link.settings import Settings
from app.screens.similarity.analysis import GatheredTools
from app.screens.similarity.comparison_choices import OTHER, EmbedderMenu, ServersMenu
from app.screens.similarity.labels import MapKind, embedder_label, flagged_text
from app.screens.similarity.notices import missing_tools_details, missing_tools_text
from app.screens.similarity.pair_list import PairQuery
from app.screens.similarity.presenter import ComparisonRequest, SimilarityPresenter
from app.screens.similarity.view_state import SimilarityViewState
from mcp_tef import (
    BatchesChanged,
    NoticePublished,
    PairStatus,
    RunsChanged,
    ServersChanged,
    ToolProblem,
    UnreachableSource,
)


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
    settings.set("core", {"SIMILARITY_THRESHOLD": "9", "EMBEDDING_MODEL_TYPE": "magic:wand"})
    settings.set("similarity.kind", "colourful")
    settings.set("similarity.view", "nowhere")
    view_state = SimilarityViewState(settings, "a.db")
    assert view_state.threshold() == 0.85
    assert (view_state.mode("kind"), view_state.mode("view")) == (MapKind.SIMILARITY, "map")
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
