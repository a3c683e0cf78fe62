"""Cost of watching 50 servers with the Health tab open: share of one core, and stalls of the window's thread.

`python -m tests.benchmarks.health_watch [--servers 50] [--rounds 4]`. The servers are one sample server over HTTP in a
process of its own, registered so many times. Every round checks all of them; the share is the processor time of a round
over the 60 s between two rounds. Limits: less than 2 % of one core, and no turn of the window's thread of 50 ms own
work.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import IO

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

from app.core_link.bridge import Bridge
from app.core_link.session import Page, Session
from app.core_link.settings import Settings
from app.core_link.targets import ShowServerHealth
from app.screens.servers.page import ServersPage
from app.shell.main_window import MainWindow
from app.shell.screen_specs import ScreenSpec
from app.theme import ThemeMode, theme
from app.widgets import IncrementalBuild
from mcp_tef import AuthType, Engine, ServerSpec, Transport, new_token
from tests.benchmarks.window_stalls import Watch, figures

SECONDS_BETWEEN = 60.0
MOST_SHARE = 0.02
MOST_OWN_MS = 50.0


async def register(core: Engine, url: str, number: int) -> None:
    """So many servers at one address, all of them allowed."""
    for place in range(number):
        spec = ServerSpec(
            name=f"shop {place}",
            transport=Transport.STREAMABLE_HTTP,
            url=f"{url}?{place}",
            auth_type=AuthType.BEARER,
            secret="${SHOP_TOKEN}",
        )
        await core.consents.allow_server(spec)
        await core.servers.add(spec)


async def round_of(core: Engine, rounds: int) -> None:
    """Watch until every server was checked so many times, one round right after the other."""
    done = 0

    async def wait(_seconds: float) -> None:
        nonlocal done
        done += 1
        if done == rounds:
            raise StopAsyncIteration

    try:
        async for _ in core.health.watch(wait=wait):
            pass
    except RuntimeError:  # the generator ends so
        return


async def measure(folder: Path, url: str, servers: int, rounds: int) -> tuple[float, list[float], list[float]]:
    """Processor seconds of a round, and lateness and own work of the window's thread in milliseconds."""
    session = Session(Bridge(lambda: Engine.open(folder / "bench.db")), Settings(None))
    session.bridge.start()
    await session.call(partial(register, url=url, number=servers))
    window = MainWindow(session, [ScreenSpec(key="servers", title="Servers", icon="hard-drives", make=_page)], "bench")
    window.resize(1280, 800)
    window.setStyleSheet(theme().sheet)
    window.show()
    window.show_screen("servers", ShowServerHealth("shop 1"))
    await window.page("servers").settled()
    await session.call(partial(round_of, rounds=1))
    watch = Watch()
    watch.start()
    before = time.process_time()
    await session.call(partial(round_of, rounds=rounds))
    await window.page("servers").settled()
    used = (time.process_time() - before) / rounds
    late, own = watch.stop()
    await session.close()
    return used, late, own


def _page(session: Session) -> IncrementalBuild[Page]:
    yield
    return ServersPage(session)


def written(file: IO[str], text: str) -> str:
    """Write a text to a file; its name."""
    file.write(text)
    file.flush()
    return file.name


def main() -> int:
    """Print the figures; 1 where a limit is passed."""
    parser = argparse.ArgumentParser(description="Cost of watching servers.")
    parser.add_argument("--servers", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    chosen = parser.parse_args()
    application = QApplication(sys.argv[:1])
    theme().install(ThemeMode.LIGHT)
    command = [sys.executable, "-m", "mcp_tef", "sample-server", "--http", "0", "--token-file"]
    os.environ["SHOP_TOKEN"] = token = new_token()
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.NamedTemporaryFile("w", suffix=".token") as file,
        subprocess.Popen(
            [*command, written(file, token)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as server,
        QEventLoop(application) as loop,
    ):
        assert server.stdout is not None
        asyncio.set_event_loop(loop)
        try:
            url = next(word for line in server.stdout for word in line.split() if word.startswith("http://"))
            work = measure(Path(folder), url.rstrip("."), chosen.servers, chosen.rounds)
            used, late, own = loop.run_until_complete(work)
        finally:
            server.terminate()
    share = used / SECONDS_BETWEEN
    print(f"{chosen.servers} servers: {used:.2f} s of processor a round, {share:.2%} of one core at one round a minute")
    for name, times in (("late", late), ("own work", own)):
        worst, p99 = figures(times)
        print(f"window's thread, {name}: worst {worst:.1f} ms, p99 {p99:.1f} ms, {len(times):,} turns")
    return int(share >= MOST_SHARE or figures(own)[0] >= MOST_OWN_MS)


if __name__ == "__main__":
    sys.exit(main())
