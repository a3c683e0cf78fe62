"""Hostile texts are shown as plain text in results: search, comparison, advice, reports and answers of models."""

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QWidget

from app.core_link.settings import Settings
from app.core_link.targets import CompareBatches
from app.core_link.workspaces import WorkspaceMenu
from app.dialogs.export import ExportFormatDialog, export_runs
from app.dialogs.model_request_dialog import ModelRequestDialog
from app.help.window import HelpWindow
from app.screens.quality.detail_pane import ReviewPart
from app.screens.quality.page import QualityPage
from app.screens.similarity.advice_pane import AdvicePane
from app.screens.similarity.page import SimilarityPage
from app.screens.similarity.pair_pane import ToolPairPane
from app.shell.main_window import MainWindow
from app.widgets import Dialog
from mcp_tef import (
    AnalysisReports,
    BatchRequest,
    ModelError,
    ModelFault,
    RunFilter,
    RunReports,
    SourceKind,
    TefError,
    ToolSource,
)
from tests.support.displayed_text import HIDDEN, drawn, shows_markup, text_faults
from tests.support.report_factories import Reader
from tests.support.special_workspaces import ALL, HOSTILE, HUGE, MARKUP, MODEL, hostile_engine
from tests.support.window_tour import opened
from tests.support.windows import opened_dialog, session_for, shown, until

DIRECTIONS = {"\u200e", "\u200f", "\x85"}
"""Marks that belong into texts of some languages, and a line's end: pages keep them."""


def hidden(text: str) -> set[str]:
    """The characters of a text that nobody sees."""
    return set(HIDDEN.findall(text))


@pytest.fixture
async def window(qapp: QApplication) -> AsyncIterator[MainWindow]:
    """The window over hostile texts."""
    async with opened(await hostile_engine(ALL, ALL)) as made:
        yield made


async def test_what_the_window_said_lately_is_listed_as_text(window: MainWindow) -> None:
    window.session.toast(ALL)
    window.show_messages()
    sheet = await opened_dialog(window.window(), Dialog)
    await until(partial(shows_markup, sheet), every=0.1)
    found = text_faults(sheet)
    sheet.close()
    assert found == set()


async def test_two_batches_are_compared_in_text(window: MainWindow) -> None:
    first = (await window.session.call(lambda core: core.runs.batches()))[0]
    request = BatchRequest(name=ALL)
    second = await window.session.call(lambda core: core.runs.start(request))
    await window.session.call(lambda core: core.runs.wait(second.id))
    window.show_target(CompareBatches(first.id, second.id))
    page = window.page("metrics")
    await page.settled()
    await until(partial(shows_markup, page), every=0.1)
    assert text_faults(page) == set()


def test_the_help_is_searched_for_whatever_is_typed(qapp: QApplication) -> None:
    below = QWidget()
    window = HelpWindow(dict, below)
    shown(window)
    window.open_at("")
    found: set[str] = set()
    for text in (ALL, MARKUP, "[x](http://evil.test/)", ".*(", "\\"):
        window.search.setText(text)
        window.search.searched.emit(text)
        found |= {
            f"it draws U+{ord(one):04X}" for part in (window.topic_list, window.text) for one in hidden(drawn(part))
        }
    assert found == set()
    assert "evil.test" not in window.text.toHtml()
    window.close()
    below.deleteLater()


async def test_workspaces_are_named_in_their_menu_as_text(qapp: QApplication, tmp_path: Path) -> None:
    settings = Settings(None)
    names = ["a&b\u202egnp.db", "<img src=x>.db", "c\u200bd.db"]
    for name in names:
        (tmp_path / name).touch()
    settings.set("workspaces", [str(tmp_path / name) for name in names])

    async def nowhere(_: object) -> None: ...

    async with session_for(settings=settings):
        actions = WorkspaceMenu(QWidget(), settings, nowhere, nowhere, nowhere, lambda _: None).actions()
    menu = QMenu()
    texts = [menu.addAction(action.text).text() for action in actions]
    assert [text for text in texts if HIDDEN.search(text)] == []
    assert any("<img src=x>" in text for text in texts)
    menu.deleteLater()


async def test_a_file_is_proposed_under_a_name_that_any_system_can_keep(window: MainWindow) -> None:
    formats = export_runs(window, window.session, RunFilter(), ALL)
    assert not HIDDEN.search(formats.windowTitle())
    formats.accept()
    (dialog,) = window.findChildren(QFileDialog)
    names = [Path(name).name for name in dialog.selectedFiles()]
    found = {name for name in (*names, dialog.windowTitle()) if HIDDEN.search(name)}
    found |= {name for name in names if set(name) & set('<>:"/\\|?*&') or not name.endswith(".html")}
    dialog.reject()
    assert found == set()


