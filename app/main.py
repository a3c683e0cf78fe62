"""Start-up: settings, style and the first frame; then the workspace controller takes over.

The first frame waits for nothing: other modules are imported after it has been painted.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSettings, QStandardPaths, QTimer
from PySide6.QtWidgets import QApplication

from app.core_link.settings import Settings
from app.shell.main_frame import PRODUCT, MainFrame
from app.theme import STYLE_OPTION, Contrast, ThemeMode, theme

NO_DISPLAY = "There is no display to open a window on. Use mcp-tef in this terminal, for example: mcp-tef demo"
EXIT_UNREACHABLE = 3


Work = Callable[[MainFrame, Settings, Path | None], int]


def main(argv: Sequence[str] | None = None, work: Work | None = None) -> int:
    """Open the window, run `work` once it has been painted, and return its exit code."""
    given = sys.argv[1:] if argv is None else argv
    if given[:1] == ["--print"]:
        return _print(given[1:])
    workspace = _workspace(given)
    if _no_display():
        sys.stderr.write(f"{NO_DISPLAY}\n")
        return EXIT_UNREACHABLE
    there = QApplication.instance()
    running = there or QApplication([PRODUCT, *STYLE_OPTION])
    running.setApplicationName(PRODUCT)
    file = _settings_file()
    # Qt keeps what its own file dialog remembers in a file of its own.
    QSettings.setPath(QSettings.Format.NativeFormat, QSettings.Scope.UserScope, str(file.parent))
    settings = Settings(file)
    look = settings.choice("theme", ThemeMode), settings.choice("contrast", Contrast)
    theme().install(*look, application_wide=False, has_style=there is None)
    theme().set_text_size(settings.get("window.text_size", 100, lambda value: 80 <= value <= 200))
    frame = MainFrame(settings)
    if settings.get("window.maximised", False):
        frame.showMaximized()
    else:
        frame.show()
    _wait_for_paint(frame)
    return (work or _work)(frame, settings, workspace)


def _work(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    from app.shell.process import run

    return run(frame, settings, workspace)


def _print(given: Sequence[str]) -> int:
    from app.dialogs.pdf_pages import main as print_page

    return print_page(given)


def _workspace(argv: Sequence[str]) -> Path | None:
    if not argv:
        return None
    from argparse import ArgumentParser

    parser = ArgumentParser(prog="mcp-tef-desktop", description="Will a language model select your MCP tool?")
    parser.add_argument("file", type=Path, nargs="?", metavar="FILE", help="the workspace file to open")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="the same, as the command line says it")
    given = parser.parse_args(argv)
    chosen: Path | None = given.workspace or given.file
    return chosen


def _no_display() -> bool:
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM", "") not in ("", "xcb", "wayland"):
        return False
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _settings_file() -> Path:
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericConfigLocation)
    return Path(folder) / PRODUCT / "settings.json"


def _wait_for_paint(frame: MainFrame) -> None:
    painted = QEventLoop()
    frame.on_painted = painted.quit
    QTimer.singleShot(2_000, painted.quit)
    painted.exec()
    frame.on_painted = None
