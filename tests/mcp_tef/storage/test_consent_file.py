"""Consents are kept per user and machine: entries that this installation did not write count for nothing."""

import json
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_tef.errors import StoreError
from mcp_tef.ports import ConsentStore
from mcp_tef.storage.consent_file import ConsentFile
from mcp_tef.trust.consents import Consent, ConsentKind
from tests.support.fake_ports import MemoryConsents

FIRST = Consent("f1", '"serve" "--all"')
SECOND = Consent("f2", "https://other.example \u2190 OPENAI_API_KEY", ConsentKind.KEY)


@pytest.mark.parametrize("make", [ConsentFile, lambda _: MemoryConsents()], ids=["file", "memory"])
def test_a_consent_is_remembered_until_it_is_taken_back(make: Callable[[Path], ConsentStore], tmp_path: Path) -> None:
    store = make(tmp_path / "data")
    assert dict(store.all()) == {}
    store.add(FIRST)
    store.add(SECOND)
    store.add(FIRST)
    assert list(store.all().values()) == [FIRST, SECOND]
    assert all(one.allowed_at for one in store.all().values())
    store.remove("f1")
    store.remove("never-there")
    assert list(store.all()) == ["f2"]


def test_other_processes_see_what_one_allows_and_revokes(tmp_path: Path) -> None:
    one, other = ConsentFile(tmp_path), ConsentFile(tmp_path)
    one.add(FIRST)
    assert list(other.all()) == ["f1"]
    other.remove("f1")
    assert dict(one.all()) == {}


def test_nobody_else_can_read_or_find_out_what_was_allowed(tmp_path: Path) -> None:
    ConsentFile(tmp_path / "data").add(FIRST)
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "data").iterdir()}
    assert modes["consents.json"] == modes["consents.key"] == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_a_file_from_another_machine_counts_for_nothing(tmp_path: Path) -> None:
    ConsentFile(tmp_path / "theirs").add(FIRST)
    ours = ConsentFile(tmp_path / "ours")
    ours.add(SECOND)
    shutil.copy(tmp_path / "theirs" / "consents.json", tmp_path / "ours" / "consents.json")
    assert dict(ConsentFile(tmp_path / "ours").all()) == {}


@pytest.mark.parametrize("name", ["fingerprint", "description", "kind", "allowed_at", "mac"])
def test_an_entry_that_was_changed_counts_for_nothing(tmp_path: Path, name: str) -> None:
    store = ConsentFile(tmp_path)
    store.add(FIRST)
    file = tmp_path / "consents.json"
    document = json.loads(file.read_text())
    document["consents"][0][name] = {"kind": "key", "allowed_at": "2026-01-01T00:00:00+00:00"}.get(name, "f2")
    file.write_text(json.dumps(document))
    assert dict(ConsentFile(tmp_path).all()) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"consents": 3}', '{"consents": [3, {}]}', "[" * 100_000, "\x00"])
def test_a_damaged_file_asks_again_and_can_be_written(tmp_path: Path, text: str) -> None:
    store = ConsentFile(tmp_path)
    store.add(FIRST)
    (tmp_path / "consents.json").write_text(text)
    assert dict(store.all()) == {}
    store.add(SECOND)
    assert list(store.all()) == ["f2"]


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file is in the way")
    with pytest.raises(StoreError, match="could not be saved"):
        ConsentFile(tmp_path / "data").add(FIRST)
