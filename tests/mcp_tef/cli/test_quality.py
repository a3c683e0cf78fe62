"""`recommend` and `quality`: shapes, files and exit codes that scripts rely on, with a model and without one."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Said, say
from tests.support.model_replies import Received, Reply, completion, words
from tests.support.model_stub import ModelStub, Step
from tests.support.workspace_files import written

KEY = "sk-quality-0123456789abcdef"
READ = {
    "name": "read_file",
    "description": "Read the text of a file in the workspace.",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
OPEN = READ | {"name": "open_file", "description": "Read the whole text of a file in the workspace."}
BARE = {"name": "pay", "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}
GRADE = {"score": 4, "explanation": "It says little."}
REVIEW = {"clarity": GRADE, "completeness": GRADE, "conciseness": GRADE, "suggested_description": "Pay an invoice."}
REWRITE = {"description": "Read one file, given by its path, and nothing else.", "rationale": "It names the path."}
ALIKE = ("--embedder", "tfidf", "--threshold", "0.3")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return written(tmp_path / "tools.json", {"tools": [READ, OPEN, BARE]})


def expect(code: int, said: Said) -> Said:
    assert said.code == code, said.err
    return said


def test_flagged_pairs_get_drafts_with_patches(tools: Path) -> None:
    document = expect(0, say("recommend", "--tools-file", tools, *ALIKE, "--json")).document
    assert set(document) == {"embedder", "model", "pairs", "patches", "prompt", "files", "unreachable"}
    assert document["model"] is None
    (pair,) = document["pairs"]
    assert {pair["a"], pair["b"]} == {"tools/read_file", "tools/open_file"}
    assert all(issue["sentence"] and issue["type"] and issue["priority"] for issue in pair["issues"])
    assert {one["author"] for one in pair["recommendations"]} == {"draft"}


def test_people_see_where_a_draft_differs_however_long_the_text(tmp_path: Path) -> None:
    long = "It is given back as it stands on the disk, byte by byte. " * 8
    texts = {"read_file": "Read the text of a file.", "read_file_size": "Read the size of a file."}
    tools = [READ | {"name": name, "description": f"{text} {long}"} for name, text in texts.items()]
    said = expect(0, say("recommend", "--tools-file", written(tmp_path / "long.json", tools), *ALIKE))
    before, after = next(two for two in pairwise(said.out.splitlines()) if two[0].strip().startswith("before: …"))
    assert len(before) < 220
    assert before.split()[1].startswith("…")
    assert "byte by byte." in before
    assert "`read_file_size`" in after


def test_two_tools_are_named_by_id_or_by_name(tools: Path) -> None:
    for names in (("read_file", "pay"), ("tools/read_file", "tools/pay")):
        said = say("recommend", "--tools-file", tools, "--embedder", "tfidf", "--pair", *names, "--json")
        (pair,) = expect(0, said).document["pairs"]
        assert {pair["a"], pair["b"]} == {"tools/read_file", "tools/pay"}


def test_a_name_that_no_tool_or_several_have_is_refused(tools: Path, tmp_path: Path) -> None:
    said = say("recommend", "--tools-file", tools, "--embedder", "tfidf", "--pair", "read_file", "write_file")
    assert "There is no tool named write_file." in expect(2, said).err
    copy = written(tmp_path / "copy.json", [READ])
    said = say("recommend", "--tools-file", tools, copy, "--embedder", "tfidf", "--pair", "read_file", "pay")
    assert "tools/read_file, copy/read_file" in expect(2, said).err


def test_where_no_pair_is_flagged_it_says_so(tools: Path) -> None:
    said = expect(0, say("recommend", "--tools-file", tools, "--embedder", "tfidf", "--threshold", "1"))
    assert "No pair is flagged." in said.out


def test_a_model_writes_after_the_estimate_was_told(tools: Path, tmp_path: Path) -> None:
    with ModelStub(lambda _: words(json.dumps(REWRITE))) as stub:
        said = say(
            *("recommend", "--tools-file", tools, *ALIKE, "--json", "--patch-dir", tmp_path / "fixes"),
            *("--model", "openai/stub", "--base-url", stub.url, "--key-stdin"),
            stdin=KEY,
        )
        assert {request.key for request in stub.requests} == {KEY}
    document = expect(0, said).document
    assert said.err.startswith("Asking openai/stub ")
    assert KEY not in said.out + said.err
    written_by = {one["author"] for one in document["pairs"][0]["recommendations"]}
    assert "openai/stub" in written_by
    assert document["files"]
    assert all(json.loads(Path(file).read_text("utf-8")) for file in document["files"])


def test_one_key_is_not_taken_for_an_embedder_and_a_model_at_different_addresses(tools: Path) -> None:
    with ModelStub(lambda _: words(json.dumps(REWRITE))) as stub:
        said = say(
            *("recommend", "--tools-file", tools, "--embedder", "litellm:openai/e", "--embedder-url", stub.url),
            *("--model", "openai/stub", "--key-stdin"),
            stdin=KEY,
        )
    assert "could go to the embedder or to the model" in expect(2, said).err
    assert stub.requests == []


REFUSED = completion({"content": None, "refusal": "I cannot help with that."})


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ("junk", ""),
        ("empty", "gave an empty answer"),
        ("401", "no key for openai"),
        ("text", "answered in words instead of a description"),
        (REFUSED, "I cannot help with that"),
        (words(json.dumps(REWRITE | {"description": "None"})), "gave “None” as the description"),
    ],
)
def test_a_model_that_gives_no_text_is_told_and_never_applied(reply: Step, sentence: str, tools: Path) -> None:
    with ModelStub(lambda _: reply) as stub:
        asked = ("--model", "openai/stub", "--base-url", stub.url, "--retries", "0")
        said = say("recommend", "--tools-file", tools, *ALIKE, *asked, "--json")
    (pair,) = expect(3, said).document["pairs"]
    assert pair["failure"]["message"]
    assert sentence in pair["failure"]["message"]
    assert {one["author"] for one in pair["recommendations"]} == {"draft"}


def test_quality_tells_the_worst_first_with_rules_and_tokens(tools: Path) -> None:
    document = expect(1, say("quality", "--tools-file", tools, "--json")).document
    assert set(document) == {"tools", "servers", "tokenizer", "unreachable", "problems", "notes", "void"}
    assert document["tools"][0]["id"] == "tools/pay"
    assert "description-missing" in [finding["rule"] for finding in document["tools"][0]["findings"]]
    scores = [tool["score"] for tool in document["tools"]]
    assert scores == sorted(scores)
    (server,) = document["servers"]
    assert server["tools"] == 3
    assert server["tokens"] > 0


def test_people_read_a_table_and_a_note_for_each_finding(tools: Path) -> None:
    out = expect(1, say("quality", "--tools-file", tools)).out
    assert out.startswith("SCORE  TOKENS  TOOL")
    assert "tools/pay" in out.splitlines()[1]
    assert "✗ description-missing (description):" in out


def test_one_tool_is_enough(tmp_path: Path) -> None:
    assert len(say("quality", "--tools-file", written(tmp_path / "one.json", [READ]), "--json").document["tools"]) == 1


@pytest.mark.parametrize(
    ("option", "value", "code"),
    [
        *(("--fail-under", "0", 0), ("--fail-under", "score=0", 0), ("--fail-under", "score=100", 1)),
        *(("--fail-on", "error", 1), ("--fail-on", "warning", 1)),
        *(("--fail-under", "score=101", 2), ("--fail-under", "accuracy=90", 2), ("--fail-on", "note", 2)),
    ],
)
def test_thresholds_decide_the_exit_code(option: str, value: str, code: int, tools: Path) -> None:
    said = expect(code, say("quality", "--tools-file", tools, option, value))
    assert ("Not passed: " in said.err) == (code == 1)


def test_warnings_alone_pass_where_only_errors_fail(tmp_path: Path) -> None:
    described = BARE | {"description": "Settle an open invoice of the shop by bank transfer."}
    file = written(tmp_path / "described.json", [described])
    (tool,) = say("quality", "--tools-file", file, "--json").document["tools"]
    assert {finding["severity"] for finding in tool["findings"]} >= {"warning"}
    assert say("quality", "--tools-file", file, "--fail-on", "error").code == 0
    assert say("quality", "--tools-file", file, "--fail-on", "warning").code == 1


BROKEN: list[dict[str, object]] = [
    {"inputSchema": {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": True}}}},
    {"inputSchema": {"type": "object", "properties": {"n": {"type": "str"}}}},
    {"inputSchema": []},
    {"inputSchema": {"type": "object", "required": "n"}},
    {"inputSchema": {"type": "object"}, "description": 5},
    {},
]


def test_every_definition_of_a_file_is_judged_and_each_broken_one_scores_0(tmp_path: Path) -> None:
    broken = [
        {"name": f"read_{number}", "description": READ["description"], **one} for number, one in enumerate(BROKEN)
    ]
    file = written(tmp_path / "mixed.json", [READ, *broken, {"description": "Read a page."}, "text"])
    said = expect(1, say("quality", "--tools-file", file, "--json"))
    by_id = {tool["id"]: tool for tool in said.document["tools"]}
    assert set(by_id) == {"mixed/read_file", *(f"mixed/read_{number}" for number in range(6)), *NAMELESS}
    assert by_id.pop("mixed/read_file")["score"] > 0
    assert {tool["score"] for tool in by_id.values()} == {0}
    assert all(tool["findings"][0]["severity"] == "error" for tool in by_id.values())
    assert said.document["problems"] == []
    assert "8 tools with errors" in said.err
    assert expect(1, say("quality", "--tools-file", file, "--fail-under", "score=1")).err.count("8 tools") == 1


NAMELESS = ("mixed/definition 8", "mixed/definition 9")


def test_a_file_of_broken_definitions_alone_is_judged(tmp_path: Path) -> None:
    file = written(tmp_path / "broken.json", [{"name": "read"}])
    (tool,) = expect(1, say("quality", "--tools-file", file, "--json")).document["tools"]
    assert {"description-missing", "schema-not-object"} <= {finding["rule"] for finding in tool["findings"]}


def test_a_server_that_does_not_answer_counts_before_thresholds() -> None:
    said = say("quality", "--url", "http://127.0.0.1:1/mcp", "--fail-under", "100", "--json")
    assert expect(3, said).document["unreachable"][0]["reason"]


def test_where_no_tool_was_read_nothing_is_said_of_pairs_or_of_tools() -> None:
    gone = ("--url", "http://127.0.0.1:1/mcp")
    assert expect(3, say("quality", *gone)).out == "No tool was read.\n"
    assert "threshold" not in expect(3, say("recommend", *gone, *ALIKE)).out


def reviewing(request: Received) -> Reply:
    """A review of every tool but `pay`."""
    return words("I would rather not." if '"pay"' in request.query else json.dumps(REVIEW))


def test_a_model_reviews_and_what_it_failed_at_is_told(tools: Path, tmp_path: Path) -> None:
    with ModelStub(reviewing) as stub:
        asked = ("--model", "openai/stub", "--base-url", stub.url, "--retries", "0")
        said = say("quality", "--tools-file", tools, *asked, "--json", "--out", tmp_path / "quality.html")
    by_id = {tool["id"]: tool for tool in expect(1, said).document["tools"]}
    assert by_id["tools/read_file"]["review"]["clarity"]["score"] == 4
    assert by_id["tools/pay"]["failure"]["message"]
    assert said.err.startswith("Asking openai/stub 3 times")
    assert "It says little." in (tmp_path / "quality.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        ("junk", ""),
        ("empty", "gave an empty answer"),
        ("401", "no key for openai"),
        ("text", "answered in words instead of a review"),
        (REFUSED, "I cannot help with that"),
        (words(json.dumps(REVIEW | {"clarity": GRADE | {"score": 11}})), "outside 1 to 10"),
        (words(json.dumps(REVIEW | {"completeness": GRADE | {"score": "high"}})), "not a whole number"),
        (words(json.dumps(REVIEW | {"suggested_description": "None"})), "as a description"),
    ],
)
def test_an_answer_that_is_no_review_is_told_and_changes_no_score(reply: Step, sentence: str, tools: Path) -> None:
    alone = say("quality", "--tools-file", tools, "--json").document["tools"]
    with ModelStub(lambda _: reply) as stub:
        asked = ("--model", "openai/stub", "--base-url", stub.url, "--retries", "0")
        said = say("quality", "--tools-file", tools, *asked, "--json")
    reviewed = expect(3, said).document["tools"]
    assert [(tool["id"], tool["score"]) for tool in reviewed] == [(tool["id"], tool["score"]) for tool in alone]
    assert all(tool["review"] is None and sentence in tool["failure"]["message"] for tool in reviewed)


def found_rules(document: Any, tool: str, key: str = "findings") -> list[str]:
    """The rules of the findings of one tool."""
    (one,) = [each for each in document["tools"] if each["name"] == tool]
    return [finding["rule"] for finding in one[key]]


def test_a_rule_is_ignored_for_one_command_and_a_mistyped_one_is_named(tools: Path) -> None:
    said = expect(0, say("quality", "--tools-file", tools, "--ignore", "pay:description-missing", "--json"))
    assert found_rules(said.document, "pay", "ignored") == ["description-missing"]
    assert "description-missing" not in found_rules(said.document, "pay")
    assert (
        "Did you mean description-missing?"
        in expect(2, say("quality", "--tools-file", tools, "--ignore", "description-mising")).err
    )


def test_an_ignored_finding_is_kept_with_reason_and_date_until_the_text_changes(tools: Path, tmp_path: Path) -> None:
    kept = tmp_path / "ignored.json"
    options = ("quality", "--tools-file", tools, "--ignore-file", kept)
    reason = ("--ignore", "pay:description-missing", "--reason", "Generated")
    expect(0, say(*options, *reason))
    (entry,) = json.loads(kept.read_text("utf-8"))["ignore"]
    assert (entry["tool"], entry["reason"], len(entry["date"])) == ("tools/pay", "Generated", 10)
    expect(0, say(*options))
    written(tools, {"tools": [READ, OPEN, BARE | {"title": "Pay"}]})
    assert "tools/pay changed since" in expect(1, say(*options)).err
    written(kept, {"ignore": [{"tool": "tools/pay", "rule": "description-missing"}]})
    assert "has no reason" in expect(2, say(*options)).err


def test_what_is_in_the_baseline_does_not_fail_and_what_is_new_does(tools: Path, tmp_path: Path) -> None:
    baseline = tmp_path / "baseline.json"
    baseline.write_text(expect(1, say("quality", "--tools-file", tools, "--json")).out, "utf-8")
    options = ("quality", "--tools-file", tools, "--baseline", baseline)
    expect(0, say(*options, "--fail-on", "warning"))
    written(tools, {"tools": [READ, OPEN, BARE, {"name": "refund", "inputSchema": {"type": "object"}}]})
    assert "first tools/refund" in expect(1, say(*options)).err
    assert expect(2, say("quality", "--tools-file", tools, "--baseline", tools)).err


def test_ignored_findings_are_suppressed_in_sarif(tools: Path, tmp_path: Path) -> None:
    sarif = tmp_path / "found.sarif"
    expect(0, say("quality", "--tools-file", tools, "--ignore", "description-missing", "--sarif", sarif))
    results = json.loads(sarif.read_text("utf-8"))["runs"][0]["results"]
    assert {one["ruleId"] for one in results if one["suppressions"]} == {"description-missing"}


def test_the_summary_of_a_job_is_appended_to(tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("Build\n", "utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    expect(1, say("quality", "--tools-file", tools, "--markdown", summary))
    assert summary.read_text("utf-8").startswith("Build\n## Tool quality")
