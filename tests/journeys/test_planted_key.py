"""Keys are planted wherever one may be given, everybody repeats them, and they are then looked for everywhere."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mcp_tef import CaseFileFormat
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.secrets import MASK
from tests.support import workspace_files
from tests.support.command_line import ROOT, Said, run, say
from tests.support.model_replies import Received, Reply, completion, error, pick, tool_calls
from tests.support.model_stub import ModelStub
from tests.support.telling_server import TellingWeb, program

MODEL_KEY = "planted/of+the.model~7c41e9"
SERVER_KEY = "planted/of+the.server~2b90d3"
GIVEN = {"OPENAI_API_KEY": MODEL_KEY, "CITY_PASS": SERVER_KEY}
REFERENCE = "${CITY_PASS}"


def echo(request: Received) -> Reply:
    """An answer whose words, arguments, headers and id are the key."""
    key = str(request.key)
    body = json.loads(tool_calls(("weather_report", {"city": key}), words=f"With {key}.").body)
    body |= {"id": key, "system_fingerprint": key, "provider": {"key": [key]}}
    return Reply(body=json.dumps(body), headers={"x-key": key, "openai-organization": key})


def refused(request: Received) -> Reply:
    """An error that repeats the key, in the body and in a header."""
    reply = error(401, f"Incorrect API key provided: {request.key}. {dict(request.headers)}", code=request.key)
    return Reply(status=401, body=reply.body, headers={"x-key": str(request.key)})


def page(request: Received) -> Reply:
    """A web page with the key in it."""
    return Reply(status=502, body=f"<html><body>{request.key}</body></html>", content_type="text/html")


def rejected(request: Received) -> Reply:
    """A request that is refused with its own headers."""
    return error(400, f"Bad request: {dict(request.headers)}")


def wordy(request: Received) -> Reply:
    """An answer without a call, all in words."""
    return completion({"content": f"Your key is {request.key}\nConfidence: 0.9"})


FAULTS = ("tools", "error", "last", "environment")
BOTH = ("--server", "tools", "--server", "environment")
EMBEDDER = ("--embedder", "litellm:openai/stub", "--embedder-url")
STEPS = (echo, refused, page, rejected, wordy, pick)


PROCESSES_WITH_THE_KEY: list[str] = []


def answered(request: Received) -> Reply:
    """The answer that the case asks for by its number; to what is no case, the refusal. Looks at all processes too."""
    PROCESSES_WITH_THE_KEY.extend(process_list(MODEL_KEY))
    last = request.query.rpartition(" ")[2]
    return STEPS[int(last) if last.isdigit() else 1](request)


@pytest.fixture
def web() -> Iterator[TellingWeb]:
    """An address that repeats what it is told."""
    with TellingWeb() as server:
        yield server


@pytest.mark.timeout(600)
def test_a_planted_key_is_found_nowhere(
    home: Path, tmp_path: Path, web: TellingWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Said] = []
    for name, value in GIVEN.items():
        monkeypatch.setenv(name, value)

    def do(*arguments: str | Path) -> Said:
        said.append(say(*arguments, "--debug"))
        return said[-1]

    for fault in FAULTS:
        command, *rest = program(fault)
        words = [part for argument in (*rest, REFERENCE) for part in ("--arg", argument)]
        do("servers", "add", fault, "--command", command, *words, "--env", f"CITY_PASS={REFERENCE}", "--yes")
    headers = ("--header", f"X-Pass={REFERENCE}", "--bearer-env", "CITY_PASS")
    do("servers", "add", "web", "--url", f"{web.url}?key={REFERENCE}", *headers, "--yes")
    assert any(SERVER_KEY in heard for heard in web.heard)
    for verb in ("check", "show", "tools"):
        for name in (*FAULTS, "web"):
            do("servers", verb, name, "--json")
    require_only_its_own(do("servers", "tools", "environment", "--json"))
    wanted = [{"tool": "weather_report"}]
    cases = [workspace_files.case(f"weather report {number}", wanted, server="tools") for number in range(len(STEPS))]
    do("cases", "import", workspace_files.case_file(tmp_path, cases))
    with ModelStub(answered) as model:
        kinds = {"junit": "xml", "html": "html", "csv": "csv"}
        files = [part for kind, end in kinds.items() for part in (f"--{kind}", tmp_path / f"report.{end}")]
        sent = ("--base-url", model.url, "--allow-origin", f"OPENAI_API_KEY={origin_of(model.url)}")
        said.append(run("run", "--model", "openai/stub", *sent, "--retries", "0", *files, "--debug"))
        said.append(piped(model))
        assert {request.key for request in model.requests} == {MODEL_KEY}
        do("similarity", *BOTH, *EMBEDDER, *sent[1:], "--out", tmp_path / "alike.json")
    listed = do("runs", "list", "--json")
    for item in listed.document["runs"]:
        do("runs", "show", item["id"], "--json")
    for form in filter(lambda one: one.is_written, CaseFileFormat):
        do("cases", "export", tmp_path / f"cases-{form.value}.txt", "--format", form.value)
    for ending in ("html", "json", "csv"):
        do("quality", *BOTH, "--out", tmp_path / f"quality.{ending}")
        do("similarity", *BOTH, "--embedder", "tfidf", "--out", tmp_path / f"alike-words.{ending}")
    do("recommend", *BOTH, "--embedder", "tfidf", "--json")
    do("metrics", "--json")
    do("confusions", "--json")
    assert [one.err for one in said if one.code == 2] == []
    found = [line for one in said for line in where(one)] + holding((home, tmp_path)) + PROCESSES_WITH_THE_KEY
    assert found == [], "\n".join(found)


@pytest.mark.timeout(600)
def test_a_planted_key_is_found_nowhere_beside_the_cluster_the_window_and_the_action(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key comes to the address that was named beside it, to no other one, and into no file, log or output."""
    monkeypatch.setenv("OPENAI_API_KEY", MODEL_KEY)
    offered = workspace_files.tools_file(tmp_path)
    cases = [
        workspace_files.case(f"weather report {number}", [{"tool": "weather_report"}], server="tools")
        for number in range(6)
    ]
    listed = workspace_files.case_file(tmp_path, cases)
    said = [say("servers", "add", "tools", "--tools-file", offered), say("cases", "import", listed)]
    with ModelStub(answered) as model, ModelStub(answered) as stranger:
        sent = ("--base-url", model.url, "--allow-origin", f"OPENAI_API_KEY={origin_of(model.url)}", "--retries", "0")
        doors: dict[str, Callable[[], Said]] = {
            "cluster": lambda: run("run", "--model", "openai/stub", *sent, "--cluster", "local:1", "--debug"),
            "window": lambda: of_the_window(model),
            "action": lambda: of_the_action(tmp_path, offered, listed, model.url),
        }
        for door, work in doors.items():
            before = len(model.requests)
            said.append(work())
            assert len(model.requests) > before, (door, said[-1])
        say("models", "groups", "add", "far", "--deployment", f"openai/stub,url={stranger.url}")
        said.append(run("run", "--model", "group/far", "--retries", "0", "--debug"))
        assert stranger.requests  # at an address that was typed without a key, so without one
        assert MODEL_KEY not in str(stranger.requests)
    assert {request.key for request in model.requests} == {MODEL_KEY}
    found = [line for one in said for line in where(one)] + holding((home, tmp_path)) + PROCESSES_WITH_THE_KEY
    assert found == [], "\n".join(found)


