"""What the parser takes and refuses: every mistake is one sentence and exit code 2."""

import re

import pytest

from mcp_tef.cli.arguments import joined
from mcp_tef.cli.main import parser
from tests.support.command_line import say

VERBS = ("demo", "gui", "servers", "cases", "run", "runs", "metrics", "confusions", "score", "keys")


def test_help_names_every_verb() -> None:
    text = parser().format_help()
    assert [verb for verb in VERBS if not re.search(rf"^    {verb}\s", text, re.MULTILINE)] == []


def test_the_sample_server_works_but_is_not_advertised() -> None:
    assert "sample-server" not in parser().format_help()
    assert parser().parse_args(["sample-server", "--http", "0"]).http == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("dance",),
        ("servers",),
        ("servers", "add"),
        ("run", "--repeats", "many"),
        ("run", "--temperature", "3"),
        ("run", "--timeout", "0"),
        ("run", "--retries", "11"),
        ("run", "--concurrency", "0"),
        ("run", "--model", "gpt"),
        ("run", "--key-stdin"),
        ("score", "in.jsonl"),
        ("servers", "add", "x", "--url", "http://a", "--command", "b"),
        ("servers", "add", "x"),
        ("servers", "add", "x", "--tools-file", "f.json", "--arg", "a"),
        ("servers", "add", "x", "--command", "c", "--env", "novalue"),
        ("servers", "add", "x", "--url", "ftp://files"),
        ("servers", "add", "x", "--url", "http://a", "--transport", "stdio"),
        ("cases", "import", "cases.docx"),
        ("cases", "import", "cases.yaml", "--format", "word"),
    ],
)
def test_bad_usage_is_one_line_on_stderr_and_exit_code_2(arguments: tuple[str, ...]) -> None:
    said = say(*arguments)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("mcp-tef: ")
    assert said.err.count("\n") == 1


def test_with_json_the_error_is_a_document() -> None:
    said = say("run", "--temperature", "3", "--json")
    assert said.code == 2
    assert said.error.keys() == {"code", "message", "hint"}
    assert "3" in said.error["message"]


def test_debug_adds_the_traceback() -> None:
    assert "Traceback" in say("run", "--temperature", "3", "--debug").err


def test_an_option_for_another_program_may_begin_with_a_dash() -> None:
    assert joined(["--arg", "-y", "--arg", "pkg", "--yes"]) == ["--arg=-y", "--arg=pkg", "--yes"]


@pytest.mark.parametrize(
    "place", [("--workspace", "w.db", "servers", "list"), ("servers", "list", "--workspace", "w.db")]
)
def test_every_verb_takes_the_workspace_after_it(place: tuple[str, ...]) -> None:
    if place[0] == "servers":
        assert str(parser().parse_args(place).workspace) == "w.db"
    else:
        assert say(*place).code == 2
