"""Somebody at the real window with a keyboard and no mouse."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QMenu, QWidget

from app.shell.main_window import MainWindow
from app.shell.workspace_controller import WorkspaceController
from app.widgets import FlowText, LineText
from tests.support.windows import until
from tests.support.workbench import workbench

Found = TypeVar("Found", bound=QWidget)
MOST_TABS = 120
CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
PLAIN = Qt.KeyboardModifier.NoModifier


class Keyboard:
    """Keys go to whatever has the focus; nothing else is ever touched."""

    def __init__(self, bench: WorkspaceController) -> None:
        self.bench = bench

    @property
    def window(self) -> MainWindow:
        """The window, which must be open."""
        assert self.bench.window is not None
        return self.bench.window

    def screen(self, place: str, kind: type[Found]) -> Found:
        """The screen at a place."""
        found = self.window.page(place)
        assert isinstance(found, kind)
        return found

    def focus(self) -> QWidget:
        """What has the keyboard, or gets it now that the window above has closed."""
        window = QApplication.activePopupWidget() or QApplication.activeWindow() or self.below()
        return window.focusWidget() or window

    def below(self) -> QWidget:
        """The window that gets the keyboard when another one closes."""
        return QApplication.activeModalWidget() or self.bench.frame

    def is_heard(self) -> bool:
        """Whether a window has the keyboard; if not, activate the one below, as a window manager does after a close."""
        if QApplication.activeWindow() is None:
            self.below().activateWindow()
        return QApplication.activeWindow() is not None

    def press(self, key: Qt.Key, how: Qt.KeyboardModifier = PLAIN, times: int = 1) -> None:
        """Press a key."""
        for _ in range(times):
            QTest.keyClick(self.focus(), key, how)

    def type(self, text: str) -> None:
        """Type text, in place of what is there."""
        self.press(Qt.Key.Key_A, CTRL)
        QTest.keyClicks(self.focus(), text)

    async def wake(self) -> None:
        """Be in the sheet that is open, else in the window itself; a window manager sees to that."""
        calm = 0  # a popup that closes may be active once more for a moment
        while calm < 2:
            last = self.below()
            calm = calm + 1 if QApplication.activeWindow() is last else 0
            if not calm:
                last.activateWindow()
            await asyncio.sleep(0.005)

    async def tab_to(self, name: str) -> QWidget:
        """Press Tab until something so called has the keyboard."""
        await self.wake()
        seen: list[str] = []
        for _ in range(MOST_TABS):
            if seen and name in spoken(self.focus()):
                return self.focus()
            self.press(Qt.Key.Key_Tab)
            await asyncio.sleep(0)
            seen.append(spoken(self.focus()))
        raise AssertionError(f"Tab never leads to {name!r}; it leads to {list(dict.fromkeys(seen))}")

    async def push(self, name: str) -> None:
        """Tab to a button and push it."""
        await self.see(name)
        await self.tab_to(name)
        self.press(Qt.Key.Key_Space)

    async def command(self, words: str) -> None:
        """Do something by the palette."""
        await self.until(lambda: True)
        self.press(Qt.Key.Key_K, CTRL)
        await until(QApplication.activePopupWidget)
        QTest.keyClicks(QApplication.focusWidget() or self.focus(), words)
        self.press(Qt.Key.Key_Return)
        await until(lambda: QApplication.activePopupWidget() is None)

    async def go(self, number: int, place: str) -> None:
        """Go to a screen, and wait until it shows what it has."""
        await self.wake()
        self.press(Qt.Key(Qt.Key.Key_0 + number), CTRL)
        await self.come_to(place)

    async def come_to(self, place: str) -> None:
        """Wait until a screen is there, and shows what it has."""
        await until(lambda: self.window.current == place)
        await self.window.page(place).settled()
        await self.wake()

    async def pick(self, field: str, words: str) -> None:
        """Find something in the list that a field opens, and take it."""
        await self.tab_to(field)
        self.press(Qt.Key.Key_Space)
        await until(lambda: (popup := QApplication.activePopupWidget()) and popup.isActiveWindow())
        popup = QApplication.activePopupWidget()
        assert popup is not None
        self.type(words)
        self.press(Qt.Key.Key_Return)
        await until(lambda: not popup.isVisible() and not popup.isActiveWindow())
        await self.wake()

    async def choose(self, name: str) -> None:
        """Take an entry of the menu that is open."""
        await until(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        for _ in menu.actions():
            self.press(Qt.Key.Key_Down)
            if (entry := menu.activeAction()) is not None and entry.text().startswith(name):
                self.press(Qt.Key.Key_Return)
                return
        raise AssertionError(f"the menu has no {name!r}: {[entry.text() for entry in menu.actions()]}")

    async def until(self, holds: Callable[[], object], every: float = 0.005) -> None:
        """Wait until something holds, and a window has the keyboard: a key that is pressed next is not lost."""
        await until(lambda: holds() and self.is_heard(), every=every)

    async def see(self, text: str) -> None:
        """Wait until something that can be read, or done, says so."""
        try:
            await self.until(lambda: any(text in said for said in readable()), every=0.02)
        except AssertionError:
            raise AssertionError(f"{text!r} is nowhere; there is {readable()}") from None

    async def save_as(self, file: Path) -> None:
        """Name a file in the dialog that is open."""
        await until(lambda: isinstance(QApplication.activeWindow(), QFileDialog))
        self.type(str(file))
        self.press(Qt.Key.Key_Return)
        await until(file.exists)


def spoken(widget: QWidget) -> str:
    """What a reader of the screen says of a widget."""
    return widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")


def readable() -> list[str]:
    """What can be read now, in whatever windows are open."""
    parts = [part for window in QApplication.topLevelWidgets() for part in window.findChildren(QWidget)]
    seen = [
        part for part in parts if isinstance(part, QLabel | QAbstractButton | FlowText | LineText) and part.isVisible()
    ]
    return [part.text() or part.accessibleName() for part in seen]


def the(kind: type[Found], where: QWidget, fits: Callable[[Found], bool] = lambda _: True) -> Found:
    """The one visible widget of a kind."""
    return next(one for one in where.findChildren(kind) if one.isVisible() and fits(one))


@asynccontextmanager
async def at_the_window(workspace: Path) -> AsyncIterator[Keyboard]:
    """The window over a workspace on disk and the real core, closed in order at the end."""
    async with workbench(workspace=workspace) as bench:
        bench.frame.activateWindow()
        yield Keyboard(bench)
