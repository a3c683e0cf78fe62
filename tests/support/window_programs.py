"""Programs that open the real window: one prints the colours in it, one runs every case until its input ends.

`python -m tests.support.window_programs PROGRAM [WORKSPACE]`, where PROGRAM is a name in `PROGRAMS`.
"""

import sys
from pathlib import Path

import numpy as np
from PySide6.QtCore import QCoreApplication, QSocketNotifier, QTimer

from app.core_link.settings import Settings
from app.main import main
from app.shell.main_frame import MainFrame
from app.shell.process import run
from app.shell.workspace_controller import WorkspaceController
from mcp_tef import BatchRequest
from tests.support.displayed_text import pixels

MANY_PIXELS = 100
POLL_MS = 50


def print_colours(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    """Print a line of the colours in the window whenever they change."""
    printed: set[int] = set()

    def look() -> None:
        nonlocal printed
        colours, numbers = np.unique(pixels(frame.grab().toImage()), return_counts=True)
        now = set(colours[numbers >= MANY_PIXELS].tolist())
        if frame.updatesEnabled() and now != printed:
            printed = now
            print(*(f"#{colour:06x}" for colour in now), flush=True)

    timer = QTimer(frame, interval=POLL_MS)
    timer.timeout.connect(look)
    timer.start()
    return run(frame, settings, workspace)


def run_all_cases(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    """Start a batch of every case with the usual model; when standard input ends, Qt leaves its loop."""
    timer = QTimer(frame, interval=POLL_MS)

    def start() -> None:
        controller = getattr(frame.on_close, "__self__", None)
        if isinstance(controller, WorkspaceController) and controller.session and controller.window:
            timer.stop()
            begun = controller.session.call(lambda core: core.runs.start(BatchRequest(models=(core.models.default,))))
            controller.session.spawn(begun)

    timer.timeout.connect(start)
    timer.start()
    ended = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, frame)
    ended.activated.connect(lambda: ended.setEnabled(False))
    ended.activated.connect(lambda: QCoreApplication.exit(0))
    return run(frame, settings, workspace)


PROGRAMS = {"print-colours": print_colours, "run-all-cases": run_all_cases}

if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], PROGRAMS[sys.argv[1]]))
