"""A newcomer's path, in clicks and seconds: from starting the app in an empty home to the first verdict.

A process of its own, with the window, the core and the sample server as they are shipped; somebody who knows nothing
clicks the first thing that is offered, each as soon as it is there. Budget: 3 clicks, 15 seconds.

    python -m tests.benchmarks.first_verdict
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLICKS, SECONDS = 3, 15.0

NEWCOMER = """
import os, time
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPushButton
from app.main import main
from app.shell.process import run

OFFERED = ("Open the sample", "offline")
BEGAN = float(os.environ["BEGAN"])

class Newcomer:
    def __init__(self, frame):
        self.frame, self.clicks = frame, []
        self.timer = QTimer(frame, interval=10)
        self.timer.timeout.connect(self.look)
        self.timer.start()

    def look(self):
        if len(self.clicks) < len(OFFERED):
            self.click(OFFERED[len(self.clicks)])
        elif any(part.text() for part in self.heads() if part.text().startswith("Selected")):
            print(len(self.clicks), round(time.monotonic() - BEGAN, 2), *self.clicks, flush=True)
            os._exit(0)

    def click(self, words):
        buttons = [one for one in self.frame.findChildren(QPushButton) if one.isVisible() and one.isEnabled()]
        for one in buttons:
            if one.text().endswith(words):
                self.clicks.append(repr(one.text()))
                one.click()
                return

    def heads(self):
        from app.screens.runs.verdict_pane import VerdictPane
        return [pane.head.sentence for pane in self.frame.findChildren(VerdictPane) if pane.isVisible()]

def work(frame, settings, workspace, *rest):
    newcomer = Newcomer(frame)
    return run(frame, settings, workspace, *rest)

main([], work)
"""


def main() -> int:
    """Print the path; 1 where the budget is broken."""
    with tempfile.TemporaryDirectory() as home:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        began = time.monotonic()
        surroundings = {"QT_QPA_PLATFORM": "offscreen", **clean, "HOME": home, "BEGAN": str(began)}
        said = subprocess.run(
            [sys.executable, "-c", NEWCOMER],
            env={**surroundings, "PYTHONPATH": str(ROOT)},
            cwd=home,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=120,
        )
    clicks, seconds, *names = said.stdout.strip().split(maxsplit=2)
    print(f"first verdict: {clicks} clicks ({' '.join(names)}), {seconds} s (budget {CLICKS} clicks, {SECONDS:.0f} s)")
    return int(int(clicks) > CLICKS or float(seconds) > SECONDS)


if __name__ == "__main__":
    sys.exit(main())
