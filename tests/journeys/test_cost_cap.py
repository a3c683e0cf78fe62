"""What a batch may cost: told before it starts, kept while it runs, and raised when it is used up."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.screens.runs.page import RunsPage
from mcp_tef import Batch, BatchStatus
from tests.support import workspace_files
from tests.support.command_line import say
from tests.support.keyboard_user import CTRL, Keyboard, at_the_window
from tests.support.model_stub import ModelStub
from tests.support.windows import until

Key = Qt.Key
DEAR = "openai/gpt-4"
CASES = 10
CAP = 0.05
PRICE = "30,60"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with a server out of a file and ten cases."""
    path = tmp_path / "work.db"
    cases = workspace_files.case_file(tmp_path, [workspace_files.weather(number) for number in range(CASES)])
    for arguments in (
        ("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path)),
        ("servers", "check", "city"),
        ("cases", "import", cases),
    ):
        assert say(*arguments, "--workspace", path).code == 0
    return path


def newest(user: Keyboard) -> Batch:
    """The batch that is shown, as the screen knows it."""
    page = user.window.page("runs")
    assert isinstance(page, RunsPage)
    found = page.presenter.batch
    assert found is not None
    return found


def judged(batch: Batch) -> int:
    """How many runs have a verdict."""
    return batch.count("TP")


async def test_a_cap_is_told_kept_and_raised_in_the_window(qapp: QApplication, workspace: Path) -> None:
    with ModelStub() as stub:
        async with at_the_window(workspace) as user:
            await start_with_a_cap(user, stub.url)
            await until(lambda: "All cases stopped: The cost cap of $0.05 would be passed." in said(user))
            stopped = newest(user)
            assert stopped.status is BatchStatus.CANCELLED
            assert 0 < judged(stopped) < CASES
            assert stopped.cost_usd is not None
            assert CAP / 2 < stopped.cost_usd <= CAP
            await raise_the_cap(user)
            await until(lambda: newest(user).status is BatchStatus.COMPLETED)
            ended = newest(user)
            assert (judged(ended), ended.max_cost_usd) == (CASES, 1.0)
            assert ended.cost_usd is not None
            assert ended.cost_usd > stopped.cost_usd
        assert len(stub.requests) == CASES


def said(user: Keyboard) -> list[str]:
    """What the window told."""
    return [one.text for one in user.window.session.messages]


async def start_with_a_cap(user: Keyboard, address: str) -> None:
    """Start every case with a dear model and too small a cap, once the estimate has been read."""
    await user.go(3, "runs")
    user.press(Key.Key_R, CTRL)
    await user.see("Run test cases")
    await user.tab_to("Who answers")
    user.press(Key.Key_Right)
    await user.tab_to("Model")
    user.type(DEAR)
    await user.tab_to("Cost cap")
    user.type(f"{CAP:g}")
    await user.push("More options…")
    await user.tab_to("Price in, out")
    user.type(PRICE)
    await user.tab_to("Answer limit")
    user.type("100")
    await user.tab_to("Address")
    user.type(address)
    await user.see("10 runs · about ")
    await user.see(" tokens · about $0.")
    await user.push("Run 10 cases")


async def raise_the_cap(user: Keyboard) -> None:
    """Go on with the batch: read what was spent, and allow a dollar."""
    await user.push("Resume")
    await user.see("Cost cap reached")
    await user.see("of $0.05 was spent. The remaining runs cost at most $")
    await user.tab_to("New cap")
    user.type("0.05")
    user.press(Key.Key_Return)
    await user.see("Enter a number above 0.05.")
    user.type("1")
    user.press(Key.Key_Return)


def test_a_cap_is_kept_and_raised_on_the_command_line(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with ModelStub() as stub:
        model = ("--model", DEAR, "--base-url", stub.url, "--price", PRICE, "--max-tokens", "100")
        first = say("run", *model, "--max-cost", f"{CAP:g}", "--workspace", workspace, "--json")
        assert first.code == 1
        assert "The cost cap of $0.05 would be passed." in first.err
        assert first.document["stopped"] == "The cost cap of $0.05 would be passed."
        shown = say("runs", "show", first.document["batch"], "--workspace", workspace, "--json")
        assert shown.document["stopped"] == first.document["stopped"]
        before = [one for one in first.document["runs"] if one["classification"] == "TP"]
        assert 0 < len(before) < CASES
        assert CAP / 2 < sum(one["cost_usd"] for one in before) <= CAP
        again = say("runs", "resume", "--workspace", workspace, "--json")
        assert (again.code, again.error["code"]) == (2, "cost_cap_used_up")
        assert "is used up: $0.0" in again.error["message"]
        last = say("runs", "resume", "--max-cost", "1", "--workspace", workspace, "--json")
        assert (last.code, last.document["stopped"]) == (0, None)
        assert len([one for one in last.document["runs"] if one["classification"] == "TP"]) == CASES
        assert {json.dumps(one) for one in before} <= {json.dumps(one) for one in last.document["runs"]}
        assert len(stub.requests) == CASES
