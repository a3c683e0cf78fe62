"""Instructions of servers and limits of clients: read, kept, judged, and told to the model as each client does."""

from pathlib import Path

import pytest

from tests.support import instructing_server
from tests.support.command_line import say
from tests.support.instructing_server import BEGINNING, END
from tests.support.model_stub import ModelStub
from tests.support.workspace_files import case, case_file


@pytest.fixture(autouse=True)
def desk(tmp_path: Path) -> None:
    """A server with instructions and a case."""
    added = say("servers", "add", "desk", *instructing_server.command(), "--yes")
    assert added.code == 0, added
    assert say("cases", "import", case_file(tmp_path, [case("find it", [{"tool": "find"}], server="desk")])).code == 0


def test_instructions_are_read_kept_and_judged_by_the_limits_of_clients() -> None:
    listed = say("servers", "tools", "desk", "--yes", "--json").document
    assert listed["instructions"] == instructing_server.INSTRUCTIONS
    assert END in say("servers", "tools", "desk", "--yes").out
    report = say("quality", "--server", "desk", "--fail-under", "0", "--json").document
    (note,) = report["notes"]
    assert note.startswith("Claude Code cuts the instructions of desk at 2,048 characters.")
    assert END in note
    found = {
        one["name"]: [item for item in one["findings"] if item["rule"].startswith("client")] for one in report["tools"]
    }
    assert found["find"] == []
    (cut,) = found["book"]
    assert (cut["rule"], "Not for groups." in cut["sentence"]) == ("client-cuts-description", True)
    assert note in say("quality", "--server", "desk", "--fail-under", "0").out


def test_a_client_that_uses_instructions_tells_them_to_the_model_as_far_as_it_does() -> None:
    with ModelStub() as stub:
        for client in ("claude-code", "gemini-cli", "plain-api"):
            line = ("run", "--client", client, "--model", "openai/x", "--base-url", stub.url, "--yes")
            assert say(*line).code == 0
    cut, whole, none = (request.system for request in stub.requests)
    assert cut.startswith(f"Instructions of the server desk:\n{BEGINNING}")
    assert ("… [truncated]" in cut, END in cut) == (True, False)
    assert END in whole
    assert BEGINNING not in none
