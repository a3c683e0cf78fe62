"""Whole afternoons at the real window, with real servers and a model on loopback, and no mouse."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu

from app.screens.library.page import LibraryPage
from app.screens.runs.page import RunsPage
from app.screens.similarity.page import SimilarityPage
from tests.support.command_line import command, say
from tests.support.keyboard_user import CTRL, Keyboard, at_the_window, spoken
from tests.support.model_replies import Received, Reply, tool_calls, words
from tests.support.model_stub import ModelStub

Key = Qt.Key


async def test_from_a_config_and_a_case_to_two_models_compared(qapp: QApplication, tmp_path: Path) -> None:
    program, *rest = command("sample-server")
    config = json.dumps({"mcpServers": {"bikes": {"command": program, "args": rest}}})

    with ModelStub(only_the_first_finds_it) as stub:
        async with at_the_window(tmp_path / "own.db") as user:
            await compare_two_models(user, config, stub.url)


def only_the_first_finds_it(request: Received) -> Reply:
    """Model a calls the tool that is expected; model b talks instead."""
    return tool_calls(("find_parts", {"query": "rear light"})) if request.model == "a" else words("Of course!")


async def compare_two_models(user: Keyboard, config: str, address: str) -> None:
    """Bring in a server, agree to its program, write a case, run it with two models and compare them."""
    await paste_a_config(user, config)
    await write_a_case(user, "Do you sell rear lights?", "find_parts")
    for model in ("openai/a", "openai/b"):
        await run_with(user, model, address)
    await user.go(4, "metrics")
    await user.tab_to("View")
    user.press(Key.Key_Right, times=3)
    await user.see("0 wins, 1 loss")
    await user.see("The batches asked different models")
    await user.see("Selected no tool, expected find_parts")


async def paste_a_config(user: Keyboard, config: str) -> None:
    """Paste a config at the first start, import its one server and agree to its program."""
    await user.see("Open the sample")
    QApplication.clipboard().setText(config)
    user.press(Key.Key_V, CTRL)
    await user.push("Import 1 server")
    await user.come_to("servers")
    await user.push("Allow and start")
    await user.see("1 server, 12 tools")


async def write_a_case(user: Keyboard, query: str, tool: str) -> None:
    """Write what the user says, and pick the tool that should be called."""
    await user.go(2, "cases")
    user.press(Key.Key_N, CTRL)
    await user.until(lambda: spoken(user.focus()) == "What the user says")
    user.type(query)
    await user.pick("Expected tool", tool)
    await user.see("Saved")


async def see_the_end(user: Keyboard, before: object = None) -> None:
    """Wait until Runs shows a batch, another one than before, and no batch runs."""
    runs = user.screen("runs", RunsPage).presenter
    await user.until(lambda: runs.batch and runs.current != before and runs.batches.newest_active() is None)


async def run_with(user: Keyboard, model: str, address: str) -> None:
    """Run every case with a model, and wait for its answers."""
    await user.go(3, "runs")
    before = user.screen("runs", RunsPage).presenter.current
    user.press(Key.Key_R, CTRL)
    await user.see("Run test cases")
    await user.tab_to("Who answers")
    user.press(Key.Key_Right)
    await user.tab_to("Model")
    user.type(model)
    await user.push("More options…")
    await user.tab_to("Address")
    user.type(address)
    await user.push("Run 1 case")
    await see_the_end(user, before)


TEXT = {"type": "string", "description": "Words to look for."}
LOOK_ALIKES = [
    {"name": "search_notes", "description": "Search the notes for words. The matching notes are returned."},
    {"name": "find_notes", "description": "Find the notes that hold some words. All the matching notes are returned."},
    {"name": "delete_file", "description": "Delete a file for good."},
]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A workspace with a server whose tools are easily confused."""
    schema = {"type": "object", "properties": {"query": TEXT}, "required": ["query"]}
    tools, workspace = tmp_path / "notes.json", tmp_path / "drafted.db"
    tools.write_text(json.dumps([{**tool, "inputSchema": schema} for tool in LOOK_ALIKES]), "utf-8")
    assert say("servers", "add", "notes", "--tools-file", tools, "--workspace", workspace).code == 0
    return workspace


async def test_from_a_server_to_drafted_cases_a_run_and_what_to_write_instead(qapp: QApplication, notes: Path) -> None:
    async with at_the_window(notes) as user:
        await user.go(1, "servers")
        await keep_drafts(user, 10)
        await run_offline(user, 10)
        await copy_advice(user)


async def keep_drafts(user: Keyboard, number: int) -> None:
    """Draft cases for the server, edit one, drop one, and keep so many with one key each."""
    await user.command("Draft test cases for the server")
    await user.see(" left")
    await user.wake()
    await user.tab_to("Drafted cases")
    user.press(Key.Key_D)
    user.press(Key.Key_Z, CTRL)
    user.press(Key.Key_K, times=number - 1)
    user.press(Key.Key_E)
    user.type("Which spare parts fit a folding bike?")
    user.press(Key.Key_Return)
    await user.see(f"{number} kept, 0 dropped")
    await user.push(f"Add {number} cases")
    await user.see(f"Added {number} cases")


