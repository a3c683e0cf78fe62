"""Two hundred cases through the real litellm against a model that misbehaves in every way: the counts add up."""

import itertools
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from tests.support import workspace_files
from tests.support.command_line import say
from tests.support.model_replies import NAMED, Received, Reply, hang, pick, rate_limited, tool_calls
from tests.support.model_stub import ModelStub

CASES, HANGING = 200, 4
FAULTS = ("fine", "429", "500", "recovers", "junk", "invented", "parallel", "empty", "text")
ENDS: dict[str, tuple[str, str | None, str | None]] = {
    "fine": ("completed", "TP", None),
    "429": ("completed", "TP", None),
    "500": ("failed", None, "provider_error"),
    "recovers": ("completed", "TP", None),
    "hang": ("failed", None, "model_timeout"),
    "junk": ("completed", "FN", None),
    "invented": ("completed", "FN", None),
    "parallel": ("completed", "FP", None),
    "empty": ("completed", "FN", None),
    "text": ("completed", "FN", None),
}


class Misbehaving:
    """Answers each case as its query says; `429` and `recovers` fail the first time only."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, request: Received) -> Reply:
        fault = request.query.split()[-1]
        self.asked[request.query] += 1
        first = self.asked[request.query] == 1
        if fault == "429":
            return rate_limited("0.1") if first else pick(request)
        if fault == "recovers":
            return NAMED["500"](request) if first else pick(request)
        if fault == "hang":
            return hang()
        if fault == "parallel":
            both = ("weather_report", {"city": "Oslo"}), ("train_times", {"station": "Oslo"})
            return tool_calls(*both)
        return NAMED[fault](request) if fault in NAMED else pick(request)


def batch_of_all_faults(folder: Path, model: Misbehaving) -> dict[str, Any]:
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(folder))
    faults = itertools.islice(itertools.chain(["hang"] * HANGING, itertools.cycle(FAULTS)), CASES)
    expected = [{"tool": "weather_report"}]
    cases = [workspace_files.case(f"weather report {number} {fault}", expected) for number, fault in enumerate(faults)]
    say("cases", "import", workspace_files.case_file(folder, cases))
    with ModelStub(model) as stub:
        limits = ("--concurrency", "32", "--timeout", "2", "--retries", "1")
        said = say("run", "--model", "openai/stub", "--base-url", stub.url, *limits, "--json")
    assert said.code == 1, said.err
    document = said.document
    assert isinstance(document, dict)
    return document


def test_every_run_ends_as_it_should_and_the_counts_add_up(tmp_path: Path) -> None:
    model = Misbehaving()
    document = batch_of_all_faults(tmp_path, model)
    runs = document["runs"]
    assert len(runs) == CASES
    found: dict[str, set[tuple[str, str | None, str | None]]] = defaultdict(set)
    for item in runs:
        end = (item["status"], item["classification"], (item["error"] or {}).get("code"))
        found[item["query"].split()[-1]].add(end)
    assert found == {fault: {end} for fault, end in ENDS.items()}
    metrics = document["metrics"]
    counts = Counter(item["classification"] or item["status"] for item in runs)
    named = {"TP": "tp", "FP": "fp", "TN": "tn", "FN": "fn", "failed": "failed"}
    assert {key: metrics[name] for key, name in named.items()} == {key: counts[key] for key in named}
    assert metrics["precision"]["value"] == counts["TP"] / (counts["TP"] + counts["FP"])
    assert metrics["recall"]["value"] == counts["TP"] / (counts["TP"] + counts["FN"])
    assert_words(runs)
    assert {model.asked[query] for query in model.asked if query.endswith(("429", "recovers", "500", "hang"))} == {2}
    assert {model.asked[query] for query in model.asked if query.endswith(("fine", "junk", "empty"))} == {1}


def assert_words(runs: list[dict[str, Any]]) -> None:
    """Each end comes with words that say what happened."""
    kinds = {item["query"].split()[-1]: item["kind"] for item in runs if item["kind"]}
    assert (kinds["junk"], kinds["empty"], kinds["invented"]) == ("no_tool", "no_tool", "invented_tool")
    assert kinds["parallel"] == "extra_call"
    explanations = {item["query"].split()[-1]: item["explanation"] for item in runs if item["explanation"]}
    assert "read" in explanations["junk"]
    assert "no_such_tool_anywhere" in explanations["invented"]
    assert all(item["error"]["message"] and item["error"]["hint"] for item in runs if item["error"])
