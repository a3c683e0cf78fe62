"""The similarity screen as a user meets it, on a qasync loop over an engine in memory."""

import asyncio
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton

from app.core_link.preferences import Preferences
from app.core_link.settings import Settings
from app.core_link.targets import AddServer
from app.screens.similarity.labels import MapKind
from app.screens.similarity.page import SimilarityPage
from app.screens.similarity.presenter import SimilarityState
from app.screens.similarity.view import SimilarityView
from app.widgets import FlowText, Label
from mcp_tef import (
    Clusters,
    OverlapWeights,
    Secret,
    ServerError,
    ServerFault,
    ServerSpec,
    Similarity,
    Transport,
)
from mcp_tef.embedding.tfidf import TfidfLexicon
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.workflows.similarity import SimilarityAnalyses
from tests.support.fake_engine import FakeEngine
from tests.support.fake_ports import command_server
from tests.support.similarity_factories import FakeEmbedders, HashedWords
from tests.support.similarity_page import DOCS, Bench, answer, docs_and_desk, open_pair, registered
from tests.support.windows import PageBench, consent_for, session_for


async def one_tool() -> FakeEngine:
    """A single tool, and a server that was never reached."""
    fake = FakeEngine()
    await registered(fake, docs=DOCS[:1])
    fake.gateway.servers["away"] = ServerError(ServerFault.REFUSED, "away could not be reached.")
    await fake.servers.add(ServerSpec(name="away", transport=Transport.STREAMABLE_HTTP, url="http://127.0.0.1/away"))
    return fake


async def with_a_model() -> FakeEngine:
    """A local model can be fetched."""
    fake = await docs_and_desk()
    fake.embedders = FakeEmbedders(HashedWords("tfidf"))
    return fake


def is_shown(page: SimilarityPage, kind: MapKind) -> bool:
    return page._shown[1] is kind


@pytest.mark.parametrize("engine", [FakeEngine])
async def test_without_tools_the_page_leads_to_the_servers(bench: Bench) -> None:
    assert bench.page.presenter.state is SimilarityState.TOO_FEW
    assert "No tools are known" in bench.page.view.empty._sentence.text()
    bench.page.view.empty.buttons()[0].click()
    assert bench.gone == [AddServer()]
    assert not bench.page.exports.actions()[0].enabled


async def with_a_program() -> FakeEngine:
    """Two servers, and a program that nobody has agreed to."""
    fake = await docs_and_desk()
    fake.gateway.servers["files"] = [replace(tool, server="files") for tool in DOCS[:2]]
    await fake.servers.add(command_server("files"))
    return fake


@pytest.mark.parametrize("engine", [with_a_program])
async def test_a_program_nobody_agreed_to_is_asked_about_before_it_is_read(bench: Bench) -> None:
    assert bench.page.view.notices.missing.accessibleName() == "Not compared: files."
    bench.page.reread_servers()
    (await consent_for(bench.page, "files")).accept()
    await bench.until(lambda: bench.page.presenter.gathered.by_server.get("files") == 2)
    await bench.page.settled()


def test_until_tools_are_compared_the_page_says_what_is_under_way(qapp: QApplication) -> None:
    view = SimilarityView(Settings(None))
    titles, sentences = view.empty.findChildren(Label), view.empty.findChildren(FlowText)
    said = [*(part.text() for part in titles), *(part.text() for part in sentences)]
    assert said[0] == "Comparing your tools"
    assert all(said)
    view.deleteLater()


@pytest.mark.parametrize("engine", [one_tool])
async def test_one_tool_is_too_few_and_what_was_not_reached_is_named(bench: Bench) -> None:
    assert "Only one tool is known" in bench.page.view.empty._sentence.text()
    assert bench.page.view.notices.missing.accessibleName() == "Not compared: away."
    assert len(bench.page.view.empty.buttons()) == 2


async def test_the_map_shows_every_tool_and_how_many_pairs_are_flagged(page: SimilarityPage) -> None:
    assert len(page.view.map.heatmap.heat()) == 6
    assert page.header._count.text() == "6 tools on 2 servers"
    assert "1 of 15 pairs flagged" in page.view.map.scale.accessibleName()
    assert page.servers.text() == "All servers"


