"""How long the window's thread stands still, and how soon the metrics screen answers, with 100,000 runs stored.

The real window, offscreen, over the real engine and a workspace on disk: the screen is opened, filtered, its views
are turned through, two batches are compared, a cell's runs are opened. Limits: worst stall < 50 ms a step.

    python -m tests.benchmarks.metrics_screen [RUNS] [--pictures FOLDER]
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

from app.core_link.bridge import Bridge
from app.core_link.gc_policy import GarbageCollection
from app.core_link.session import Session
from app.core_link.settings import Settings
from app.screens.kit import NO_FILTERS, FilterValues
from app.screens.metrics.filters import Dimension
from app.screens.metrics.page import MetricsPage
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.theme import ThemeMode, theme
from mcp_tef import Engine
from mcp_tef.storage.store import open_store
from tests.benchmarks.history_metrics import finish, planned
from tests.benchmarks.window_stalls import Watch
from tests.support.windows import grab

WORST_MS = 50.0
Step = Callable[[], Coroutine[object, object, None]]


async def filled(path: Path, runs: int) -> None:
    """A workspace with a past."""
    store = await open_store(path)
    _, snapshot = await planned(store, runs)
    finish(path, snapshot)
    await store.close()


async def measure(path: Path, pictures: Path | None) -> dict[str, tuple[float, float, float]]:
    """By step: seconds until it is all shown, worst stall, and the window's own longest work, in milliseconds."""
    session = Session(Bridge(lambda: Engine.open(path)), Settings(None))
    session.bridge.start()
    await session.value(lambda core: core.workspace)
    window = MainWindow(session, screens(), "benchmark")
    window.resize(1280, 800)
    window.setStyleSheet(theme().sheet)
    window.show()
    await window.prepare()
    page = window.page("metrics")
    assert isinstance(page, MetricsPage)
    seen: dict[str, tuple[float, float, float]] = {}
    for name, step in steps(window, page).items():
        watch = Watch()
        watch.start()
        started = time.perf_counter()
        await step()
        took = time.perf_counter() - started
        await asyncio.sleep(0.4)
        late, own = watch.stop()
        seen[name] = (took, late[-1], own[-1])
        if pictures is not None:
            grab(window, pictures / f"{'-'.join(name.split())}.png")
    await session.close()
    return seen


def steps(window: MainWindow, page: MetricsPage) -> dict[str, Step]:
    """What a user does, one after the other."""

    async def first() -> None:
        window.show_screen("metrics")
        await page.settled()

    async def filtered(filters: FilterValues) -> None:
        page._filter(filters)
        await page.settled()

    async def turned(key: str) -> None:
        page.show_view(key)
        await asyncio.sleep(0.6)

    async def cell() -> None:
        page.overview.square.opened.emit(3, 3)
        await asyncio.sleep(0.6)

    return {
        "open": first,
        "one suite": partial(filtered, NO_FILTERS.with_values(Dimension.SUITE, "Everyday")),
        "everything again": partial(filtered, NO_FILTERS),
        "models": partial(turned, "models"),
        "repeats": partial(turned, "repeats"),
        "compare": partial(turned, "compare"),
        "overview": partial(turned, "overview"),
        "runs of a cell": cell,
    }


def main() -> int:
    """Print the table; 1 where a stall was too long."""
    parser = argparse.ArgumentParser(description="Stalls of the window's thread on the metrics screen.")
    parser.add_argument("runs", nargs="?", type=int, default=100_000)
    parser.add_argument("--pictures", type=Path)
    chosen = parser.parse_args()
    random.seed(20261121)
    running = QApplication.instance() or QApplication(["benchmark"])
    theme().install(ThemeMode.LIGHT, application_wide=False)
    garbage_collection = GarbageCollection()
    garbage_collection.start()
    with tempfile.TemporaryDirectory() as folder, QEventLoop(running) as loop:
        path = Path(folder) / "workspace.db"
        asyncio.run(filled(path, chosen.runs))
        seen = loop.run_until_complete(measure(path, chosen.pictures))
    for name, (took, worst, own) in seen.items():
        late = "  TOO LONG" if worst >= WORST_MS else ""
        print(f"{name:<18} shown after {took:5.2f} s   worst stall {worst:6.1f} ms   own work {own:5.1f} ms{late}")
    return int(any(worst >= WORST_MS for _, worst, _ in seen.values()))


if __name__ == "__main__":
    sys.exit(main())
