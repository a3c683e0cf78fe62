"""An error that nobody foresaw: its own exit code, one line, and a file that says where it happened."""

import json
from argparse import Namespace
from pathlib import Path

import pytest

from mcp_tef import Secret
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.main import main
from mcp_tef.cli.terminal import Terminal

KEY = "sk-planted-key-4711"


def fall_over(arguments: Namespace, terminal: Terminal) -> int:
    """A verb with a mistake in it."""
    terminal.secrets.append(Secret(KEY))
    raise LookupError(f"no such thing for {KEY}")


def register(verbs: Verbs) -> None:
    """Bring the verb."""
    add_verb(verbs, "fall", "falls over", fall_over)


def test_a_crash_has_an_exit_code_of_its_own_and_names_the_file_that_says_where(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["fall"], [register]) == 70
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert said.err.startswith("mcp-tef: mcp-tef itself failed, by an error of the kind LookupError.")
    log = Path(said.err.strip().removesuffix(".").rpartition(" is written in ")[2])
    assert "fall_over" in log.read_text("utf-8")


def test_a_second_crash_is_written_below_the_first_and_neither_holds_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        main(["fall", "--json"], [register])
    error = json.loads(capsys.readouterr().out.partition("}\n}\n")[0] + "}}")["error"]
    written = Path(error["hint"].removesuffix(".").rpartition(" is written in ")[2]).read_text("utf-8")
    assert (error["code"], written.count("LookupError: no such thing")) == ("internal", 2)
    assert KEY not in written


def test_with_debug_the_traceback_is_shown_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fall", "--debug"], [register]) == 70
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert KEY not in said
