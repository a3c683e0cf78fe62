"""A program: the real window, which runs every case of its workspace; when its input ends, Qt leaves its loop."""

import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QSocketNotifier, QTimer

from app.core_link.settings import Settings
from app.main import main
from app.shell.main_frame import MainFrame
from app.shell.process import run
from app.shell.workspace_controller import WorkspaceController
from mcp_tef import BatchRequest

LOOK_EVERY_MS = 20


def at_work(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    """Work as ever, with a batch under way."""
    timer = QTimer(frame, interval=LOOK_EVERY_MS)

    def start() -> None:
        bench = getattr(frame.on_close, "__self__", None)
        if isinstance(bench, WorkspaceController) and bench.session is not None and bench.window is not None:
            timer.stop()
            bench.session.spawn(bench.session.call(lambda core: core.runs.start(BatchRequest())))

    timer.timeout.connect(start)
    timer.start()
    ended = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, frame)
    ended.activated.connect(lambda: ended.setEnabled(False))
    ended.activated.connect(lambda: QCoreApplication.exit(0))
    return run(frame, settings, workspace)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], at_work))
