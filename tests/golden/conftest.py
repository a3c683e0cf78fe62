"""The sample as every golden test of a command finds it."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import isolation
from tests.support.command_line import say
from tests.support.command_samples import CASES, TOOLS
from tests.support.golden import Transcript
from tests.support.workspace_files import made_own

SERVER = "Bike shop"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A workspace in which the sample ran once, without the cases of its draft, and a second server from a file."""
    folder = tmp_path_factory.mktemp("sample")
    with isolation.at_home(folder / "home"):
        workspace = folder / "work.db"
        assert say("demo", "--workspace", workspace).code == 0
        wishes = say("cases", "list", "--suite", "Booking wishes", "--json", "--workspace", workspace).document["cases"]
        assert say("cases", "remove", *(one["id"] for one in wishes), "--yes", "--workspace", workspace).code == 0
        (folder / "files.json").write_text(json.dumps({"tools": TOOLS}), "utf-8")
        assert say("servers", "add", "files", "--tools-file", folder / "files.json", "--workspace", workspace).code == 0
        tools = say("servers", "tools", SERVER, "--json", "--workspace", workspace)
        (folder / "bikes.json").write_text(json.dumps({"tools": tools.document["tools"]}), "utf-8")
        (folder / "cases.json").write_text(json.dumps(CASES), "utf-8")
        yield workspace


@pytest.fixture
def folder(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own with a copy of the sample; it is the current folder of a terminal 160 columns wide."""
    place = tmp_path / "place"
    shutil.copytree(sample.parent, place, ignore=shutil.ignore_patterns("home"))
    made_own(place / "work.db")
    monkeypatch.chdir(place)
    monkeypatch.setenv("COLUMNS", "160")
    return place


@pytest.fixture
def transcript(folder: Path) -> Transcript:
    """A record of commands on the copy of the sample."""
    return Transcript("--workspace", folder / "work.db")


@pytest.fixture
def replacements(folder: Path, sample: Path, home: Path) -> dict[str, str]:
    """The paths of this machine with the names that stand for them."""
    return {
        str(folder): "/folder",
        str(sample.parent): "/sample",
        str(home): "/home/user",
        sys.executable: "/bin/python",
    }
