"""Batches, cases, suites, tags, models and tools as people name them, and the nearest name for an unknown one."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support import isolation
from tests.support.command_line import say
from tests.support.workspace_files import case, case_file, tools_file


@pytest.fixture(scope="module")
def city_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with two batches, one named main and then one named night. Two cases have one name."""
    with isolation.at_home(tmp_path_factory.mktemp("city")) as folder:
        assert say("servers", "add", "city", "--tools-file", tools_file(folder)).code == 0
        words = ("north", "south")
        twice = [case(f"train times {word}", [{"tool": "train_times"}]) | {"name": "Twice"} for word in words]
        weather = case("weather report", [{"tool": "weather_report"}]) | {"tags": ["sky"]}
        assert say("cases", "import", case_file(folder, [weather, *twice])).code == 0
        for name in ("main", "night"):
            assert say("run", "--case", "weather report", "--name", name).code in (0, 1)
    return folder


@pytest.fixture(autouse=True)
def city(city_home: Path, home: Path) -> None:
    """A copy of that home, for each test."""
    shutil.copytree(city_home, home, dirs_exist_ok=True)


def test_a_batch_is_named_in_many_ways() -> None:
    newest, before = (batch["id"] for batch in say("runs", "list", "--json").document["batches"])
    for text, meant in (
        ("latest", newest),
        ("latest~1", before),
        ("main", before),
        (newest, newest),
        (before[:13], before),
    ):
        assert say("runs", "show", text, "--json").document["batch"] == meant
        assert say("runs", "list", "--batch", text, "--json").document["batches"][0]["id"] == meant
        assert say("metrics", "--batch", text).code == 0
    assert say("compare", "latest~1", "latest").code == 0
    assert say("runs", "rejudge", "--batch", "main").code == 0
    assert f"Batch {newest} “night”" in say("runs", "show", "latest").out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("runs show nigth", "Did you mean night?"),
        ("runs show latest~2", "there are 2"),
        ("runs list --batch mian", "Did you mean main?"),
        ("runs list --model offline/wrods", "Did you mean offline/words?"),
        ("runs resume nigth", "Did you mean night?"),
        ("compare mian latest", "Did you mean main?"),
        ("run --suite Jorney", "Did you mean Journey?"),
        ("run --tag skz", "Did you mean sky?"),
        ("run --case weather_report", "Did you mean weather report?"),
        ("run --case Twice", "could be 2 of the test cases"),
        ("cases list --suite Jorney", "Did you mean Journey?"),
        ("cases check --tag skz", "Did you mean sky?"),
        ("cases families --tag skz", "Did you mean sky?"),
        ("cases export out.yaml --suite Jorney", "Did you mean Journey?"),
        ("cases show Twise", "Did you mean Twice?"),
        ("metrics --suite Jorney", "Did you mean Journey?"),
        ("metrics --expected-tool weather", "There is no tool among the runs named “weather”"),
        ("metrics --selected-server ciy", "Did you mean city?"),
        ("metrics --model offline/wrods", "Did you mean offline/words?"),
        ("confusions --case Twise", "Did you mean Twice?"),
    ],
)
def test_an_unknown_name_is_bad_usage_with_the_nearest_one(line: str, said: str) -> None:
    answer = say(*line.split(" ", 3) if line.startswith("run --case") else line.split())
    assert (answer.code, said in answer.err) == (2, True), answer.err


def test_two_cases_of_one_name_are_told_apart_by_their_ids() -> None:
    cases = say("cases", "list", "--json").document["cases"]
    ids = [one["id"] for one in cases if one["name"] == "Twice"]
    said = say("cases", "show", "Twice")
    assert all(one in said.err for one in ids)
    assert [say("cases", "show", one[:8], "--json").document["id"] for one in ids] == ids
    ran = say("run", "--case", ids[0])
    assert "Twice: train times north" in ran.out


def test_what_hangs_on_a_case_or_server_is_told_before_it_is_removed() -> None:
    case_said = say("cases", "remove", "weather report")
    assert (case_said.code, "1 case would be removed with 2 runs. Add --yes" in case_said.err) == (2, True)
    server_said = say("servers", "remove", "city")
    assert (server_said.code, "3 cases of city" in server_said.err) == (2, True)
    assert len(say("cases", "list", "--json").document["cases"]) == 3


def test_cases_keep_the_name_of_a_removed_server_and_attach_to_the_next_one(tmp_path: Path) -> None:
    assert len(say("servers", "remove", "city", "--yes", "--json").document["cases"]) == 3
    assert say("cases", "show", "weather report", "--json").document["servers"] == ["city"]
    said = say("run", "--case", "weather report")
    assert (said.code, "no server named city" in said.err) == (2, True)
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path)).code == 0
    assert say("run", "--case", "weather report", "--json").document["runs"][0]["status"] == "completed"


