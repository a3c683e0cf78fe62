"""The process behind the first frame: log, crash hooks, the event loop, and the workspace controller."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

import resources
from app.core_link.bridge import Addresses
from app.core_link.ending_signals import Shutdown
from app.core_link.gc_policy import GarbageCollection
from app.core_link.preferences import Preferences
from app.core_link.settings import Settings
from app.shell.crash_reports import CrashHooks, apply_log_level, start_log
from app.shell.main_frame import PRODUCT, MainFrame
from app.shell.workspace_controller import WorkspaceController
from app.theme import theme
from mcp_tef import SessionSecrets

if TYPE_CHECKING:
    from mcp_tef import Engine

ICON = Path(resources.__file__).parent / "icons" / "mcp-tef-256.png"


def run(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    """Run until the window is closed, and return the exit code."""
    from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

    theme().follow()
    preferences = Preferences(settings)
    log_file = start_log(Path(platformdirs.user_log_dir(PRODUCT, appauthor=False)))
    apply_log_level(preferences)
    running = QApplication.instance()
    if isinstance(running, QApplication):
        running.setQuitOnLastWindowClosed(False)
        running.setWindowIcon(QIcon(str(ICON)))
        running.setDesktopFileName("mcp-tef-desktop")
    addresses = Addresses()
    open_core = partial(open_engine, show=addresses.wanted.emit, preferences=preferences)
    bench = WorkspaceController(frame, settings, open_core, log_file)
    addresses.wanted.connect(bench.offer_sign_in)
    hooks = CrashHooks(bench.report_crash)
    hooks.install()
    loop = QEventLoop(running)
    hooks.watch(loop)
    garbage_collection = GarbageCollection()
    garbage_collection.start()
    with loop:
        life = loop.create_task(bench.live(workspace))
        shutdown = Shutdown(bench.end, life.done)
        if isinstance(running, QApplication):
            shutdown.follow(running)
        with shutdown.signals.handled():
            _run_until_ended(loop, life, bench)
    garbage_collection.stop()
    return shutdown.signals.exit_code or 0


def _run_until_ended(loop: asyncio.AbstractEventLoop, life: "asyncio.Task[None]", bench: WorkspaceController) -> None:
    """Run the event loop; if Qt quits early, still close everything in order."""
    while not life.done():
        with suppress(RuntimeError):
            loop.run_until_complete(life)
        bench.end()
    life.result()


async def open_engine(
    workspace: Path | None,
    held: SessionSecrets | None = None,
    show: Callable[[str], None] | None = None,
    preferences: Preferences | None = None,
) -> "Engine":
    """Open the core with the preferences on the caller's thread, importing its heavy parts only here."""
    from mcp_tef import Engine

    settings = preferences.core() if preferences else {}
    return await Engine.open(workspace, show=show, settings=settings, held=held, recover=True)
