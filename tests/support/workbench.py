"""The whole application as it starts, over a core in memory or a workspace on disk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.core_link.settings import Settings
from app.shell.main_frame import MainFrame
from app.shell.main_window import MainWindow
from app.shell.open_error_page import OpenErrorPage
from app.shell.process import open_engine
from app.shell.screen_specs import screens
from app.shell.workspace_controller import OpenCore, WorkspaceController
from tests.support.fake_engine import FakeEngine
from tests.support.windows import shown, until


@asynccontextmanager
async def workbench(
    core: FakeEngine | OpenCore = open_engine,
    settings: Settings | None = None,
    workspace: Path | None = None,
    size: tuple[int, int] = (1280, 800),
    **more: Any,
) -> AsyncIterator[WorkspaceController]:
    """Start the application, wait for its window or the page that says why there is none, and leave it at the end."""
    kept = settings or Settings(None)
    frame = MainFrame(kept)
    bench = WorkspaceController(frame, kept, (lambda *_: core.open()) if isinstance(core, FakeEngine) else core, **more)
    shown(frame, *size)
    life = asyncio.create_task(bench.live(workspace))
    await until(lambda: bench.window is not None or error_page(bench) is not None)
    try:
        yield bench
    finally:
        bench.leave()
        await life
        frame.close()
        frame.deleteLater()


def window(bench: WorkspaceController) -> MainWindow:
    """The window, which must be there."""
    assert bench.window is not None
    return bench.window


def build_pages(inside: MainWindow) -> None:
    """Build every page now: a window builds them one after another, with pauses, while nobody looks."""
    for place in screens():
        inside.page(place.key)


def error_page(bench: WorkspaceController) -> OpenErrorPage | None:
    """The page that says why a workspace cannot be opened, if it is shown."""
    return next((found for found in bench.frame.findChildren(OpenErrorPage) if found.isVisible()), None)
