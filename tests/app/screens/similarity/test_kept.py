"""What the page remembers, what events mean to it, what its words say."""

from typing import Any

from pytestqt.qtbot import QtBot

from app.core_link.refresh import Refresh
from app.core_link.settings import Settings
from app.screens.similarity.comparison_choices import OTHER, EmbedderMenu, ServersMenu
from app.screens.similarity.labels import MapKind, embedder_words, flagged_words
from app.screens.similarity.model_request import Progress
from app.screens.similarity.notices import gaps_reasons, gaps_title
from app.screens.similarity.presenter import Gathered, SimilarityPresenter, Wanted
from app.screens.similarity.view_state import Kept
from mcp_tef import (
    BatchesChanged,
    NoticePublished,
    PairAdvice,
    RunsChanged,
    ServersChanged,
    ToolProblem,
    UnreachableSource,
)


def test_what_was_left_is_found_again() -> None:
    settings = Settings(None)
    kept = Kept(settings)
    kept.set_threshold(0.9)
    kept.set_kind(MapKind.OVERLAP)
    kept.set_view("pairs")
    kept.set_wanted(Wanted(embedder="folder:/models/mini", servers=("docs",)))
    again = Kept(settings)
    assert (again.threshold(), again.kind(), again.view()) == (0.9, MapKind.OVERLAP, "pairs")
    assert again.wanted() == Wanted(embedder="folder:/models/mini", servers=("docs",))


def test_spoilt_settings_give_the_defaults() -> None:
    settings = Settings(None)
    settings.set("core", {"SIMILARITY_THRESHOLD": "9", "EMBEDDING_MODEL_TYPE": "magic:wand"})
    settings.set("similarity.kind", "colourful")
    settings.set("similarity.view", "nowhere")
    kept = Kept(settings)
    assert (kept.threshold(), kept.kind(), kept.view()) == (0.85, MapKind.SIMILARITY, "map")
    assert kept.wanted() == Wanted()


async def _never(_: object) -> Any:
    raise AssertionError("nothing is asked of the core")


def test_runs_that_end_can_wait_and_changed_servers_cannot() -> None:
    presenter = SimilarityPresenter(_never)
    assert presenter.handle(NoticePublished("hello")) is Refresh.NONE
    assert presenter.handle(BatchesChanged(ids=(), by="test")) is Refresh.LATER
    assert presenter.handle(ServersChanged(ids=(), by="test")) is Refresh.NOW
    assert presenter.handle(RunsChanged(runs=())) is Refresh.NOW


def test_what_is_missing_is_named_with_its_reason() -> None:
    gathered = Gathered(
        unreachable=tuple(UnreachableSource(f"server {number}", "It is off.", "Start it.") for number in range(5)),
        problems=(("docs", ToolProblem(None, "It has no name.")),),
    )
    assert gaps_title(gathered) == (
        "Not compared: server 0, server 1, server 2 and 2 more. 1 tool could not be read and was left out."
    )
    assert gaps_reasons(gathered).splitlines()[-1] == "docs, a tool without a name: It has no name."
    assert gaps_title(Gathered()) == ""


def test_embedders_have_plain_names() -> None:
    assert embedder_words("fastembed:BAAI/bge") == "Local model"
    assert embedder_words("something else") == "something else"
    assert flagged_words(12, 1_770) == "12 of 1,770 pairs flagged"


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


def test_asking_tells_how_far_it_is_and_what_came_of_it() -> None:
    progress = Progress(model="openai/gpt", total=3)
    progress.take(PairAdvice(a="a", b="b", similarity=0.9, issues=(), recommendations=(), cost_usd=0.02))
    assert (progress.lead, progress.parts) == ("1 of 3 pairs", ["$0.02", "openai/gpt writes descriptions"])
    assert progress.farewell(stopped=True) == "Stopped: openai/gpt wrote about 1 pair · $0.02"
