"""Reviews by a model on the quality screen."""

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.widgets import FlowText
from mcp_tef import ModelSettings, Secret
from mcp_tef.model.config import Config
from mcp_tef.workflows.models import Models
from tests.support.fake_ports import FakeCatalogue
from tests.support.quality_page import FINE, GPT, NAMELESS, SUGGESTED, desk
from tests.support.windows import until

OFFLINE = ModelSettings()


async def test_what_a_model_thinks_stands_beside_the_findings(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE]}) as bench:
        await bench.choose("desk/doIt")
        before = bench.page.presenter.tools()[0].score
        sheet = await bench.sheet(["desk/doIt"])
        await until(lambda: "$" in sheet.estimate.text())
        assert sheet.estimate.text().startswith("1 tool · about ")
        assert sheet.ask.text() == "Ask about 1 tool"
        sheet.ask.click()
        await until(lambda: bench.said)
        assert bench.said == [f"{GPT} reviewed 1 tool"]
        await until(lambda: SUGGESTED in bench.text())
        assert "6 of 10" in bench.text()
        assert "It could say <i>more</i>." in bench.text()
        assert bench.page.presenter.tools()[0].score == before
        bench.page.view.detail.review.texts.copy.click()
        assert QGuiApplication.clipboard().text() == SUGGESTED
        assert bench.session.settings.get("model_request", {})["model"] == GPT


async def test_an_answer_that_cannot_be_read_is_shown_as_such(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        bench.fake.writer.script = lambda _task: "What a nice tool."
        sheet = await bench.sheet()
        sheet.ask.click()
        await until(lambda: bench.said)
        assert bench.said == [f"{GPT} reviewed 0 tools, 1 failed"]
        await bench.choose("desk/doIt")
        await until(lambda: "What a nice tool." in bench.text())


async def test_an_answer_on_a_tool_that_filters_hide_does_not_bring_it_into_the_list(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE]}) as bench:
        assert bench.page.header.search is not None
        bench.page.header.search.setText("invoice")
        await until(lambda: bench.tools() == ["desk/find_invoice"])
        sheet = await bench.sheet(["desk/doIt", "desk/find_invoice"])
        sheet.ask.click()
        await until(lambda: bench.said)
        bench.page.view.table.rows.flush()
        assert bench.tools() == ["desk/find_invoice"]


async def test_asking_can_be_stopped_and_what_was_heard_stays(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS, FINE]}) as bench:
        bench.fake.writer.gate.clear()
        sheet = await bench.sheet()
        sheet.scope.choose(1)
        sheet.ask.click()
        await until(lambda: not bench.page.requests.bar.isHidden())
        assert not bench.page.header.buttons()[-1].isEnabled()
        bench.page.requests.bar.cancel_button.click()
        await until(lambda: bench.said)
        assert bench.said == [f"Stopped: {GPT} reviewed 0 tools"]
        assert bench.page.requests.bar.isHidden()
        assert bench.page.header.buttons()[-1].isEnabled()


async def test_a_missing_key_is_asked_for_before_anything_is_sent(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        bench.fake.keys.set("openai", Secret(""))
        sheet = await bench.sheet()
        sheet.ask.click()
        await until(lambda: "is missing" in sheet.key.accessibleDescription() or sheet.key.edit.isVisible())
        assert bench.page.requests.dialog is sheet
        assert bench.fake.writer.tasks == []
        sheet.key.edit.setText("typed")
        sheet.ask.click()
        await until(lambda: bench.said)
        assert bench.fake.keys.typed("openai") == Secret("typed")


async def test_a_key_that_was_typed_for_one_provider_never_goes_to_another(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        bench.fake.models = Models(
            FakeCatalogue({}, frozenset({"openai", "anthropic"})), bench.fake.keys, bench.fake.consents, Config()
        )
        bench.fake.keys.set("openai", Secret(""))
        sheet = await bench.sheet()
        await until(sheet.key.edit.isVisible)
        sheet.key.edit.setText("typed-for-openai")
        sheet.model.other.emit("anthropic/some-model")
        sheet.ask.click()
        await until(lambda: "anthropic is missing" in sheet.key.accessibleDescription())
        assert sheet.key.edit.text() == ""
        assert not bench.fake.keys.typed("anthropic")
        assert bench.fake.writer.tasks == []
        assert sheet.key.remember.isVisible()
        sheet.address.setText("https://models.example/v1")
        await until(lambda: not sheet.key.remember.isVisible())


async def test_no_model_is_no_model(qapp: QApplication) -> None:
    async with desk({"desk": [NAMELESS]}) as bench:
        sheet = await bench.sheet()
        sheet.model.other.emit("offline/retrieval")
        sheet.ask.click()
        words = [part.text() for part in sheet.findChildren(FlowText) if part.isVisible()]
        assert any("cannot write" in said for said in words)
        assert bench.page.requests.dialog is sheet
        sheet.reject()
        await until(lambda: bench.page.requests.dialog is None)
        assert bench.fake.writer.tasks == []
