"""How smoothly 2,000 × 2,000 cells pan and zoom, and how long the window's thread stands still meanwhile.

The real window, offscreen, over the real engine and a tools file. Frames are painted one after the other, as fast as
they come. Limits: at least 30 frames a second in each kind of movement, worst stall < 50 ms a step.

    python -m tests.benchmarks.heatmap_speed [TOOLS] [--pictures FOLDER]
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

from app.core_link.bridge import Bridge
from app.core_link.gc_policy import GarbageCollection
from app.core_link.session import Session
from app.core_link.settings import Settings
from app.screens.similarity.labels import MapKind
from app.screens.similarity.page import SimilarityPage
from app.shell.main_window import MainWindow
from app.shell.screen_specs import screens
from app.theme import ThemeMode, theme
from app.widgets.heatmap import Heatmap
from mcp_tef import Engine, ServerSpec, Transport
from tests.benchmarks.window_stalls import Watch
from tests.support.windows import grab, until

LEAST_FPS = 30.0
WORST_MS = 50.0
FRAMES = 60
VERBS = ("search", "list", "read", "create", "delete", "update", "move", "copy", "count", "export")
THINGS = ("file", "issue", "branch", "note", "invoice", "ticket", "image", "message", "event", "order", "user", "page")
WHERE = ("in a workspace", "of a project", "on the server", "by name", "by date", "of a customer", "in the archive")
Step = Callable[[], Coroutine[object, object, None]]


def made_tools(number: int) -> list[dict[str, object]]:
    """Tools that look alike in families, as `tools/list` gives them."""
    random.seed(20261121)
    return [_made_tool(place) for place in range(number)]


def _made_tool(place: int) -> dict[str, object]:
    verb, thing, where = (random.choice(words) for words in (VERBS, THINGS, WHERE))
    properties = {name: {"type": "string"} for name in random.sample((*THINGS, "limit", "query"), 3)}
    return {
        "name": f"{verb}_{thing}_{place}",
        "description": f"{verb.capitalize()} every {thing} {where} and return what was found. {random.choice(THINGS)}.",
        "inputSchema": {"type": "object", "properties": properties},
    }


async def fill(core: Engine, folder: Path, number: int) -> None:
    """One tools file, seen."""
    file = folder / "tools.json"
    file.write_text(json.dumps({"tools": made_tools(number)}), encoding="utf-8")
    server = await core.servers.add(ServerSpec(name="made", transport=Transport.FILE, path=str(file)))
    await core.servers.tools(server.id)


def frames(heatmap: Heatmap, move: Callable[[int], None]) -> tuple[float, float]:
    """Frames a second, and the longest frame in milliseconds."""
    took = []
    for number in range(FRAMES):
        started = time.perf_counter()
        move(number)
        heatmap.repaint()
        took.append(time.perf_counter() - started)
    return 1 / median(took), max(took) * 1000


def movements(heatmap: Heatmap) -> dict[str, Callable[[int], None]]:
    """Ways to move, each with the zoom it starts at."""

    def pan(number: int) -> None:
        step = 9 if number % 40 < 20 else -9
        heatmap._move(heatmap.port().moved(step, step))

    def zoom(number: int) -> None:
        at = QPointF(heatmap.rect().center())
        heatmap.zoom(1.25 if number % 40 < 20 else 0.8, at)

    return {"zoom in and out": zoom, "pan": pan}


def measure_frames(heatmap: Heatmap) -> dict[str, tuple[float, float]]:
    """By movement: frames a second and the longest frame."""
    seen: dict[str, tuple[float, float]] = {}
    for side in (None, 1.0, 5.0, 16.0, 40.0):
        heatmap.fit()
        if side is not None:
            heatmap.zoom(side / heatmap.port().side)
        for name, move in movements(heatmap).items():
            where = "whole" if side is None else f"{side:g} px a cell"
            seen[f"{name}, {where}"] = frames(heatmap, move)
    heatmap.fit()
    return seen


def steps(window: MainWindow, page: SimilarityPage) -> dict[str, Step]:
    """What a user does, one after the other."""

    async def opened() -> None:
        window.show_screen("similarity")
        await page.settled()

    async def coloured(kind: MapKind) -> None:
        page._choose_kind(kind)
        await until(lambda: page._shown[1] is kind)

    async def threshold() -> None:
        for value in range(100, 60, -1):
            page.view.map.scale.setValue(value)
            await asyncio.sleep(0.01)
        await asyncio.sleep(1)

    async def turned(key: str) -> None:
        page.show_view(key)
        await asyncio.sleep(0.6)

    async def pair() -> None:
        page.pair.open((3, 4))
        await asyncio.sleep(1.5)

    async def searched() -> None:
        page.search.setText("search_file")
        await asyncio.sleep(1.5)

    return {
        "open": opened,
        "wording": partial(coloured, MapKind.LEXICAL),
        "overlap": partial(coloured, MapKind.OVERLAP),
        "similarity": partial(coloured, MapKind.SIMILARITY),
        "threshold": threshold,
        "one pair": pair,
        "pairs": partial(turned, "pairs"),
        "search": searched,
        "groups": partial(turned, "groups"),
        "map": partial(turned, "map"),
    }


async def measure(folder: Path, number: int, pictures: Path | None) -> tuple[dict[str, tuple[float, float]], bool]:
    """The frames, after the steps were printed; whether a step stalled too long."""
    session = Session(Bridge(lambda: Engine.open(folder / "workspace.db")), Settings(None))
    session.settings.set("similarity.embedder", "tfidf")
    session.bridge.start()
    await session.call(lambda core: fill(core, folder, number))
    window = MainWindow(session, screens(), "benchmark")
    window.resize(1280, 800)
    window.show()
    await asyncio.sleep(1)

    async def make() -> None:
        window.page("similarity")

    stalled = await _watched("make the page", make)
    page = window.page("similarity")
    assert isinstance(page, SimilarityPage)
    for name, step in steps(window, page).items():
        stalled |= await _watched(name, step)
        if pictures is not None:
            grab(window, pictures / f"{number}-{'-'.join(name.split())}.png")
    found = measure_frames(page.view.map.heatmap)
    await session.close()
    return found, stalled


async def _watched(name: str, step: Step) -> bool:
    watch = Watch()
    watch.start()
    started = time.perf_counter()
    await step()
    took = time.perf_counter() - started
    await asyncio.sleep(0.4)
    late, own = watch.stop()
    mark = "  TOO LONG" if late[-1] >= WORST_MS else ""
    print(f"{name:<24} done after {took:5.2f} s   worst stall {late[-1]:6.1f} ms   own work {own[-1]:5.1f} ms{mark}")
    return late[-1] >= WORST_MS


def main() -> int:
    """Print the tables; 1 where something was too slow."""
    parser = argparse.ArgumentParser(description="Frames and stalls of the heatmap.")
    parser.add_argument("tools", nargs="?", type=int, default=2_000)
    parser.add_argument("--pictures", type=Path)
    chosen = parser.parse_args()
    running = QApplication.instance() or QApplication(["benchmark"])
    theme().install(ThemeMode.LIGHT)
    garbage_collection = GarbageCollection()
    garbage_collection.start()
    with tempfile.TemporaryDirectory() as folder, QEventLoop(running) as loop:
        found, stalled = loop.run_until_complete(measure(Path(folder), chosen.tools, chosen.pictures))
    for name, (fps, longest) in found.items():
        slow = "  TOO SLOW" if fps < LEAST_FPS else ""
        print(f"{name:<34} {fps:6.1f} frames a second   longest frame {longest:5.1f} ms{slow}")
    return int(stalled or any(fps < LEAST_FPS for fps, _ in found.values()))


if __name__ == "__main__":
    sys.exit(main())
