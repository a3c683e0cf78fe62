"""The official MCP conformance suite and Inspector, installed once under `.cache/`, and our adapter for the suite.

As a program this is the client that the suite drives: it appends the URL of its server and names the scenario in the
environment.
"""

import asyncio
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.errors import ServerError
from mcp_tef.model.servers import AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.model.tools import Tool
from mcp_tef.servers.client import McpSignIns
from mcp_tef.servers.credential_store import CredentialStore
from mcp_tef.servers.tool_caller import McpToolCaller
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.real_servers import install_node, installed
from tests.support.sign_in_server import Browser

ROOT = Path(__file__).parents[2]
LOCKS = Path(__file__).with_name("locked_conformance")
INSPECTOR = Path(__file__).with_name("locked_inspector")
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
    home = _home("conformance", LOCKS)
    node = _node(home)
    if node is None:
        pytest.skip(f"the conformance suite needs node {OLDEST_NODE}, which is not on this machine")
    return node, str(home / "@modelcontextprotocol" / "conformance" / "dist" / "index.js")


@functools.cache
def inspector() -> tuple[str, str, str]:
    """Node, which comes with the suite, and the command line of the Inspector; skips the test as `suite` does."""
    script = _home("inspector", INSPECTOR) / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build"
    return suite()[0], str(script / "index.js"), "--cli"


def _home(kind: str, locks: Path) -> Path:
    """The packages that a folder locks, installed."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not on this machine, so the protocol's own programs cannot be had here")
    files = (locks / "package.json", locks / "package-lock.json")
    return installed(kind, files, functools.partial(install_node, npm, locks)) / "node_modules"


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
    client = shlex.join([sys.executable, "-m", "tests.support.conformance_suite"])
    command = [node, script or own, "client", "--command", client, "--scenario", scenario, "--output-dir", str(folder)]
    surroundings = {**environment, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, env=surroundings, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    words = done.stdout + done.stderr
    found = _COUNTS.search(words)
    held, checks = (int(found[1]), int(found[2])) if found else (0, 0)
    return Judged(done.returncode == 0 and checks > 0, held, checks, words)


CALL_SECONDS = 20.0
DOCUMENT = "https://conformance-test.local/client-metadata.json"
SECRET = "CONFORMANCE_CLIENT_SECRET"
ECHO = "json_schema_echo"
ARGUMENTS: Mapping[str, Mapping[str, Any]] = {"add_numbers": {"a": 5, "b": 3}}


def spec_of(url: str, scenario: str, context: Mapping[str, Any]) -> ServerSpec:
    """The server of a scenario, as a user would register it."""
    spec = ServerSpec(name="conformance", transport=Transport.STREAMABLE_HTTP, url=url)
    if not scenario.startswith("auth/"):
        return spec
    client = OAuthClient(client_id=context.get("client_id", DOCUMENT))
    by_client = scenario.startswith("auth/client-credentials")
    if by_client:
        client = replace(client, signing_algorithm=context.get("signing_algorithm"))
    secret = f"${{{SECRET}}}" if secret_of(context) else None
    auth_type = AuthType.CLIENT_CREDENTIALS if by_client else AuthType.OAUTH2
    return replace(spec, auth_type=auth_type, oauth=client, secret=secret)


def secret_of(context: Mapping[str, Any]) -> str:
    """The secret or the private key that the suite gives to its client."""
    return str(context.get("client_secret", context.get("private_key_pem", "")))


def calls_of(context: Mapping[str, Any], tools: Sequence[Tool]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The calls that the suite asks for, else one of every tool; an echo gets a schema as we hold it."""
    asked = context.get("toolCalls")
    if asked is not None:
        yield from ((call["name"], call.get("arguments", {})) for call in asked)
        return
    schemas = [tool.input_schema for tool in tools if "$defs" in tool.input_schema]
    for tool in tools:
        yield tool.name, {"schema": schemas[0]} if tool.name == ECHO and schemas else ARGUMENTS.get(tool.name, {})


async def play(url: str, scenario: str, context: Mapping[str, Any]) -> None:
    """Sign in where it is asked for, list, and call."""
    environment = {SECRET: secret_of(context)}
    credentials, browser = CredentialStore(), Browser()
    gateway = McpToolLister(environment, credentials=credentials)
    caller = McpToolCaller(environment, credentials=credentials, show=browser.show)
    sign_ins = McpSignIns(credentials, browser.show, environment)
    spec = spec_of(url, scenario, context)
    try:
        if await sign_ins.needed(spec):
            await sign_ins.sign_in(spec)
        listing = await gateway.list_tools(spec, timeout=CALL_SECONDS)
        print([tool.name for tool in listing.tools], listing.problems, listing.protocol)
        for name, arguments in calls_of(context, listing.tools):
            try:
                print(name, await caller.call_tool(spec, name, arguments, timeout=CALL_SECONDS))
            except ServerError as error:
                print(name, error.message)
    finally:
        for part in (gateway, caller, sign_ins):
            await part.close()
        browser.close()


def main() -> int:
    """One scenario."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    try:
        asyncio.run(play(sys.argv[-1], os.environ.get("MCP_CONFORMANCE_SCENARIO", ""), context))
    except ServerError as error:
        print(error.message, error.hint, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
