"""A program: the real window, which says on a line which colours are seen in it, whenever those are others."""

import sys
from pathlib import Path

import numpy as np
from PySide6.QtCore import QTimer

from app.core_link.settings import Settings
from app.main import main
from app.shell.main_frame import MainFrame
from app.shell.process import run
from tests.support.legible import pixels

MUCH = 100
LOOK_EVERY_MS = 50


def watched(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    """Work as ever, and say what is seen."""
    said: list[set[int]] = [set()]

    def look() -> None:
        colours, numbers = np.unique(pixels(frame.grab().toImage()), return_counts=True)
        now = set(colours[numbers >= MUCH].tolist())
        if frame.updatesEnabled() and now != said[-1]:
            said.append(now)
            print(*(f"#{colour:06x}" for colour in now), flush=True)

    timer = QTimer(frame, interval=LOOK_EVERY_MS)
    timer.timeout.connect(look)
    timer.start()
    return run(frame, settings, workspace)


if __name__ == "__main__":
    sys.exit(main([], watched))
