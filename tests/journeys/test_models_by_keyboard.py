"""Models at the real window without a mouse: a group that falls over, a router, a search, and a model found."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMenu

from app.screens.models.groups_tab import GroupsTab
from app.screens.models.page import ModelsPage
from app.screens.runs.page import RunsPage
from app.screens.runs.run_details import settings_rows
from mcp_tef import RunFilter
from tests.support.command_line import say
from tests.support.keyboard_user import CTRL, Keyboard, at_the_window
from tests.support.model_replies import Received, Reply, broken, tool_calls
from tests.support.model_stub import ModelStub
from tests.support.search_services import FORMS, SearchService
from tests.support.windows import until

Key = Qt.Key
TOOL = {
    "name": "find_parts",
    "description": "Find spare parts.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}
CASE = "- {name: Lights, query: Find rear lights, servers: [shop], expected: [{tool: find_parts, server: shop}]}"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A workspace with one tool and one case."""
    workspace, tools, cases = tmp_path / "work.db", tmp_path / "tools.json", tmp_path / "cases.yaml"
    tools.write_text(json.dumps([TOOL]), "utf-8")
    cases.write_text(CASE, "utf-8")
    assert say("servers", "add", "shop", "--tools-file", tools, "--workspace", workspace).code == 0
    assert say("cases", "import", cases, "--workspace", workspace).code == 0
    return workspace


def answers(request: Received) -> Reply:
    """Say hello where asked to, and find parts otherwise; the first model is down."""
    if request.model == "stub-a":
        return broken()
    hello = any(one["function"]["name"] == "say_hello" for one in request.body.get("tools", ()))
    return tool_calls(("say_hello", {"text": "Hello"})) if hello else tool_calls(("find_parts", {"text": "light"}))


async def test_from_a_group_that_falls_over_to_a_router_and_a_search(qapp: QApplication, shop: Path) -> None:
    with ModelStub(answers) as stub, SearchService(answer=FORMS["searxng"]) as service:
        async with at_the_window(shop) as user:
            await user.go(9, "models")
            await make_a_group(user, stub.url)
            await run_the_group(user, stub.url)
            await try_a_router(user)
            await search_by_hand(user, service.url)
            await find_a_model(user)


async def make_a_group(user: Keyboard, address: str) -> None:
    """Make a group of two deployments, and ask both hello."""
    await user.command("Show groups")
    await user.push("New group…")
    await user.see("The group is run as")
    await user.tab_to("Name")
    user.type("pair")
    await deploy(user, "openai/stub-a", address)
    await user.push("Create group")
    await user.see("group/pair")
    await user.wake()
    await user.command("Add a deployment")
    await user.see("Requests a minute")
    await deploy(user, "openai/stub-b", address)
    await user.push("Add deployment")
    page = user.window.page("models")
    assert isinstance(page, ModelsPage)
    tab = page.tab("groups")
    assert isinstance(tab, GroupsTab)
    await until(lambda: tab.deployments.rows.rowCount() == 2)
    await user.wake()
    user.press(Key.Key_Return, CTRL)
    await until(lambda: tab.presenter.summary("pair") == "2 deployments, 1 failed")


async def deploy(user: Keyboard, model: str, address: str) -> None:
    """Fill in a deployment."""
    await user.pick("Model", model)
    await user.tab_to("Address")
    user.type(address)


async def run_the_group(user: Keyboard, address: str) -> None:
    """Run the one case with the group; its run says that the second deployment answered, and why not the first."""
    await user.command("Use the group in a run")
    await user.push("Run 1 case")
    await user.come_to("runs")
    page = user.window.page("runs")
    assert isinstance(page, RunsPage)
    await until(lambda: page.presenter.batch and page.presenter.batches.newest_active() is None)
    (run,) = await page.session.call(lambda core: core.runs.list(RunFilter()))
    detail = await page.session.call(lambda core: core.runs.detail(run.id))
    values = {row.label: row.value for row in settings_rows(detail, "1")}
    assert values["Deployment"] == f"openai/stub-b at {address}"
    assert values["Failed before it"].startswith(f"openai/stub-a at {address}: ")
    await user.go(9, "models")


async def try_a_router(user: Keyboard) -> None:
    """Make a router with one route, and see where two queries go."""
    await user.command("Show routes")
    await user.push("New router…")
    await user.see("The router is run as")
    await user.tab_to("Name")
    user.type("desk")
    await user.pick("Otherwise", "group/pair")
    await user.pick("First route runs as", "openai/gpt-4.1-mini")
    await user.tab_to("Utterances")
    user.type("Book a repair of my bike")
    await user.push("Create router")
    await user.see("Which route would take it?")
    await user.wake()
    await user.tab_to("What a user says")
    user.type("Please book a repair")
    await user.see("Goes to openai/gpt-4.1-mini")
    user.type("Sunny weather")
    await user.see("Goes to group/pair")


async def search_by_hand(user: Keyboard, address: str) -> None:
    """Make a search tool, and search by it."""
    await user.command("Show search")
    await user.push("New search tool…")
    await user.see("Tools of the library name it.")
    await user.tab_to("Name")
    user.type("own")
    await user.tab_to("Provider")
    user.press(Key.Key_Space)
    await user.choose("SearXNG")
    await until(lambda: not user.window.findChildren(QMenu))
    await user.wake()
    await user.tab_to("Address")
    user.type(address)
    await user.push("Create search tool")
    await user.see("needs no key")
    await user.wake()
    await user.tab_to("Query")
    user.type("pumps")
    user.press(Key.Key_Return)
    await user.see("1 result")


async def find_a_model(user: Keyboard) -> None:
    """Find a model of the catalogue by its name."""
    await user.command("Show catalogue")
    await user.see(" models")
    user.press(Key.Key_F, CTRL)
    user.type("openai gpt-4.1-mini-2025")
    await user.see("openai/ft:gpt-4.1-mini-2025-04-14")
