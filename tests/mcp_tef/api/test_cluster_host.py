"""The cluster of `local:N`, as real processes: nobody without its certificate is answered, and it holds no key."""

import asyncio
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client
from distributed.security import Security

from mcp_tef.trust.listeners import worker_environment
from tests.support.command_line import say
from tests.support.model_replies import tool_calls
from tests.support.model_stub import ModelStub
from tests.support.other_user import answer_to_another_user, descendants, listening_ports
from tests.support.workspace_files import case, case_file, tools_file

KEY = "sk-planted-beside-the-cluster-0123456789"
ASKED = (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /json/counts.json HTTP/1.0\r\n\r\n", b"")


@pytest.fixture(scope="module")
def host() -> Iterator[tuple[int, dict[str, Any]]]:
    """A cluster as the product starts it: its process, and what it told."""
    words = [sys.executable, "-I", "-m", "mcp_tef.api.cluster_host", "2"]
    env = worker_environment({**os.environ, "OPENAI_API_KEY": KEY, "AWS_SECRET_ACCESS_KEY": KEY, "MCP_TEF_TOKEN": KEY})
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True) as process:
        assert process.stdin, "a pipe"
        assert process.stdout, "a pipe"
        try:
            yield process.pid, json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(60)


@pytest.mark.skipif(sys.platform != "linux", reason="ports of processes are read from /proc")
def test_nobody_without_the_certificate_is_answered_at_any_of_its_ports(host: tuple[int, dict[str, Any]]) -> None:
    ports = listening_ports(descendants(host[0]))
    assert len(ports) == 1 + 2 * 2  # the scheduler, two workers with their nannies, and no HTTP server
    for port in ports:
        for sent in ASKED:
            assert b"HTTP" not in answer_to_another_user(port, sent, 0.3)


@pytest.mark.parametrize("protocol", ["tcp", "tls"])
async def test_a_client_of_another_user_runs_no_code(host: tuple[int, dict[str, Any]], protocol: str) -> None:
    address = host[1]["address"].replace("tls://", f"{protocol}://")
    foreign = Security.temporary() if protocol == "tls" else Security()  # type: ignore[no-untyped-call]
    with pytest.raises((OSError, TimeoutError, ssl.SSLError)):
        async with Client(address, security=foreign, asynchronous=True, timeout=2, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            await asyncio.wait_for(client.run(os.getpid), 2)


@pytest.mark.skipif(sys.platform != "linux", reason="variables of processes are read from /proc")
def test_no_process_of_it_holds_a_key_of_the_environment(host: tuple[int, dict[str, Any]]) -> None:
    found = [Path(f"/proc/{pid}/environ").read_bytes() for pid in descendants(host[0])]
    assert len(found) >= 3
    assert not [one for one in found if KEY.encode() in one]
    assert all(b"PATH=" in one for one in found)


def test_runs_on_a_local_cluster_have_the_key_that_was_given_and_leave_no_process(tmp_path: Path) -> None:
    at = ("--workspace", tmp_path / "work.db")
    assert say("servers", "add", "city", "--tools-file", tools_file(tmp_path), *at).code == 0
    cases = [case("Weather in Lisbon?", [{"tool": "weather_report"}])]
    assert say("cases", "import", case_file(tmp_path, cases), *at).code == 0
    with ModelStub(lambda _: tool_calls(("weather_report", {"city": "Lisbon"}))) as stub:
        words = ("run", "--model", "openai/gpt-x", "--base-url", stub.url, "--repeats", "3", "--key-stdin", "--json")
        said = say(*words, "--cluster", "local:2", *at, stdin=KEY + "\n")
    assert said.code == 0, said.err
    assert "2 workers" in said.err
    assert {request.headers["authorization"] for request in stub.requests} == {f"Bearer {KEY}"}
    assert len(stub.requests) == 3
