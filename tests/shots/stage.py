"""The real window offscreen, as pictures need it: one workspace at a time, standing still before each picture."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor, QCursor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.core_link.session import Page, Session
from app.core_link.settings import KEY, Settings
from app.core_link.targets import Target
from app.shell.main_window import MainWindow
from app.shell.workspace_controller import WorkspaceController
from app.theme import Contrast, ThemeMode
from app.widgets import Dialog
from tests.support.windows import until
from tests.support.workbench import workbench

LOOK_EVERY_S = 0.05
ALIKE = 6


class Stage:
    """One window over one workspace; scenes arrange it, and it takes the picture."""

    def __init__(self, bench: WorkspaceController) -> None:
        self.bench = bench

    @property
    def window(self) -> MainWindow:
        """The window inside the frame."""
        assert self.bench.window is not None
        return self.bench.window

    @property
    def session(self) -> Session:
        """What screens share."""
        assert self.bench.session is not None
        return self.bench.session

    async def page(self, key: str, target: Target | None = None) -> Page:
        """Go to a screen, and wait until it has read what it shows."""
        self.window.show_screen(key, target)
        page = self.window.page(key)
        await page.settled()
        return page

    def do(self, command_id: str) -> None:
        """Do a command by its id, as the palette would."""
        command = next(one for one in self.session.commands.possible() if one.id == command_id)
        self.session.do(command.do)

    async def sheet(self) -> Dialog:
        """The dialog that is opening."""
        await until(lambda: any(sheet.isVisible() for sheet in self.bench.frame.findChildren(Dialog)))
        return next(sheet for sheet in self.bench.frame.findChildren(Dialog) if sheet.isVisible())

    async def picture(self) -> QImage:
        """What a user sees, once it has stood still for a moment."""
        if self.bench.window is not None and self.window.current:
            await self.window.page(self.window.current).settled()
        pictures = [_picture(self.bench.frame)]

        def still() -> bool:
            pictures.append(_picture(self.bench.frame))
            return len(pictures) >= ALIKE and all(one == pictures[-1] for one in pictures[-ALIKE:])

        await until(still, every=LOOK_EVERY_S)
        return pictures[-1]

    async def clear(self) -> None:
        """Close whatever stands above the window; who waited for its answer has it then."""
        for widget in _above(self.bench.frame):
            (widget.reject if isinstance(widget, QDialog) else widget.close)()
        await until(lambda: not _above(self.bench.frame))
        await asyncio.sleep(0)


def looks(name: str) -> tuple[ThemeMode, Contrast]:
    """What `light`, `dark`, `light-high` and `dark-high` stand for."""
    mode, _, contrast = name.partition("-")
    return ThemeMode(mode), Contrast(contrast or "system")


@asynccontextmanager
async def staged(workspace: Path, look: str, text: int, window: str) -> AsyncIterator[Stage]:
    """A window of a size that has opened a workspace, with text of a size, and is left at the end."""
    settings = Settings(None)
    for key, chosen in zip(("theme", "contrast"), looks(look), strict=True):
        settings.set(key, chosen.value)
    settings.set(KEY, text)
    width, height = map(int, window.split("x"))
    async with workbench(settings=settings, workspace=workspace, size=(width, height)) as bench:
        QCursor.setPos(bench.frame.screen().geometry().bottomRight())  # where it hovers over nothing
        yield Stage(bench)


async def built(stage: Stage) -> None:
    """Wait until every screen has been made ahead, as a moment after the start."""
    await until(stage.window.is_built)


def _above(frame: QWidget) -> list[QWidget]:
    return [widget for widget in QApplication.topLevelWidgets() if widget.isVisible() and widget is not frame]


def _picture(frame: QWidget) -> QImage:
    image = frame.grab().toImage()
    painter = QPainter(image)
    for widget in _above(frame):
        if widget.windowFlags():
            at = widget.mapToGlobal(QPoint()) - frame.mapToGlobal(QPoint())
            painter.drawPixmap(at, widget.grab())
            painter.setPen(QColor(128, 128, 128))
            painter.drawRect(widget.rect().translated(at).adjusted(0, 0, -1, -1))
    painter.end()
    return image
