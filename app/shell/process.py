"""The process behind the first frame: log, crash hooks, event loop, workspace controller, and an orderly shutdown."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

import resources
from app.core_link.bridge import Addresses
from app.core_link.gc_policy import GarbageCollection
from app.core_link.preferences import Preferences
from app.core_link.settings import Settings
from app.shell.crash_reports import CrashHooks, apply_log_level, start_log
from app.shell.main_frame import PRODUCT, MainFrame
from app.shell.workspace_controller import WorkspaceController
from app.theme import theme
from mcp_tef import EndingSignals, SessionSecrets, kill_process_groups

if TYPE_CHECKING:
    from mcp_tef import Engine


ICON = Path(resources.__file__).parent / "icons" / "mcp-tef-256.png"
# Desktops wait 5 s and more before they kill what has not ended.
LONGEST_MS: Final = 4_000
_LOOK_EVERY_MS: Final = 20


class Shutdown:
    """Calls `end` when the system asks the program to end; `has_ended` returns True once everything is closed.

    Python handles a signal before its own next step; the timer that collects garbage runs ten of them a second.
    """

    def __init__(self, end: Callable[[], object], has_ended: Callable[[], bool], longest_ms: int = LONGEST_MS) -> None:
        self._longest_ms = longest_ms
        self._end = end
        self._has_ended = has_ended
        self.signals = EndingSignals(lambda: QTimer.singleShot(0, end), kill_process_groups)

    def follow(self, application: QGuiApplication) -> None:
        """End with the desktop session, and wait here until all is closed: afterwards no code runs any more."""
        application.commitDataRequest.connect(self._end_with_session)

    def _end_with_session(self) -> None:
        self._end()
        waiting = QEventLoop()
        look = QTimer(interval=_LOOK_EVERY_MS)
        look.timeout.connect(lambda: waiting.quit() if self._has_ended() else None)
        look.start()
        QTimer.singleShot(self._longest_ms, waiting.quit)
        waiting.exec()


def run(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    """Run until the window is closed, and return the exit code."""
    import qasync  # type: ignore[import-untyped]  # it ships no types

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
    loop = qasync.QEventLoop(running)
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
    """Open the core with the preferences on the caller's thread, importing its heavy parts only here.

    Parts that every session needs are loaded before the first query, which would wait for them.
    """
    from mcp_tef import Engine

    settings = preferences.core() if preferences else {}
    engine = await Engine.open(workspace, show=show, settings=settings, held=held, recover=True)
    for part in ("servers", "runs", "metrics"):
        getattr(engine, part)
    return engine
