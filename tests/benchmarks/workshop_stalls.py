"""How long the window's thread works without a pause while a draft is typed, predicted and tried in the Workshop.

The real window, offscreen: the sample, and a server of 500 tools with 500 cases. Typing has pauses, so that each is a
step with a prediction. What is measured says `watch_roles.py`.

    python -m tests.benchmarks.workshop_stalls
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import Qt

from app.core_link.targets import ChangeTool
from app.screens.workshop.page import WorkshopPage
from mcp_tef import ToolLabel
from tests.benchmarks.prediction_speed import opened
from tests.benchmarks.watch_roles import WORST_MS, Watch, WatchedKeyboard, go_through, prepared, told, watched
from tests.journeys.test_change_a_tool import BETTER, to_the_wrong_run
from tests.support.keyboard_user import CTRL, Keyboard
from tests.support.windows import until

MANY = 500
PAUSE_S = 0.7
WORDS = BETTER.split()
AT_ONCE = 6


async def on_the_sample(user: Keyboard) -> None:
    """A wrong run of the sample, a better text, a trial."""
    await user.see("Open the sample")
    user.press(Qt.Key.Key_Return)
    await user.come_to("runs")
    await user.push("cases offline")
    await user.see("Selected ")
    await type_and_try(user, await to_the_wrong_run(user))


async def with_many_tools(user: Keyboard) -> None:
    """A draft over 500 tools that is typed and tried."""
    step(user, "open a draft of 500 tools")
    user.window.go(ChangeTool(ToolLabel(tool="tool_7", server="many")))
    await user.come_to("workshop")
    page = user.window.page("workshop")
    assert isinstance(page, WorkshopPage)
    await until(lambda: page.presenter.revision().name == "tool_7", seconds=60)
    await type_and_try(user, page)


def step(user: Keyboard, name: str) -> None:
    """Name the step that is watched."""
    assert isinstance(user, WatchedKeyboard)
    user.watch.step = name


async def type_and_try(user: Keyboard, page: WorkshopPage) -> None:
    """Type with pauses, then try the draft offline."""
    await until(lambda: page.view.editor.row("description"), seconds=60)
    row = page.view.editor.row("description")
    assert row is not None
    row.draft.setFocus()
    step(user, "type with pauses, predict and save")
    for place in range(0, len(WORDS), AT_ONCE):
        user.type(" ".join(WORDS[: place + AT_ONCE]))
        await asyncio.sleep(PAUSE_S)
    await until(lambda: page.presenter.prediction is not None and page.trial.can_try(), seconds=60)
    step(user, "try offline, up to the verdict")
    user.press(Qt.Key.Key_Return, CTRL)
    await until(page.view.banner.isVisible, seconds=120)
    step(user, "after the verdict")
    await asyncio.sleep(PAUSE_S)


async def fill(folder: Path) -> None:
    """Make the workspace of many tools."""
    engine = await opened(folder, MANY)
    server = await engine.servers.find("many")
    await engine.servers.tools(server.id)
    await engine.close()


def main() -> int:
    """Print a table; 1 where the limit is passed."""
    seen = {"the sample": Watch(), f"{MANY} tools and cases": Watch()}
    first, second = seen.values()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        asyncio.run(fill(folder))
        go_through(watched(first, folder / "sample.db", on_the_sample))
        first.stop()
        go_through(watched(second, folder / "work.db", with_many_tools))
        second.stop()
        worst = told(seen)
    return int(worst >= WORST_MS)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        application = prepared(Path(home))
        failed = main()
    sys.exit(failed)
