"""Recovery saves what can be read of a damaged workspace, table by table, and says what came along."""

import asyncio
import random
from pathlib import Path

import pytest

from mcp_tef.model.run_filter import RunFilter
from mcp_tef.storage.store import open_store
from tests.support.command_line import say
from tests.support.workspace_files import change, fill, rows, run_all, spoil_page_of


@pytest.fixture
async def full(workspace: Path) -> Path:
    """A workspace with one case and 40 finished runs."""
    store = await open_store(workspace)
    filled = await fill(store, repeats=40)
    await run_all(store, filled.runs)
    await store.close()
    return workspace


async def runs_in(path: Path) -> tuple[int, int]:
    """The number of runs, counted by their facts and listed by their rows."""
    store = await open_store(path)
    found = await store.runs.count(RunFilter()), len(await store.runs.runs(RunFilter()))
    await store.close()
    return found


@pytest.mark.parametrize("by_link", [False, True])
def test_a_spoilt_page_of_runs_costs_the_runs_on_it_and_nothing_else(full: Path, *, by_link: bool) -> None:
    spoil_page_of(full, "test_runs")
    path = full.with_name("link.db") if by_link else full
    if by_link:
        path.symlink_to(full)
    assert say("cases", "list", "--workspace", path).code == 3
    said = say("cases", "list", "--json", "--workspace", path, "--recover")
    assert said.code == 0
    assert len(said.document["cases"]) == 1
    assert "1 of 1 cases" in said.err
    assert "was set aside as" in said.err
    counted, listed = asyncio.run(runs_in(full))
    assert counted == listed
    assert 20 < counted < 40
    assert path.is_symlink() == by_link
    assert rows(full, "PRAGMA integrity_check") == [("ok",)]
    assert rows(full, "PRAGMA foreign_key_check") == []


def test_no_damage_ends_in_an_internal_error_and_recovery_always_ends_in_a_workspace(full: Path) -> None:
    whole = full.read_bytes()
    for seed in range(5):
        chance = random.Random(seed)
        spoilt = bytearray(whole)
        for _ in range(40):
            spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
        full.write_bytes(bytes(spoilt))
        for verb in (("cases", "list"), ("runs", "list"), ("cases", "list", "--recover"), ("runs", "list")):
            said = say(*verb, "--workspace", full)
            assert said.code in (0, 1, 3), (seed, verb, said.err)
        full.unlink()
        full.write_bytes(whole)
        change(full, "PRAGMA user_version")


@pytest.mark.parametrize("name", [b"workspace_identity", b"test_runs", b"test_cases"])
def test_a_schema_that_is_no_text_is_damage_and_no_internal_error(full: Path, name: bytes) -> None:
    """The driver fails to decode the error of SQLite, which names what has no schema."""
    whole = full.read_bytes()
    spoilt = whole.replace(b"table" + name, b"table\xc1" + name[1:]).replace(b"CREATE TABLE " + name, b"?" * 13 + name)
    assert spoilt != whole
    full.write_bytes(spoilt)
    for verb in (("cases", "list"), ("runs", "list"), ("cases", "list", "--recover"), ("runs", "list")):
        said = say(*verb, "--workspace", full)
        assert said.code in (0, 3), (verb, said.err)


def test_bytes_that_are_no_text_spoil_their_row_only(tmp_path: Path) -> None:
    path, out = tmp_path / "work.db", tmp_path / "cases.json"
    at = ("--workspace", path)
    for query in ("Will it rain?", "Will it snow?"):
        assert say("cases", "add", query, "--no-tool", *at).code == 0
    change(path, "UPDATE test_cases SET query = CAST(x'ff4142' AS TEXT) WHERE query LIKE '%snow%'")
    listed = say("cases", "list", "--json", *at).document["cases"]
    assert [case["query"] for case in listed] == ["Will it rain?", "\ufffdAB"]
    assert say("cases", "export", out, *at).code == 0
    assert say("cases", "remove", listed[1]["id"], *at).code == 0
    assert [case["query"] for case in say("cases", "list", "--json", *at).document["cases"]] == ["Will it rain?"]
