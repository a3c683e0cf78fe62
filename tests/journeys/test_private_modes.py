"""Nobody else on the machine reads what belongs to a user; what is written to be shared keeps the umask."""

import asyncio
import json
import logging
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.core_link.settings import Settings
from app.shell.crash_reports import start_log
from mcp_tef import Engine, copy_workspace, rename_workspace
from mcp_tef.cli.main import log_crash
from mcp_tef.cli.terminal import Terminal
from mcp_tef.embedding.vector_cache import VectorCache
from mcp_tef.storage.store import open_store
from tests.support.command_line import say
from tests.support.workspace_files import VERSION_8, loaded, made_own

CASE_WITH_TOOLS = {
    "id": "simple_0",
    "question": [[{"role": "user", "content": "Add 1 and 2"}]],
    "function": [{"name": "add", "description": "Add.", "parameters": {"type": "dict", "properties": {}}}],
    "ground_truth": [{"add": {}}],
}
SHARED = {"report.html", "runs.csv", "junit.xml", "cases.yaml"}
PRIVATE_FILE, PRIVATE_FOLDER, SHARED_FILE = 0o600, 0o700, 0o644


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Others may read what is created, as on most machines."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(*folders: Path) -> dict[str, int]:
    """Every file and folder below some folders, with its rights."""
    found = [item for folder in folders for item in folder.rglob("*")]
    return {item.name: item.stat().st_mode & 0o777 for item in found}


def too_open(found: dict[str, int]) -> dict[str, str]:
    """What others may use, of what is not there to be shared."""
    return {name: oct(mode) for name, mode in found.items() if mode & 0o077 and name not in SHARED}


def test_what_commands_leave_behind_is_private_except_reports(home: Path, tmp_path: Path) -> None:
    reports, work = tmp_path / "reports", tmp_path / "new" / "work.db"
    reports.mkdir()
    work.parent.mkdir(PRIVATE_FOLDER)
    imported = reports / "cases.jsonl"
    imported.write_text(json.dumps(CASE_WITH_TOOLS), "utf-8")
    imported.chmod(PRIVATE_FILE)
    assert say("demo").code == 0
    assert say("cases", "import", imported, "--workspace", work).code == 0
    outputs = ("--html", reports / "report.html", "--csv", reports / "runs.csv", "--junit", reports / "junit.xml")
    assert say("run", *outputs, "--workspace", work).code in (0, 1)
    assert say("cases", "export", reports / "cases.yaml", "--workspace", work).code == 0
    log_crash(LookupError("unforeseen"), Terminal())
    found = modes(home, tmp_path)
    assert {"sample.db", "work.db", "work-tools", "cli-errors.log", *SHARED} <= set(found)
    assert {found[name] for name in SHARED} == {SHARED_FILE}
    assert found["work.db"] == found["sample.db"] == found["cli-errors.log"] == PRIVATE_FILE
    assert found["mcp-tef"] == found["work-tools"] == PRIVATE_FOLDER
    del found["reports"]
    assert too_open(found) == {}


def test_what_lies_beside_an_open_workspace_is_private(tmp_path: Path) -> None:
    loaded(VERSION_8, tmp_path / "work.db")
    (tmp_path / "work-tools").mkdir()

    async def look() -> dict[str, int]:
        engine = await Engine.open(tmp_path / "work.db", environment={})
        await engine.open_sample()
        await engine.save_copy(tmp_path / "copies" / "saved.db")
        found = modes(tmp_path)
        await engine.close()
        return found

    found = asyncio.run(look())
    beside = {"work.db-wal", "work.db-shm", "work.db.v8.bak", "work-tools", "saved.db", "saved-tools"}
    assert beside <= set(found)
    assert too_open(found) == {}


def test_what_was_readable_is_made_private_when_it_is_opened_for_writing(tmp_path: Path) -> None:
    work = tmp_path / "work.db"
    (tmp_path / "work-tools").mkdir()
    others = ["work.db.v3.bak", "work.db.damaged-1", "work-tools/pasted-1.json", "work.txt", "other.db"]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    loaded(VERSION_8, work)
    asyncio.run(_open_and_close(work))
    assert set(too_open(modes(tmp_path))) == {"work.txt", "other.db"}
    copied, renamed = copy_workspace(work, tmp_path / "copied"), rename_workspace(work, "renamed")
    assert set(too_open(modes(tmp_path))) == {"work.txt", "other.db"}
    assert copied.exists()
    assert renamed.exists()


async def _open_and_close(path: Path) -> None:
    await (await open_store(path)).close()


def test_a_damaged_workspace_is_private_once_it_was_set_aside(tmp_path: Path) -> None:
    (tmp_path / "work.db").write_bytes(b"damaged " * 1000)
    made_own(tmp_path / "work.db")
    assert say("servers", "list", "--workspace", tmp_path / "work.db", "--recover").code == 0
    found = modes(tmp_path)
    assert len(found) == 2
    assert too_open(found) == {}


def test_a_database_of_another_program_keeps_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (id TEXT)")
    connection.close()
    assert say("servers", "list", "--workspace", path).code == 3
    assert modes(tmp_path) == {"theirs.db": SHARED_FILE}


def test_logs_settings_and_vectors_are_private(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "config" / "settings.json")
    settings.set("theme", "dark")
    settings.save()
    VectorCache(tmp_path / "data" / "vectors").store("model", {"text": np.ones(4, dtype=np.float32)})
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "mcp-tef.log.1").write_bytes(b"")
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    start_log(logs)
    logging.getLogger("elsewhere").error("It failed.")
    for handler in [one for one in root.handlers if one not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)
    found = modes(tmp_path)
    assert {"settings.json", "mcp-tef.log", "mcp-tef.log.1"} <= set(found)
    assert any(name.endswith("vectors.sqlite3") for name in found)
    assert too_open(found) == {}
