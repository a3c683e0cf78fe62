"""Bad input: one clear sentence, the exit code that scripts rely on, and nothing lost."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import workspace_files
from tests.support.command_line import say


class WebPage(http.server.BaseHTTPRequestHandler):
    """A web page at every address."""

    def do_GET(self) -> None:
        self._page()

    def do_POST(self) -> None:
        self._page()

    def _page(self) -> None:
        body = b"<!doctype html><title>Welcome</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def web_page() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), WebPage) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def city(tmp_path: Path) -> None:
    """A workspace in which something can be lost."""
    assert say("servers", "add", "city", "--tools-file", workspace_files.tools_file(tmp_path)).code == 0
    assert say("cases", "import", workspace_files.case_file(tmp_path, [workspace_files.weather(1)])).code == 0


def nothing_is_lost() -> bool:
    servers = say("servers", "list", "--json").document["servers"]
    cases = say("cases", "list", "--json").document["cases"]
    return "city" in [server["name"] for server in servers] and len(cases) >= 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("cases", "import", "nowhere.yaml"), 3),
        (("cases", "import", "broken.json"), 2),
        (("score", "nowhere.jsonl", "--out", "out.jsonl"), 3),
        (("run", "--temperature", "3"), 2),
        (("run", "--suite", "Nobody"), 2),
        (("run", "--case", "nobody"), 2),
        (("run", "--model", "gpt"), 2),
        (("servers", "check", "nobody"), 2),
        (("runs", "show", "nobody"), 2),
        (("runs", "resume", "nobody"), 2),
        (("servers", "add", "city", "--tools-file", "other.json"), 2),
    ],
)
def test_one_sentence_and_the_exit_code(
    arguments: tuple[str, ...], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.json").write_text('{"cases": [', "utf-8")
    said = say(*arguments)
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith("mcp-tef: ")
    assert said.err.count("\n") == 1
    assert nothing_is_lost()


def test_a_web_page_is_no_server_but_is_kept(web_page: str) -> None:
    said = say("servers", "add", "page", "--url", web_page, "--json")
    assert (said.code, said.document["status"]) == (3, "failed")
    assert "web page" in said.document["reason"].lower() or "mcp" in said.document["reason"].lower()
    assert nothing_is_lost()


def test_a_program_that_is_not_there_is_kept_as_failed() -> None:
    said = say("servers", "add", "ghost", "--command", "no-such-program-anywhere", "--yes", "--json")
    assert (said.code, said.document["status"]) == (3, "failed")
    assert nothing_is_lost()


def test_a_model_server_that_is_not_there_fails_every_run_with_exit_code_3() -> None:
    said = say("run", "--model", "openai/x", "--base-url", "http://127.0.0.1:1/v1", "--retries", "0", "--json")
    assert said.code == 3
    assert [item["error"]["code"] for item in said.document["runs"]] == ["model_server_down"]


def test_a_workspace_from_elsewhere_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database", "utf-8")
    said = say("servers", "list", "--workspace", file)
    assert said.code in (0, 3)
    kept = [item.read_text("utf-8", "replace") for item in tmp_path.iterdir() if item.is_file()]
    assert "not a database" in kept
