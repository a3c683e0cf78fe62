"""Whatever stands in the settings, the window starts, and every screen can be gone to."""

import asyncio
import json
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication

from app.core_link.settings import Settings
from app.shell.main_frame import Frame
from app.shell.navigation import places
from app.shell.workspace_controller import Workbench
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drive, shown, until

LISTS: list[Any] = [None, {}, "x", -5, 10**30, [[]], "\ud800"]
MAPPINGS: dict[str, Any] = {
    "widths": {"query": -(10**12), "x": "y"},
    "sort": ["nope", 7],
    "model": 7,
    "suites": 7,
    "": 1,
}
SPOILT: dict[type, Any] = {list: LISTS, dict: MAPPINGS, str: "\ud800" + "x" * 5_000, int: -(10**18), bool: True}


async def visited(file: Path) -> list[tuple[str, ...]]:
    """Start the window with its settings in a file, go everywhere, close it; what it told of failures."""
    engine, settings, told = FakeEngine(), Settings(file), list[tuple[str, ...]]()
    await engine.open_sample()
    frame = Frame(settings)
    bench = Workbench(frame, settings, lambda *_: engine.open())
    shown(frame)
    life = asyncio.create_task(bench.live(None))
    await until(lambda: bench.window is not None)
    assert bench.window is not None
    bench.window.session.failed.connect(lambda *words: told.append(words))
    for place in places():
        bench.window.show_screen(place.key)
        await bench.window.page(place.key).settled()
    bench.leave()
    await life
    frame.close()
    frame.deleteLater()
    return told


def test_every_setting_may_be_spoilt_in_its_own_kind(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    assert drive(visited(file)) == []
    kept = json.loads(file.read_text("utf-8"))
    assert len(kept) > 10
    file.write_text(json.dumps({key: SPOILT[type(value)] for key, value in kept.items()}), "utf-8")
    assert drive(visited(file)) == []
