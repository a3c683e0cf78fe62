"""The client that the official MCP conformance suite drives: our adapter, and nothing of its own.

The suite appends the url of its server, and says in the environment which scenario that server plays.
"""

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mcp_tef.errors import ServerError
from mcp_tef.model.servers import AuthType, OAuthClient, ServerSpec, Transport
from mcp_tef.model.tools import Tool
from mcp_tef.servers.client import McpSignIns
from mcp_tef.servers.credential_store import Strongbox
from mcp_tef.servers.tool_caller import McpCaller
from mcp_tef.servers.tool_lister import McpGateway
from tests.support.browser import Browser

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
    strongbox, browser = Strongbox(), Browser()
    gateway = McpGateway(environment, strongbox=strongbox)
    caller = McpCaller(environment, strongbox=strongbox, show=browser.show)
    sign_ins = McpSignIns(strongbox, browser.show, environment)
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