async def test_the_pair_that_needs_work_most_is_open_at_first(bench: Bench) -> None:
    await bench.until(lambda: bench.page.view.pair.detail is not None)
    assert bench.page.view.pair.detail is not None
    assert set(bench.page.view.pair.detail.names) == {"search_files", "search_code"}


async def test_the_threshold_acts_at_once_and_is_remembered(page: SimilarityPage, bench: Bench) -> None:
    page.view.map.scale.setValue(0)
    assert "15 of 15 pairs flagged" in page.view.map.scale.accessibleName()
    await bench.until(lambda: len(page.presenter.work_list.items) == 15)
    assert page.view_state.threshold() == 0.0


async def test_every_matrix_can_be_shown(page: SimilarityPage, bench: Bench) -> None:
    for kind in MapKind:
        page._choose_kind(kind)
        await bench.until(partial(is_shown, page, kind))
        assert page.view.map.weights.isVisible() is (kind is MapKind.OVERLAP)
    assert page.view_state.mode("kind") == MapKind.OBSERVED


async def test_weights_of_the_overlap_recolour_the_map(page: SimilarityPage, bench: Bench) -> None:
    page._choose_kind(MapKind.OVERLAP)
    await bench.until(lambda: page._shown[1] is MapKind.OVERLAP)
    before = page.view.map.heatmap.heat()
    page.view.map.weights.fields["Parameters"].setValue(1.0)
    await bench.until(lambda: page.view.map.heatmap.heat() is not before)
    await open_pair(bench)
    await bench.until(lambda: page.view.pair.overlap.text().startswith("Overlap 0."))


async def test_servers_restrict_what_is_compared(page: SimilarityPage, bench: Bench) -> None:
    page.servers.pick("docs")
    await bench.until(lambda: len(page.view.map.heatmap.heat()) == 4)
    assert page.servers.text() == "docs"
    assert page.view_state.request().servers == ("docs",)
    page.servers.pick("docs")
    await bench.until(lambda: len(page.view.map.heatmap.heat()) == 6)


async def test_tools_that_change_are_compared_anew_and_others_are_not(page: SimilarityPage, bench: Bench) -> None:
    before = page.presenter.analysis
    page.request_refresh()
    await page.settled()
    assert page.presenter.analysis is before
    page.servers.pick("desk")
    await bench.until(lambda: page.presenter.analysis is not before)


class LateOverlaps(SimilarityAnalyses):
    """Overlaps by the default weights come only once `late` is set."""

    def __init__(self, fake: FakeEngine) -> None:
        super().__init__(fake.embedders, TfidfLexicon(), fake.store.metrics)
        self.late = asyncio.Event()
        self.asked = False

    async def overlap(self, similarity: Similarity, weights: OverlapWeights | None = None) -> Overlap:
        """The real one, sooner or later."""
        if weights == OverlapWeights():
            self.asked = True
            await self.late.wait()
        return await super().overlap(similarity, weights)


async def with_late_overlaps() -> FakeEngine:
    """Two servers whose overlaps take their time."""
    fake = await docs_and_desk()
    fake.similarity = LateOverlaps(fake)
    return fake


@pytest.mark.parametrize("engine", [with_late_overlaps])
async def test_a_map_by_weights_that_were_changed_meanwhile_never_replaces_the_later_one(bench: Bench) -> None:
    page, overlaps = bench.page, bench.fake.similarity
    assert isinstance(overlaps, LateOverlaps)
    page._choose_kind(MapKind.OVERLAP)
    await bench.until(lambda: overlaps.asked)
    page.view.map.weights.fields["Parameters"].setValue(1.0)
    await bench.until(lambda: is_shown(page, MapKind.OVERLAP))
    shown = page.view.map.heatmap.heat()
    await bench.session.value(lambda _: overlaps.late.set())
    await bench.session.begun()
    assert page.view.map.heatmap.heat() is shown


