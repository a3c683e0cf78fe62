"""A program that opens the real window on a workspace and does what its input says, one line at a time.

`browse NUMBER` opens a file dialog in the folder of the workspace, waits until it is listed and closes it; `edit TEXT`
writes the query of the first case. Each line is answered with the locks of this process on the workspace.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSocketNotifier, QTimer
from PySide6.QtWidgets import QFileDialog, QFileSystemModel

from app.core_link.session import Session
from app.core_link.settings import Settings
from app.main import main
from app.shell.main_frame import MainFrame
from app.shell.process import run
from app.shell.workspace_controller import WorkspaceController
from app.widgets.file_dialog import FileChoice, ask_path
from tests.support.windows import until

POLL_MS = 20


class BrowsingUser:
    """Sits at the window of one workspace."""

    def __init__(self, frame: MainFrame, workspace: Path) -> None:
        self._frame = frame
        self._workspace = workspace
        self._input = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read, frame)
        self._input.setEnabled(False)
        self._input.activated.connect(self._read)
        self._timer = QTimer(frame, interval=POLL_MS)
        self._timer.timeout.connect(self._begin)
        self._timer.start()

    @property
    def _controller(self) -> WorkspaceController | None:
        controller = getattr(self._frame.on_close, "__self__", None)
        return controller if isinstance(controller, WorkspaceController) else None

    @property
    def _opened(self) -> WorkspaceController:
        assert self._controller is not None
        return self._controller

    @property
    def _session(self) -> Session:
        assert self._opened.session is not None
        return self._opened.session

    def _begin(self) -> None:
        if self._controller is not None and self._controller.window is not None:
            self._timer.stop()
            self._input.setEnabled(True)
            self._answer()

    def _read(self) -> None:
        self._input.setEnabled(False)
        if line := sys.stdin.readline():
            self._session.spawn(self._do(*line.split(maxsplit=1)))
        else:
            self._opened.leave()

    async def _do(self, verb: str, given: str) -> None:
        await (self._browse(int(given)) if verb == "browse" else self._edit(given.strip()))
        self._answer()
        self._input.setEnabled(True)

    async def _browse(self, number: int) -> None:
        menu, choices = self._opened.workspaces, list(FileChoice)
        asks: list[Callable[[], object]] = [menu.ask_open, menu.ask_new, menu.ask_copy]
        asks += [partial(ask_path, self._frame, "Select", print, one, at=self._workspace.parent) for one in choices]
        asks[number % len(asks)]()
        dialog = self._frame.findChildren(QFileDialog)[-1]
        model = dialog.findChild(QFileSystemModel)
        assert isinstance(model, QFileSystemModel)
        root = model.index(dialog.directory().path())
        await until(lambda: model.rowCount(root) and model.type(model.index(0, 0, root)))
        dialog.reject()

    async def _edit(self, query: str) -> None:
        case = (await self._session.call(lambda core: core.cases.list()))[0]
        draft = replace(case.draft, query=query)
        await self._session.call(lambda core: core.cases.edit(case.id, draft, seen=case.draft))

    def _answer(self) -> None:
        print(json.dumps(own_locks(self._workspace)), flush=True)


def own_locks(workspace: Path) -> Mapping[str, list[str]]:
    """Return the kinds of locks that this process has on the files of a workspace (Linux)."""
    found: dict[str, list[str]] = {}
    lines = [line.split() for line in Path("/proc/locks").read_text("utf-8").splitlines()]
    for ending in ("", "-shm"):
        inode = workspace.with_name(workspace.name + ending).stat().st_ino
        ours = {
            kind for _, kind, _, _, pid, file, *_ in lines if file.endswith(f":{inode}") and int(pid) == os.getpid()
        }
        found[ending] = sorted(ours)
    return found


def use(frame: MainFrame, settings: Settings, workspace: Path | None) -> int:
    """Open the window, and do what the input says."""
    assert workspace is not None
    user = BrowsingUser(frame, workspace)
    code = run(frame, settings, workspace)
    del user
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], use))
