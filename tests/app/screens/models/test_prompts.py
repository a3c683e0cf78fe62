"""The Prompts tab by keyboard: a prompt made, misspelt, corrected, saved, compared by a trial and deleted."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.dialogs.model_request_dialog import ModelRequestDialog
from app.screens.models.page import ModelsPage
from app.screens.models.prompt_dialogs import ComparePromptsDialog, NewPromptDialog
from app.screens.models.prompts_tab import COMPARE, DELETE, NEW, SAVE, PromptsTab
from mcp_tef import BatchStatus, PromptKind, PromptTemplate
from tests.support.fake_engine import FakeEngine
from tests.support.windows import PageBench, opened_dialog, page_bench

SHORT = PromptTemplate(
    name="short", version=0, kind=PromptKind.SYSTEM, text="Be {{tone}}.", variables={"tone": "brief"}
)


def prompts_of(bench: PageBench[ModelsPage]) -> PromptsTab:
    bench.page.show_tab("prompts")
    tab = bench.page.tab("prompts")
    assert isinstance(tab, PromptsTab)
    return tab


def do(bench: PageBench[ModelsPage], command: str) -> None:
    """Do a command of the page, as its key does."""
    one = next(one for one in bench.page.commands() if one.id == command)
    assert one.needs(), command
    bench.session.do(one.do)


async def test_a_prompt_is_made_corrected_saved_and_deleted(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    async with page_bench(ModelsPage, fake) as bench:
        tab = prompts_of(bench)
        do(bench, NEW)
        dialog = await opened_dialog(bench.page, NewPromptDialog)
        QTest.keyClicks(dialog.edit, "built-in of mine")
        QTest.keyClick(dialog.edit, Qt.Key.Key_Return)
        assert dialog.isVisible()
        dialog.edit.clear()
        QTest.keyClicks(dialog.edit, "counter")
        QTest.keyClick(dialog.edit, Qt.Key.Key_Return)
        await bench.until(lambda: tab.presenter.name == "counter" and tab.presenter.versions)
        await bench.until(lambda: tab.presenter.can_edit)
        QTest.keyClicks(tab.editor.text, "Today is {{dte}}. ")
        assert "date" in tab.editor.state.text()
        assert not tab.editor.save.isEnabled()
        assert bench.page.unsaved() == 1
        QTest.keyClick(tab.editor.fixes.buttons[0], Qt.Key.Key_Space)
        assert "{{date}}" in tab.editor.text.text()
        assert "{{date}}" not in tab.preview.system.text()
        QTest.keyClicks(tab.editor.text, "{{tone}}")
        QTest.keyClick(tab.editor.fixes.buttons[-1], Qt.Key.Key_Space)
        QTest.keyClicks(tab.editor.variables.edits["tone"], "kind")
        assert "kind" in tab.preview.system.text()
        do(bench, SAVE)
        await bench.until(lambda: tab.presenter.latest.version == 2)
        assert dict(tab.presenter.latest.variables) == {"tone": "kind"}
        assert "{{date}}" in tab.preview.changes.text()
        tab.versions.select("1")
        assert not tab.presenter.can_edit
        do(bench, DELETE)
        await bench.until(lambda: "counter" not in tab.presenter.prompts)


async def test_two_versions_are_compared_by_a_trial_with_the_values_that_they_lack(qapp: QApplication) -> None:
    fake = FakeEngine(environment={"OPENAI_API_KEY": "sk-test"})
    await fake.open_sample()
    for server in await fake.servers.list():
        await fake.servers.tools(server.id)
    await fake.prompts.add(SHORT)
    await fake.prompts.edit(replace(SHORT, variables={"tone": ""}))
    async with page_bench(ModelsPage, fake) as bench:
        tab = prompts_of(bench)
        do(bench, COMPARE)
        dialog = await opened_dialog(bench.page, ComparePromptsDialog)
        assert dialog.labels == ("short@2", "short@1")
        await bench.until(dialog.problem.text)
        QTest.keyClicks(dialog.variables.edits["tone"], "long")
        await bench.until(lambda: not dialog.problem.text())
        dialog.agree()
        asked = await opened_dialog(bench.page, ModelRequestDialog)
        asked.model.set_current("openai/gpt-4.1-mini")
        asked.ask.click()
        await bench.until(lambda: tab.presenter.trials)
        await bench.until(lambda: tab.presenter.trials[0][0].status is BatchStatus.COMPLETED)
        await bench.until(lambda: "short@2 against short@1" in tab.trial.sentence.text())
        await bench.until(lambda: tab.presenter.shares.get(1, (0, 0))[1])
