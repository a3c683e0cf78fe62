"""How long the window's thread works without a pause while somebody uses the rest of the window, and a full workspace.

The real window, offscreen, by keyboard: settings, help, palette, themes, text size, an import of 1,000 cases, deleting
and undoing; then a workspace with a past of 100,000 runs: opened, sorted, filtered, looked at on every screen, left for
another one. What is measured says `watch_roles.py`.

    python -m tests.benchmarks.afternoon_stalls [RUNS] [--full FILE]
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.core_link.targets import ShowRuns
from app.help.window import HelpWindow
from app.screens.cases.page import CasesPage
from app.screens.kit import NO_FILTERS
from app.screens.metrics.filters import Dimension
from app.screens.metrics.page import MetricsPage
from app.screens.runs.page import RunsPage
from app.screens.settings.dialog import SettingsDialog
from mcp_tef import RunFilter, RunOrder
from tests.benchmarks.history_metrics import filled
from tests.benchmarks.journey_stalls import SCREENS
from tests.benchmarks.watch_roles import WORST_MS, Watch, WatchedKeyboard, go_through, prepared, told, watched
from tests.support.keyboard_user import CTRL, Keyboard
from tests.support.windows import until

Key = Qt.Key
CASES = 1_000
TABS = 7
SETTLED_S = 0.3


def at_once(do: Callable[[], object]) -> None:
    """Have the window do something by itself, so that it counts as its own work."""
    QTimer.singleShot(0, do)


async def does(user: Keyboard, step: str) -> None:
    """From now on it is this step; what the one before left over is done by then."""
    await asyncio.sleep(SETTLED_S)
    assert isinstance(user, WatchedKeyboard)
    user.watch.step = step


async def use_the_window(user: Keyboard, cases: str) -> None:
    """Everything that is not a screen, and cases in and out."""
    await user.see("Open the sample")
    user.press(Key.Key_Return)
    await user.come_to("runs")
    await user.push("cases offline")
    await user.see("Selected ")
    await look_around(user)
    await change_the_looks(user)
    await bring_in(user, cases)
    await delete_and_undo(user)


async def look_around(user: Keyboard) -> None:
    """Settings with every tab, help, palette, lists."""
    await does(user, "settings")
    user.press(Key.Key_Comma, CTRL)
    await until(lambda: isinstance(QApplication.activeModalWidget(), SettingsDialog))
    sheet = QApplication.activeModalWidget()
    assert isinstance(sheet, SettingsDialog)
    await user.tab_to("Settings")
    for number in range(1, TABS):
        await does(user, f"settings, tab {number + 1}")
        user.press(Key.Key_Right)
    await close_sheet(user)
    await does(user, "help")
    user.press(Key.Key_F1)
    await until(lambda: any(isinstance(one, HelpWindow) and one.isVisible() for one in QApplication.topLevelWidgets()))
    await does(user, "help, closed")
    next(one for one in QApplication.topLevelWidgets() if isinstance(one, HelpWindow)).close()
    await user.wake()
    await does(user, "palette")
    await user.command("Show all shortcuts")
    await until(QApplication.activeModalWidget)
    await close_sheet(user)
    await does(user, "recent messages")
    await user.command("Show recent messages")
    await until(QApplication.activeModalWidget)
    await close_sheet(user)


async def close_sheet(user: Keyboard) -> None:
    """Esc, and wait until it is gone."""
    await does(user, "a sheet closed")
    await user.wake()
    user.press(Key.Key_Escape)
    await until(lambda: QApplication.activeModalWidget() is None)
    await user.wake()


async def change_the_looks(user: Keyboard) -> None:
    """Dark and back, larger text and back."""
    for mode in ("dark", "light"):
        await does(user, f"{mode} theme")
        at_once(partial(user.bench.dialog.set_theme, mode))
    for key, words in ((Key.Key_Plus, "larger text"), (Key.Key_0, "usual text")):
        await does(user, words)
        before = user.window
        user.press(key, CTRL)
        await user.push("Reopen now")
        await until(lambda before=before: user.bench.window not in (before, None))  # type: ignore[misc]
        await user.come_to("runs")
    for number, place in enumerate(SCREENS, 1):
        await does(user, f"after that, to {place}")
        await user.go(number, place)


async def bring_in(user: Keyboard, cases: str) -> None:
    """Paste 1,000 cases and import them."""
    await does(user, "import: preview")
    QApplication.clipboard().setText(cases)
    await user.go(2, "cases")
    user.press(Key.Key_V, CTRL)
    await user.see(f"Import {CASES:,} cases")
    await does(user, "import: storing and showing")
    await user.push(f"Import {CASES:,} cases")
    await until(lambda: page_of(user, CasesPage, "cases").presenter.total > CASES)
    await does(user, "import: afterwards")
    await user.go(1, "servers")
    await user.go(2, "cases")


async def delete_and_undo(user: Keyboard) -> None:
    """All cases away and back."""
    page = page_of(user, CasesPage, "cases")
    await user.wake()
    await does(user, "all cases selected")
    page.table.setFocus()
    user.press(Key.Key_A, CTRL)
    await does(user, "all cases deleted")
    user.press(Key.Key_Delete)
    await until(lambda: not page.presenter.total)
    await does(user, "deleting undone")
    user.press(Key.Key_Z, CTRL)
    await until(lambda: page.presenter.total > CASES)
    await does(user, "case searched for")
    user.press(Key.Key_F, CTRL)
    user.type("case 77")


async def use_a_full_workspace(user: Keyboard, other: Path) -> None:
    """A start with a past, its runs sorted and filtered, every screen, another workspace."""
    await does(user, "opened where it was left")
    await user.come_to(user.window.current)
    for _ in range(2):
        for number, place in enumerate(SCREENS, 1):
            await does(user, f"to {place}")
            await user.go(number, place)
    await user.go(3, "runs")
    await sort_and_filter(user)
    await user.go(4, "metrics")
    metrics = page_of(user, MetricsPage, "metrics")
    suite = NO_FILTERS.with_values(Dimension.SUITE, "Everyday")
    steps = {
        "one suite": partial(metrics._filter, suite),
        "everything again": partial(metrics._filter, NO_FILTERS),
        **{view: partial(metrics.show_view, view) for view in ("models", "repeats", "compare", "overview")},
    }
    for name, step in steps.items():
        await does(user, f"metrics, {name}")
        at_once(step)
        await asyncio.sleep(SETTLED_S)
        await metrics.settled()
    await does(user, "another workspace")
    before = user.window
    user.bench.workspaces.open(other)
    await until(lambda: user.bench.window not in (before, None))
    await until(lambda: user.window.current)
    await user.come_to(user.window.current)


async def sort_and_filter(user: Keyboard) -> None:
    """All runs of all batches in another order, and some of them."""
    page = page_of(user, RunsPage, "runs")
    await does(user, "all runs")
    at_once(lambda: page.open_target(ShowRuns(RunFilter(), "All runs")))
    await does(user, "runs sorted")
    at_once(lambda: page.run_list.order_changed.emit(RunOrder.CONFIDENCE, True))
    await does(user, "runs searched")
    user.press(Key.Key_F, CTRL)
    user.type("case 19")
    await does(user, "runs walked")
    page.run_list.table.setFocus()
    user.press(Key.Key_End)
    user.press(Key.Key_PageUp, times=5)


def page_of(user: Keyboard, kind: type[Any], place: str) -> Any:
    """The page of a screen."""
    page = user.window.page(place)
    assert isinstance(page, kind)
    return page


def made_cases() -> str:
    """Cases as somebody has them in a file."""
    return json.dumps(
        [
            {"query": f"How is part number {n} ordered, and by whom?", "name": f"case {n}", "expected": None}
            for n in range(CASES)
        ]
    )


def measure(folder: Path, full: Path) -> dict[str, Watch]:
    """Every journey with its watch."""
    cases = made_cases()
    journeys: dict[str, tuple[Path, Callable[[Keyboard], Coroutine[Any, Any, None]]]] = {
        "the whole window": (folder / "whole.db", lambda user: use_the_window(user, cases)),
        "a full workspace": (full, lambda user: use_a_full_workspace(user, folder / "whole.db")),
    }
    seen: dict[str, Watch] = {}
    for name, (workspace, journey) in journeys.items():
        seen[name] = Watch()
        go_through(watched(seen[name], workspace, journey))
        seen[name].stop()
    return seen


def main() -> int:
    """Print a table; 1 where the limit is passed."""
    parser = argparse.ArgumentParser(description="Stalls of the window's thread in a long afternoon.")
    parser.add_argument("runs", nargs="?", type=int, default=100_000)
    parser.add_argument("--full", type=Path, help="a workspace with a past, made before")
    chosen = parser.parse_args()
    random.seed(20261121)
    with tempfile.TemporaryDirectory() as folder:
        prepared(Path(folder))
        full = chosen.full or Path(folder) / "full.db"
        if chosen.full is None:
            asyncio.run(filled(full, chosen.runs))
        worst = told(measure(Path(folder), full))
    return int(worst >= WORST_MS)


if __name__ == "__main__":
    sys.exit(main())