async def test_pages_to_be_sent_hold_foreign_text_as_text() -> None:
    core = await hostile_engine(ALL, ALL)
    first = (await core.runs.batches())[0]
    second = await core.runs.start(BatchRequest(name=ALL))
    await core.runs.wait(second.id)
    tools = await core.tools.gather(ToolSource(kind=SourceKind.SERVERS, names=(ALL,)), at_least=1)
    pages = {
        "runs": await RunReports(core.engine).page(RunFilter(), ALL),
        "comparison": await RunReports(core.engine).comparison_page(first.id, second.id),
        "quality": await AnalysisReports().quality_page(await core.quality.review(tools)),
    }
    for name, page in pages.items():
        read = Reader(page)
        assert {"script", "img", "a", "iframe", "link", "object", "qt"} & set(read.elements) == set(), name
        assert [key for key, _ in read.attributes if key.startswith("on") or key in ("href", "src")] == [], name
        assert hidden("".join(read.words)) <= DIRECTIONS, name
        assert MARKUP in "".join(read.words), name


PLAIN = "Plain notes."
"""A description without facts, so that a model's text that begins with it leaves none out."""
OPEN_HARM = f"{PLAIN} Said: {HOSTILE['html']} {HOSTILE['qt']} {HOSTILE['markdown']}"
"""What can be seen: a description in which anything is hidden is refused before it is shown."""
IN_UNICODE = " ".join(text for kind, text in HOSTILE.items() if kind != "surrogates")
"""What a server's definition can hold: one that no file can keep is set aside where it is read."""
ENDLESS = f"{PLAIN} Said: {HOSTILE['html']} ".ljust(1_990, "x")
REFUSED = ModelError(ModelFault.REJECTED, f"Said: {ALL}", hint=ALL, context={"body": ALL})
NO_ANSWERS: dict[str, str | TefError] = {"endless words": f"Said: {HUGE}", "refusal": REFUSED}


def advice(description: str, rationale: str) -> str:
    """A recommendation as models write it."""
    return json.dumps({"description": description, "rationale": rationale})


def review(reason: str, suggested: str) -> str:
    """Three grades as models give them, each for the same reason, and a description."""
    names = ("clarity", "completeness", "conciseness")
    grades = {name: {"score": 3, "explanation": reason} for name in names}
    return json.dumps({**grades, "suggested_description": suggested})


ADVICE = {"harm": advice(OPEN_HARM, f"Said: {ALL}"), "endless": advice(ENDLESS, f"Said: {HUGE}")}
NO_ADVICE = {**NO_ANSWERS, "hidden": advice(f"Said: {ALL}", ALL), "far too long": advice(f"Said: {HUGE}", HUGE)}
REVIEWS = {"harm": review(f"Said: {ALL}", f"Said: {ALL}"), "endless": review(f"Said: {HUGE}", f"Said: {HUGE[:7_000]}")}
NO_REVIEWS = {**NO_ANSWERS, "far too long": review("Said: so", f"Said: {HUGE}")}


class Model:
    """A model that writes its `reply` whatever it is asked."""

    def __init__(self, reply: str | TefError = "") -> None:
        self.reply = reply


@asynccontextmanager
async def over_model(model: Model, text: str = ALL, name: str = ALL) -> AsyncIterator[MainWindow]:
    """Open the window over hostile tools and a model."""
    engine = await hostile_engine(text, name)
    engine.writer.script = lambda _: model.reply
    async with opened(engine) as window:
        yield window


def said(part: QWidget) -> int:
    """How often what the model wrote stands there as the text that it is, wherever its lines break."""
    return len(re.findall(r"Said:(?:0)?<imgsrc=", "".join(drawn(part).split())))


