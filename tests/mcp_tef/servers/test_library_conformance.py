"""The official conformance suite on the served library: every server scenario for tools that applies to it.

Scenarios for images, sound, resources, sampling and elicitation are left out: tools of the library answer in text.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import ROOT
from tests.support.conformance_suite import suite

SCENARIOS = (
    *("server-initialize", "server-session-lifecycle", "ping", "tools-list", "tools-call-simple-text"),
    *("tools-call-error", "json-schema-2020-12", "dns-rebinding-protection", "http-header-validation"),
    "http-custom-header-server-validation",
)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """The address of the served library."""
    command = [sys.executable, "-m", "tests.support.served_library", str(tmp_path / "workspace.db")]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=surroundings
    ) as it:
        assert it.stdout is not None
        yield it.stdout.readline().strip()
        it.terminate()


@pytest.mark.timeout(900)
def test_the_suite_of_the_protocol_is_content_with_the_served_library(address: str, tmp_path: Path) -> None:
    node, script = suite()
    failed: dict[str, str] = {}
    for scenario in SCENARIOS:
        command = [node, script, "server", "--url", address, "-o", str(tmp_path), "--scenario", scenario]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        failed |= {scenario: done.stdout[-2000:]} if done.returncode else {}
    assert failed == {}
