"""HTTP servers that misbehave: each ends within its budget, with a sentence that names the cause."""

import asyncio
import socket
from typing import Any

import pytest

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.servers import AuthType, ServerSpec, Transport
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.faults.http_faults import serving

AMPLE, SHORT, MARGIN = 60.0, 0.6, 20.0


def spec(url: str, transport: Transport = Transport.STREAMABLE_HTTP, **fields: Any) -> ServerSpec:
    return ServerSpec(**({"name": "Bench", "transport": transport, "url": url} | fields))


async def failure(lister: McpToolLister, spec: ServerSpec, budget: float = AMPLE) -> ServerError:
    async with asyncio.timeout(budget + MARGIN):
        with pytest.raises(ServerError) as caught:
            await lister.list_tools(spec, timeout=budget)
        await lister.close()
    return caught.value


@pytest.mark.parametrize("fault", ["none", "modern-only"])
async def test_a_listing_over_http_is_like_any_other(lister: McpToolLister, fault: str) -> None:
    with serving(fault) as server:
        found = await lister.list_tools(spec(server.url), timeout=AMPLE)
        await lister.close()
    assert [tool.name for tool in found.tools] == ["first", "second"]


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("web-page", ServerFault.NOT_MCP, "is no MCP server at 127.0.0.1:{port}: it answers with a web page."),
        ("web-page-405", ServerFault.NOT_MCP, "is no MCP server at 127.0.0.1:{port}: it answers with a web page."),
        ("other-json", ServerFault.NOT_MCP, "is no MCP server at 127.0.0.1:{port}: its answer is no MCP message."),
        ("unauthorized", ServerFault.UNAUTHORIZED, "wants a key (HTTP 401)."),
        ("forbidden", ServerFault.UNAUTHORIZED, "did not accept the key (HTTP 403)."),
        ("not-found", ServerFault.HTTP_STATUS, "answered that there is nothing at this path (HTTP 404)."),
        ("wrong-method", ServerFault.HTTP_STATUS, "answered that it does not take the request (HTTP 405)."),
        ("too-many", ServerFault.HTTP_STATUS, "answered that it gets too many requests (HTTP 429)."),
        ("broken", ServerFault.HTTP_STATUS, "answered with an error of its own (HTTP 500)."),
        ("elsewhere", ServerFault.HTTP_STATUS, "sends us on to https://elsewhere.example/login (HTTP 302)."),
        ("hangs-up", ServerFault.PROTOCOL, "broke the connection off before it answered."),
        ("compressed", ServerFault.PROTOCOL, "compressed its answer although it was asked not to."),
    ],
)
async def test_each_fault_has_its_own_sentence(
    lister: McpToolLister, fault: str, kind: ServerFault, words: str
) -> None:
    with serving(fault) as server:
        error = await failure(lister, spec(server.url))
        assert error.message == f"Bench {words.format(port=server.server_address[1])}"
    assert error.fault is kind
    assert error.hint


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("web-page", ServerFault.NOT_MCP),
        ("unauthorized", ServerFault.UNAUTHORIZED),
        ("not-found", ServerFault.HTTP_STATUS),
        ("broken", ServerFault.HTTP_STATUS),
        ("other-json", ServerFault.NOT_MCP),
        ("hangs-up", ServerFault.PROTOCOL),
        ("sse-refuses", ServerFault.HTTP_STATUS),
    ],
)
async def test_the_older_transport_tells_them_apart_as_well(
    lister: McpToolLister, fault: str, kind: ServerFault
) -> None:
    with serving(fault) as server:
        error = await failure(lister, spec(server.url, Transport.SSE))
    assert error.fault is kind


@pytest.mark.parametrize(
    ("fault", "transport"),
    [
        ("silent", Transport.STREAMABLE_HTTP),
        ("drip", Transport.STREAMABLE_HTTP),
        ("silent", Transport.SSE),
        ("sse-silent", Transport.SSE),
    ],
)
async def test_a_server_that_never_answers_costs_its_budget_and_no_more(
    lister: McpToolLister, fault: str, transport: Transport
) -> None:
    with serving(fault) as server:
        error = await failure(lister, spec(server.url, transport), SHORT)
    assert error.fault is ServerFault.SILENT
    assert error.message == "Bench did not answer within 0.6 s."


