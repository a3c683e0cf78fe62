"""Options of a project file: each works as it does on the command line, or is refused by its name."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from mcp_tef import OPTIONS, ProjectUse, VerbOption
from mcp_tef.cli.main import parser, registers
from mcp_tef.cli.project_file import ProjectFile
from tests.support.command_line import Said, say
from tests.support.workspace_files import case, case_file, tools_file

CASES = [case(f"weather report {number}", [{"tool": "weather_report"}]) for number in range(1, 4)]
WRONG = [case(f"weather report {number}", [{"tool": "train_times"}]) for number in range(1, 31)]
BASE = {"tools-file": "tools.json", "cases": "cases.json"}
EXAMPLES: dict[str, list[tuple[Any, list[str]]]] = {
    "suite": [(["Journey"], ["Journey"]), ("Nothing", ["Nothing"])],
    "tag": [(["no-such-tag"], ["no-such-tag"])],
    "case": [(["weather report 1", "weather report 2"], ["weather report 1", "weather report 2"])],
    "client": [("claude-desktop", ["claude-desktop"]), ("nobody", ["nobody"])],
    "mode": [("json", ["json"]), ("bad", ["bad"])],
    "tool-choice": [("required", ["required"])],
    "repeats": [(2, ["2"]), (0, ["0"])],
    "seed": [(3, ["3"])],
    "concurrency": [(1, ["1"])],
    "timeout": [(5.5, ["5.5"]), (-1, ["-1"])],
    "temperature": [(0.1, ["0.1"]), (9, ["9"])],
    "retries": [(0, ["0"])],
    "max-tokens": [(20, ["20"])],
    "max-cost": [(0.25, ["0.25"]), (-1, ["-1"])],
    "fail-under": [(["correct_tool=0.5", "correct_call=0.9"], ["correct_tool=0.5", "correct_call=0.9"]), (0, ["0"])],
    "fail-if-surely-under": [("correct_call=0.95", ["correct_call=0.95"]), ("recall=0.5", ["recall=0.5"])],
    "case-pass-rate": [(0.9, ["0.9"]), (0, ["0"]), ("many", ["many"])],
    "prompt": [("nobody", ["nobody"])],
    "var": [({"a": "b"}, ["a=b"])],
    "name": [("nightly", ["nightly"])],
    "shard": [("1/3", ["1/3"]), ("3", ["3"])],
    "model": [(["offline/words"], ["offline/words"]), ("words", ["words"])],
    "baseline": [("good.json", ["good.json"]), ("bad.json", ["bad.json"]), ("missing.json", ["missing.json"])],
    "cases": [("cases.json", ["cases.json"]), ("few.json", ["few.json"]), ("missing.json", ["missing.json"])],
    "tools-file": [({"city": "tools.json"}, ["city=tools.json"])],
    "system-prompt": [("Be brief.", ["Be brief."]), ("@brief.txt", ["@brief.txt"]), ("@missing", ["@missing"])],
    "junit": [("results.xml", ["results.xml"])],
    "html": [("results.html", ["results.html"])],
    "csv": [("results.csv", ["results.csv"])],
    "sarif": [("results.sarif", ["results.sarif"])],
    "markdown": [("results.md", ["results.md"])],
    "verdict": [("verdict.json", ["verdict.json"])],
}
"""Values of each option as TOML and as arguments: usual ones, and some that are refused or decide the exit code."""
ASKED = {ProjectUse.PROGRAM, ProjectUse.ADDRESS, ProjectUse.MODEL_ADDRESS}
FREE = [option for option in OPTIONS.values() if not option.use.is_refused and option.use not in ASKED]


def result(mark: str) -> str:
    runs = [
        {"case": one["name"], "query": one["query"], "model": "offline/words"}
        | {"mark": mark, "expected": "weather_report"}
        for one in WRONG
    ]
    return json.dumps({"batch": "earlier", "runs": runs})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with everything that the examples name."""
    place = tmp_path / "project"
    place.mkdir()
    tools_file(place)
    for name, cases in (("few", CASES[:2]), ("wrong", WRONG)):
        case_file(place, cases)
        (place / "cases.json").rename(place / f"{name}.json")
    case_file(place, CASES)
    (place / "good.json").write_text(result("correct_call"), "utf-8")
    (place / "bad.json").write_text(result("wrong"), "utf-8")
    (place / "brief.txt").write_text("Be brief.", "utf-8")
    monkeypatch.chdir(place)
    return place


def toml(options: dict[str, Any]) -> str:
    """Options as TOML; JSON writes texts, numbers and lists of them in the same way."""
    flat = {name: value for name, value in options.items() if not isinstance(value, dict)}
    tables = {name: value for name, value in options.items() if isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in flat.items()]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines)


def outcome(said: Said) -> Any:
    """What a run tells, without ids and times."""
    if "runs" not in said.document:
        return said.code, said.document["error"]["code"]
    document = said.document
    for one in document["runs"]:
        del one["id"], one["execution_time_ms"]
    document["metrics"] = {
        key: value for key, value in document["metrics"].items() if key not in ("latency_ms", "by_model")
    }
    conditions = [{key: one[key] for key in one if key not in ("batch", "date")} for one in document["conditions"]]
    comparison = {key: document.get("comparison", {}).get(key) for key in ("for_queries_like_these", "counts")}
    return said.code, document["runs"], document["metrics"], comparison, conditions


