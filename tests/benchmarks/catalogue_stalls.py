"""How long the window's thread stands still while 3,000 models are shown, filtered, searched and sorted.

The real window, offscreen, over the real engine. Limit: worst stall of the thread's own work < 50 ms.

    python -m tests.benchmarks.catalogue_stalls
"""

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

from app.core_link.bridge import Bridge
from app.core_link.session import Session
from app.core_link.settings import Settings
from app.core_link.targets import ShowModels
from app.screens.models.catalogue_tab import CatalogueTab
from app.screens.models.page import ModelsPage
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.theme import ThemeMode, theme
from mcp_tef import Engine
from tests.benchmarks.window_stalls import WORST_MS, Watch

SETTLE_S = 0.5


async def measure(folder: Path) -> dict[str, float]:
    """Worst own work of a turn in milliseconds, for each step."""
    session = Session(Bridge(lambda: Engine.open(folder / "bench.db")), Settings(None))
    session.bridge.start()
    window = MainWindow(session, screens(), "benchmark")
    window.resize(1280, 800)
    window.setStyleSheet(theme().sheet)
    window.show()
    watch, found = Watch(), {}

    async def step(name: str, do: Callable[[], object]) -> None:
        watch.start()
        do()
        await asyncio.sleep(SETTLE_S)
        _, own = watch.stop()
        found[name] = own[-1] if own else 0.0

    window.show_screen("servers")
    await window.page("servers").settled()
    page = window.page("models")
    assert isinstance(page, ModelsPage)
    await step("show", lambda: window.show_screen("models", ShowModels("catalogue")))
    await page.settled()
    tab = page.tab("catalogue")
    assert isinstance(tab, CatalogueTab)
    print(f"{tab.table.rows.rowCount():,} models")
    await step("read again", page.request_refresh)
    await step("search", lambda: tab.find_rows("gpt"))
    await step("clear search", lambda: tab.find_rows(""))
    await step("filter by tools", lambda: tab.tools.changed.emit("yes"))
    await step("filter by price", lambda: tab.price.changed.emit("1"))
    await step("show all", tab.clear)
    for column in range(len(tab.table.columns)):
        await step(f"sort by {tab.table.columns[column].title}", lambda at=column: tab.table.sort_by(at))  # type: ignore[misc]
    window.close()
    await session.close()
    return found


def main() -> int:
    """Print the worst stall of each step; 1 where one passes the limit."""
    running = QApplication(["bench"])
    running.setQuitOnLastWindowClosed(False)
    theme().install(ThemeMode.LIGHT)
    with QEventLoop(running) as loop, tempfile.TemporaryDirectory() as folder:
        found = loop.run_until_complete(measure(Path(folder)))
    for name, worst in found.items():
        print(f"{name:24} {worst:6.1f} ms")
    worst = max(found.values())
    print(f"worst: {worst:.1f} ms, limit {WORST_MS:.0f} ms")
    return int(worst >= WORST_MS)


if __name__ == "__main__":
    raise SystemExit(main())
