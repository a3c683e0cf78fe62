"""The Catalogue and Groups tabs, used as a designer does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowModels, ShowRuns, StartRuns
from app.dialogs.consent import ApiKeyDialog
from app.screens.models.catalogue_tab import HELLO, LOCAL, USE, CatalogueTab
from app.screens.models.groups_presenter import ability_rows
from app.screens.models.groups_tab import DeploymentDialog, GroupsTab
from app.screens.models.page import ModelsPage
from mcp_tef import ActualCall, Answer, Deployment, ModelError, ModelFault, ModelGroup
from mcp_tef.ports import Question
from tests.support.displayed_text import drawn
from tests.support.fake_engine import FakeEngine
from tests.support.windows import PageBench, opened_dialog, session_for, until


def says_hello(question: Question) -> Answer:
    """Call the tool; the mini model writes text only, and nothing answers for a model that is called gone."""
    if question.settings.model == "gone":
        raise ModelError(ModelFault.DOWN, "No model server answers.", hint="Start it.")
    if question.settings.model == "gpt-4.1-mini":
        return Answer(calls=(), answered_model="gpt-4.1-mini")
    return Answer(calls=(ActualCall(tool="say_hello", server="check", arguments={"text": "Hello"}),))


class ModelsBench(PageBench[ModelsPage]):
    """The page, with what a user does there."""

    def do(self, command: str) -> None:
        """Do a command of the page, as its key does."""
        one = next(one for one in self.page.commands() if one.id == command)
        assert one.needs(), command
        self.session.do(one.do)

    @property
    def catalogue(self) -> CatalogueTab:
        """The catalogue."""
        tab = self.page.tab("catalogue")
        assert isinstance(tab, CatalogueTab)
        return tab

    @property
    def groups(self) -> GroupsTab:
        """The groups."""
        tab = self.page.tab("groups")
        assert isinstance(tab, GroupsTab)
        return tab


@asynccontextmanager
async def models(*groups: ModelGroup) -> AsyncIterator[ModelsBench]:
    """The page over some groups."""
    fake = FakeEngine(script=says_hello)
    await fake.targets.add_all(groups, ())
    async with session_for(fake) as (session, _):
        bench = ModelsBench(ModelsPage, session, fake)
        await bench.open(1104)
        yield bench
        await bench.close()


async def test_models_are_filtered_asked_hello_and_used_in_a_run(qapp: QApplication) -> None:
    async with models() as bench:
        bench.page.open_target(ShowModels("catalogue", "openai/gpt-4.1-mini"))
        tab = bench.catalogue
        await bench.until(lambda: tab.table.current_id() == "openai/gpt-4.1-mini")
        for menu, key, left in ((tab.price, "1", 1), (tab.context, "1000000", 1), (tab.tools, "no", 0)):
            menu.changed.emit(key)
            assert tab.table.rows.rowCount() == left
        tab.clear()
        tab.find_rows("MINI open")
        assert tab.table.rows.ids() == ["openai/gpt-4.1-mini"]
        bench.do(HELLO)
        await bench.until(lambda: "There is no key for openai" in tab.hello.sentence.text())
        assert "Key: failed" in drawn(tab)
        tab.links.buttons[-1].click()
        dialog = await opened_dialog(bench.page, ApiKeyDialog)
        dialog.edit.setText("sk-typed")
        dialog._take()
        await bench.until(lambda: "did not call the tool" in tab.hello.sentence.text())
        assert {"Key: ok", "Tool calling: failed"} <= set(drawn(tab).splitlines())
        bench.do(USE)
        assert bench.gone == [StartRuns(model="openai/gpt-4.1-mini")]


async def test_local_servers_are_found_on_request_and_their_models_come_first(qapp: QApplication) -> None:
    async with models() as bench:
        tab = bench.catalogue
        bench.page.open_target(ShowModels("catalogue"))
        await bench.until(lambda: tab.table.rows.rowCount())
        assert tab.presenter.local == ()
        bench.do(LOCAL)
        await bench.until(lambda: tab.presenter.local)
        await bench.until(lambda: " at http://localhost:" in tab.table.current_id())
        assert tab.table.rows.ids()[0] == tab.table.current_id()
        bench.do(HELLO)
        await bench.until(lambda: tab.presenter.checks)


FAST = ModelGroup(
    name="fast",
    deployments=(
        Deployment(provider="ollama", model="qwen3:8b", rpm=10),
        Deployment(provider="ollama", model="gone", base_url="http://127.0.0.1:9/v1", rpm=5),
    ),
)


async def test_a_group_is_made_changed_asked_and_deleted_and_nothing_typed_is_lost(qapp: QApplication) -> None:
    async with models(FAST) as bench:
        bench.page.open_target(ShowModels("groups", "fast"))
        tab = bench.groups
        await bench.until(lambda: tab.deployments.rows.rowCount() == 2)
        rules = {name: (value, rule) for name, value, rule in ability_rows(tab.presenter.abilities["fast"])}
        assert rules["Requests a minute"] == ("15", "all together (SUM)")
        bench.do("models.group_hello")
        await bench.until(lambda: tab.presenter.failed("fast") == 1)
        await bench.until(lambda: "down: No model server answers. Start it." in tab.state.text())
        bench.do("models.group_runs")
        assert isinstance(bench.gone[-1], ShowRuns)
        bench.do("models.new_group")
        dialog = await opened_dialog(bench.page, DeploymentDialog)
        for name, model, rpm, told in (
            ("fast", "ollama/qwen3:8b", "", "already"),
            ("large one", "ollama/qwen3:8b", "", "cannot be the name"),
            ("large", "", "", "No model is selected."),
            ("large", "nowhere/big", "", "There is no provider called nowhere."),
            ("large", "openai/gpt-4.1-mini", "many", "The rpm of a deployment is “many”."),
        ):
            dialog.name.setText(name)
            dialog.model.set_current(model)
            dialog.rpm.setText(rpm)
            await dialog.agree()
            assert told in drawn(dialog)
            assert (dialog.name.text(), dialog.rpm.text()) == (name, rpm)
        dialog.rpm.setText("500")
        await dialog.agree()
        await bench.until(lambda: tab.cards.current_id() == "large")
        bench.do("models.remove_deployment")
        await until(lambda: bench.failed == ["openai/gpt-4.1-mini is the only deployment."])
        bench.failed.clear()
        bench.do("models.delete_group")
        await bench.until(lambda: "large" not in tab.presenter.groups)
        bench.session.undo()
        await bench.until(lambda: "large" in tab.presenter.groups)
        assert tab.presenter.groups["large"].deployments[0].rpm == 500
