"""One batch that holds every kind of outcome reads the same in every place that shows a share."""

import csv
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfile
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from app.screens.metrics.charts import trend_data
from app.screens.metrics.group_values import model_rows
from app.screens.metrics.metric_values import headline_metrics
from app.screens.runs.batch_summaries import batch_card, batch_summary, ended_text
from mcp_tef import Engine, RunFilter, RunMark, RunReports
from tests.support.command_line import say
from tests.support.model_replies import Received, Reply, error, junk, tool_calls, words
from tests.support.model_stub import ModelStub
from tests.support.run_factories import batch
from tests.support.workspace_files import made_own

REPEATS = 5
CALLS, TOOLS, JUDGED, FAILED, UNREADABLE = 21, 38, 80, 10, 10
SENTENCE = "Correct call 21/80 (26 %), correct tool 38/80 (48 %), 10 failed, 10 unreadable"
NAMES = ("Correct call", "Correct tool")
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
CORRECT = tool_calls(("search", {"query": "x"}))
WRONG_VALUE = tool_calls(("search", {"query": "y"}))
WRONG_TOOL = tool_calls(("archive", {"query": "x"}))
EXTRA = tool_calls(("search", {"query": "x"}), ("archive", {"query": "x"}))
ERROR = error(400, "The request was refused.")
ANSWERS: dict[str, tuple[Reply, ...]] = {
    **{f"correct {number}": (CORRECT,) * 5 for number in range(3)},
    "mostly wrong values": (CORRECT, *(WRONG_VALUE,) * 4),
    **{f"wrong values {number}": (WRONG_VALUE,) * 5 for number in range(2)},
    "wrong values and tools": (*(WRONG_VALUE,) * 3, *(WRONG_TOOL,) * 2),
    "nothing to call": (words("Hello!"),) * 5,
    "nothing to call, unreadable": (junk(),) * 5,
    "unreadable": (junk(),) * 5,
    "extra call": (EXTRA,) * 5,
    **{f"wrong tool {number}": (WRONG_TOOL,) * 5 for number in range(4)},
    "nothing to call, called": (CORRECT,) * 5,
    **{f"provider error {number}": (ERROR,) * 5 for number in range(2)},
}


class Model:
    """A model that answers each query as planned, once for each repeat."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()

    def __call__(self, request: Received) -> Reply:
        query = str(request.body["messages"][-1]["content"])
        self._asked[query] += 1
        return ANSWERS[query][(self._asked[query] - 1) % REPEATS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the batch in `work.db`, and what `run` wrote and said of it."""
    folder = tmp_path_factory.mktemp("one-meaning")
    tools = [
        {"name": name, "description": f"{name} the letters", "inputSchema": SCHEMA} for name in ("search", "archive")
    ]
    (folder / "tools.json").write_text(json.dumps(tools))
    call = [{"tool": "search", "parameters": {"query": "x"}}]
    cases = [
        {"name": query, "query": query, "servers": ["letters"], "expected": None if "nothing" in query else call}
        for query in ANSWERS
    ]
    (folder / "cases.yaml").write_text(yaml.safe_dump({"cases": cases}))
    work = ("--workspace", folder / "work.db")
    assert say("servers", "add", "letters", "--tools-file", folder / "tools.json", *work).code == 0
    assert say("cases", "import", folder / "cases.yaml", *work).code == 0
    endings = {"junit": "xml", "html": "html", "csv": "csv"}
    files = [part for form, end in endings.items() for part in (f"--{form}", folder / f"runs.{end}")]
    with ModelStub(Model()) as stub:
        asked = ("--model", "openai/stub", "--base-url", stub.url, "--no-key", "--concurrency", "1", "--retries", "0")
        said = say("run", *asked, "--repeats", str(REPEATS), *files, "--yes", *work)
    assert said.code == 1, said.err
    (folder / "said.txt").write_text(said.out)
    return folder


def shares(metrics: Any) -> tuple[int, int, int]:
    """Correct calls, correct tools and judged runs of a document with two rates."""
    call, tool = metrics["correct_call"], metrics["correct_tool"]
    assert call["n"] == tool["n"]
    return round(call["value"] * call["n"]), round(tool["value"] * tool["n"]), call["n"]