def of_the_window(model: ModelStub) -> Said:
    """What the window says in which every case is run by a model."""
    wanted = len(model.requests) + 6
    named = {"DEFAULT_LLM_PROVIDER": "openai", "DEFAULT_LLM_MODEL": "stub", "OPENAI_BASE_URL": model.url}
    surroundings = {**os.environ, **named, "QT_QPA_PLATFORM": "offscreen", "LOG_LEVEL": "DEBUG"}
    program = [sys.executable, "-m", "tests.support.window_programs", "run-all-cases"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        program, cwd=ROOT, env=surroundings, text=True, stdin=pipe, stdout=pipe, stderr=pipe
    ) as window:
        until = time.monotonic() + 100
        while len(model.requests) < wanted:
            assert time.monotonic() < until, "the window ran no case"
            threading.Event().wait(0.05)
        out, err = window.communicate()
    return Said(window.returncode, out, err)


def of_the_action(folder: Path, tools: Path, cases: Path, address: str) -> Said:
    """What the action says that evaluates a pull request."""
    own = {"SERVER": str(tools), "CASES": str(cases), "OUTPUT": str(folder / "out"), "MODEL": "openai/stub"}
    own |= {"OPENAI_BASE_URL": address, "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "PYTHONPATH": str(ROOT)}
    script = ROOT / ".github" / "actions" / "evaluate" / "evaluate.py"
    done = subprocess.run(
        [sys.executable, script], env=os.environ | own, cwd=folder, capture_output=True, text=True, check=False
    )
    return Said(done.returncode, done.stdout, done.stderr)


def piped(model: ModelStub) -> Said:
    """What a command says that is given the key on standard input."""
    arguments = ("run", "--model", "openai/stub", "--base-url", model.url, "--retries", "0", "--key-stdin", "--debug")
    asked = len(model.requests)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("OPENAI_API_KEY")
        said = say(*arguments, stdin=MODEL_KEY)
    assert len(model.requests) > asked
    return said


def require_only_its_own(listed: Said) -> None:
    """A program was given the variable that it was to be given, and no other secret."""
    [tool] = listed.document["tools"]
    given = json.loads(tool["description"])
    assert [name for name, value in given.items() if MASK in value] == ["CITY_PASS"]
    assert "OPENAI_API_KEY" not in given


def process_list(key: str) -> list[str]:
    """The command lines of all processes that show a key, where the system lists them as files."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += [str(file)] if key.encode() in file.read_bytes() else []
    return found


def where(said: Said) -> list[str]:
    """The lines of an output that hold a key."""
    return [line[:300] for line in (said.out + said.err).splitlines() if any(key in line for key in GIVEN.values())]


def holding(folders: tuple[Path, ...]) -> list[str]:
    """Files that hold a key."""
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [f"{file}: {key}" for file in files for key in GIVEN.values() if key.encode() in file.read_bytes()]
