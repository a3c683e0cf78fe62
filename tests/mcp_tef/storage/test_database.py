"""The store thread of a workspace: work whose caller is gone, and works that are stored together."""

import asyncio
import gc
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from sqlmodel import Session

from mcp_tef.errors import NotFoundError
from mcp_tef.storage.database import Database
from tests.support.workspace_files import rows


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


async def test_works_together_are_stored_at_the_end_or_not_at_all_and_others_wait(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as thread:
        path = tmp_path / "work.db"
        database = Database(path, thread, lambda: sqlite3.connect(path, isolation_level=None))
        await database.write(lambda session: _execute(session, "CREATE TABLE kept (word TEXT)"))
        with pytest.raises(NotFoundError):
            await _stop_half_way(database)
        async with database.together():
            await database.write(partial(_add, word="first"))
            with pytest.raises(NotFoundError):
                await database.write(_add_and_fail)
            other = asyncio.create_task(database.write(partial(_add, word="other")), context=Context())
            cancelled = asyncio.create_task(database.write(partial(_add, word="cancelled")), context=Context())
            await asyncio.sleep(0)
            cancelled.cancel()
            assert _words(path) == []
            await database.write(partial(_add, word="second"))
            assert await database.read(_read) == ["first", "second"]
        await asyncio.wait([other, cancelled])
        assert await database.read(_read) == _words(path) == ["first", "second", "other", "cancelled"]
        await database.close()


async def _stop_half_way(database: Database) -> None:
    async with database.together():
        await database.write(partial(_add, word="half"))
        raise NotFoundError("Stopped half way.")


def _execute(session: Session, statement: str) -> None:
    session.connection().exec_driver_sql(statement)


def _add(session: Session, word: str) -> None:
    _execute(session, f"INSERT INTO kept VALUES ('{word}')")


def _add_and_fail(session: Session) -> None:
    _add(session, "taken back")
    raise NotFoundError("Missing.")


def _read(session: Session) -> list[str]:
    return list(session.connection().exec_driver_sql("SELECT word FROM kept").scalars())


def _words(path: Path) -> list[str]:
    return [word for (word,) in rows(path, "SELECT word FROM kept")]