class StuckGauge(SimilarityAnalyses):
    """Compares nothing before `going` is set."""

    def __init__(self, fake: FakeEngine) -> None:
        super().__init__(fake.embedders, TfidfLexicon(), fake.store.metrics)
        self.going = asyncio.Event()

    async def clusters(self, similarity: Similarity) -> Clusters:
        """The real ones, once it goes on."""
        await self.going.wait()
        return await super().clusters(similarity)


async def test_a_first_comparing_that_was_stopped_says_so_and_can_be_begun_again(qapp: QApplication) -> None:
    fake = await docs_and_desk()
    fake.similarity = gauge = StuckGauge(fake)
    async with session_for(fake) as (session, _):
        bench = PageBench(SimilarityPage, session, fake)
        opening = asyncio.ensure_future(bench.open())
        bar = bench.page.progress.bar
        await bench.until(lambda: not bar.isHidden())
        bar.cancel_wanted.emit()
        await opening
        assert bench.page.view.empty._title.text() == "Comparison stopped"
        await session.value(lambda _: gauge.going.set())
        bench.page.view.empty.buttons()[0].click()
        assert bench.page.view.empty._title.text() == "Comparing your tools"
        await bench.until(bench.page.view.is_map_shown)
        await bench.page.settled()
        await bench.close()


async def test_a_key_that_was_typed_for_one_embedder_never_goes_to_one_that_is_set_elsewhere(bench: Bench) -> None:
    page = bench.page
    page.presenter.key = Secret("typed-for-a-provider")
    page._compare(embedder="litellm:openai/some-model")
    await page.settled()
    assert page.presenter.key
    Preferences(bench.session.settings).set("EMBEDDING_MODEL_TYPE", "http://127.0.0.1:1/embed")
    bench.session.configured.emit()
    assert page.presenter.request.embedder == "http://127.0.0.1:1/embed"
    assert page.presenter.key is None
    await page.settled()


async def test_a_local_model_is_not_offered_in_place_of_a_provider_that_does_not_answer(bench: Bench) -> None:
    page = bench.page
    page._compare(embedder="litellm:openai/some-model")
    notice = page.view.notices.embedder
    await bench.until(lambda: "some-model" in notice.accessibleName())
    assert [link.text() for link in notice.findChildren(QPushButton) if link.isVisible()] == ["Hide"]


@pytest.mark.parametrize("engine", [with_a_model])
@pytest.mark.parametrize(("model", "offered"), [("pinned", ["Download the local model"]), ("unpinned", [])])
async def test_only_a_model_that_can_be_fetched_is_offered(bench: Bench, model: str, offered: list[str]) -> None:
    page = bench.page
    page._compare(embedder=f"fastembed:{model}")
    notice = page.view.notices.embedder
    await bench.until(lambda: model in notice.accessibleName())
    assert [link.text() for link in notice.findChildren(QPushButton) if link.isVisible()] == [*offered, "Hide"]


async def test_a_name_with_an_ampersand_reads_the_same_in_a_narrow_window(page: SimilarityPage) -> None:
    page.servers.show_servers({"R&D": 2, "desk": 1}, ["R&D"])
    assert page.narrow.actions_offered()[-1].text == "R&D…"


@pytest.mark.parametrize("engine", [with_a_model])
async def test_word_overlap_is_said_and_a_model_can_be_fetched(page: SimilarityPage, bench: Bench) -> None:
    assert "No embedding model is on this machine" in page.view.notices.embedder.accessibleName()
    assert page.embedder.text() == "By words"
    page.view.notices.download_wanted.emit()
    await bench.until(lambda: bench.said)
    assert bench.said[0] == "Downloaded the local model"
    await bench.until(page.model_download.bar.isHidden)
    await page.settled()


async def test_an_embedder_that_is_not_there_is_stood_in_for_and_said(page: SimilarityPage, bench: Bench) -> None:
    page.embedder.choose("fastembed")
    await bench.until(lambda: page.presenter.request.embedder == "fastembed")
    await page.settled()
    assert "is not on this machine" in page.view.notices.embedder.accessibleName()
    assert page.view_state.request().embedder == "fastembed"


