"""The official MCP conformance suite, and our adapter for it."""

import asyncio
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp_tef.errors import ServerError
from mcp_tef.model.servers import AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.model.tools import Tool
from mcp_tef.servers.client import McpSignIns
from mcp_tef.servers.credential_store import CredentialStore
from mcp_tef.servers.tool_caller import McpToolCaller
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.command_line import Said
from tests.support.real_servers import node_program
from tests.support.sign_in_server import Browser

SECONDS = 120

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


def suite() -> tuple[str, str]:
    """Node and the suite's script; skips the test where one of them cannot be had."""
    return node_program("conformance", "dist", "index.js")


RELAY = """
import json, os, socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as test:
    test.sendall(json.dumps([sys.argv[2], os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}"]).encode() + b"\\n")
    sys.exit(test.recv(1) != b"0")
"""
"""The client that the suite starts: it has this process play, and ends as that went."""


async def judged(scenario: str, folder: Path, script: str = "") -> Judged:
    """Have the suite judge our client in one scenario; `script` is that of another published line of it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        url, context = json.loads(await reader.readline())
        writer.write(b"0" if await played(url, scenario, json.loads(context)) else b"1")
        writer.close()

    node, own = suite()
    async with await asyncio.start_server(answer, "127.0.0.1", 0) as relayed:
        port = str(relayed.sockets[0].getsockname()[1])
        client = shlex.join([sys.executable, "-S", "-c", RELAY, port])
        told = await words_of(
            *(node, script or own, "client", "--command", client, "--scenario", scenario, "--output-dir", str(folder))
        )
    words = told.out + told.err
    found = _COUNTS.search(words)
    held, checks = (int(found[1]), int(found[2])) if found else (0, 0)
    return Judged(told.code == 0 and checks > 0, held, checks, words)


async def words_of(*command: str) -> Said:
    """Run a program, with time for others meanwhile."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate()
    return Said(process.returncode or 0, out.decode(), err.decode())


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


async def played(url: str, scenario: str, context: Mapping[str, Any]) -> bool:
    """Play; whether a server was refused, which some scenarios want, is printed."""
    try:
        await play(url, scenario, context)
    except ServerError as error:
        print(error.message, error.hint)
        return False
    return True
