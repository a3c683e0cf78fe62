"""Every door to another machine against names that lead elsewhere than they say: nothing is sent there."""

import ast
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from mcp_tef.embedding.model_download import HubModel, ModelDownload, PinnedFile, PinnedModel
from mcp_tef.embedding.remote_embedders import HttpEmbedder, LitellmConnection, LitellmEmbedder
from mcp_tef.errors import ReachError, ServerError
from mcp_tef.llm.catalogue import LitellmCatalogue, served_models
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.model.config import TRUSTED_NETWORKS
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.web_search import SearchProvider, SearchRequest, SearchTool
from mcp_tef.provider_http.checked_client import checked_client, checked_sync_transport
from mcp_tef.servers.tool_lister import McpToolLister
from mcp_tef.servers.web_search import HttpWebSearcher
from mcp_tef.trust.connections import NAMES, resolved_by_system
from tests.support.model_questions import KEY, question
from tests.support.model_stub import ModelStub
from tests.support.private_network import PrivateNetwork, certificate
from tests.support.search_services import FORMS, SearchService

ROOT = Path(__file__).parents[3]
Door = Callable[[str], Awaitable[object]]


async def _models(url: str, through: str = "") -> object:
    selector = LitellmSelector(LitellmCatalogue(), {}, through=lambda: through)
    try:
        return await selector.select(question(f"{url}/v1"))
    finally:
        await selector.close()


async def _litellm_embedder(url: str) -> object:
    connection = LitellmConnection()
    try:
        return await LitellmEmbedder(connection, "openai/e", base_url=url, key=Secret(KEY)).embed(["x"])
    finally:
        await connection.close()


async def _server(url: str, transport: Transport = Transport.STREAMABLE_HTTP) -> object:
    lister = McpToolLister({})
    try:
        return await lister.list_tools(ServerSpec(name="Bench", transport=transport, url=f"{url}/mcp"), timeout=20)
    finally:
        await lister.close()


async def _search(url: str) -> object:
    tool = SearchTool(name="web", provider=SearchProvider.SEARXNG, base_url=url)
    return await HttpWebSearcher(20).search(tool, SearchRequest(query="pumps"), Secret(KEY))


async def _download(url: str) -> None:
    model = HubModel("tiny", "owner/tiny")
    pins = {"tiny": PinnedModel("0" * 40, {"model.onnx": PinnedFile(1, "0" * 64)})}
    await ModelDownload(url.replace("http:", "https:"), model, lambda _: None, pins=pins).into(
        Path(tempfile.mkdtemp()) / "model"
    )


