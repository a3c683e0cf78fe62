"""Prompts of the kinds review and rewriting: `quality`, `recommend` and `improve` ask with them, and say which."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import say
from tests.support.model_replies import Received, Reply, tool_calls, words
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file, written_tools

TOOLS = {"forecast": "Return things.", "departures": "Return things of trains between two stations."}
CLEAR = "Return rain, wind and temperature of a town; for trains, use departures."
GRADE = {"score": 7, "explanation": "It names the stations."}
REVIEW = dict.fromkeys(("clarity", "completeness", "conciseness"), GRADE) | {"suggested_description": None}
GRADING = "Grade it for {{reader}}.\n{{definition}}"
DESCRIBING = "Describe the first of {{definitions}} for {{reader}}."


@pytest.fixture(autouse=True)
def city(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a server of two tools and a prompt of each kind."""
    monkeypatch.chdir(tmp_path)
    assert say("servers", "add", "city", "--tools-file", written_tools(tmp_path, TOOLS)).code == 0
    assert say("servers", "check", "city").code == 0
    for name, kind, text in (("grading", "review", GRADING), ("describing", "rewriting", DESCRIBING)):
        added = ("prompts", "add", name, "--kind", kind, "--file", "-", "--var", "reader=clerks")
        assert say(*added, stdin=text).code == 0
    return tmp_path


def answering(request: Received) -> Reply:
    """A review, a description, or the call of a tool: the right one where its description says enough."""
    if request.tools:
        clear = any(text in str(one) for one in request.tools for text in (CLEAR, "requests such as"))
        return tool_calls(("forecast" if clear else "departures", {}))
    text = str(request.body["messages"][-1]["content"])
    return words(json.dumps(REVIEW if "rade" in text else {"description": CLEAR, "rationale": "Trains stand apart."}))


def asked(*line: str) -> tuple[Any, list[str]]:
    """The document of a command with a stand-in model, and the requests without tools that this was sent."""
    with ModelStub(answering) as stub:
        said = say(*line, "--model", "openai/x", "--base-url", stub.url, "--json", "--yes")
    assert said.code in (0, 1), said.err
    return said.document, [str(one.body["messages"][-1]["content"]) for one in stub.requests if not one.tools]


def test_a_review_is_asked_with_a_version_of_a_prompt_and_records_it() -> None:
    document, sent = asked("quality", "--server", "city", "--prompt", "grading@1", "--var", "reader=pilots")
    assert {one["review"]["prompt"] for one in document["tools"]} == {"grading@1"}
    assert [text.split("\n")[0] for text in sent] == ["Grade it for pilots."] * 2
    assert all(any(f'"{name}"' in text for text in sent) for name in TOOLS)
    usual, plain = asked("quality", "--server", "city")
    named, built_in = asked("quality", "--server", "city", "--prompt", "built-in-review")
    assert usual["tools"] == named["tools"]
    assert sorted(plain) == sorted(built_in)
    assert {one["review"]["prompt"] for one in usual["tools"]} == {"built-in-review@1"}


def test_a_recommendation_is_written_with_a_prompt_and_records_it() -> None:
    line = ("recommend", "--server", "city", "--embedder", "tfidf", "--pair", "forecast", "departures")
    document, sent = asked(*line, "--prompt", "describing")
    assert document["prompt"] == "describing@1"
    (pair,) = document["pairs"]
    assert "openai/x with describing@1" in {one["author"] for one in pair["recommendations"]}
    assert all(text.startswith('Describe the first of {"rewrite": ') and text.endswith("for clerks.") for text in sent)
    plain, built_in = asked(*line)[1], asked(*line, "--prompt", "built-in-rewriting")[1]
    assert sorted(plain) == sorted(built_in)


def test_a_search_for_better_texts_asks_its_writer_with_a_prompt_for_one_tool_after_the_other(city: Path) -> None:
    queries = [f"How warm is it in {one}ham?" for one in ("North", "South", "East", "West", "Up", "Down")]
    assert say("cases", "import", case_file(city, [case(query, [{"tool": "forecast"}]) for query in queries])).code == 0
    line = ("improve", "--server", "city", "--budget", "90", "--repeats", "1", "--writer", "openai/w")
    document, sent = asked(*line, "--prompt", "describing")
    assert (document["writer"], document["prompt"]) == ("openai/w", "describing@1")
    (first, *_) = document["rounds"]
    written = [one for one in first["candidates"] if one["author"] == "openai/w with describing@1"]
    assert [one["texts"] for one in written] == [{"forecast": CLEAR}]
    assert len(sent) == 1, "The only failing tool is written once."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("quality --server city --prompt grading", "--prompt is for a model, and none is named."),
        ("quality --server city --var a=b", "--var sets a variable of a prompt."),
        ("quality --server city --model openai/x --prompt describing", "rewriting descriptions, not for reviewing"),
        ("recommend --server city --model openai/x --prompt grading", "reviewing definitions, not for rewriting"),
        ("recommend --server city --model openai/x --prompt describin", "Did you mean describing?"),
        ("improve --server city --budget 90 --prompt describing", "Add --writer NAME."),
        ("quality --server city --model openai/x --prompt grading --var readr=x", "Did you mean reader?"),
    ],
)
def test_a_prompt_that_does_not_fit_is_one_sentence(line: str, said: str) -> None:
    answer = say(*line.split())
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert said in answer.err
