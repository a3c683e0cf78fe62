"""Where results may not go: over a workspace, over what they are made from, or two of them into one file."""

import argparse
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_tef.cli.main import parser
from tests.support import isolation, workspace_files
from tests.support.command_line import say
from tests.support.workspace_files import made_own

WRITES = {
    ("cases draft", "out"): "cases draft --server city --offline --out {file}",
    ("cases export", "out"): "cases export --format csv {file}",
    ("models export", "out"): "models export {file}",
    ("run", "junit"): "run --junit {file}",
    ("run", "html"): "run --html {file}",
    ("run", "csv"): "run --csv {file}",
    ("run", "sarif"): "run --sarif {file}",
    ("run", "markdown"): "run --markdown {file}",
    ("runs show", "junit"): "runs show {batch} --junit {file}",
    ("runs show", "html"): "runs show {batch} --html {file}",
    ("runs show", "csv"): "runs show {batch} --csv {file}",
    ("runs show", "sarif"): "runs show {batch} --sarif {file}",
    ("runs show", "markdown"): "runs show {batch} --markdown {file}",
    ("runs retry", "junit"): "runs retry --junit {file}",
    ("runs retry", "html"): "runs retry --html {file}",
    ("runs retry", "csv"): "runs retry --csv {file}",
    ("runs retry", "sarif"): "runs retry --sarif {file}",
    ("runs retry", "markdown"): "runs retry --markdown {file}",
    ("runs resume", "junit"): "runs resume --junit {file}",
    ("runs resume", "html"): "runs resume --html {file}",
    ("runs resume", "csv"): "runs resume --csv {file}",
    ("runs resume", "sarif"): "runs resume --sarif {file}",
    ("runs resume", "markdown"): "runs resume --markdown {file}",
    ("runs show", "verdict"): "runs show {batch} --verdict {file}",
    ("runs retry", "verdict"): "runs retry --verdict {file}",
    ("runs resume", "verdict"): "runs resume --verdict {file}",
    ("run", "verdict"): "run --verdict {file}",
    ("try", "verdict"): "try Shorter --verdict {file}",
    ("verify", "badge"): "verify {folder}/v.json --ask --badge {file}",
    ("runs merge", "verdict"): "runs merge {part} --verdict {file}",
    ("runs merge", "junit"): "runs merge {part} --junit {file}",
    ("runs merge", "html"): "runs merge {part} --html {file}",
    ("runs merge", "csv"): "runs merge {part} --csv {file}",
    ("runs merge", "sarif"): "runs merge {part} --sarif {file}",
    ("runs merge", "markdown"): "runs merge {part} --markdown {file}",
    ("compare", "html"): "compare {earlier} {batch} --html {file}",
    ("compare", "csv"): "compare {earlier} {batch} --csv {file}",
    ("compare", "markdown"): "compare {earlier} {batch} --markdown {file}",
    ("compare", "junit"): "compare {earlier} {batch} --junit {file}",
    ("similarity", "out"): "similarity --server city --out {file}",
    ("overlap", "out"): "overlap --server city --out {file}",
    ("quality", "out"): "quality --server city --out {file}",
    ("quality", "sarif"): "quality --server city --sarif {file}",
    ("quality", "markdown"): "quality --server city --markdown {file}",
    ("crowd", "html"): "crowd --html {file}",
    ("steal", "html"): "steal --server city --among town --html {file}",
    ("draft export", "out"): "draft export Shorter --format html --out {file}",
    ("library export", "out"): "library export --out {file}",
    ("try", "html"): "try Shorter --html {file}",
    ("improve", "out"): "improve --server city --budget 500 --out {file}",
    ("score", "out"): "score {calls} --out {file}",
    ("score", "junit"): "score {calls} --out {folder}/verdicts.jsonl --junit {file}",
}
REPLACED = (
    "score {calls} --out {calls}",
    "similarity --pairs {pairs} --out {pairs}",
    "similarity --tools-file {tools} --out {tools}",
    "overlap --tools-file {pairs} {tools} --out {tools}",
    "quality --tools-file {tools} --out {tools}",
    "similarity --server city --out {tools}",
    "overlap --server city --out {tools}",
    "quality --server city --out {tools}",
    "quality --tools-file {tools} --workspace {folder}/new.json --out {folder}/new.json",
)
TWICE = (
    "run --junit {folder}/a --html {folder}/a",
    "run --html {folder}/a --csv {folder}/b/../a",
    "compare x y --html {folder}/a --csv {folder}/a",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A workspace with a server, a case and a batch; and files that verbs read."""
    folder = tmp_path_factory.mktemp("prepared")
    tools = workspace_files.tools_file(folder)
    workspace, calls, pairs = (folder / name for name in ("work.db", "calls.jsonl", "pairs.jsonl"))
    cases = workspace_files.case_file(folder, [workspace_files.weather(1)])
    with isolation.at_home(folder / "home"):
        for arguments in (("servers", "add", "city", "--tools-file", tools), ("cases", "import", cases)):
            assert say(*arguments, "--workspace", workspace).code == 0
        earlier, batch = (say("run", "--workspace", workspace, "--json").document["batch"] for _ in range(2))
        for line in ("draft new Shorter --server city", "draft set Shorter weather_report --title Weather"):
            assert say(*line.split(), "--workspace", workspace).code == 0
        assert say("runs", "show", batch, "--verdict", folder / "v.json", "--workspace", workspace).code in (0, 1)
    shutil.copy(workspace, folder / "part.db")
    calls.write_text(json.dumps({"id": "1"}), "utf-8")
    pairs.write_text(json.dumps({"id": "1"}), "utf-8")
    (folder / "b").mkdir()
    named = {"file": workspace, "calls": calls, "pairs": pairs, "tools": tools, "folder": folder}
    named["part"] = folder / "part.db"
    return {"earlier": earlier, "batch": batch, **{name: str(path) for name, path in named.items()}}


@pytest.fixture
def files(prepared: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """A copy of what is prepared; the server's own file of tools, which no verb may replace, is the one prepared."""
    ready = Path(prepared["folder"])
    shutil.copytree(ready, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("home"))
    made_own(tmp_path / Path(prepared["file"]).name)
    copied = {name: str(tmp_path / Path(prepared[name]).name) for name in ("file", "calls", "pairs")}
    return {**prepared, **copied, "folder": str(tmp_path)}


def verbs(above: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every verb by its whole name."""
    groups = [one for one in above._actions if isinstance(one, argparse._SubParsersAction)]
    for group in groups:
        for key, below in group.choices.items():
            yield from verbs(below, f"{name} {key}".strip())
    if not groups:
        yield name, above


def test_the_table_of_outputs_names_those_of_every_verb() -> None:
    written = {
        (verb, action.dest)
        for verb, below in verbs(parser())
        for action in below._actions
        if getattr(action.type, "__name__", "") in ("writable", "analysis_file")
    }
    assert written == set(WRITES)


def test_no_verb_replaces_the_workspace_that_is_open(files: dict[str, str]) -> None:
    before = Path(files["file"]).read_bytes()
    for line in WRITES.values():
        said = say(*line.format(**files).split(), "--workspace", files["file"])
        assert (said.code, said.out) == (2, ""), line
        assert "is a workspace or another database, which is never replaced." in said.err, line
    assert Path(files["file"]).read_bytes() == before


@pytest.mark.parametrize("beside", ["-wal", "-shm", "-journal"])
def test_no_verb_replaces_what_belongs_to_a_workspace(files: dict[str, str], beside: str) -> None:
    said = say("score", files["calls"], "--out", files["file"] + beside)
    assert (said.code, Path(files["file"] + beside).exists()) == (2, False)


def test_no_verb_replaces_what_its_results_are_made_from(files: dict[str, str]) -> None:
    before = {name: Path(files[name]).read_bytes() for name in ("calls", "pairs", "tools")}
    for line in REPLACED:
        own = () if "--workspace" in line else ("--workspace", files["file"])
        said = say(*line.format(**files).split(), *own)
        assert said.code == 2, line
        assert "which it is made from." in said.err, line
    assert {name: Path(files[name]).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("score {calls} --out {folder}/{long}", 2),
        ("run --html {folder}/{long}", 2),
        ("score {long} --out {calls}", 3),
        ("similarity --tools-file {long}", 3),
        ("servers import {long}", 3),
    ],
)
def test_a_name_that_no_file_can_have_is_told_as_such(files: dict[str, str], line: str, code: int) -> None:
    said = say(*line.format(**files, long="a" * 300).split(), "--workspace", files["file"])
    assert (said.code, said.err.count("File name too long.")) == (code, 1)


@pytest.mark.parametrize("line", TWICE)
def test_two_results_do_not_go_into_one_file(files: dict[str, str], line: str) -> None:
    said = say(*line.format(**files).split(), "--workspace", files["file"])
    assert (said.code, said.err.count("Two results would be written to")) == (2, 1)


@pytest.mark.parametrize("verb", ["similarity", "overlap", "quality"])
def test_an_ending_that_names_no_form_is_refused(files: dict[str, str], tmp_path: Path, verb: str) -> None:
    said = say(verb, "--tools-file", files["tools"], "--out", tmp_path / "found.xlsx", "--workspace", files["file"])
    assert (said.code, (tmp_path / "found.xlsx").exists()) == (2, False)


def test_another_name_of_a_file_that_is_read_is_not_written_either(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").hardlink_to(files["calls"])
    assert say("score", files["calls"], "--out", tmp_path / "link.jsonl").code == 2


STARTS = {"junit": "<?xml", "html": "<!doctype html>", "sarif": "{", "markdown": "#"}
NOTHING_TO_WRITE = {
    "runs retry": "no run left to do",
    "runs resume": "no run left to do",
    "improve": "cannot be split in two",
    "steal": "No server is named “town”",
}


@pytest.mark.parametrize("key", WRITES, ids=" ".join)
def test_a_dash_is_standard_output_which_then_holds_the_result_alone(
    key: tuple[str, str], files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = {path for path in tmp_path.iterdir() if path.suffix not in (".db-shm", ".db-wal")}
    line = WRITES[key].format(**files | {"file": "-"})
    said = say(*line.split(), "--workspace", files["file"])
    assert "mcp-tef-" not in said.err
    assert {path for path in tmp_path.iterdir() if path.name != "verdicts.jsonl"} == there
    if key[0] in NOTHING_TO_WRITE:
        assert NOTHING_TO_WRITE[key[0]] in said.err
    else:
        assert said.code in (0, 1), said
        assert said.out.startswith(STARTS.get(key[1], ""))
        assert len(said.out.splitlines()) > 1 or key[0] == "score"


def test_the_scores_of_given_pairs_go_to_standard_output(files: dict[str, str]) -> None:
    said = say("similarity", "--pairs", files["pairs"], "--out", "-", "--workspace", files["file"])
    assert (said.code, said.out.startswith('{"id": "1", "error"')) == (1, True)


def test_a_dash_and_the_json_document_do_not_share_standard_output(files: dict[str, str]) -> None:
    said = say("run", "--csv", "-", "--json", "--workspace", files["file"])
    assert (said.code, said.error["code"]) == (2, "bad_usage")


def test_two_results_do_not_share_standard_output(files: dict[str, str]) -> None:
    said = say("run", "--csv", "-", "--junit", "-", "--workspace", files["file"])
    assert (said.code, said.out) == (2, "")


@pytest.mark.parametrize(
    ("verb", "right"),
    [
        *(("run", name) for name in ("a.xml", "a.html", "a.csv", "a.sarif", "a.md")),
        *(("compare x y", name) for name in ("a.xml", "a.html", "a.csv", "a.md")),
    ],
)
def test_an_ending_of_another_format_is_refused_before_anything_runs(verb: str, right: str, tmp_path: Path) -> None:
    option = {"xml": "junit", "md": "markdown"}.get(ending := right.partition(".")[2], ending)
    for wrong in {"a.xml", "a.html", "a.csv", "a.sarif", "a.md", "a.pages"} - {right}:
        said = say(*verb.split(), f"--{option}", tmp_path / wrong, "--workspace", tmp_path / "work.db", "--json")
        assert (said.code, said.error["code"]) == (2, "bad_usage")
        assert f"--{option}" in said.error["message"]
    assert list(tmp_path.iterdir()) == []
    fitting = say(*verb.split(), f"--{option}", tmp_path / right, "--workspace", tmp_path / "work.db", "--json")
    assert "its ending" not in fitting.error["message"]
