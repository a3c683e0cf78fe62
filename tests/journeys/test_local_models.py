"""Models as people run them at home: calls written as text, refused tools or schemas, and calls without a name."""

from pathlib import Path

import pytest

from tests.support import workspace_files
from tests.support.command_line import Said, say
from tests.support.model_replies import Received, Reply, error, pick, words
from tests.support.model_stub import ModelStub
from tests.support.text_calls import text_calls

CALL = ("weather_report", {"city": "Lisbon"})


@pytest.fixture(autouse=True)
def four_cases(tmp_path: Path) -> None:
    """A tools file, and four cases that expect its weather report."""
    say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path))
    cases = [workspace_files.case(f"weather {number}", [{"tool": CALL[0]}]) for number in range(4)]
    say("cases", "import", workspace_files.case_file(tmp_path, cases))


def ask(stub: ModelStub, *options: str) -> Said:
    return say("run", "--model", "llamacpp/small", "--base-url", stub.url, "--concurrency", "1", *options)


def test_calls_in_the_text_are_judged_and_the_summary_proposes_json_mode() -> None:
    forms = text_calls(*CALL)
    replies = [words(forms["name, arguments", "tags"]), words(forms["function", "fence"]), words("I cannot do that.")]
    with ModelStub([*replies, words('<tool_call>{"arguments": {"city": "Lisbon"}}</tool_call>')]) as stub:
        said = ask(stub, "--json")
    runs = said.document["runs"]
    assert [(run["kind"], run["read_from_text"]) for run in runs] == [
        ("match", True),
        ("match", True),
        ("no_tool", False),
        ("invented_tool", True),
    ]
    assert runs[3]["selected"] == "a call without a name"
    assert runs[3]["explanation"].startswith("Selected a call without a name, expected `weather_report`")
    assert say("runs", "list", "--batch", said.document["batch"]).out.count("(call read from text)") == 3
    assert "3 of 4 answers held a call as text: try JSON mode." in said.err


def test_a_server_that_refuses_tools_and_a_schema_is_asked_each_once_a_batch() -> None:
    def plain(request: Received) -> Reply:
        if request.tools:
            return error(500, "tools param requires --jinja flag")
        return error(400, "'response_format' is unknown") if "response_format" in request.body else pick(request)

    for _ in range(2):
        with ModelStub(plain) as stub:
            said = ask(stub, "--json")
        assert [run["status"] for run in said.document["runs"]] == ["completed"] * 4
        assert [(bool(one.tools), "response_format" in one.body) for one in stub.requests] == [
            (True, False),
            (False, True),
            *[(False, False)] * 4,
        ]
        assert "as text" not in said.err
