"""The official conformance suite on our adapter, on the served library and on the server for agents."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.conformance_suite import judged, suite

BOTH = (
    *("server-initialize", "server-session-lifecycle", "server-stateless", "ping", "tools-list", "caching"),
    *("server-sse-multiple-streams", "sep-2164-resource-not-found", "dns-rebinding-protection"),
    "http-header-validation",
)
SCENARIOS = {
    "library": (
        *(*BOTH, "tools-call-simple-text", "tools-call-error", "json-schema-2020-12"),
        "http-custom-header-server-validation",
    ),
    "agents": (*BOTH, "resources-list", "prompts-list"),
}
NOT_OURS = ("Not testable: server does not list", "Method not found")
"""Parts of messages of checks that need a tool of the suite's own, or a method that a server does not announce."""


@pytest.fixture
def addresses(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The addresses of the two servers, which one process serves."""
    command = [sys.executable, "-m", "tests.support.judged_servers", str(tmp_path / "workspace.db")]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=surroundings
    ) as served:
        assert served.stdout is not None
        lines = [served.stdout.readline().split() for _ in SCENARIOS]
        yield dict(lines)
        served.terminate()


def broken(folder: Path, scenario: str) -> list[str]:
    """The checks of a scenario that a server failed; a scenario without any check that holds is broken as well."""
    (file,) = folder.glob(f"server-{scenario}-2*/checks.json")
    checks = json.loads(file.read_text("utf-8"))
    failed = [f"{check['id']}: {check.get('errorMessage')}" for check in checks if check["status"] == "FAILURE"]
    held = any(check["status"] == "SUCCESS" for check in checks)
    return [text for text in failed if not any(part in text for part in NOT_OURS)] or ([] if held else ["no check"])


@pytest.mark.timeout(900)
def test_the_suite_of_the_protocol_is_content_with_our_servers(addresses: dict[str, str], tmp_path: Path) -> None:
    node, script = suite()
    folders = {name: tmp_path / name for name in SCENARIOS}
    playing = [
        subprocess.Popen(
            [node, script, "server", "--url", addresses[name], "-o", str(folder), "--suite", "all"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for name, folder in folders.items()
    ]
    for process in playing:
        process.wait(timeout=600)
    found = {
        f"{name} {scenario}": problems
        for name, scenarios in SCENARIOS.items()
        for scenario in scenarios
        if (problems := broken(folders[name], scenario))
    }
    assert found == {}


@pytest.mark.timeout(900)
def test_the_suite_of_the_protocol_is_content_with_our_headers(tmp_path: Path) -> None:
    said = judged("http-custom-headers", tmp_path, os.environ)
    assert said.passed, said.words[-4000:]
