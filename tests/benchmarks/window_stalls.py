"""How long the window's thread stands still while a batch of 1,000 runs fills the open Runs screen.

The real window, offscreen, over the real engine and a workspace on disk. A timer of 1 ms on the window's thread notes
how late it comes. Limits: worst stall < 50 ms, p99 < 16 ms. The same timer is read once with the window at rest, to
tell what the machine itself takes.

    python -m tests.benchmarks.window_stalls [--runs 1000] [--model]

`--model` asks a scripted model server on loopback, in a process of its own, instead of the offline baseline.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

from app.core_link.bridge import Bridge
from app.core_link.session import Page, Session
from app.core_link.settings import Settings
from app.core_link.targets import ShowBatch
from app.screens.runs.page import RunsPage
from app.shell.main_window import MainWindow
from app.shell.screen_specs import ScreenSpec
from app.theme import ThemeMode, theme
from app.widgets import IncrementalBuild
from mcp_tef import (
    Batch,
    BatchRequest,
    CaseDraft,
    Engine,
    Expectation,
    ExpectedCall,
    ModelSettings,
    Secret,
    ServerSpec,
    Transport,
)
from tests.benchmarks.batch_roles import TOOLS, query

CASES = 40
WORST_MS = 50.0
P99_MS = 16.0
REST_S = 3.0


class Watch(QObject):
    """Notes by how many milliseconds a timer of 1 ms comes late, and how long the thread itself computed meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self.own: list[float] = []
        self._last = self._last_own = 0.0
        self._timer = QTimer(self, interval=1, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Note from now on."""
        self.late, self.own = [], []
        self._last, self._last_own = time.perf_counter(), time.thread_time()
        self._timer.start()

    def stop(self) -> tuple[list[float], list[float]]:
        """What was noted, lateness and own work, least first."""
        self._timer.stop()
        return sorted(self.late), sorted(self.own)

    def _tick(self) -> None:
        now, own = time.perf_counter(), time.thread_time()
        self.late.append(max(0.0, (now - self._last) * 1000 - 1))
        self.own.append((own - self._last_own) * 1000)
        self._last, self._last_own = now, own


async def fill(core: Engine, folder: Path) -> None:
    """A tools file and its cases."""
    file = folder / "tools.json"
    file.write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
    await core.servers.add(ServerSpec(name="shop", transport=Transport.FILE, path=str(file)))
    drafts = [
        CaseDraft(
            name=f"case {number}",
            query=query(number),
            expectation=Expectation(((ExpectedCall(tool=TOOLS[number % len(TOOLS)]["name"], server="shop"),),)),
            servers=("shop",),
        )
        for number in range(CASES)
    ]
    await core.cases.add(drafts)


@contextmanager
def model_server(wanted: bool) -> Iterator[str]:
    """The url of a scripted model server; empty where none is wanted."""
    if not wanted:
        yield ""
        return
    command = [sys.executable, "-m", "tests.support.model_stub", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        port = "".join(filter(str.isdigit, server.stdout.readline().split(":")[-1].split("/")[0]))
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


async def typed(core: Engine, url: str) -> None:
    """Take the address of the stub as typed, so that its key may be sent there."""
    core.consents.add_typed_address("openai", url)


def settings_for(url: str) -> ModelSettings:
    """The offline baseline, or the model server."""
    return ModelSettings(provider="openai", model="stub-model", base_url=url) if url else ModelSettings()


async def measure(folder: Path, runs: int, url: str) -> dict[str, tuple[list[float], list[float]]]:
    """Lateness and own work at rest and during a batch, in milliseconds."""
    session = Session(Bridge(lambda: Engine.open(folder / "bench.db")), Settings(None))
    session.bridge.start()
    await session.call(lambda core: fill(core, folder))
    window = MainWindow(session, [ScreenSpec(key="runs", title="Runs", icon="play-circle", make=_page)], "benchmark")
    window.resize(1280, 800)
    window.setStyleSheet(theme().sheet)
    window.show()
    window.show_screen("runs")
    await window.page("runs").settled()
    await session.call(lambda core: typed(core, url))
    await run(session, BatchRequest(models=(settings_for(url),)))
    watch = Watch()
    watch.start()
    await asyncio.sleep(REST_S)
    rest = watch.stop()
    page = window.page("runs")
    assert isinstance(page, RunsPage)
    watch.start()
    request = BatchRequest(
        models=(settings_for(url),), repeats=max(1, runs // CASES), concurrency=16, name=f"{runs} runs"
    )
    batch = await session.call(lambda core: core.runs.start(request, {"openai": Secret("sk-bench")}))
    page.open_target(ShowBatch(batch.id))
    await session.call(lambda core: core.runs.wait(batch.id))
    await shown(page, batch)
    busy = watch.stop()
    await session.close()
    return {"at rest": rest, f"during {runs:,} runs": busy}


async def run(session: Session, request: BatchRequest) -> None:
    """A first batch, so that everything heavy has been imported."""
    batch = await session.call(lambda core: core.runs.start(request, {"openai": Secret("sk-bench")}))
    await session.call(lambda core: core.runs.wait(batch.id))


async def shown(page: RunsPage, batch: Batch) -> None:
    """Wait until the screen shows the end of the batch."""
    ended = asyncio.Event()
    poll = QTimer(page, interval=50)
    poll.timeout.connect(
        lambda: (
            ended.set()
            if page.presenter.batches.newest_active() is None and page.presenter.current == batch.id
            else None
        )
    )
    poll.start()
    await ended.wait()
    poll.stop()
    await asyncio.sleep(0.3)


def _page(session: Session) -> IncrementalBuild[Page]:
    yield
    return RunsPage(session)


def figures(late: list[float]) -> tuple[float, float]:
    """The worst and the 99th percentile."""
    return late[-1], late[int(len(late) * 0.99)]


def main() -> int:
    """Print the figures; 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description="Stalls of the window's thread during a batch.")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--model", action="store_true")
    chosen = parser.parse_args()
    running = QApplication.instance() or QApplication(["benchmark"])
    theme().install(ThemeMode.LIGHT, application_wide=False)
    with tempfile.TemporaryDirectory() as folder, model_server(chosen.model) as url, QEventLoop(running) as loop:
        seen = loop.run_until_complete(measure(Path(folder), chosen.runs, url))
    for words, (late, own) in seen.items():
        worst, p99 = figures(late)
        print(f"{words:<20} worst {worst:6.1f} ms   p99 {p99:5.1f} ms   own work at most {own[-1]:5.1f} ms")
    print(f"limits: worst {WORST_MS:.0f} ms, p99 {P99_MS:.0f} ms; the rest is other threads and processes")
    return int(worst >= WORST_MS or p99 >= P99_MS)


if __name__ == "__main__":
    sys.exit(main())
