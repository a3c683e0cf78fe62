"""Verbs that only read: they take a workspace that cannot be written, and create none."""

import argparse
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.cli.main import parser
from tests.support import workspace_files
from tests.support.command_line import say
from tests.support.processes import read_only

READING = {
    "servers list": (),
    "servers show": ("city",),
    "servers discover": (),
    "cases list": (),
    "cases show": ("weather report 1",),
    "cases export": ("OUT/cases.yaml",),
    "runs list": (),
    "runs show": ("BATCH",),
    "metrics": (),
    "compare": ("EARLIER", "BATCH"),
    "confusions": (),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a workspace in which a case was run twice."""
    made = tmp_path / "theirs"
    made.mkdir()
    at = ("--workspace", made / "work.db")
    assert say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path), *at).code == 0
    assert say("cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)]), *at).code == 0
    for _ in range(2):
        assert say("run", *at).code in (0, 1)
    return made


def verbs(group: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[tuple[str, bool]]:
    """Every verb, and whether it only reads."""
    below = [action for action in group._actions if isinstance(action, argparse._SubParsersAction)]
    if not below:
        yield " ".join(words), group.get_default("reads")
    for action in below:
        for name, verb in action.choices.items():
            yield from verbs(verb, (*words, name))


def test_exactly_these_verbs_only_read() -> None:
    assert {name for name, reads in verbs(parser()) if reads} == set(READING)


@pytest.mark.parametrize("verb", READING)
def test_a_workspace_that_cannot_be_written_is_read_as_any_other(folder: Path, tmp_path: Path, verb: str) -> None:
    workspace = folder / "work.db"
    batch, earlier = (
        item["id"] for item in say("runs", "list", "--workspace", workspace, "--json").document["batches"]
    )
    given = {"BATCH": batch, "EARLIER": earlier, "OUT/cases.yaml": str(tmp_path / "cases.yaml")}
    words = [given.get(word, word) for word in READING[verb]]
    command: list[str | Path] = [*verb.split(), *words, "--workspace", workspace, "--json"]
    expected, before = say(*command), workspace.read_bytes()
    with read_only(folder):
        assert say(*command) == expected
    assert expected.code == 0
    assert workspace.read_bytes() == before
    assert [file.name for file in folder.iterdir()] == ["work.db"]


@pytest.mark.parametrize("verb", READING)
def test_a_workspace_that_is_named_and_not_there_is_an_error(tmp_path: Path, verb: str) -> None:
    words = [word.replace("OUT", str(tmp_path)) for word in READING[verb]]
    said = say(*verb.split(), *words, "--workspace", tmp_path / "typo.db", "--json")
    assert (said.code, said.error["code"]) == (3, "workspace_missing")
    assert f"There is no workspace {tmp_path / 'typo.db'}." in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_one_that_the_environment_names_has_to_be_there_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'typo.db'}")
    assert say("cases", "list", "--json").error["code"] == "workspace_missing"


@pytest.mark.parametrize(
    "verb", ["servers list", "servers discover", "cases list", "runs list", "metrics", "confusions"]
)
def test_the_usual_workspace_is_empty_until_something_is_written(home: Path, verb: str) -> None:
    said = say(*verb.split(), "--json")
    assert (said.code, said.err) == (0, "")
    assert [file for file in home.rglob("*") if file.is_file()] == []


def test_a_verb_that_writes_is_refused_where_it_cannot(folder: Path) -> None:
    with read_only(folder):
        said = say("servers", "remove", "city", "--workspace", folder / "work.db", "--json")
    assert (said.code, said.error["code"]) == (3, "workspace_not_writable")
