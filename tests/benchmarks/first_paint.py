"""How long the window takes to its first paint, beside a bare PySide6 window, in the same run.

Both are whole processes, started in turn; the figure is the ratio of their median times. Budget: 1.25.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROUNDS = 15
BUDGET = 1.25

BARE = """
import sys, time
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

class Window(QMainWindow):
    def paintEvent(self, event):
        print(time.monotonic(), flush=True)
        QApplication.quit()

running = QApplication(["bare"])
window = Window()
window.setCentralWidget(QLabel("mcp-tef"))
window.resize(1280, 800)
window.show()
running.exec()
"""
OURS = """
import time
from app.main import main

def work(frame, settings, workspace):
    print(time.monotonic(), flush=True)
    return 0

main([], work)
"""


def seconds(code: str, home: str) -> float:
    """From the start of a process to the first paint of its window."""
    surroundings = {**os.environ, "HOME": home, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(ROOT)}
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], env=surroundings, cwd=ROOT, capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[0]) - began


def main() -> int:
    """Print the medians and their ratio; 1 where the budget is broken."""
    with tempfile.TemporaryDirectory() as home:
        for code in (BARE, OURS):
            seconds(code, home)
        pairs = [(seconds(BARE, home), seconds(OURS, home)) for _ in range(ROUNDS)]
    bare, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
    ratio = ours / bare
    print(f"first paint: bare {bare:.3f} s, ours {ours:.3f} s, ratio {ratio:.2f} (budget {BUDGET})")
    return int(ratio > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
