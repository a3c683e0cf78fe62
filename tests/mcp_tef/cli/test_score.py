"""`score`: judges recorded calls by the shapes that scripts rely on."""

import json
from pathlib import Path
from typing import Any

from tests.support.command_line import say

TOOLS = [{"name": "book", "description": "", "inputSchema": {"type": "object", "properties": {"day": {}}}}]
RIGHT = {
    "id": "right",
    "query": "Book Monday",
    "tools": TOOLS,
    "expected": [{"tool": "book", "parameters": {"day": "Monday"}}],
    "calls": [{"tool": "book", "arguments": {"day": " monday"}}],
}
KEYS = {
    "id",
    "classification",
    "kind",
    "matches",
    "completeness",
    "correctness",
    "type_conformance",
    "hallucinated",
    "parameters_ok",
    "confidence_category",
    "explanation",
}


def scored(folder: Path, *lines: Any) -> tuple[int, list[dict[str, Any]]]:
    source, target = folder / "in.jsonl", folder / "out.jsonl"
    source.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    said = say("score", source, "--out", target)
    return said.code, [json.loads(line) for line in target.read_text("utf-8").splitlines()]


def test_each_line_gets_a_verdict_with_the_promised_keys(tmp_path: Path) -> None:
    code, verdicts = scored(tmp_path, RIGHT, RIGHT | {"id": "unreadable", "calls": None})
    assert code == 0
    assert all(set(verdict) == KEYS for verdict in verdicts)
    assert (verdicts[0]["classification"], verdicts[0]["parameters_ok"]) == ("TP", True)
    assert (verdicts[1]["classification"], verdicts[1]["kind"]) == ("FN", "no_tool")


def test_a_bad_line_gets_an_error_in_its_place_and_the_rest_is_judged(tmp_path: Path) -> None:
    code, verdicts = scored(tmp_path, "{half", RIGHT)
    assert code == 1
    assert set(verdicts[0]) == {"id", "error"}
    assert verdicts[1]["classification"] == "TP"


def test_without_json_the_counts_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(RIGHT), "utf-8")
    said = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl")
    assert said.out.strip() == "1 TP, 0 FP, 0 TN, 0 FN, 0 bad of 1 line."


def test_with_json_the_counts_are_the_document(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(RIGHT), "utf-8")
    said = say("score", tmp_path / "in.jsonl", "--out", tmp_path / "out.jsonl", "--json")
    assert said.document == {"lines": 1, "TP": 1, "FP": 0, "TN": 0, "FN": 0, "bad": 0}


def test_half_a_character_from_a_model_goes_out_as_it_came_in(tmp_path: Path) -> None:
    code, [verdict] = scored(tmp_path, RIGHT | {"id": "half \ud800", "calls": [{"tool": "\udfff"}]})
    assert (code, verdict["id"], verdict["kind"]) == (0, "half \ud800", "invented_tool")


def test_verdicts_never_replace_the_calls_that_they_are_about(tmp_path: Path) -> None:
    calls = tmp_path / "calls.jsonl"
    calls.write_text(json.dumps(RIGHT), "utf-8")
    said = say("score", calls, "--out", tmp_path / ".." / tmp_path.name / "calls.jsonl", "--json")
    assert said.code == 2
    assert said.error["message"] == f"The result would replace {calls}, which it is made from."
    assert calls.read_text("utf-8") == json.dumps(RIGHT)
