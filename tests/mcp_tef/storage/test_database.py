"""The store thread of a workspace: work whose caller is gone."""

import asyncio
import gc
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

from sqlmodel import Session

from mcp_tef.errors import NotFoundError
from mcp_tef.storage.database import Database


async def test_an_error_that_nobody_waits_for_any_more_is_not_reported(tmp_path: Path) -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    go_on = Event()

    def missing(session: Session) -> None:
        del session
        go_on.wait()
        raise NotFoundError("No server is named “crm”.")

    with ThreadPoolExecutor(1) as thread:
        database = Database(tmp_path / "work.db", thread, lambda: sqlite3.connect(":memory:"))
        asking = asyncio.create_task(database.read(missing))
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait([asking])
        go_on.set()
        await database.close()
    del asking
    gc.collect()
    assert told == []