async def test_another_embedder_is_chosen_in_a_form_that_checks_it(page: SimilarityPage, bench: Bench) -> None:
    page.embedder.choose("other")
    await bench.until(lambda: page.dialog is not None)
    sheet = page.dialog
    assert sheet is not None
    sheet.kinds.choose(1)
    sheet._agree()
    assert sheet.target_field.widget.accessibleDescription().startswith("Write a folder")
    sheet.kinds.choose(2)
    sheet.key_input.edit.setText("typed-for-a-provider")
    sheet.kinds.choose(3)
    assert sheet.key_input.edit.text() == ""
    sheet.kinds.choose(1)
    sheet.target.setText("/nowhere/at/all")
    sheet._agree()
    await bench.until(lambda: page.presenter.request.embedder == "folder:/nowhere/at/all")
    await page.settled()


async def test_the_map_leaves_as_picture_and_drawing_and_the_rest_as_files(bench: Bench, tmp_path: Path) -> None:
    page = bench.page
    actions = {action.text: action for action in page.exports.actions()}
    files = {"Map…": ("map.png", "map.svg"), "Similarity report…": ("pairs.csv", "all.json", "report.html")}
    for text, name in ((text, name) for text, names in files.items() for name in names):
        actions[text].do()
        answer(bench, tmp_path / name)
    await bench.until(lambda: sum(text.startswith("Saved ") for text in bench.said) == 5)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    assert ElementTree.fromstring((tmp_path / "map.svg").read_text("utf-8")).tag.endswith("svg")
    assert len((tmp_path / "pairs.csv").read_text("utf-8-sig").splitlines()) > 1
    assert json.loads((tmp_path / "all.json").read_text("utf-8"))
    assert "<html" in (tmp_path / "report.html").read_text("utf-8")


async def test_where_the_map_shows_the_overlap_it_is_what_leaves(bench: Bench, tmp_path: Path) -> None:
    page = bench.page
    page._choose_kind(MapKind.OVERLAP)
    await bench.until(lambda: page._shown[1] is MapKind.OVERLAP)
    actions = {action.text: action for action in page.exports.actions()}
    for name in ("shared.json", "shared.pdf"):
        actions["Overlap report…"].do()
        answer(bench, tmp_path / name)
    await bench.until(lambda: sum(text.startswith("Saved ") for text in bench.said) == 2)
    assert "weights" in json.loads((tmp_path / "shared.json").read_text("utf-8"))
    assert (tmp_path / "shared.pdf").read_bytes().startswith(b"%PDF")
    assert "Similarity report…" not in actions


async def test_the_pairs_to_work_on_are_copied_as_markdown(bench: Bench) -> None:
    (copy,) = [one for one in bench.page.exports.actions() if one.text == "Copy the pairs to work on as Markdown"]
    copy.do()
    await bench.until(lambda: len(bench.said) == 1)
    assert QGuiApplication.clipboard().text().startswith("## Which tools look alike?")


async def test_where_there_is_little_room_the_pair_takes_the_place_of_the_map(bench: Bench) -> None:
    await open_pair(bench)
    bench.page.resize(1_000, 640)
    bench.page.resize(784, 640)
    await bench.until(lambda: not bench.page.view.main.isVisible())
    assert bench.page.view.pair.isVisible()
    bench.page.view.pair.close_button.click()
    assert bench.page.view.main.isVisible()


async def test_everything_is_in_the_palette_and_asks_for_what_it_needs(bench: Bench) -> None:
    commands = {command.id: command for command in bench.page.commands()}
    assert {"similarity.map", "similarity.pairs", "similarity.groups", "similarity.colour.overlap"} <= commands.keys()
    await open_pair(bench)
    assert all(command.needs() for command in commands.values())
    bench.page.pair.close()
    assert [command.id for command in commands.values() if not command.needs()] == [
        "similarity.ask",
        "similarity.export.pair",
    ]
    commands["similarity.groups"].do()
    assert bench.page.views.current() == "groups"
