"""`servers call`: a tool called by hand, with one's own word for it, and an exit code that says what came of it."""

import io
from pathlib import Path

import pytest

from mcp_tef import ConsentError, InputError, Server, ServerSpec, Transport
from mcp_tef.cli.server_calls import given_arguments, require_word
from mcp_tef.cli.terminal import Terminal
from mcp_tef.model.ids import ServerId
from tests.support.calling_server import command
from tests.support.command_line import Said, say
from tests.support.memory_servers import NOW

DESK = Server(
    id=ServerId("1"),
    spec=ServerSpec(name="desk", transport=Transport.STDIO, command="serve"),
    created_at=NOW,
    updated_at=NOW,
)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A workspace with a server that answers calls."""
    workspace = tmp_path / "workspace.db"
    program, *args = command()
    options = [part for argument in args for part in ("--arg", argument)]
    assert say(*_add(program, options), "--workspace", workspace).code == 0
    return workspace


def _add(program: str, options: list[str]) -> list[str]:
    return ["servers", "add", "desk", "--command", program, *options, "--yes"]


def called(workspace: Path, *arguments: str) -> Said:
    """What a call says."""
    return say("servers", "call", "desk", *arguments, "--workspace", workspace)


def test_a_reply_is_one_document_with_id_and_timings(desk: Path) -> None:
    said = called(desk, "echo", '{"a": [1, null]}', "--yes", "--json")
    assert said.code == 0
    assert list(said.document) == [
        *("id", "server", "tool", "arguments", "status", "asked_at", "duration_ms", "execution_time_ms"),
        *("is_error", "content", "structured", "cut"),
    ]
    assert said.document["structured"] == said.document["arguments"] == {"a": [1, None]}
    assert said.document["duration_ms"] >= said.document["execution_time_ms"]


def test_people_get_the_text_on_stdout_and_the_time_beside_it(desk: Path) -> None:
    said = called(desk, "broken", "--yes")
    assert (said.code, said.out) == (1, "No such part.\n")
    assert said.err.startswith("The tool says that it failed, after ")


def test_a_server_that_refuses_the_call_was_not_reached(desk: Path) -> None:
    said = called(desk, "refuses", "--yes", "--json")
    assert (said.code, said.error["code"]) == (3, "server_protocol")


def test_a_call_that_takes_too_long_ends(desk: Path) -> None:
    said = called(desk, "silent", "--yes", "--timeout", "2")
    assert said.code == 3
    assert "did not answer the call within 2 s" in said.err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("echo", "{nope", "--yes"), "are not JSON"),
        (("echo", "[1]", "--yes"), "are not a JSON object"),
        (("echo", '{"a": NaN}', "--yes"), "NaN is no number of JSON"),
        (("ecko", "--yes"), "Did you mean echo?"),
        (("echo", "--yes", "--timeout", "0"), "0 is not from 0.1 to 3600"),
        (("echo", "--yes", "--timeout", "soon"), "soon is not from 0.1 to 3600"),
        (("echo",), "have not confirmed the call of echo of desk. Add --yes"),
    ],
)
def test_what_cannot_be_sent_is_bad_input(desk: Path, arguments: tuple[str, ...], why: str) -> None:
    said = called(desk, *arguments)
    assert said.code == 2
    assert why in said.err


def asking(typed: str) -> Terminal:
    return Terminal(input=Screen(typed), output=Screen(), errors=Screen())


def test_at_a_terminal_the_arguments_are_shown_before_anything_is_sent() -> None:
    terminal = asking("y\n")
    require_word(terminal, DESK, "echo", {"part": "chain\x1b[2J"})
    assert isinstance(terminal.errors, Screen)
    shown = terminal.errors.getvalue()
    assert "This would be sent to echo of desk:" in shown
    assert '"part": "chain' in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("typed", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_sent(typed: str) -> None:
    with pytest.raises(ConsentError, match="was not called"):
        require_word(asking(typed), DESK, "echo", {})


def test_deep_arguments_are_bad_input() -> None:
    with pytest.raises(InputError):
        given_arguments("[" * 100_000)
