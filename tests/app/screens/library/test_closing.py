"""Closing the window while a tool of the library runs and the library is served: all of it ends without a word."""

import contextlib
import logging
import socket
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PySide6.QtWidgets import QApplication

from app.core_link.bridge import Bridge
from app.core_link.session import Session
from app.core_link.settings import Settings
from mcp_tef import ConsentError, Engine, ExecutionStatus, ExecutorKind, new_token
from tests.support.library_designs import answering
from tests.support.processes import alive
from tests.support.windows import until

SCRIPT = """import os
def run(input):
    with open({pid!r}, 'w') as file:
        file.write(str(os.getpid()))
    os.read(os.pipe()[0], 1)
"""


async def prepare(core: Engine, pid: Path) -> None:
    """A tool that never ends, allowed and active."""
    design = answering(executor=ExecutorKind.PYTHON, config={}, script=SCRIPT.format(pid=str(pid)))
    await core.library.add(design)
    try:
        await core.library_runs.require_consent(design)
    except ConsentError as error:
        for request in error.requests:
            await core.consents.allow(request)


async def test_closing_ends_what_runs_and_what_is_served(
    qapp: QApplication, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    file, pid, told = tmp_path / "work.db", tmp_path / "pid", list[str]()
    session = Session(Bridge(partial(Engine.open, file)), Settings(None))
    session.bridge.start()
    await session.call(lambda core: prepare(core, pid))
    serving = session.spawn(session.call(lambda core: core.serve_library(told.append, http=(0, new_token()))))
    running = session.spawn(session.call(lambda core: core.library_runs.run("weather", {"city": "Rome"})))
    await until(lambda: told and pid.is_file() and pid.read_text("utf-8"))
    address = urlsplit(told[0])
    with contextlib.closing(socket.create_connection((address.hostname, address.port), timeout=5)) as client:
        client.sendall(b"GET /mcp HTTP/1.1\r\n")
        await session.close()
    assert (serving.cancelled(), running.cancelled()) == (True, True)
    assert not alive(int(pid.read_text("utf-8")))
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((address.hostname, address.port), timeout=5)
    complaints = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert (complaints, capfd.readouterr().err) == ([], "")
    async with await Engine.open(file) as core:
        (execution,) = await core.library_runs.history("weather")
    assert execution.status is ExecutionStatus.CANCELLED
