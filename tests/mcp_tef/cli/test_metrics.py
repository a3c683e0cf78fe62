"""`metrics` and `confusions`, over the runs of the sample."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_tef import default_workspace
from tests.support import command_line, isolation
from tests.support.command_line import Said


def say(*arguments: str) -> Said:
    """A command on the workspace that `demo` fills."""
    return command_line.say(*arguments, "--workspace", default_workspace().with_name("sample.db"))


@pytest.fixture(scope="module")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder in which the sample ran twice with the offline baseline."""
    with isolation.at_home(tmp_path_factory.mktemp("demo")) as folder:
        assert [say("demo", "--json").code for _ in range(2)] == [0, 0]
    return folder


@pytest.fixture(autouse=True)
def ran(demo_home: Path, home: Path) -> None:
    """A copy of that home, for each test."""
    shutil.copytree(demo_home, home, dirs_exist_ok=True)


def n(*filters: str) -> int:
    said = say("metrics", *filters, "--json")
    assert said.code == 0
    found = said.document["n"]
    assert isinstance(found, int)
    return found


def test_without_a_filter_it_is_about_every_run_of_the_workspace() -> None:
    assert n() == n("--batch", "latest") + n("--batch", "latest~1") > 0


def test_figures_come_with_their_intervals_and_calibration_and_repeats() -> None:
    document = say("metrics", "--json").document
    assert list(document["accuracy"]) == ["value", "low", "high", "n"]
    assert document["accuracy"]["low"] < document["accuracy"]["value"] < document["accuracy"]["high"]
    assert len(document["confidence"]["calibration"]["bins"]) == 10
    assert document["repeated_cases"]["groups"] == 0
    assert set(document["latency_ms"]) == {"p50", "p95", "p99"}


def test_filters_narrow_and_several_values_of_one_widen() -> None:
    everything = n()
    tool, other = n("--expected-tool", "find_parts"), n("--expected-tool", "book_repair")
    assert 0 < tool < everything
    assert 0 < other < everything
    assert n("--model", "offline/words") == n("--suite", "Sample") == everything
    assert say("metrics", "--model", "nobody/nothing").code == 2
    assert n("--selected-server", "Bike shop", "--kind", "no_call_expected") == 0
    assert n("--offered-tool", "find_parts", "--status", "completed") == everything
    assert n("--offered-server", "Bike shop") == everything > n("--expected-server", "Bike shop") > 0
    assert 0 < n("--selected-tool", "find_parts") < everything


def test_dates_are_days_or_moments() -> None:
    today = datetime.now(UTC).date()
    tomorrow = today + timedelta(days=1)
    assert n("--since", str(today - timedelta(days=1)), "--until", str(tomorrow)) == n()
    assert n("--since", str(tomorrow + timedelta(days=1))) == n("--until", "2020-01-01T10:00+02:00") == 0
    said = say("metrics", "--since", "yesterday", "--json")
    assert (said.code, said.error["code"]) == (2, "bad_input")


def test_people_read_the_same_in_words() -> None:
    lines = say("metrics").out.splitlines()
    assert any(line.startswith("accuracy") and "n " in line for line in lines)


def test_confusions_name_labels_and_count_pairs() -> None:
    document = say("confusions", "--json").document
    assert document["rows"][-1] == {"kind": "no_tool", "tool": None, "server": None}
    assert document["columns"][-1]["kind"] == "invented_tool"
    assert sum(count for _, _, count in document["cells"]) == document["n"] == n()
    tools = {figures["tool"]: figures for figures in document["tools"]}
    assert tools["find_parts"]["server"] == "Bike shop"
    assert list(tools["find_parts"]["recall"]) == ["value", "low", "high", "n"]


def test_confusions_are_listed_for_people_the_most_frequent_first() -> None:
    tools, _, pairs = say("confusions").out.partition("\n\n")
    assert "find_parts" in tools
    counts = [int(line.split()[-1]) for line in pairs.splitlines()[1:]]
    assert counts == sorted(counts, reverse=True)


def test_a_filter_that_no_run_passes_leaves_an_empty_matrix() -> None:
    document = say("confusions", "--until", "2020-01-01", "--json").document
    assert (document["n"], document["cells"], document["tools"]) == (0, [], [])