def in_a_file(options: dict[str, Any], name: str = "mcp-tef.toml") -> Said:
    text = toml(options) if name == "mcp-tef.toml" else toml(options).replace("[", "[tool.mcp-tef.")
    Path(name).write_text(text if name == "mcp-tef.toml" else f"[tool.mcp-tef]\n{text}", "utf-8")
    said = say("run", "--json")
    Path(name).unlink()
    return said


def test_run_alone_takes_a_project_file() -> None:
    """Another verb that does needs its own options in the table, and in these tests."""
    waiting, taking = list[tuple[tuple[str, ...], Any]]([((), parser())]), set[tuple[str, ...]]()
    while waiting:
        words, verb = waiting.pop()
        groups = [action.choices for action in verb._actions if isinstance(action, argparse._SubParsersAction)]
        waiting += [((*words, name), below) for group in groups for name, below in group.items()]
        taking |= {words} if verb.takes_project_file else set()
    assert taking == {("run",)}


def test_every_option_of_the_parser_is_in_the_table_and_the_other_way_round() -> None:
    whole = parser(registers(["run"]))
    run = next(action.choices["run"] for action in whole._actions if isinstance(action.choices, dict))
    assert run.takes_project_file
    assert {one.option_strings[-1].removeprefix("--") for one in run._actions} == set(OPTIONS)


@pytest.mark.parametrize("option", FREE, ids=lambda option: option.name)
def test_an_option_in_a_file_does_what_it_does_on_the_command_line(option: VerbOption, folder: Path) -> None:
    for value, typed in EXAMPLES[option.name]:
        places = {name: place for name, place in BASE.items() if name != option.name}
        others = [f"--{name}={place}" for name, place in places.items()]
        on_the_line = say("run", "--json", *others, *(f"--{option.name}={text}" for text in typed))
        assert outcome(in_a_file({**places, option.name: value})) == outcome(on_the_line), value
        if option.use is ProjectUse.RESULT:
            assert (folder / "mcp-tef-results" / str(value)).stat().st_size > 0
            assert (folder / str(value)).stat().st_size > 0


def test_thresholds_and_baselines_of_a_file_decide() -> None:
    assert in_a_file(BASE).code == 1, "single misses"
    assert in_a_file({**BASE, "fail-under": "correct_tool=0.5"}).code == 0
    wrong = {**BASE, "cases": "wrong.json"}
    for name, value, code in (
        ("case-pass-rate", 0.9, 1),
        ("case-pass-rate", 0, 0),
        ("baseline", "good.json", 1),
        ("baseline", "bad.json", 0),
        ("baseline", "missing.json", 2),
        ("fail-if-surely-under", "correct_call=0.95", 1),
    ):
        assert in_a_file({**wrong, name: value}).code == code, (name, value)


@pytest.mark.parametrize("name", [option.name for option in OPTIONS.values() if option.use.is_refused])
def test_what_only_the_user_decides_is_refused_by_its_name(name: str) -> None:
    for value in (True, "x", ["x"]):
        said = in_a_file({**BASE, name: value})
        assert (said.code, f"mcp-tef.toml cannot hold {name}: " in said.err) == (2, True), said.err
    shared = {**BASE, "targets": [{}]}
    del shared["targets"]
    target = toml(shared) + f'\n[[targets]]\nname = "a"\n{name.replace("-", "_")} = true\n'
    Path("mcp-tef.toml").write_text(target, "utf-8")
    assert f"cannot hold {name.replace('-', '_')}" in say("run", "--all").out


def test_groups_and_routers_of_the_user_are_refused() -> None:
    for model in ("group/fast", "router/cheap", " group/fast"):
        said = in_a_file({**BASE, "model": ["offline/words", model]})
        assert (said.code, "group or router" in said.err) == (2, True)


@pytest.mark.parametrize(
    ("typed", "of_the_file", "least"), [("0.2", 5, 0.2), ("5", 0.2, 0.2), (None, 0.2, 0.2), ("0.2", None, 0.2)]
)
def test_a_cap_of_the_file_only_lowers_what_is_typed(
    typed: str | None, of_the_file: float | None, least: float
) -> None:
    options = BASE if of_the_file is None else {**BASE, "max-cost": of_the_file}
    Path("mcp-tef.toml").write_text(toml(options), "utf-8")
    whole = parser(registers(["run"]))
    found = whole.parse_args(["run", *([] if typed is None else [f"--max-cost={typed}"])])
    assert found.max_cost == least
    assert isinstance(found.project, ProjectFile)


def test_pyproject_holds_the_same() -> None:
    said = in_a_file({**BASE, "case-pass-rate": 0.9}, "pyproject.toml")
    assert (said.code, len(said.document["runs"])) == (1, 3)
    assert in_a_file({**BASE, "cluster": "local:2"}, "pyproject.toml").code == 2


@pytest.mark.parametrize("text", ["a = " + "[" * 100_000, "repeats = " + "1" * 5000, "x = 1\n" * 200_000, "\xff"])
def test_a_file_that_is_no_document_is_one_sentence(text: str) -> None:
    Path("mcp-tef.toml").write_bytes(text.encode("latin-1"))
    said = say("run")
    assert (said.code, "mcp-tef.toml cannot be read" in said.err) == (2, True)


def test_an_option_written_twice_is_refused() -> None:
    Path("mcp-tef.toml").write_text("max-cost = 1\nmax_cost = 2", "utf-8")
    assert "sets max-cost twice" in say("run").err
