"""Bad input in the Workshop's window: a sentence each that says what to do, and nothing stored is lost."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from app.core_link.targets import ChangeTool, ShowDraft
from app.screens.workshop import commands as ids
from app.screens.workshop.batch_tab import CrowdOptionsDialog
from app.screens.workshop.decision_dialogs import DraftHistoryDialog
from app.screens.workshop.draft_dialogs import DraftNameDialog
from app.screens.workshop.improvement_tab import ImprovementTab
from app.screens.workshop.page import WorkshopPage
from mcp_tef import (
    CaseDraft,
    Draft,
    DraftId,
    Engine,
    Expectation,
    ExpectedCall,
    ModelSettings,
    Secret,
    ServerSpec,
    ToolEdit,
    ToolLabel,
    Transport,
)
from tests.support.keyboard_user import Keyboard, at_the_window
from tests.support.model_replies import Received, Reply, broken, tool_calls, words
from tests.support.model_stub import ModelStub
from tests.support.windows import drop, opened_dialog, until
from tests.support.workspace_files import written_tools

VAGUE, CLEAR = "Does things.", "Return the weather forecast of a city: rain, sun, wind and temperature."
TOOLS = {"forecast": VAGUE, "departures": "Return departures of trains between two stations."}
QUERIES = {f"Will it rain in town {number}, and the temperature?": "forecast" for number in range(8)}
QUERIES |= {f"departures of trains to station {number}": "departures" for number in range(4)}
REMOVE = {"op": "remove", "path": "/tools/0"}
PATCHES: tuple[tuple[list[dict[str, Any]], str], ...] = (
    ([{"op": "replace", "path": "/tools/9/description", "value": "x"}], "does not apply"),
    ([{"op": "test", "path": "/tools/0/name", "value": "sunshine"}], "does not apply"),
    ([{"op": "replace", "path": "/tools/0/inputSchema", "value": {"type": "objekt"}}], "would make forecast invalid"),
    ([{"op": "replace", "path": "/tools/0/name", "value": "departures"}], "2 tools would be named"),
    ([REMOVE, REMOVE], "no tool would be left"),
    ([{"op": "grow", "path": "/tools/0"}], "grow"),
)


class User(Keyboard):
    """Somebody in the Workshop, over a small workspace."""

    @property
    def workshop(self) -> WorkshopPage:
        """The screen."""
        return self.screen("workshop", WorkshopPage)

    def do(self, command: str) -> None:
        """Do a command that is possible."""
        session = self.window.session
        session.do(next(one for one in session.commands.possible() if one.id == command).do)

    async def draft(self, name: str, text: str = CLEAR) -> DraftId:
        """Make a draft over the server elsewhere, with one text changed, and select it."""

        async def make(core: Engine) -> Draft:
            made = await core.drafts.new(name, server="city")
            return await core.drafts.edit(made.id, "forecast", ToolEdit(description=text)) if text else made

        made = await self.window.session.call(make)
        self.window.show_screen("workshop", ShowDraft(made.id))
        presenter = self.workshop.presenter
        await until(lambda: presenter.draft and presenter.draft.id == made.id and self.workshop.view.editor.row("name"))
        return made.id

    async def told(self, text: str) -> None:
        """See a sentence, and what was said before it no more."""
        await self.see(text)
        self.window.hide_error()


@asynccontextmanager
async def in_the_workshop(folder: Path) -> AsyncIterator[User]:
    """The window over a server of two tools and twelve cases."""
    file = written_tools(folder, TOOLS)

    calls = {query: Expectation(((ExpectedCall(tool=tool),),)) for query, tool in QUERIES.items()}
    async with await Engine.open(folder / "work.db") as core:
        await core.servers.add(ServerSpec(name="city", transport=Transport.FILE, path=str(file)))
        cases = [CaseDraft(name=one, query=one, expectation=calls[one], servers=("city",)) for one in QUERIES]
        await core.cases.add(cases)
    async with at_the_window(folder / "work.db") as user:
        yield User(user.bench)


async def test_bad_changes_of_a_draft_are_told_and_change_nothing(qapp: QApplication, tmp_path: Path) -> None:
    async with in_the_workshop(tmp_path) as user:
        first = await user.draft("First")
        await bad_patches(user, tmp_path / "patch.json")
        await bad_names(user)
        await refused_texts_stay_in_their_draft(user)
        await tools_that_are_gone(user)
        await no_case_and_no_budget(user)
        drafts = {one.name: one for one in await user.window.session.call(lambda core: core.drafts.list())}
        assert set(drafts) == {"First", "Second", "Third", "Made elsewhere"}
        assert (drafts["First"].id, drafts["First"].step, drafts["First"].changed_tools()) == (first, 1, ("forecast",))
        assert drafts["Second"].step == 0
        assert len(await user.window.session.call(lambda core: core.cases.list())) == len(QUERIES)


async def bad_patches(user: User, file: Path) -> None:
    """Drop patches that cannot be applied, then one that can, and take that back."""
    for operations, said in PATCHES:
        file.write_text(json.dumps(operations), "utf-8")
        drop(user.bench.frame, file)
        await user.told(said)
    presenter = user.workshop.presenter
    assert presenter.draft is not None
    assert presenter.draft.step == 1
    file.write_text(json.dumps([REMOVE]), "utf-8")
    drop(user.bench.frame, file)
    await until(lambda: presenter.draft and presenter.draft.step == 2)
    user.do(ids.UNDO)
    await until(lambda: presenter.draft and presenter.draft.step == 1)


async def bad_names(user: User) -> None:
    """Use the name of another draft, of another tool, and one that another program takes meanwhile."""
    user.do(ids.NEW)
    dialog = await opened_dialog(user.bench.frame, DraftNameDialog)
    dialog.edit.setText("first")
    dialog.agree()
    await user.see("There is a draft with this name already. Use another name.")
    dialog.edit.setText("Made elsewhere")
    await user.window.session.call(lambda core: core.drafts.new("Made elsewhere", server="city"))
    dialog.agree()
    await user.told("There is a draft named “Made elsewhere” already.")


async def refused_texts_stay_in_their_draft(user: User) -> None:
    """Type the name of another tool, turn to another draft, and find the refused name again."""
    first = user.workshop.presenter.draft_id
    assert first is not None
    type_name(user, "departures")
    await user.see("2 tools would be named")
    await user.draft("Second", "")
    assert not user.workshop.presenter.unsaved
    user.window.show_screen("workshop", ShowDraft(first))
    await user.see("2 tools would be named")
    user.do(ids.UNDO)
    await until(lambda: not user.workshop.presenter.unsaved)
    user.do(ids.REDO)


def type_name(user: User, text: str) -> None:
    """Type the name of the selected tool."""
    row = user.workshop.view.editor.row("name")
    assert row is not None
    row.draft.setPlainText(text)


async def tools_that_are_gone(user: User) -> None:
    """Come with a text for a tool that the server does not list, and type one that another program removes."""
    for text in ("Sunshine in a city.", None):
        target = ChangeTool(ToolLabel(tool="sunshine", server="city"), "a recommendation", description=text)
        user.window.show_screen("workshop", target)
        await user.told("There is no tool “sunshine”.")
    third = await user.draft("Third", "")
    type_name(user, "weather")
    await user.window.session.call(lambda core: core.drafts.remove_tool(third, "forecast"))
    await user.see("is not in the draft Third any more")
    user.do(ids.UNDO)
    await user.see("Step 1 of the draft Third was made in another window or command.")
    user.do(ids.HISTORY)
    dialog = await opened_dialog(user.bench.frame, DraftHistoryDialog)
    dialog.table.select("0")
    dialog.go.click()
    await until(lambda: user.workshop.presenter.draft and "weather" in str(user.workshop.presenter.draft.tools))


async def no_case_and_no_budget(user: User) -> None:
    """Leave out every case, and allow no call."""
    cases = user.workshop.view.cases.table
    await user.workshop.settled()
    await until(lambda: cases.rows.ids() and user.workshop.trial.can_try())
    cases.tick(list(cases.rows.ids()), ticked=False)
    await user.see("Tick a case about the changed tools.")
    user.do(ids.FIND)
    tab = user.workshop.tabs.tab
    assert isinstance(tab, ImprovementTab)
    await until(lambda: tab.presenter.plan_made)
    for budget, said in (("-1", "Write a number"), ("0", "A budget of 0 calls is too small")):
        tab.session.spawn(tab.ask_options())
        dialog = await opened_dialog(user.bench.frame, CrowdOptionsDialog)
        dialog.edits["budget"].setText(budget)
        dialog.use.click()
        await user.see(said)
        if budget == "-1":
            dialog.reject()
    assert not tab.footer.go.isEnabled()


async def test_a_model_that_fails_or_writes_nonsense_is_told(qapp: QApplication, tmp_path: Path) -> None:
    answers = Script()
    with ModelStub(answers) as stub:
        async with in_the_workshop(tmp_path) as user:
            settings = await allowed(user, stub)
            await user.draft("First", "")
            for text, said in (
                ("Banana banana.", "gave no description of a tool: “Banana banana.”"),
                ("", "gave an empty answer"),
                (json.dumps({"candidates": [{"descriptions": {"forecast": VAGUE}}]}), "It changes nothing."),
            ):
                answers.write = lambda text=text: words(text)  # type: ignore[misc]
                await search(user, settings)
                await user.see(said)
            answers.left = len(QUERIES) + 1
            await search(user, settings)
            await user.see("Check the model, and search again.")
            await try_with_a_model_that_fails(user, settings)
            drafts = await user.window.session.call(lambda core: core.drafts.list())
            assert next(one.step for one in drafts if one.name == "First") == 0


async def try_with_a_model_that_fails(user: User, settings: ModelSettings) -> None:
    """Try a draft on one case with a model that answers no more."""
    await user.draft("Second")
    page = user.workshop
    await page.settled()
    cases, guards = page.view.cases.table, page.view.guards.table
    await until(lambda: len(cases.rows.ids()) > 1 and guards.rows.ids())
    cases.tick(list(cases.rows.ids())[1:], ticked=False)
    guards.tick(list(guards.rows.ids()), ticked=False)
    page.trial.presenter.choose([settings])
    await until(page.trial.can_try)
    user.do(ids.TRY)
    await user.see("left out, since a run failed twice. Check the model, and try again")


class Script:
    """Answers of a stub: `write` as a writer, and as a target so many as are `left`; then it fails."""

    def __init__(self) -> None:
        self.left = 1_000_000
        self.write: Callable[[], Reply] = lambda: words("")

    def __call__(self, request: Received) -> Reply:
        """Return the tool that shares most words with the query, the vague one last; an error once none is left."""
        if not request.tools:
            return self.write()
        self.left -= 1
        asked = set(request.query.split())
        found = max(
            request.tools, key=lambda one: (len(asked & {*one["description"].split()}), one["name"] != "forecast")
        )
        return tool_calls((found["name"], {})) if self.left >= 0 else broken()


async def allowed(user: User, stub: ModelStub) -> ModelSettings:
    """Allow a stub to be asked with a key."""

    async def allow(core: Engine) -> None:
        core.keys.set("openai", Secret("sk-of-a-stub"), stub.url)
        core.consents.add_typed_address("openai", stub.url)

    await user.window.session.call(allow)
    return ModelSettings(provider="openai", model="stub", base_url=stub.url, max_retries=0)


async def search(user: User, settings: ModelSettings) -> None:
    """Search for a better text with a model that writes, too."""
    user.do(ids.FIND)
    tab = user.workshop.tabs.tab
    assert isinstance(tab, ImprovementTab)
    tab.find_for("city", [settings], None)
    tab.presenter.budget = 60
    await tab.replan()
    await until(tab.footer.go.isEnabled)
    await asyncio.wait([tab.session.spawn(tab.start())])  # how it ends is up to the model