DOORS: dict[str, Door] = {
    "model": _models,
    "model through litellm": lambda url: _models(url, "litellm"),
    "list of models": lambda url: served_models(url, Secret(KEY)),
    "embedder": lambda url: HttpEmbedder(url, Secret(KEY)).embed(["x"]),
    "embedder through litellm": _litellm_embedder,
    "download": _download,
    "server": _server,
    "older server": lambda url: _server(url, Transport.SSE),
    "search": _search,
}
ADDRESSES = ("127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "10.1.2.3", "169.254.169.254", "64:ff9b::7f00:1")


@pytest.fixture
def names() -> Iterator[dict[str, Sequence[str]]]:
    """Names and their addresses, in place of those of the system."""
    table: dict[str, Sequence[str]] = {}
    NAMES.resolve = lambda host, _port: table[host]
    yield table
    NAMES.resolve, NAMES.trusted = resolved_by_system, ()


@pytest.mark.parametrize("door", DOORS)
async def test_no_door_contacts_a_public_name_that_leads_to_this_machine(
    door: str, names: dict[str, Sequence[str]]
) -> None:
    names["api.example.com"] = ("127.0.0.1",)
    with SearchService(FORMS["searxng"]) as service:
        port = service.url.rpartition(":")[2]
        with pytest.raises(ReachError) as caught:
            await DOORS[door](f"http://api.example.com:{port}")
    assert "api.example.com leads to 127.0.0.1, this machine" in caught.value.message
    assert service.asked == []


@pytest.mark.parametrize("address", ADDRESSES)
async def test_no_notation_of_an_address_hides_whose_machine_it_is(
    address: str, names: dict[str, Sequence[str]]
) -> None:
    names["api.example.com"] = ("192.0.2.1", address) if address == "127.0.0.1" else (address,)
    with pytest.raises(ReachError, match="so it was not contacted"):
        await _search("http://api.example.com:9")


async def test_the_address_that_was_checked_is_the_one_that_is_used(names: dict[str, Sequence[str]]) -> None:
    answers = iter([("127.0.0.1",)])
    NAMES.resolve = lambda _host, _port: next(answers)  # a second look would find nothing
    with SearchService(FORMS["searxng"]) as service:
        await _search(service.url.replace("127.0.0.1", "localhost"))
    assert [one.headers["host"].partition(":")[0] for one in service.asked] == ["localhost"]


async def test_the_next_address_is_tried_where_one_does_not_answer(names: dict[str, Sequence[str]]) -> None:
    names["localhost"] = ("127.0.0.2", "127.0.0.1")
    with SearchService(FORMS["searxng"]) as service:
        await _search(service.url.replace("127.0.0.1", "localhost"))
    assert len(service.asked) == 1


@pytest.mark.parametrize("door", ["search", "model", "model through litellm"])
async def test_a_network_that_the_user_trusts_is_the_users_own(door: str, names: dict[str, Sequence[str]]) -> None:
    names["api.example.com"] = ("127.0.0.1",)
    NAMES.trusted = TRUSTED_NETWORKS.value({"MCP_TEF_TRUSTED_NETWORKS": "127.0.0.0/8"}, ())
    with SearchService(FORMS["searxng"]) as service:
        port = service.url.rpartition(":")[2]
        with suppress(ReachError):  # the stand-in answers in the form of searches only
            await DOORS[door](f"http://api.example.com:{port}")
    assert service.asked


async def test_certificates_are_checked_for_the_name_and_not_for_its_address(
    tmp_path: Path, names: dict[str, Sequence[str]]
) -> None:
    authority, server = certificate(tmp_path)
    names["localhost"] = names["other.localhost"] = ("127.0.0.1",)
    trusted = ssl.create_default_context(cafile=str(authority))
    with ModelStub() as stub, PrivateNetwork(stub, server) as network:
        async with checked_client(verify=trusted) as client:
            assert (await client.get(f"{network.url}/models")).status_code < 500
            with pytest.raises(httpx.ConnectError, match="certificate"):
                await client.get(f"{network.url}/models".replace("localhost", "other.localhost"))


def test_requests_without_asyncio_are_checked_as_well(names: dict[str, Sequence[str]]) -> None:
    names["api.example.com"] = ("127.0.0.1",)
    with httpx.Client(transport=checked_sync_transport(None)) as client, pytest.raises(ReachError, match="leads to"):
        client.get("http://api.example.com:9/")


OPENERS = {
    *("AsyncClient", "Client", "AsyncHTTPTransport", "HTTPTransport", "ClientSession", "TCPConnector", "urlopen"),
    *("open_connection", "create_connection", "HTTPConnection", "HTTPSConnection", "sse_client", "AsyncOpenAI"),
    *("streamable_http_client", "QNetworkAccessManager", "QTcpSocket"),
}
ALLOWED = {
    ("mcp_tef/api/cluster.py", "Client"): "of a cluster whose address the user typed, by its certificate",
    ("mcp_tef/servers/session.py", "ClientSession"): "speaks over streams that are open",
    ("mcp_tef/provider_http/checked_client.py", "AsyncClient"): "checked here",
    ("mcp_tef/provider_http/checked_client.py", "HTTPTransport"): "checked here",
    ("mcp_tef/provider_http/direct_client.py", "ClientSession"): "its connector resolves by CheckedResolver",
    ("mcp_tef/provider_http/direct_client.py", "TCPConnector"): "resolves by CheckedResolver",
    ("mcp_tef/provider_http/litellm_client.py", "AsyncOpenAI"): "gets the guarded client",
    ("mcp_tef/llm/client.py", "open_connection"): "connects to a checked address",
    ("mcp_tef/servers/http_transport.py", "AsyncHTTPTransport"): "checked here",
    ("mcp_tef/servers/http_transport.py", "AsyncClient"): "gets a checked transport",
    ("mcp_tef/servers/http_transport.py", "streamable_http_client"): "gets a client with a checked transport",
    ("mcp_tef/servers/web_search.py", "AsyncClient"): "gets a checked transport",
    ("mcp_tef/servers/tool_executors.py", "AsyncClient"): "gets a checked transport",
}


def test_nothing_opens_a_connection_beside_the_checked_ones() -> None:
    found = {
        (str(path.relative_to(ROOT)), name)
        for folder in ("mcp_tef", "app")
        for path in (ROOT / folder).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        for name in [getattr(call.func, "attr", getattr(call.func, "id", ""))]
        if name in OPENERS
    }
    assert found == set(ALLOWED)


MOVED = {"Location": "/other-tenant/mcp"}
EVENTS = {"Content-Type": "text/event-stream"}
ELSEWHERE = "event: endpoint\ndata: /other-tenant/messages\n\n"


@pytest.mark.parametrize("path", ["/tenant/mcp", "/${TENANT}/mcp"])
@pytest.mark.parametrize("headers", [{"X-Key": "${API_KEY}"}, {"Authorization": "${API_KEY}"}, {"X-Key": "${PIN}"}])
@pytest.mark.parametrize(
    ("transport", "answer"),
    [
        (Transport.STREAMABLE_HTTP, ({}, 307, MOVED)),
        (Transport.SSE, ({}, 307, MOVED)),
        (Transport.SSE, (ELSEWHERE, 200, EVENTS)),
    ],
    ids=("http", "sse", "sse-endpoint"),
)
async def test_a_server_gets_no_variable_at_a_path_that_nobody_agreed_to(
    path: str, headers: dict[str, str], transport: Transport, answer: tuple[object, int, dict[str, str]]
) -> None:
    with SearchService(*answer) as service:
        spec = ServerSpec(name="Bench", transport=transport, url=f"{service.url}{path}", headers=headers)
        lister = McpToolLister({"API_KEY": KEY, "TENANT": "tenant", "PIN": "1234"})
        with pytest.raises(ServerError, match="not where it is itself"):
            await lister.list_tools(spec, timeout=20)
        await lister.close()
    assert {one.path for one in service.asked} == {"/tenant/mcp"}


OPEN_ADDRESSES = {
    "app/shell/workspace_controller.py": "folders of the user, and what links.py has asked about",
    "mcp_tef/trust/template_values.py": "names it as a program, and starts none",
}


def test_nothing_hands_an_address_to_the_desktop_but_the_one_place_that_asks() -> None:
    words = ("openUrl", "webbrowser", "setOpenExternalLinks", "xdg-open", "os.startfile")
    found = {
        str(path.relative_to(ROOT))
        for folder in ("mcp_tef", "app")
        for path in (ROOT / folder).rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in words)
    }
    assert found == set(OPEN_ADDRESSES)