async def test_an_answer_without_end_ends_before_its_budget(lister: McpToolLister) -> None:
    with serving("flood") as server:
        error = await failure(lister, spec(server.url), 60.0)
    assert "sent more than is read" in error.message


@pytest.mark.parametrize("transport", [Transport.STREAMABLE_HTTP, Transport.SSE])
async def test_a_port_where_nobody_listens_is_told_as_refused(lister: McpToolLister, transport: Transport) -> None:
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        port = mute.getsockname()[1]
        error = await failure(lister, spec(f"http://127.0.0.1:{port}/mcp", transport))
    assert error.fault is ServerFault.REFUSED
    assert error.message == f"Bench could not be reached at 127.0.0.1:{port}: the connection was refused."


@pytest.mark.parametrize("url", ["", "shop", "ftp://127.0.0.1/x", "http://", "http://[::1", "/mcp"])
async def test_an_address_that_is_no_url_is_told_at_once(lister: McpToolLister, url: str) -> None:
    error = await failure(lister, spec(url))
    assert error.fault is ServerFault.SETTINGS
    assert error.message == f"Bench has the address “{url}”, which is not a url."


@pytest.mark.parametrize(
    ("auth", "secret", "header", "value"),
    [
        (AuthType.BEARER, "${SHOP_KEY}", "authorization", "Bearer hush-4711"),
        (AuthType.API_KEY, "${SHOP_KEY}", "x-api-key", "hush-4711"),
        (AuthType.BASIC, "ines:${SHOP_KEY}", "authorization", "Basic aW5lczpodXNoLTQ3MTE="),
    ],
)
async def test_each_request_carries_headers_and_authentication(
    lister: McpToolLister, environment: dict[str, str], auth: AuthType, secret: str, header: str, value: str
) -> None:
    environment["SHOP_KEY"] = "hush-4711"
    with serving("none") as server:
        asked = spec(server.url, auth_type=auth, secret=secret, headers={"X-Branch": "harbour ${SHOP_KEY}"})
        await lister.list_tools(asked, timeout=AMPLE)
        await lister.close()
        assert len(server.headers_seen) >= 3
        for seen in server.headers_seen:
            assert (seen[header], seen["x-branch"]) == (value, "harbour hush-4711")


@pytest.mark.parametrize(
    ("auth", "secret", "words"),
    [
        (AuthType.BEARER, None, "names no environment variable for its secret"),
        (AuthType.BEARER, "sk-written-out", "names no environment variable for its secret"),
        (AuthType.BEARER, "${NOT_SET}", "needs the environment variable NOT_SET, which is not set"),
    ],
)
async def test_authentication_that_cannot_be_done_is_told_before_connecting(
    lister: McpToolLister, auth: AuthType, secret: str | None, words: str
) -> None:
    error = await failure(lister, spec("http://127.0.0.1:1/mcp", auth_type=auth, secret=secret))
    assert error.fault is ServerFault.SETTINGS
    assert words in error.message
    assert "sk-written-out" not in f"{error.message}{error.hint}"


async def test_a_refused_key_is_told_from_a_missing_one(lister: McpToolLister, environment: dict[str, str]) -> None:
    environment["SHOP_KEY"] = "hush-4711"
    with serving("unauthorized") as server:
        error = await failure(lister, spec(server.url, auth_type=AuthType.BEARER, secret="${SHOP_KEY}"))
    assert error.message == "Bench did not accept the key (HTTP 401)."


async def test_a_header_that_cannot_be_sent_is_told_without_its_value(
    lister: McpToolLister, environment: dict[str, str]
) -> None:
    environment["SHOP_KEY"] = "hush\n4711 with a line break"
    with serving("none") as server:
        error = await failure(lister, spec(server.url, auth_type=AuthType.BEARER, secret="${SHOP_KEY}"))
    assert error.fault is ServerFault.SETTINGS
    assert "4711" not in error.message