def test_a_server_is_added_once_replaced_or_not_kept(tmp_path: Path) -> None:
    again = ("servers", "add", "city", "--tools-file")
    assert say(*again, tools_file(tmp_path)).code == 2
    assert say(*again, tmp_path / "missing.json", "--if-missing").code == 0
    assert say(*again, tmp_path / "missing.json", "--replace").code == 3
    assert "missing.json" in say("servers", "show", "city", "--json").out
    for name, option, kept in (("one", "--no-keep", False), ("two", "--debug", True)):
        said = say("servers", "add", name, "--tools-file", tmp_path / "missing.json", option)
        assert (said.code, "was not kept" in said.err) == (3, not kept)
        assert (say("servers", "show", name).code == 0) is kept


def test_tools_of_a_server_are_left_out_and_offered_again() -> None:
    assert "Did you mean train_times?" in say("servers", "exclude", "city", "train_tmes").err
    assert say("servers", "exclude", "city", "weather_report", "--json").document["excluded"] == ["weather_report"]
    ran = say("run", "--case", "weather report", "--json")
    assert ran.document["runs"][0]["error"]["code"]
    assert say("servers", "include", "city", "weather_report", "--json").document["excluded"] == []
    assert say("run", "--case", "weather report", "--json").document["runs"][0]["error"] is None


def test_a_case_is_added_and_changed_by_options() -> None:
    options = ("--tool", "weather_report", "--server", "city", "--suite", "New", "--json")
    added = say("cases", "add", "Will it rain?", *options)
    assert (added.code, added.document["expected"]) == (0, [{"tool": "weather_report"}])
    changed = say("cases", "edit", added.document["id"][:8], "--name", "Rain", "--no-tool", "--tag", "sky", "--json")
    shown = say("cases", "show", "Rain", "--json").document
    assert shown == changed.document
    assert (shown["expected"], shown["query"]) == (None, "Will it rain?")
    assert (shown["suites"], shown["tags"]) == (["New"], ["sky"])
    say("cases", "edit", "Rain", "--query", "Will it snow?", "--family", "Weather")
    again = say("cases", "show", "Rain", "--json").document
    assert (again["query"], again["family"], again["id"]) == ("Will it snow?", "Weather", shown["id"])
    assert "held_back" not in again
    assert say("cases", "edit", "Rain", "--held-back", "yes", "--json").document["held_back"] is True
    for line in (
        ["add", "x"],
        ["add", "x", "--tool", "a", "--server", "cty"],
        ["edit", "Rain", "--expected", "{half"],
        ["edit", "Rain", "--tool", "a", "--no-tool"],
        ["add", " ", "--no-tool"],
    ):
        assert say("cases", *line).code == 2, line


def test_no_import_opens_a_case_that_is_held_back(tmp_path: Path) -> None:
    file = tmp_path / "cases.json"
    say("cases", "add", "Will it rain?", "--no-tool", "--held-back", "yes")
    say("cases", "export", file)
    document = json.loads(file.read_text("utf-8"))
    held = next(one for one in document["cases"] if one["query"] == "Will it rain?")
    assert held.pop("held_back") is True
    held["query"] = "Will it snow?"
    file.write_text(json.dumps(document), "utf-8")
    assert say("cases", "import", file, "--replace").code == 0
    kept = say("cases", "show", held["id"], "--json").document
    assert (kept["query"], kept["held_back"]) == ("Will it snow?", True)


def test_an_import_prunes_and_attaches(tmp_path: Path) -> None:
    one = case_file(tmp_path, [case("new one", None, server="elsewhere")])
    said = say("cases", "import", one, "--attach", "city", "--prune", "--dry-run", "--json")
    assert len(said.document["pruned"]) == 3
    assert "All cases use city, not elsewhere." in said.err
    assert say("cases", "import", one, "--attach", "city", "--prune").code == 2
    assert say("cases", "import", one, "--attach", "city", "--prune", "--yes").code == 0
    [left] = say("cases", "list", "--json").document["cases"]
    assert (left["name"], left["servers"]) == ("new one", ["city"])
    bad = case_file(tmp_path, [{"query": "x"}])
    assert "Nothing is pruned" in say("cases", "import", bad, "--prune", "--yes").err


def test_a_mistyped_path_makes_no_folders(tmp_path: Path) -> None:
    said = say("servers", "remove", "city", "--workspace", tmp_path / "typo" / "w.db")
    assert (said.code, "There is no folder" in said.err) == (3, True)
    assert not (tmp_path / "typo").exists()


def test_a_run_records_how_the_model_was_called(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text("Be brief.", "utf-8")
    calling = ("--system-prompt", f"@{tmp_path / 'prompt.txt'}", "--tool-choice", "required", "--mode", "json")
    [ran] = say("run", "--case", "weather report", *calling, "--json").document["runs"]
    settings = say("runs", "show", ran["id"], "--json").document["settings"]
    assert (settings["system_prompt"], settings["tool_choice"], settings["mode"]) == ("Be brief.", "required", "json")
    assert say("run", "--system-prompt", "@missing.txt").code == 2


def test_a_server_starts_in_the_folder_that_is_named(tmp_path: Path) -> None:
    say("servers", "add", "other", "--command", "no-such-program", "--cwd", tmp_path, "--yes", "--verbose")
    assert say("servers", "show", "other", "--json").document["cwd"] == str(tmp_path)
