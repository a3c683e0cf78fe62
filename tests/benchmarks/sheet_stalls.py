"""How long the window's thread works without a pause while sheets, file dialogs and the pages of the help are opened.

The real window, offscreen, over the sample; each is opened for the first time. What is measured says `watch_roles.py`.

    python -m tests.benchmarks.sheet_stalls
"""

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.help.topics import ORDER
from app.help.window import HelpWindow
from app.screens.cases.page import CasesPage
from app.screens.runs.page import RunsPage
from app.screens.servers.page import ServersPage
from app.screens.similarity.comparison_choices import EmbedderDialog
from app.screens.similarity.page import SimilarityPage
from tests.benchmarks.afternoon_stalls import at_once, close_sheet, does, page_of
from tests.benchmarks.watch_roles import WORST_MS, Watch, go_through, prepared, told, watched
from tests.support.keyboard_user import CTRL, Keyboard
from tests.support.windows import until


async def opens(user: Keyboard, step: str, do: Callable[[], object]) -> None:
    """Open something over the window, and close it."""
    await user.wake()
    await does(user, step)
    at_once(do)
    await until(QApplication.activeModalWidget)
    await close_sheet(user)


async def obeys(user: Keyboard, command: str) -> None:
    """Open what a command opens."""
    (found,) = (one for one in user.window.session.commands.possible() if one.id == command)
    await opens(user, found.text, lambda: user.window.session.do(found.do))


async def open_them_all(user: Keyboard) -> None:
    """Each screen with what it opens."""
    await user.see("Open the sample")
    user.press(Qt.Key.Key_Return)
    await user.come_to("runs")
    await user.push("cases offline")
    await user.see("Selected ")
    for step in (on_servers, on_cases, on_runs, on_similarity):
        await step(user)
    await user.go(7, "quality")
    await obeys(user, "quality.ask")
    await read_the_help(user)


async def on_servers(user: Keyboard) -> None:
    """A new server, another one, where to import from, a tool to try."""
    await user.go(1, "servers")
    page = page_of(user, ServersPage, "servers")
    for command in ("add", "edit", "import"):
        await obeys(user, f"servers.{command}")
    server = page.current()
    assert server is not None
    await does(user, "Test the connection")
    at_once(page.check)
    await until(lambda: page.presenter.tools_of(server.id))
    await opens(user, "Try a tool", partial(page.tool_commands.call_tool, page.presenter.tools_of(server.id)[0]))


async def on_cases(user: Keyboard) -> None:
    """Many cases at once, a file to read and one to write, the columns."""
    await user.go(2, "cases")
    page = page_of(user, CasesPage, "cases")
    page.table.setFocus()
    user.press(Qt.Key.Key_A, CTRL)
    for command in ("label", "expect", "import", "export"):
        await obeys(user, f"cases.{command}")
    await opens(user, "Columns", page.table.arrange)


async def on_runs(user: Keyboard) -> None:
    """A run without a model, and with one."""
    await user.go(3, "runs")
    await obeys(user, "runs.start")
    user.window.session.preferences.set("model", "openai/gpt-4.1-mini")
    await opens(user, "Run test cases, with a model", page_of(user, RunsPage, "runs").batch_actions.open_start_dialog)
    await obeys(user, "runs.export")


async def on_similarity(user: Keyboard) -> None:
    """A pair to ask about, another way to compare."""
    await user.go(5, "similarity")
    page = page_of(user, SimilarityPage, "similarity")
    await opens(user, "Ask a model about a pair", partial(page.pair.ask, [(0, 1)]))
    await opens(user, "Another embedder", lambda: EmbedderDialog(page.presenter.request.embedder, page).open())


async def read_the_help(user: Keyboard) -> None:
    """Every page of it."""
    await user.wake()
    await does(user, "help")
    user.press(Qt.Key.Key_F1)
    await until(lambda: helps())
    (shown,) = helps()
    for key in ORDER:
        await does(user, f"help, {key}")
        at_once(partial(shown.follow, f"{key}.md"))
    await does(user, "help, closed")
    shown.close()


def helps() -> list[HelpWindow]:
    """The window of the help, once it is open."""
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, HelpWindow) and one.isVisible()]


def main() -> int:
    """Print a table; 1 where the limit is passed."""
    with tempfile.TemporaryDirectory() as folder:
        prepared(Path(folder))
        watch = Watch()
        go_through(watched(watch, Path(folder) / "sheets.db", open_them_all))
        watch.stop()
        worst = told({"sheets": watch})
    return int(worst >= WORST_MS)


if __name__ == "__main__":
    sys.exit(main())