def by_rows(folder: Path) -> tuple[int, int, int]:
    """Count with plain SQL, from what the verdicts hold."""
    query = """
        SELECT sum(v.classification IN ('TP', 'TN') AND r.calls IS NOT NULL AND coalesce(v.parameters_ok, 1)),
               sum(v.classification IN ('TP', 'TN') AND r.calls IS NOT NULL), count(*)
        FROM evaluation_results AS v JOIN test_runs AS r ON r.id = v.test_run_id
    """
    with closing(sqlite3.connect(folder / "work.db")) as connection:
        found: tuple[int, int, int] = connection.execute(query).fetchone()
    return found


def by_csv(folder: Path) -> tuple[int, int, int]:
    """Count the lines of the CSV by their columns of the verdict, without the mark."""
    with (folder / "runs.csv").open(encoding="utf-8-sig") as file:
        rows = [row for row in csv.DictReader(file) if row["classification"]]
    readable = [row for row in rows if row["classification"] in ("TP", "TN") and row["unreadable"].lower() != "true"]
    return sum(row["parameters_ok"].lower() != "false" for row in readable), len(readable), len(rows)


def by_marks(folder: Path) -> tuple[int, int, int]:
    """Count the marks of the CSV."""
    with (folder / "runs.csv").open(encoding="utf-8-sig") as file:
        marks = Counter(row["mark"] for row in csv.DictReader(file) if row["mark"])
    return marks["correct_call"], marks["correct_call"] + marks["wrong_arguments"], marks.total()


