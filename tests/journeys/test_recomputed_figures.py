"""Figures recomputed from the rows: plain SQL over the workspace, and numpy over the exported CSV."""

import csv
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from shutil import copyfile
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from tests.support.command_line import say
from tests.support.model_replies import Received, Reply, completion, error, junk, tool_calls, words
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import made_own

REPEATS, CAP, LIMIT = 3, 0.05, 100
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
MODEL = "provider <> 'offline'"
FROM = (
    "FROM test_runs AS r JOIN model_settings AS s ON s.id = r.model_settings_id JOIN batches AS b ON b.id = r.batch_id"
)
CUT = completion({"content": "It is"}, finish="length")
ANSWERS: dict[str, tuple[str | None, Reply]] = {
    "search the letters for x": ("search", tool_calls(("search", {"query": "x"}))),
    "search for another x": ("search", tool_calls(("search", {"query": "y"}))),
    "archive x": ("archive", tool_calls(("search", {"query": "x"}))),
    "garbled archive": ("archive", junk()),
    "garbled small talk": (None, junk()),
    "small talk": (None, words("Hello!")),
    "burn x": ("burn", words("never asked")),
    "archive the refused": ("archive", error(400, "Refused.")),
    "archive the endless": ("archive", CUT),
}


def answer(request: Received) -> Reply:
    """The planned answer."""
    return ANSWERS[request.query][1]


class Ran:
    """A workspace with batches, and what was sent in each."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "work.db"
        self.csv, self.junit = folder / "runs.csv", folder / "runs.xml"
        self.requests: dict[str, Sequence[Received]] = {}
        self.batches: dict[str, str] = {}

    def run(self, name: str, *options: str | Path) -> None:
        """Run all cases, and keep what was sent."""
        with ModelStub(answer) as stub:
            asked = ("--model", "openai/stub", "--base-url", stub.url, "--no-key", "--retries", "0", "--yes", "--json")
            said = say("run", *asked, *options, "--workspace", self.file)
        self.requests[name] = tuple(stub.requests)
        assert said.code == 1, said.err
        self.batches[name] = said.document["batch"]

    def sql(self, columns: str, batch: str, where: str = "1") -> tuple[Any, ...]:
        """One row of figures over the runs of a batch, with their settings."""
        with closing(sqlite3.connect(self.file)) as connection:
            found: tuple[Any, ...] = connection.execute(
                f"SELECT {columns} {FROM} WHERE b.id = ? AND {where}", (self.batches[batch],)
            ).fetchone()
        return found

    def rows(self) -> list[dict[str, str]]:
        """The lines of the CSV."""
        with self.csv.open(encoding="utf-8-sig") as file:
            return list(csv.DictReader(file))

    def metrics(self, batch: str) -> Any:
        """What `metrics` says of a batch."""
        return say("metrics", "--batch", self.batches[batch], "--json", "--workspace", self.file).document


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One batch with a price beside a baseline, and one without a price."""
    folder = tmp_path_factory.mktemp("recomputed")
    ran = Ran(folder)
    tools = [{"name": name, "description": f"{name} letters", "inputSchema": SCHEMA} for name in ("search", "archive")]
    cases = [
        {
            "name": query,
            "query": query,
            "servers": ["letters"],
            "expected": [{"tool": tool, "parameters": {"query": "x"}}] if tool else None,
        }
        for query, (tool, _) in ANSWERS.items()
    ]
    (folder / "tools.json").write_text(json.dumps(tools))
    (folder / "cases.yaml").write_text(yaml.safe_dump({"cases": cases}))
    work = ("--workspace", ran.file)
    assert say("servers", "add", "letters", "--tools-file", folder / "tools.json", *work).code == 0
    assert say("cases", "import", folder / "cases.yaml", *work).code == 0
    beside = ("--model", "offline/words", "--price", "1,2", "--repeats", str(REPEATS))
    ran.run("beside", *beside, "--csv", ran.csv, "--junit", ran.junit)
    ran.run("unpriced")
    return ran


