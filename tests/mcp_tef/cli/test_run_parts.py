"""`run --shard` on several machines and `runs merge`: the same rows and reports as one run, or one sentence."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import isolation
from tests.support.command_line import Said, say
from tests.support.workspace_files import case, made_own, tools_file, written

OF_ONE_RUN = {"id", "batch_id", "batch", "case_id", "execution_time_ms", "created_at", "completed_at"}
CASES = [case(f"{words} {number}", [{"tool": tool}]) for number in range(4) for words, tool in (
    ("weather report", "weather_report"), ("train times", "weather_report"), ("train times", "train_times")
)]  # fmt: skip
PARTS = (1, 2, 3)


def prepared(workspace: Path, cases: list[dict[str, Any]]) -> tuple[str, Path]:
    """Make a workspace with one server and these cases; returns the option that names it."""
    folder = workspace.parent
    assert say("servers", "add", "city", "--tools-file", folder / "tools.json", "--workspace", workspace).code == 0
    numbered = [{**one, "name": f"Case {number}"} for number, one in enumerate(cases, 1)]
    file = written(folder / "cases.json", {"cases": numbered})
    assert say("cases", "import", file, "--workspace", workspace).code == 0
    return "--workspace", workspace


def started(*options: str | Path) -> Said:
    """Run all cases of a workspace twice."""
    return say("run", "--repeats", "2", "--name", "Nightly", *options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a workspace that ran whole, and one for each part."""
    folder = tmp_path_factory.mktemp("parts")
    with isolation.at_home(folder / "home"):
        tools_file(folder)
        started(*prepared(folder / "whole.db", CASES))
        for number in PARTS:
            at = prepared(folder / f"{number}.db", CASES)
            assert started(*at, "--shard", f"{number}/{len(PARTS)}").code == 1
        yield folder


def parts(folder: Path, numbers: tuple[int, ...] = PARTS) -> list[Path]:
    """The files of these parts."""
    return [folder / f"{number}.db" for number in numbers]


def rows(workspace: Path) -> list[dict[str, Any]]:
    """The runs of the newest batch without what differs between any two runs."""
    listed = say("runs", "list", "--batch", "latest", "--json", "--workspace", workspace).document["runs"]
    return [{key: value for key, value in row.items() if key not in OF_ONE_RUN} for row in listed]


def report(workspace: Path) -> list[str]:
    """The report of the newest batch for people, without its times."""
    said = say("runs", "show", "latest", "--workspace", workspace)
    return [line for line in said.out.splitlines()[1:] if " ms" not in line]


def test_parts_that_are_merged_again_count_once(folder: Path, tmp_path: Path) -> None:
    merged = tmp_path / "merged.db"
    first = say("runs", "merge", *parts(folder), "--workspace", merged, "--json").document
    again = say("runs", "merge", *parts(folder, (2, 3, 1)), "--workspace", merged, "--json")
    assert "already merged" in again.err
    assert again.document == first
    assert len(say("runs", "list", "--json", "--workspace", merged).document["batches"]) == 1
    itself = say("runs", "merge", merged, "--batch", "latest", "--workspace", merged)
    assert "already merged" in itself.err
    assert len(rows(merged)) == 2 * len(CASES)
    beside = say("runs", "merge", *parts(folder, (1,)), merged, "--batch", "latest", "--workspace", merged)
    assert beside.code == 2
    assert len(say("runs", "list", "--json", "--workspace", merged).document["batches"]) == 1


def test_merged_parts_have_the_rows_and_the_report_of_one_run(folder: Path, tmp_path: Path) -> None:
    merged = tmp_path / "merged.db"
    said = say("runs", "merge", *parts(folder, (3, 1, 2)), "--workspace", merged, "--json")
    assert said.code == 1, said.err  # as for `run`, since some runs are wrong
    assert say("runs", "show", "Nightly", "--workspace", merged).code == 0
    assert len(rows(merged)) == 2 * len(CASES)
    assert sorted(rows(merged), key=json.dumps) == sorted(rows(folder / "whole.db"), key=json.dumps)
    assert report(merged) == report(folder / "whole.db")
    assert say("runs", "rejudge", "--batch", "latest", "--workspace", merged).code == 0


def test_a_part_that_is_missing_or_given_twice_is_named(folder: Path, tmp_path: Path) -> None:
    said = say("runs", "merge", *parts(folder, (1, 3)), "--workspace", tmp_path / "merged.db")
    assert (said.code, "2/3" in said.err) == (2, True)
    said = say("runs", "merge", *parts(folder, (1, 1, 2, 3)), "--workspace", tmp_path / "merged.db")
    assert (said.code, "1.db" in said.err) == (2, True)
    assert say("runs", "list", "--workspace", tmp_path / "merged.db", "--json").document["batches"] == []


def test_parts_that_do_not_belong_together_are_refused(folder: Path, tmp_path: Path) -> None:
    tools_file(tmp_path)
    other = tmp_path / "other.db"
    started(*prepared(other, CASES[:5]), "--shard", "2/3")
    said = say("runs", "merge", folder / "1.db", other, folder / "3.db", "--workspace", tmp_path / "merged.db")
    assert (said.code, "the same test cases" in said.err) == (2, True)
    once = prepared(tmp_path / "once.db", CASES)
    say("run", "--repeats", "1", "--shard", "2/3", *once)
    said = say("runs", "merge", folder / "1.db", tmp_path / "once.db", "--workspace", tmp_path / "merged.db")
    assert (said.code, "repeats" in said.err) == (2, True)


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "a/b", "1/0", "-1/3", "1/2000"])
def test_what_is_no_part_is_bad_usage(folder: Path, text: str) -> None:
    assert say("run", f"--shard={text}", "--workspace", folder / "whole.db").code == 2


def test_a_part_without_a_case_says_how_many_parts_there_can_be(folder: Path) -> None:
    said = say("run", "--case", "Case 1", "--shard", "2/2", "--workspace", made_own(folder / "whole.db"))
    assert (said.code, "at most 1" in said.err) == (2, True)
