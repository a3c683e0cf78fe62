"""Whole afternoons at the real window, with real servers and a model on loopback, and no mouse."""

import json
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.screens.runs.page import RunsPage
from app.screens.similarity.page import SimilarityPage
from app.widgets.matrix import MatrixChart
from tests.support.command_line import command
from tests.support.keyboard_user import CTRL, Keyboard, at_the_window, spoken, the
from tests.support.model_replies import Received, Reply, tool_calls, words
from tests.support.model_stub import ModelStub
from tests.support.windows import drive, until

Key = Qt.Key


def runs(user: Keyboard) -> RunsPage:
    """The Runs screen."""
    page = user.window.page("runs")
    assert isinstance(page, RunsPage)
    return page


def similarity(user: Keyboard) -> SimilarityPage:
    """The Similarity screen."""
    page = user.window.page("similarity")
    assert isinstance(page, SimilarityPage)
    return page


def test_from_the_first_start_to_a_confusion_and_what_to_write_instead(qapp: QApplication, tmp_path: Path) -> None:
    report = tmp_path / "report.html"

    async def work() -> None:
        async with at_the_window(tmp_path / "first.db") as user:
            await look_at_the_sample(user, report)

    drive(work())
    assert "What to work on" in report.read_text("utf-8")


async def look_at_the_sample(user: Keyboard, report: Path) -> None:
    """Run the sample, follow a confusion to what to write instead, copy that and export a report."""
    await user.see("Open the sample")
    user.press(Key.Key_Return)
    await user.come_to("runs")
    await user.push("cases offline")
    await user.see("Picked")
    await until(lambda: runs(user).presenter.batches.newest_active() is None)
    await user.go(4, "metrics")
    await user.tab_to("Confusion matrix")
    await walk_to_a_confusion(user, the(MatrixChart, user.window))
    user.press(Key.Key_Return)
    await user.come_to("runs")
    await until(lambda: "advice" in runs(user).detail.links())
    user.press(Key.Key_I, CTRL)
    await user.come_to("similarity")
    pair = similarity(user).view.pair
    await until(lambda: pair.advice.copy.hasFocus())
    user.press(Key.Key_Space)
    assert QApplication.clipboard().text()
    await user.push("Export")
    await user.choose("Similarity report")
    await user.save_as(report)


async def walk_to_a_confusion(user: Keyboard, chart: MatrixChart) -> None:
    """Walk with the arrows to the cell that a wrong tool was most often picked in."""
    matrix = chart.matrix()
    names = list(zip(matrix.rows, matrix.row_keys, strict=True))
    wrong = {
        cell: number
        for cell, number in matrix.cells.items()
        if matrix.keys[cell[1]] not in ("–", "?", names[cell[0]][1]) and names[cell[0]][1] != "–"
    }
    row, column = max(wrong, key=lambda cell: wrong[cell])
    user.press(Key.Key_Home)
    user.press(Key.Key_Down, times=row + 1)
    user.press(Key.Key_Right, times=column)
    assert chart.current() == (row, column)


def test_from_a_config_and_a_case_to_two_models_compared(qapp: QApplication, tmp_path: Path) -> None:
    program, *rest = command("sample-server")
    config = json.dumps({"mcpServers": {"bikes": {"command": program, "args": rest}}})

    async def work(address: str) -> None:
        async with at_the_window(tmp_path / "own.db") as user:
            await compare_two_models(user, config, address)

    with ModelStub(only_the_first_finds_it) as stub:
        drive(work(stub.url))


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
    await user.see("0 fixed and 1 regressed")
    await user.see("The batches asked different models")
    await user.see("Picked no tool, expected find_parts")


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
    await until(lambda: spoken(user.focus()) == "What the user says")
    user.type(query)
    await user.pick("Expected tool", tool)
    await user.see("Saved")


async def run_with(user: Keyboard, model: str, address: str) -> None:
    """Run every case with a model, and wait for its answers."""
    await user.go(3, "runs")
    before = runs(user).presenter.current
    user.press(Key.Key_R, CTRL)
    await user.see("Run test cases")
    await user.tab_to("Selector")
    user.press(Key.Key_Right)
    await user.tab_to("Model")
    user.type(model)
    await user.tab_to("Address")
    user.type(address)
    await user.push("Run 1 case")
    await until(lambda: runs(user).presenter.current != before and runs(user).presenter.batches.newest_active() is None)
