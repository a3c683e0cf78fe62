"""Batches, cases, suites, tags, models and tools as people name them, and the nearest name for an unknown one."""

from pathlib import Path

import pytest

from tests.support.command_line import say
from tests.support.workspace_files import case, case_file, tools_file


@pytest.fixture(autouse=True)
def batches(tmp_path: Path) -> list[str]:
    """The ids of two batches, newest first: one named night, one named main. Two cases have one name."""
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path)).code == 0
    twice = [case(f"train times {word}", [{"tool": "train_times"}]) | {"name": "Twice"} for word in ("north", "south")]
    weather = case("weather report", [{"tool": "weather_report"}]) | {"tags": ["sky"]}
    assert say("cases", "import", case_file(tmp_path, [weather, *twice])).code == 0
    for name in ("main", "night"):
        assert say("run", "--case", "weather report", "--name", name).code in (0, 1)
    return [batch["id"] for batch in say("runs", "list", "--json").document["batches"]]


def test_a_batch_is_named_in_many_ways(batches: list[str]) -> None:
    newest, before = batches
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
