"""The official conformance suite on our adapter, on the served library and on the server for agents."""

import json
from pathlib import Path

import pytest

from mcp_tef import Engine
from tests.support.conformance_suite import judged, suite, words_of
from tests.support.judged_servers import judged_server

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


def broken(folder: Path, scenario: str) -> list[str]:
    """The checks of a scenario that a server failed; a scenario without any check that holds is broken as well."""
    (file,) = folder.glob(f"server-{scenario}-2*/checks.json")
    checks = json.loads(file.read_text("utf-8"))
    failed = [f"{check['id']}: {check.get('errorMessage')}" for check in checks if check["status"] == "FAILURE"]
    held = any(check["status"] == "SUCCESS" for check in checks)
    return [text for text in failed if not any(part in text for part in NOT_OURS)] or ([] if held else ["no check"])


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SCENARIOS)
async def test_the_suite_of_the_protocol_is_content_with_our_servers(name: str, tmp_path: Path) -> None:
    async with await Engine.open(tmp_path / "workspace.db") as engine, judged_server(name, engine) as address:
        await words_of(*suite(), "server", "--url", address, "-o", str(tmp_path), "--suite", "all")
    found = {scenario: problems for scenario in SCENARIOS[name] if (problems := broken(tmp_path, scenario))}
    assert found == {}


@pytest.mark.timeout(900)
async def test_the_suite_of_the_protocol_is_content_with_our_headers(tmp_path: Path) -> None:
    said = await judged("http-custom-headers", tmp_path)
    assert said.passed, said.words[-4000:]
