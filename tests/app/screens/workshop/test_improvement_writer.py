"""The writer of a search for a better text: rules, the model that answers, or a model with a key of its own."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.core_link.bridge import Bridge
from app.core_link.model_requests import ModelKeys
from app.core_link.session import Session
from app.core_link.settings import Settings
from app.dialogs.consent import ApiKeyDialog
from app.dialogs.model_request_dialog import LAST_MODEL, ModelRequestDialog
from app.screens.workshop import commands as ids
from app.screens.workshop.improvement_tab import ImprovementTab
from app.screens.workshop.page import WorkshopPage
from app.screens.workshop.writer_choice import SETTING, WriterChoice, WriterKind, remembered_writer
from mcp_tef import Engine, ModelSettings, Secret
from tests.app.screens.workshop.test_drafts import workshop
from tests.app.screens.workshop.test_improvement_tab import search_tab
from tests.support.command_line import say
from tests.support.fake_engine import FakeEngine
from tests.support.model_replies import Received, Reply, words
from tests.support.model_stub import ModelStub
from tests.support.servers_page import visible_text
from tests.support.stand_in_models import WordSensitiveModel
from tests.support.windows import PageBench, opened_dialog, until
from tests.support.workspace_files import case, case_file, written_tools

TOOLS = {"forecast": "Does things.", "departures": "Return departures of trains between two stations."}
CLEAR = "Return rain, wind and temperature of a town; for trains, use departures."
PLACES = [f"{one}{two}" for one in ("North", "South", "East", "West") for two in ("ham", "ford", "by")]
TARGET_KEY, WRITER_KEY = "key/of+the.target~51aa07", "key/of+the.writer~93c4e2"
TARGET = ModelSettings(provider="openai", model="target", input_price=1e-6, output_price=1e-6)


@pytest.fixture
def city(tmp_path: Path) -> Path:
    """A workspace about two tools, of which one says nothing."""
    queries = {f"Is there rain or wind in {place}?": "forecast" for place in PLACES}
    queries |= {f"departures of trains to the station {place}": "departures" for place in PLACES[:8]}
    cases = case_file(tmp_path, [case(query, [{"tool": tool}]) for query, tool in queries.items()])
    file = tmp_path / "city.db"
    tools = written_tools(tmp_path, TOOLS)
    assert say("servers", "add", "city", "--tools-file", tools, "--workspace", file).code == 0
    assert say("servers", "check", "city", "--workspace", file).code == 0
    assert say("cases", "import", cases, "--attach", "city", "--workspace", file).code == 0
    return file


def written(_request: Received) -> Reply:
    """One good text."""
    return words(json.dumps({"candidates": [{"descriptions": {"forecast": CLEAR}}]}))


async def choose_writer(tab: ImprovementTab, model: str, address: str) -> None:
    """Choose a writer of its own in the dialog, as a user does."""
    tab.writer.changed.emit("another")
    dialog = await opened_dialog(tab.page, ModelRequestDialog)
    dialog.model.other.emit(model)
    dialog.address.selectAll()
    QTest.keyClicks(dialog.address, address)
    await until(lambda: dialog.estimate.text())
    dialog.ask.click()
    await until(lambda: tab.presenter.writer.kind is WriterKind.OTHER)
    await until(lambda: tab.presenter.plan_made and tab.presenter.plan_made.request.writer)


async def test_the_writer_alone_is_asked_to_write_with_a_key_that_stays_in_memory(
    qapp: QApplication, city: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ModelStub(WordSensitiveModel(1, noise=0.1)) as target, ModelStub(written) as writer:
        settings = Settings(tmp_path / "settings.json")
        session = Session(Bridge(partial(Engine.open, city, environment={})), settings)
        session.bridge.start()
        bench = PageBench(WorkshopPage, session, FakeEngine())
        await bench.open(1280)
        for key, stub in ((TARGET_KEY, target), (WRITER_KEY, writer)):
            await ModelKeys(session.call).hold("openai", Secret(key), address=stub.url)
        answering = ModelSettings(provider="openai", model="target", base_url=target.url)
        await ModelKeys(session.call).add_typed_address(answering)
        bench.page.tabs.find_text("city", [answering], None)
        tab = bench.page.tabs.tab
        assert isinstance(tab, ImprovementTab)
        await bench.until(lambda: tab.presenter.plan_made)
        await choose_writer(tab, "openai/writer", writer.url)
        tab.presenter.budget = 300
        await tab.replan()
        assert "to the writer" in tab.banner.note.text()
        await tab.start()
        await bench.until(lambda: tab.presenter.found)
        plan = tab.presenter.found.plan  # type: ignore[union-attr]  # it is found
        cases = await session.call(lambda core: core.cases.list())
        sealed = [one.draft.query for one in cases if one.id in plan.sealed]
        assert {candidate.author for one in tab.presenter.rounds() for candidate in one.candidates} > {"openai/writer"}
        settings.save()
        await bench.close()
        await session.close()
    assert sealed
    assert all(request.tools and request.key == TARGET_KEY for request in target.requests)
    assert all(not request.tools and request.key == WRITER_KEY for request in writer.requests)
    assert 0 < len(writer.requests) <= plan.writer_calls
    shown = "\n".join(json.dumps(dict(request.body), ensure_ascii=False) for request in writer.requests)
    assert [query for query in sealed if query in shown] == []
    files = [file for folder in (tmp_path, Path.home()) for file in folder.rglob("*") if file.is_file()]
    assert [file for file in files if WRITER_KEY.encode() in file.read_bytes()] == []
    assert WRITER_KEY not in caplog.text
    assert not settings.get(LAST_MODEL, {})
    assert remembered_writer(settings.get(SETTING, {})).writer(TARGET).base_url == writer.url  # type: ignore[union-attr]


@pytest.mark.parametrize("missing", ["writer", "target"])
async def test_a_key_that_is_asked_for_at_the_start_goes_only_to_the_address_that_it_was_asked_for(
    qapp: QApplication, city: Path, tmp_path: Path, missing: str
) -> None:
    with ModelStub(WordSensitiveModel(1, noise=0.1)) as target, ModelStub(written) as writer:
        stubs, keys = {"target": target, "writer": writer}, {"target": TARGET_KEY, "writer": WRITER_KEY}
        addresses = {name: None if name == missing else stub.url for name, stub in stubs.items()}
        models = {
            name: ModelSettings(provider="openai", model=name, base_url=address) for name, address in addresses.items()
        }
        environment = {"OPENAI_BASE_URL": stubs[missing].url}
        session = Session(
            Bridge(partial(Engine.open, city, environment=environment)), Settings(tmp_path / "settings.json")
        )
        session.settings.set(SETTING, WriterChoice(WriterKind.OTHER, models["writer"]).saved())
        session.bridge.start()
        bench = PageBench(WorkshopPage, session, FakeEngine())
        await bench.open(1280)
        for name, address in addresses.items():
            if address:
                await ModelKeys(session.call).hold("openai", Secret(keys[name]), address=address)
                await ModelKeys(session.call).add_typed_address(models[name])
        bench.page.tabs.find_text("city", [models["target"]], None)
        tab = bench.page.tabs.tab
        assert isinstance(tab, ImprovementTab)
        await bench.until(lambda: tab.presenter.plan_made)
        tab.presenter.budget = 300
        await tab.replan()
        session.spawn(tab.start())
        sheet = await opened_dialog(bench.page, ApiKeyDialog)
        said = visible_text(sheet)
        assert not sheet.input.remember.isVisible()
        sheet.edit.setText(keys[missing])
        next(one for one in sheet.findChildren(QPushButton) if one.text() == "Use this key").click()
        await bench.until(lambda: tab.presenter.found)
        await bench.close()
        await session.close()
    for name, stub in stubs.items():
        assert {request.key for request in stub.requests} == {keys[name]}
    assert urlsplit(stubs[missing].url).netloc in said


async def test_rules_or_the_model_that_answers_write_as_chosen_and_the_choice_is_remembered(qapp: QApplication) -> None:
    async with workshop() as bench:
        tab = await search_tab(bench)
        assert tab.presenter.request().writer is None
        assert [one[0] for one in tab.writer._choices if one] == ["rules", "another"]
        tab.take_model(TARGET, None)
        await tab.replan()
        assert tab.presenter.request().writer == TARGET
        assert tab.presenter.plan_made is not None
        assert tab.presenter.plan_made.writer_calls > 0
        tab.writer.changed.emit("rules")
        await bench.until(lambda: tab.presenter.plan_made and not tab.presenter.plan_made.writer_calls)
        assert tab.presenter.request().settings == TARGET
        assert ImprovementTab(bench.page).presenter.writer.kind is WriterKind.RULES
        assert bench.can(ids.TRY)


def test_a_remembered_writer_that_cannot_be_read_is_the_usual_one() -> None:
    assert remembered_writer({"kind": "poet"}) == WriterChoice()
    assert remembered_writer({"kind": "other"}).kind is WriterKind.SAME
    assert remembered_writer({"kind": "other", "model": "nothing"}).kind is WriterKind.SAME
    own = remembered_writer({"kind": "other", "model": "openai/writer", "base_url": "http://127.0.0.1:9/v1"})
    assert (own.kind, own.saved()["base_url"]) == (WriterKind.OTHER, "http://127.0.0.1:9/v1")
    assert own.writer(ModelSettings()) == own.model
    priced = WriterChoice(WriterKind.OTHER, replace(TARGET, timeout=own.model.timeout))  # type: ignore[union-attr]
    assert remembered_writer(json.loads(json.dumps(priced.saved()))) == priced
