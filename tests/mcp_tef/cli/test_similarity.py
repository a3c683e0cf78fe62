"""`similarity` and `overlap`: sources, shapes and exit codes that scripts rely on."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import model_replies
from tests.support.command_line import Said, say
from tests.support.model_stub import ModelStub, Script
from tests.support.workspace_files import written

MATRICES = ["matrix", "full_matrix", "lexical_matrix"]
KEYS = ["embedder", "tools", *MATRICES, "threshold", "flagged_by", "flagged", "unreachable"]
FIND = {
    "name": "find_file",
    "description": "Find a file in the workspace by its name.",
    "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}
LOOK = FIND | {"name": "lookup_file", "description": "Find a file in the workspace by its whole name."}
PAY = {"name": "pay", "description": "Settle an invoice.", "inputSchema": {"type": "object"}}
TOOLS = (FIND, LOOK, PAY)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return written(tmp_path / "tools.json", {"tools": TOOLS})


def compare(verb: str, *arguments: str | Path, code: int = 0) -> Said:
    said = say(verb, *arguments, "--embedder", "tfidf")
    assert said.code == code, said.err
    return said


def test_the_document_has_the_promised_shape(tools: Path) -> None:
    document = compare("similarity", "--tools-file", tools, "--json", "--threshold", "0.3").document
    assert list(document) == KEYS
    assert document["embedder"] == "tfidf"
    assert [tool["id"] for tool in document["tools"]] == [f"tools/{tool['name']}" for tool in TOOLS]
    assert document["matrix"][0][0] == 1
    assert document["matrix"][0][1] == document["matrix"][1][0] == document["flagged"][0]["score"]
    assert document["full_matrix"] is None
    assert document["flagged"][0]["full_score"] is None
    assert (document["threshold"], document["flagged_by"]) == (0.3, "similarity")
    alike = [(a, b) for a, b in combinations(range(len(TOOLS)), 2) if document["matrix"][a][b] >= 0.3]
    assert len(document["flagged"]) == len(alike) > 0


def test_out_holds_the_same_document_and_people_read_a_table(tools: Path, tmp_path: Path) -> None:
    wanted = ("--tools-file", tools, "--full", "--threshold", "0.3")
    said = compare("similarity", *wanted, "--out", tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text("utf-8")) == compare("similarity", *wanted, "--json").document
    assert "3 tools of 1 server, compared by tfidf." in said.out
    assert "1 of 3 pairs is flagged: similarity from 0.3 on." in said.out
    assert "tools/find_file" in said.out


def test_with_full_both_scores_are_there(tools: Path) -> None:
    document = compare("similarity", "--tools-file", tools, "--full", "--threshold", "0.3", "--json").document
    assert len(document["full_matrix"]) == 3
    assert document["flagged"][0]["full_score"] == document["full_matrix"][0][1]


def test_without_a_flagged_pair_the_closest_are_told(tools: Path) -> None:
    said = compare("similarity", "--tools-file", tools, "--threshold", "1")
    assert "0 of 3 pairs are flagged: similarity from 1 on." in said.out
    assert "The closest are:" in said.out
    assert said.out.index("high") < said.out.index("low ")


def test_the_threshold_comes_from_the_surroundings_where_it_is_not_given(
    tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rule() -> tuple[float, str]:
        document = compare("similarity", "--tools-file", tools, "--json").document
        return document["threshold"], document["flagged_by"]

    assert rule() == (0.5, "confusability")
    monkeypatch.setenv("CONFUSABILITY_THRESHOLD", "0.25")
    assert rule() == (0.25, "confusability")
    monkeypatch.setenv("SIMILARITY_THRESHOLD", "0.4")
    assert rule() == (0.4, "similarity")
    monkeypatch.setenv("MCP_TEF_SIMILARITY_THRESHOLD", "high")
    assert say("similarity", "--tools-file", tools).code == 2


def test_without_a_local_model_words_are_compared_and_stderr_says_so(tools: Path) -> None:
    said = say("similarity", "--tools-file", tools, "--json")
    assert (said.code, said.document["embedder"]) == (0, "tfidf")
    assert "TF-IDF" in said.err


def test_pages_and_spreadsheets_by_the_ending(tools: Path, tmp_path: Path) -> None:
    for name, start in (("out.html", "<!doctype html>"), ("out.csv", "tool_a,tool_b,similarity")):
        compare("similarity", "--tools-file", tools, "--out", tmp_path / name)
        assert (tmp_path / name).read_text("utf-8").startswith(start)


def test_a_server_that_does_not_answer_is_named_and_the_rest_is_compared(tools: Path) -> None:
    say("servers", "add", "here", "--tools-file", tools)
    say("servers", "add", "gone", "--url", "http://127.0.0.1:1/mcp")
    said = compare("similarity", "--server", "here", "gone", "--json", code=3)
    assert [one["server"] for one in said.document["unreachable"]] == ["gone"]
    assert len(said.document["matrix"]) == 3
    assert "Not read: gone" in said.err


def test_where_nothing_answers_the_document_is_empty_and_says_why() -> None:
    said = compare("similarity", "--url", "http://127.0.0.1:1/mcp", "--json", code=3)
    assert (said.document["matrix"], said.document["flagged"]) == ([], [])
    assert said.document["unreachable"][0]["reason"]


def test_a_program_is_only_started_after_consent() -> None:
    say("servers", "add", "pipe", "--command", "no-such-program-anywhere", "--yes")
    assert compare("similarity", "--server", "pipe", "--json", code=3).document["unreachable"]
    assert say("servers", "edit", "pipe", "--command", "another-such-program").code == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 2),
        (("--server", "a", "--url", "http://a"), 2),
        (("--server", "nobody"), 2),
        (("--url", "ftp://a"), 2),
        (("--tools-file", "nowhere.json"), 3),
        (("--tools-file", "{one}"), 2),
        (("--tools-file", "{one}", "--threshold", "2"), 2),
        (("--tools-file", "{one}", "--threshold", "high"), 2),
        (("--tools-file", "{one}", "--embedder", "magic"), 2),
        (("--tools-file", "{tools}", "--embedder", "folder:/nowhere/at/all"), 3),
        (("--tools-file", "{tools}", "--out", "/nowhere/at/all/out.json"), 2),
        (("--tools-file", "{tools}", "--out", "{tools}.pdf"), 2),
        (("--tools-file", "{tools}", "--key-stdin"), 2),
        (("--pairs", "nowhere.jsonl"), 3),
        (("--pairs", "pairs.jsonl", "--server", "a"), 2),
    ],
)
def test_one_sentence_and_the_exit_code(arguments: tuple[str, ...], code: int, tools: Path, tmp_path: Path) -> None:
    one = written(tmp_path / "one.json", [FIND])
    said = say("similarity", *(argument.format(one=one, tools=tools) for argument in arguments))
    assert (said.code, said.out) == (code, ""), said.err
    assert said.err.startswith("mcp-tef: ")
    assert said.err.count("\n") == 1


def test_a_provider_of_ones_own_is_asked_with_the_key_from_standard_input(tools: Path, tmp_path: Path) -> None:
    with ModelStub(model_replies.openai) as stub:
        asked = ("--embedder", "litellm:openai/nomic", "--key-stdin", "--json", "--embedder-url", stub.url)
        said = say("similarity", "--tools-file", tools, *asked, stdin="sk-similarity-0123456789")
        assert {request.key for request in stub.requests} == {"sk-similarity-0123456789"}
        paired = say("similarity", "--pairs", lines(tmp_path, pair(1)), *asked, stdin="sk-similarity-0123456789")
    assert (said.code, said.document["embedder"]) == (0, "litellm:openai/nomic")
    assert paired.document["pairs"][0]["score"] == said.document["matrix"][0][1]


def test_a_provider_that_is_asked_for_by_name_is_never_replaced(tools: Path) -> None:
    with ModelStub(["401"] * 20) as stub:
        asked = ("--embedder", "litellm:openai/nomic", "--embedder-url", stub.url, "--json")
        said = say("similarity", "--tools-file", tools, *asked)
    assert said.code == 3
    assert said.error["message"]
    assert say("similarity", "--tools-file", tools, "--embedder-url", stub.url).code == 2


def test_an_address_of_ones_own_is_asked_with_the_key_from_standard_input(tools: Path) -> None:
    with ModelStub(model_replies.inference) as stub:
        asked = ("--embedder", f"http:{stub.url}", "--key-stdin", "--json", "--full")
        said = say("similarity", "--tools-file", tools, *asked, stdin="sk-similarity-0123456789")
        assert {request.key for request in stub.requests} == {"sk-similarity-0123456789"}
    assert (said.code, said.document["embedder"]) == (0, f"http:{stub.url}"), said.err
    matrix = np.array(said.document["matrix"])
    assert (matrix == matrix.T).all()
    assert (matrix.diagonal() == 1).all()
    assert "sk-similarity" not in said.out + said.err


@pytest.mark.parametrize(
    ("embedder", "replies"),
    [("litellm:openai/nomic", model_replies.openai), ("http:{url}", model_replies.inference)],
)
def test_drafts_are_sent_to_no_embedder(embedder: str, replies: Script, tools: Path) -> None:
    with ModelStub(replies) as stub:
        at = ("--embedder-url", stub.url) if embedder.startswith("litellm") else ()
        asked = ("--embedder", embedder.format(url=stub.url), *at, "--key-stdin", "--json")
        wanted = ("--tools-file", tools, "--pair", "find_file", "lookup_file")
        said = say("recommend", *wanted, *asked, stdin="sk-similarity-0123456789")
        texts = [text for one in stub.requests for text in one.body.get("input") or one.body.get("inputs") or ()]
        assert {request.key for request in stub.requests} == {"sk-similarity-0123456789"}
    assert said.code == 0, said.err
    drafted = [one["revised"] for one in said.document["pairs"][0]["recommendations"]]
    assert drafted
    assert not any(text.endswith(revised) for text in texts for revised in drafted)


@pytest.mark.parametrize("reply", ["401", "junk", "empty", "html", "500"])
def test_an_address_that_gives_no_vectors_is_told_and_never_replaced(reply: str, tools: Path) -> None:
    with ModelStub([reply] * 20) as stub:
        said = say("overlap", "--tools-file", tools, "--embedder", f"http:{stub.url}", "--json")
    assert said.code == 3
    assert stub.url in said.error["message"]
    assert said.error["hint"]


def pair(number: Any, a: Any = FIND, b: Any = LOOK) -> dict[str, Any]:
    return {"id": number, "tool_a": a, "tool_b": b}


def lines(folder: Path, *rows: Any) -> Path:
    file = folder / "pairs.jsonl"
    file.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    return file


def scored(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_pairs_are_scored_line_by_line_to_stdout_or_a_file(tmp_path: Path) -> None:
    file = lines(tmp_path, pair("same", FIND, FIND), pair(2), pair("far", FIND, PAY))
    said = compare("similarity", "--pairs", file)
    rows = scored(said.out)
    assert [row["id"] for row in rows] == ["same", 2, "far"]
    assert all(list(row) == ["id", "score", "full_score", "lexical", "confusability", "level"] for row in rows)
    assert rows[0]["score"] == rows[0]["full_score"] == 1
    assert rows[1]["score"] > rows[2]["score"]
    compare("similarity", "--pairs", file, "--out", tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text("utf-8") == said.out


def test_a_bad_pair_gets_an_error_in_its_place_and_the_rest_is_scored(tmp_path: Path) -> None:
    bad = (
        "{half",
        {"tool_a": FIND, "tool_b": PAY},
        pair("no object", "find"),
        pair("no name", {"description": "x"}),
        pair("no text", {"name": "x", "description": 3}),
        pair("no schema", {"name": "x", "input_schema": [1]}),
        '{"id": "deep", "tool_a": ' + "[" * 100_000,
    )
    said = compare("similarity", "--pairs", lines(tmp_path, *bad, pair("good")), code=1)
    *errors, good = scored(said.out)
    assert all(list(row) == ["id", "error"] and row["error"].endswith(".") for row in errors)
    assert [row["id"] for row in errors] == [None, None, "no object", "no name", "no text", "no schema", None]
    assert good["id"] == "good"
    assert "score" in good


def test_a_pair_takes_either_spelling_of_the_schema_and_none_at_all(tmp_path: Path) -> None:
    snake = {
        "name": "find_file",
        "description": FIND["description"],
        "input_schema": FIND["inputSchema"],
        "server": None,
    }
    bare = {"name": "find_file", "description": None}
    rows = scored(compare("similarity", "--pairs", lines(tmp_path, pair(1, FIND, snake), pair(2, bare, bare))).out)
    assert [row["full_score"] for row in rows] == [1, 1]


def test_with_json_the_pairs_are_one_document(tmp_path: Path) -> None:
    file = lines(tmp_path, pair(1), "{half")
    document = compare("similarity", "--pairs", file, "--json", code=1).document
    assert (document["lines"], document["bad"], len(document["pairs"])) == (2, 1, 2)
    counts = compare("similarity", "--pairs", file, "--json", "--out", tmp_path / "out.jsonl", code=1).document
    assert counts == {"lines": 2, "bad": 1}


def test_a_file_without_a_sound_pair_needs_no_embedder(tmp_path: Path) -> None:
    assert scored(compare("similarity", "--pairs", lines(tmp_path, "{half"), code=1).out)[0]["id"] is None
    assert compare("similarity", "--pairs", lines(tmp_path, "")).out == ""


def test_overlap_keeps_its_dimensions_apart_and_explains_each_pair(tools: Path) -> None:
    document = compare("overlap", "--tools-file", tools, "--json", "--limit", "2").document
    assert {"tools", "weights", "matrix", "semantic", "parameters", "description", "pairs"} <= set(document)
    assert document["weights"] == {"semantic": 0.5, "parameters": 0.3, "description": 0.2}
    first, second = document["pairs"]
    assert (first["a"], first["b"]) == ("tools/find_file", "tools/lookup_file")
    assert first["overlap"] == document["matrix"][0][1] >= second["overlap"]
    assert first["why"]
    assert document["parameters"][0][1] == 1


def test_the_weights_of_overlap_are_ones_own(tools: Path, tmp_path: Path) -> None:
    wanted = ("--tools-file", tools, "--weights", "0,1,0")
    assert compare("overlap", *wanted, "--json").document["pairs"][0]["overlap"] == 1
    said = compare("overlap", *wanted, "--out", tmp_path / "overlap.csv")
    assert "1 parameters" in said.out
    assert (tmp_path / "overlap.csv").read_text("utf-8").startswith("tool_a,tool_b,overlap")
    compare("overlap", *wanted, "--out", tmp_path / "overlap.html")
    page = (tmp_path / "overlap.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "3 tools on 1 server, compared by tfidf. What counts how much: similarity 0.00" in page
    assert "1.00 is similarity" in page
    for text in ("1", "1,2", "a,b,c", "0,0,0", "-1,1,1", "inf,1,1", "nan,1,1"):
        assert say("overlap", "--tools-file", tools, f"--weights={text}").code == 2
    for text in ("0", "few", "-1"):
        assert say("overlap", "--tools-file", tools, f"--limit={text}").code == 2