def of_the_command_line(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every place of the command line that shows a share."""
    work = ("--json", "--workspace", folder / "work.db")
    (batch,) = say("runs", "list", *work).document["batches"]
    yield "runs list", (batch["correct_calls"], batch["correct_tools"], sum(batch["counts"].values()) - FAILED)
    metrics = say("metrics", *work).document
    yield "metrics", shares(metrics)
    yield "metrics, the only model", shares(metrics["by_model"][0])
    yield "metrics of the batch", shares(say("metrics", "--batch", batch["id"], *work).document)
    passed = metrics["repeated_cases"]["pass_rate"]
    yield "metrics, repeats", (round(passed["value"] * passed["n"]), TOOLS, passed["n"])
    document = say("runs", "list", "--limit", "100", *work).document["runs"]
    marks = Counter(run["mark"] for run in document)
    yield "marks of runs list", (marks["correct_call"], marks["correct_call"] + marks["wrong_arguments"], JUDGED)
    assert (metrics["failed"], metrics["unreadable"], metrics["n"]) == (FAILED, UNREADABLE, JUDGED)


def of_reports(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Every file that `run` wrote."""
    page = (folder / "runs.html").read_text("utf-8")
    found = [re.search(rf"{name}</text>.*?>(\d+) % [^<]*n (\d+)\)", page, re.DOTALL) for name in NAMES]
    yield "HTML", (*(round(int(one[1]) * int(one[2]) / 100) if one else -1 for one in found), JUDGED)
    suite = ElementTree.parse(folder / "runs.xml").getroot()
    missed = int(suite.attrib["failures"])
    judged = int(suite.attrib["tests"]) - int(suite.attrib["errors"])
    yield "JUnit", (judged - missed, TOOLS, judged)
    yield "CSV, marks", by_marks(folder)
    yield "CSV, recomputed", by_csv(folder)
    yield "SQL, recomputed", by_rows(folder)


def test_every_place_shows_the_same_two_shares(folder: Path) -> None:
    places = dict([*of_the_command_line(folder), *of_reports(folder)])
    width = max(map(len, places))
    print(
        "\n", *(f"{name:{width}}  {' '.join(f'{number:>3}' for number in found)}\n" for name, found in places.items())
    )
    assert {name: found for name, found in places.items() if found != (CALLS, TOOLS, JUDGED)} == {}


async def test_every_place_of_the_window_shows_the_same_two_shares(folder: Path) -> None:
    async with await Engine.open(made_own(folder / "work.db")) as engine:
        (ran,) = await engine.runs.batches()
        overview = await engine.metrics.overview()
        recent = await engine.cases.recent(REPEATS)
    assert [share.detail.split(" ")[0] for share in batch_summary(ran, overview.metrics).shares] == ["21/80", "38/80"]
    assert batch_card(ran, datetime.now(UTC)).result == "26 %"
    assert SENTENCE in ended_text(ran, None)
    assert [figure.rate.successes for figure in headline_metrics(overview.metrics)[:2]] == [CALLS, TOOLS]
    (model,) = model_rows(overview.models)
    assert (model.correct_call.successes, model.correct_tool.successes, model.n) == (CALLS, TOOLS, JUDGED)
    (point,) = trend_data(overview.trend, datetime.now(UTC)).table.rows
    assert [point[place] for place in (2, 6)] == [
        overview.metrics.correct_call.value,
        overview.metrics.correct_tool.value,
    ]
    marks = Counter(run.mark for runs in recent.values() for run in runs if run.mark)
    assert (marks[RunMark.CORRECT_CALL], JUDGED - marks[RunMark.WRONG]) == (CALLS, TOOLS)


def test_beside_a_baseline_the_shares_of_a_batch_are_those_of_the_models() -> None:
    made = batch(
        models=("openai/stub", "offline/words"), counts={"TP": 3, "FN": 1}, tally={"correct_call": 1, "wrong": 1}
    )
    assert batch_card(made, datetime.now(UTC)).result == "50 %"
    assert made.sentence == "Correct call 1/2 (50 %), correct tool 1/2 (50 %)"


async def test_every_place_says_the_same_sentence(folder: Path) -> None:
    async with await Engine.open(made_own(folder / "work.db")) as engine:
        (batch,) = await engine.runs.batches()
        markdown = await RunReports(engine).markdown(RunFilter(), "Letters")
        (model,) = await engine.metrics.models()
        (point,) = await engine.metrics.trend()
    said = {
        "batch": batch.sentence,
        "model": model.metrics.sentence,
        "run": (folder / "said.txt").read_text(),
        "HTML": re.sub("<[^>]+>", "", (folder / "runs.html").read_text("utf-8")),
        "Markdown": markdown.replace("\\", ""),
    }
    assert {place for place, text in said.items() if SENTENCE not in text} == set()
    assert (point.correct_call.successes, point.correct_tool.successes, point.n) == (CALLS, TOOLS, JUDGED)


def test_the_matrix_counts_what_the_verdicts_say(folder: Path) -> None:
    matrix = say("confusions", "--json", "--workspace", folder / "work.db").document
    tools = {figures["tool"]: figures for figures in matrix["tools"]}
    kinds = [label["kind"] for label in matrix["columns"]]
    of_column = Counter(dict.fromkeys(kinds, 0))
    for _, column, number in matrix["cells"]:
        of_column[kinds[column]] += number
    assert (of_column["extra_call"], of_column["unreadable"]) == (5, UNREADABLE)
    assert sum(number for row, column, number in matrix["cells"] if row == column) == TOOLS
    assert (tools["search"]["tp"], tools["search"]["fp"], tools["search"]["fn"]) == (33, 10, 27)
    (server,) = say("metrics", "--json", "--workspace", folder / "work.db").document["by_server"]
    assert (server["n"], server["failed"]) == (JUDGED - 10, FAILED)


@pytest.mark.parametrize(
    ("metric", "fault"),
    [("0.9", "correct_call is 0.0000"), ("correct_tool=0.9", "correct_tool is"), ("accuracy=0.5", "could not be read")],
)
def test_no_threshold_passes_a_wrong_call_and_an_unreadable_answer(
    folder: Path, tmp_path: Path, metric: str, fault: str
) -> None:
    copyfile(folder / "work.db", tmp_path / "work.db")
    made_own(tmp_path / "work.db")
    two = [part for name in ("wrong values 0", "nothing to call, unreadable") for part in ("--case", name)]
    with ModelStub(Model()) as stub:
        asked = ("--model", "openai/stub", "--base-url", stub.url, "--no-key", "--retries", "0", "--yes", *two)
        said = say("run", *asked, "--fail-under", metric, "--workspace", tmp_path / "work.db")
    assert (said.code, fault in said.err) == (1, True)
