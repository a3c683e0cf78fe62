"""Servers over stdio end when they are told to, also while their client keeps its end of the pipe open."""

import json
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support.command_line import allowing, command, say
from tests.support.processes import alive

SLEEPER = """import os, pathlib, threading
def run(input):
    pathlib.Path(input["mark"]).write_text(str(os.getpid()))
    threading.Event().wait(600)
"""
GREETING = {
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def send(pipe: IO[str] | None, message: dict[str, Any], number: int | None) -> None:
    assert pipe, "a pipe"
    pipe.write(json.dumps({"jsonrpc": "2.0", **message, **({} if number is None else {"id": number})}) + "\n")
    pipe.flush()


@contextmanager
def talked_to(words: list[str], calls: list[dict[str, Any]]) -> Iterator[subprocess.Popen[str]]:
    """A server in a process of its own, greeted, with answered calls; its input stays open."""
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=null, text=True) as process:
        assert process.stdout, "a pipe"
        try:
            send(process.stdin, GREETING, 1)
            assert "serverInfo" in process.stdout.readline()
            send(process.stdin, {"method": "notifications/initialized"}, None)
            for number, call in enumerate(calls, 2):
                send(process.stdin, {"method": "tools/call", "params": call}, number)
                assert json.loads(process.stdout.readline())["result"]["content"]
            yield process
        finally:
            process.kill()


def library(folder: Path) -> list[str]:
    """The words that serve a library with a tool that answers and one that takes long."""
    at = ("--workspace", folder / "work.db")
    for name, more in (("weather", ()), ("sleeper", ("--executor", "python", "--script", folder / "script.py"))):
        definition = {"name": name, "description": name, "inputSchema": {"type": "object", "properties": {"mark": {}}}}
        (folder / "tool.json").write_text(json.dumps(definition), "utf-8")
        (folder / "script.py").write_text(SLEEPER, "utf-8")
        assert say("library", "add", folder / "tool.json", *more, *at).code == 0
        assert say("library", "activate", name, *at).code == 0
    serve: tuple[str | Path, ...] = ("library", "serve", *at)
    return command(*serve, *allowing(*serve))


@pytest.mark.parametrize("verb", ["library", "mcp", "sample-server"])
def test_a_signal_ends_a_server_whose_client_says_nothing_more(verb: str, tmp_path: Path) -> None:
    words = command(verb, "--workspace", tmp_path / "work.db")
    calls: list[dict[str, Any]] = [{"name": "list_cases", "arguments": {}}]
    if verb == "library":
        words, calls = library(tmp_path), [{"name": "weather", "arguments": {}}]
    if verb == "sample-server":
        words, calls = command(verb), [{"name": "opening_hours", "arguments": {"day": "2026-12-01"}}]
    with talked_to(words, calls) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) in (143, -signal.SIGTERM)


def test_a_signal_ends_a_call_that_is_under_way_with_its_program(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    call = {"name": "sleeper", "arguments": {"mark": str(mark)}}
    with talked_to(library(tmp_path), []) as process:
        send(process.stdin, {"method": "tools/call", "params": call}, 2)
        while not (mark.exists() and mark.read_text("utf-8")):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    assert not alive(int(mark.read_text("utf-8")))


def test_the_end_of_input_ends_it_too(tmp_path: Path) -> None:
    with talked_to(library(tmp_path), [{"name": "weather", "arguments": {}}]) as process:
        assert process.stdin
        process.stdin.close()
        assert process.wait(30) == 0