async def run_offline(user: Keyboard, number: int) -> None:
    """Run the drafted cases with the baseline, whose result says that they were generated."""
    await user.go(2, "cases")
    user.press(Key.Key_R, CTRL)
    await user.see(f"All {number} cases")
    await user.push(f"Run {number} cases")
    await user.go(3, "runs")
    await see_the_end(user)
    await user.see(f"{number} of {number} cases were generated")


async def copy_advice(user: Keyboard) -> None:
    """Find the look-alikes of the catalogue, open the most confusable pair and copy what to write instead."""
    await user.go(5, "similarity")
    await user.until(lambda: user.screen("similarity", SimilarityPage).presenter.analysis)
    await user.tab_to("View")
    user.press(Key.Key_Right)
    await user.tab_to("Pairs of tools")
    user.press(Key.Key_Return)
    pair = user.screen("similarity", SimilarityPage).view.pair
    await user.until(lambda: pair.advice.copy.isVisible() and pair.advice.copy.isEnabled())
    QApplication.clipboard().clear()
    await user.push(spoken(pair.advice.copy))
    assert QApplication.clipboard().text()


async def test_from_a_new_library_tool_to_clients_that_are_served(qapp: QApplication, tmp_path: Path) -> None:
    async with at_the_window(tmp_path / "library.db") as user:
        await user.push("Start empty")
        await user.come_to("servers")
        await user.go(8, "library")
        await design_a_tool(user)
        await try_the_tool(user)
        await evaluate_the_tool(user)
        await improve_the_tool(user)
        await serve_the_tool(user)


async def design_a_tool(user: Keyboard) -> None:
    """Make a tool with one parameter that a script carries out, and save that as its second version."""
    user.press(Key.Key_N, CTRL)
    await user.see("Small letters")
    await user.tab_to("Name")
    user.type("find_parts")
    await user.tab_to("Description")
    user.type("Find spare parts of bikes by words.")
    await user.push("Create tool")
    await user.until(lambda: user.screen("library", LibraryPage).presenter.detail.versions)
    await user.tab_to("Runs as")
    user.press(Key.Key_Space)
    await user.choose("Python script")
    await user.until(lambda: not user.window.findChildren(QMenu))
    await user.push("Add a parameter")
    user.type("words")
    user.press(Key.Key_Tab)
    user.press(Key.Key_S, CTRL)
    await user.see("Saved version 2 of find_parts")
    assert user.screen("library", LibraryPage).presenter.tool is not None


async def try_the_tool(user: Keyboard) -> None:
    """Run it with an argument, and agree to its script."""
    user.press(Key.Key_Return, CTRL)
    await user.until(lambda: "words" in spoken(user.focus()))
    user.type("bicycle chain")
    user.press(Key.Key_Return, CTRL)
    await user.push("Allow and start")
    output = user.screen("library", LibraryPage).view.run.output
    await user.until(lambda: "bicycle chain" in output.toPlainText())


async def evaluate_the_tool(user: Keyboard) -> None:
    """Write the first case that expects it, and run that offline."""
    user.press(Key.Key_E, CTRL)
    await user.come_to("cases")
    await user.until(lambda: spoken(user.focus()) == "What the user says")
    user.type("Do you have spare parts, such as a chain for my bike?")
    await user.see("Run 1 case…")
    user.press(Key.Key_R, CTRL)
    await user.push("Run 1 case")
    await user.go(3, "runs")
    await see_the_end(user)
    await user.see("Selected find_parts")


async def improve_the_tool(user: Keyboard) -> None:
    """Read how often it was selected, and say more in a third version, of which nothing is known yet."""
    await user.go(8, "library")
    await user.see("selected in 1 of 1")
    await user.tab_to("Parts of the tool")
    user.press(Key.Key_Left)
    await user.tab_to("Description")
    user.press(Key.Key_End, CTRL)
    QTest.keyClicks(user.focus(), " Returns their part numbers.")
    user.press(Key.Key_S, CTRL)
    await user.see("Saved version 3 of find_parts")
    await user.see("version 3 not evaluated")


async def serve_the_tool(user: Keyboard) -> None:
    """Activate it, and serve it at an address, for which its script was agreed to before."""
    await user.tab_to("Status of the tool")
    user.press(Key.Key_Space)
    await user.choose("Activate")
    await user.see("find_parts is active now")
    await user.push("Serve outside…")
    await user.push("Serve at an address")
    await user.see("The window serves the library")
    await user.push("Stop serving")
    await user.see("Only programs on this computer")
    user.press(Key.Key_Escape)