@pytest.fixture(scope="module")
def capped(ran: Ran, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The same cases in a copy of the workspace, under a cap."""
    capped = Ran(tmp_path_factory.mktemp("capped"))
    copyfile(ran.file, capped.file)
    made_own(capped.file)
    capped.run("capped", "--price", "30,60", "--max-cost", f"{CAP:g}", "--max-tokens", str(LIMIT), "--repeats", "9")
    return capped


def test_unreadable_answers_are_counted_pass_nowhere_and_have_no_category(ran: Ran) -> None:
    unreadable, of_model = ran.sql(
        "sum(r.calls IS NULL), count(*)", "beside", f"{MODEL} AND r.classification IS NOT NULL"
    )
    (correct_tools,) = ran.sql(
        "count(*)", "beside", f"{MODEL} AND r.classification IN ('TP', 'TN') AND r.calls IS NOT NULL"
    )
    metrics = ran.metrics("beside")
    assert (metrics["unreadable"], metrics["n"]) == (unreadable, of_model) == (2 * REPEATS, 6 * REPEATS)
    assert metrics["correct_tool"]["value"] == pytest.approx(correct_tools / of_model)
    rows = [row for row in ran.rows() if row["unreadable"].lower() == "true"]
    assert {(row["mark"], row["confidence_category"]) for row in rows} == {("wrong", "")}
    assert {row["classification"] for row in rows} == {"FN", "TN"}
    assert len(rows) == unreadable
    failures = ElementTree.parse(ran.junit).getroot().iter("failure")
    assert sum("nreadable" in f"{one.attrib}{one.text}" for one in failures) == unreadable


def test_what_is_not_offered_is_not_asked_and_counted_apart(ran: Ran) -> None:
    missing, failed, planned = ran.sql(
        "sum(r.error_code = 'expected_tool_not_offered'), sum(r.status = 'failed'), count(*)",
        "beside",
        MODEL,
    )
    metrics = ran.metrics("beside")
    assert (metrics["not_offered"], metrics["failed"]) == (missing, failed) == (REPEATS, 3 * REPEATS)
    assert len(ran.requests["beside"]) == planned - missing
    assert "burn x" not in {request.query for request in ran.requests["beside"]}
    of_csv = [row for row in ran.rows() if row["error_code"] == "expected_tool_not_offered"]
    assert {(row["status"], row["mark"], row["query"]) for row in of_csv} == {("failed", "", "burn x")}
    assert len(of_csv) == 2 * missing


def test_a_baseline_and_a_model_are_never_pooled(ran: Ran) -> None:
    marks = np.array([(row["model"], row["mark"]) for row in ran.rows() if row["mark"]])
    shares = {model: np.mean(marks[marks[:, 0] == model, 1] == "correct_call") for model in np.unique(marks[:, 0])}
    assert shares.keys() == {"openai/stub", "offline/words"}
    metrics = ran.metrics("beside")
    assert {one["name"]: one["correct_call"]["value"] for one in metrics["by_model"]} == pytest.approx(shares)
    assert metrics["correct_call"]["value"] == pytest.approx(shares["openai/stub"])
    assert np.mean(marks[:, 1] == "correct_call") != pytest.approx(shares["openai/stub"])
    assert metrics["n"] == np.count_nonzero(marks[:, 0] == "openai/stub")


def test_a_cost_is_the_sum_of_its_tokens_and_says_what_it_leaves_out(ran: Ran) -> None:
    spent, priced = ran.sql("sum(r.tokens_in * 1e-6 + r.tokens_out * 2e-6), count(r.cost_usd)", "beside", MODEL)
    metrics = ran.metrics("beside")
    assert metrics["cost_usd"] == pytest.approx(spent)
    of_model = [row for row in ran.rows() if row["model"] == "openai/stub"]
    costs = np.array([float(row["cost_usd"]) for row in of_model if row["cost_usd"]])
    assert (costs.sum(), len(costs)) == (pytest.approx(spent), metrics["priced"])
    judged = [float(row["cost_usd"]) for row in of_model if row["mark"]]
    assert metrics["cost_per_run_usd"]["p50"] == pytest.approx(np.percentile(judged, 50))
    both = say("metrics", "--model", "openai/stub", "--json", "--workspace", ran.file).document
    assert (both["cost_usd"], both["priced"]) == (pytest.approx(spent), priced)
    assert ran.metrics("unpriced")["priced"] == 0
    assert "no price is known" in say("metrics", "--batch", ran.batches["unpriced"], "--workspace", ran.file).out


def test_a_cap_holds_by_the_tokens_of_the_answers(capped: Ran) -> None:
    spent, asked = capped.sql("sum(r.tokens_in * 30e-6 + r.tokens_out * 60e-6), count(r.tokens_in)", "capped")
    assert CAP / 2 < spent <= CAP
    assert 0 < asked < len(ANSWERS) * 9
    limits = {
        request.body.get("max_tokens", request.body.get("max_completion_tokens"))
        for request in capped.requests["capped"]
    }
    assert limits == {LIMIT}
    (stopped,) = capped.sql("b.stopped", "capped")
    assert "cap" in stopped
    shown = say("runs", "show", capped.batches["capped"], "--workspace", capped.file).out
    assert f"Stopped early: {stopped}" in shown