def texts(value: object) -> list[object]:
    """Everything that stands in JSON and holds nothing else."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return [value] if inside is None else [text for one in inside for text in texts(one)]


async def saved(window: MainWindow, folder: Path) -> tuple[str, Path]:
    """Answer where something is to go: the name that was proposed, and the file once it is whole."""
    await until(lambda: [*window.findChildren(QFileDialog), *window.findChildren(ExportFormatDialog)])
    for asked in [one for one in window.findChildren(ExportFormatDialog) if one.isVisible()]:
        asked.accept()
    (dialog,) = window.findChildren(QFileDialog)
    name = Path(dialog.selectedFiles()[0]).name
    file = folder / name
    told: list[str] = []
    window.session.toasted.connect(lambda text, _: told.append(text))
    dialog.fileSelected.emit(str(file))
    dialog.reject()
    await until(lambda: not window.findChildren(QFileDialog))
    await until(lambda: f"Saved {name}" in told)
    return name, file


async def agree(find: Callable[[], ModelRequestDialog | None]) -> None:
    """Choose the model in the form for asking, once it is there, and ask."""
    await until(find)
    sheet = find()
    assert sheet is not None
    sheet.model.other.emit(MODEL.label)
    await until(sheet.estimate.text)
    sheet.ask.click()


async def asked_about_a_pair(window: MainWindow) -> ToolPairPane:
    """Two tools side by side, once a model was asked about them."""
    window.show_screen("similarity")
    page = window.page("similarity")
    assert isinstance(page, SimilarityPage)
    await until(lambda: page.presenter.analysis)
    page.pair.open((0, 1))
    pane = page.view.pair
    await until(lambda: pane.advice.ask.isVisible() and not page.pair.requests.busy)
    before = page.presenter.advice.get((0, 1))
    pane.advice.ask.click()
    await agree(lambda: page.pair.requests.dialog)
    await until(lambda: page.presenter.advice.get((0, 1)) is not before)
    await until(lambda: _is_by_model(pane.advice) or pane.advice.notice.isVisible())
    await until(lambda: "<img src=" in drawn(pane.advice), every=0.1)
    return pane


def _is_by_model(part: AdvicePane) -> bool:
    shown = part.current()
    return shown is not None and shown.author == MODEL.label


async def asked_about_a_tool(window: MainWindow, place: int) -> ReviewPart:
    """The text beside the tool at a place, once a model was asked about it."""
    window.show_screen("quality")
    page = window.page("quality")
    assert isinstance(page, QualityPage)
    await until(page.view.table.rows.ids)
    tool = page.view.table.rows.ids()[place]
    page.view.table.select(tool)
    page.ask([tool])
    await agree(lambda: page.requests.dialog)
    part = page.view.detail.review
    await until(lambda: part.failure.isVisible() or said(part), every=0.1)
    return part


async def test_what_a_model_recommends_is_shown_as_text(qapp: QApplication) -> None:
    model = Model()
    async with over_model(model, PLAIN) as window:
        for name, model.reply in ADVICE.items():
            pane = await asked_about_a_pair(window)
            pane.full_texts_wanted.emit()
            found = text_faults(window, pane)
            assert said(pane.advice) == 2, f"{name}: the description and the reason"
            while pane.advice.next_button.isEnabled():
                pane.advice.next_button.click()
                found |= text_faults(window, pane)
            assert found == set(), name


async def test_why_a_model_recommends_nothing_is_shown_as_text(qapp: QApplication) -> None:
    model = Model()
    async with over_model(model) as window:
        for name, model.reply in NO_ADVICE.items():
            pane = await asked_about_a_pair(window)
            assert pane.advice.notice.isVisible(), name
            assert text_faults(window, pane) == set(), name


async def test_a_recommendation_is_copied_and_saved_as_the_text_that_it_is(qapp: QApplication, tmp_path: Path) -> None:
    async with over_model(Model(ADVICE["harm"]), PLAIN, IN_UNICODE) as window:
        part = (await asked_about_a_pair(window)).advice
        part.copy.click()
        assert QGuiApplication.clipboard().text() == OPEN_HARM
        assert not QGuiApplication.clipboard().mimeData().hasHtml()
        for button, form in ((part.patch, "patch"), (part.override, "override")):
            button.click()
            name, file = await saved(window, tmp_path)
            assert re.fullmatch(rf"[a-z0-9-]{{1,60}}-{form}\.json", name)
            assert OPEN_HARM in texts(json.loads(file.read_text("utf-8")))
        assert text_faults(window, part) == set()


async def test_what_a_model_thinks_of_a_tool_is_shown_as_text(qapp: QApplication) -> None:
    model = Model()
    async with over_model(model) as window:
        for place, (name, model.reply) in enumerate(REVIEWS.items()):
            part = await asked_about_a_tool(window, place)
            assert said(part) == 4, f"{name}: three reasons and the description"
            assert text_faults(window, part) == set(), name


async def test_why_a_model_says_nothing_of_a_tool_is_shown_as_text(qapp: QApplication) -> None:
    model = Model()
    async with over_model(model) as window:
        for place, (name, model.reply) in enumerate(NO_REVIEWS.items()):
            part = await asked_about_a_tool(window, place)
            assert part.failure.isVisible(), name
            assert text_faults(window, part) == set(), name
