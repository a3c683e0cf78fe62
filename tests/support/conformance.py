"""The official MCP conformance suite, installed once under `.cache/`, and what it says of our adapter."""

import functools
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.real_servers import install_node, installed

ROOT = Path(__file__).parents[2]
LOCKS = Path(__file__).with_name("locked_conformance")
SECONDS = 120
OLDEST_NODE = 22

PROTOCOL = (
    *("initialize", "tools_call", "sse-retry", "request-metadata", "http-standard-headers", "http-custom-headers"),
    *("http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation"),
)
AUTH = tuple(
    f"auth/{name}"
    for name in (
        *("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "metadata-issuer-mismatch"),
        *("basic-cimd", "pre-registration", "scope-from-www-authenticate", "scope-from-scopes-supported"),
        *("scope-omitted-when-undefined", "scope-step-up", "scope-retry-limit", "token-endpoint-auth-basic"),
        *("token-endpoint-auth-post", "token-endpoint-auth-none", "2025-03-26-oauth-metadata-backcompat"),
        *("2025-03-26-oauth-endpoint-fallback", "resource-mismatch", "offline-access-scope"),
        *("offline-access-not-supported", "authorization-server-migration", "iss-supported", "iss-not-advertised"),
        *("iss-supported-missing", "iss-wrong-issuer", "iss-unexpected", "iss-normalized"),
        *("client-credentials-jwt", "client-credentials-basic"),
    )
)
NOT_OURS = {
    "elicitation-": "mcp-tef answers no questions of servers: it offers no elicitation",
    "sep-2322-": "mcp-tef answers no questions of servers: a result that asks for input is refused",
    "sep-2640-": "an extension for skills: mcp-tef reads no resources",
    "auth/dpop": "an extension that binds tokens to keys: neither we nor the mcp library have it",
    "auth/wif-": "an extension for identities of workloads, such as build servers issue",
    "auth/enterprise-": "an extension for identity providers of companies: we sign in with browser or client only",
    "auth/cross-app-": "the earlier name of auth/enterprise-managed-authorization",
}
"""Why scenarios do not apply, by how their names begin."""
SUPERSEDED = {
    "auth/2025-03-26-oauth-metadata-backcompat": "metadata of another issuer than its address, which must be refused"
}
"""What earlier lines of the suite ask for and its newest has corrected, with the reason."""

_COUNTS = re.compile(r"Passed: (\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Judged:
    """What the suite says of one scenario: its checks, how many hold, and its own words."""

    passed: bool
    held: int
    checks: int
    words: str


def listed(script: str) -> list[str]:
    """Every client scenario of a suite."""
    said = subprocess.run(
        [suite()[0], script, "list", "--client"], capture_output=True, text=True, timeout=SECONDS, check=True
    )
    return re.findall(r"^  - (\S+)", said.stdout, re.MULTILINE)


@functools.cache
def suite() -> tuple[str, str]:
    """Node and the suite's script; skips the test where there is no npm, or no node that is new enough."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on this machine, so the conformance suite cannot be had here")
    locks = (LOCKS / "package.json", LOCKS / "package-lock.json")
    home = installed("conformance", locks, functools.partial(install_node, npm, LOCKS)) / "node_modules"
    node = _node(home)
    if node is None:
        pytest.skip(f"the conformance suite needs node {OLDEST_NODE}, which is not on this machine")
    return node, str(home / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")


def _node(home: Path) -> str | None:
    """The machine's own node, else the one that came with the suite."""
    own = shutil.which("node")
    came = (str(path) for path in home.glob("node-*/bin/node*"))
    return next((node for node in (own, *came) if node and _version(node) >= OLDEST_NODE), None)


def _version(node: str) -> int:
    said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=SECONDS, check=False).stdout
    found = re.match(r"v(\d+)", said)
    return int(found[1]) if found else 0


def judged(scenario: str, folder: Path, environment: Mapping[str, str], script: str = "") -> Judged:
    """Have the suite judge our client in one scenario; `script` is that of another published line of it."""
    node, own = suite()
    client = shlex.join([sys.executable, "-m", "tests.support.conformance_client"])
    command = [node, script or own, "client", "--command", client, "--scenario", scenario, "--output-dir", str(folder)]
    surroundings = {**environment, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=surroundings, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    words = done.stdout + done.stderr
    found = _COUNTS.search(words)
    held, checks = (int(found[1]), int(found[2])) if found else (0, 0)
    return Judged(done.returncode == 0 and checks > 0, held, checks, words)
