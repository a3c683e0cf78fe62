"""Every listener of the product is in the owner's table, and answers nobody who brings no proof."""

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from mcp_tef import (
    CallBudget,
    Engine,
    InputError,
    ModelSettings,
    RestOptions,
    Secret,
    WorkspaceOperations,
    serve_agents,
)
from mcp_tef.servers.library_server import serve_over_http
from mcp_tef.servers.oauth import listening
from mcp_tef.servers.sample_server import BikeShop
from mcp_tef.trust.listeners import LISTENERS, bears, new_token, strong_token, worker_environment
from tests.support.agent_client import serving_ended
from tests.support.other_user import answer_to_another_user
from tests.support.rest_service import TOKEN, rest_service

ROOT = Path(__file__).parents[3]
CALLS = {
    *("create_server", "create_unix_server", "create_datagram_endpoint", "start_server", "start_unix_server"),
    *("bind_sockets", "bind_unix_socket", "createServer", "run_app", "serve_forever"),
    *("LocalCluster", "SpecCluster", "Scheduler", "QLocalServer", "QTcpServer", "QSslServer", "QHttpServer"),
    *("QUdpSocket", "QWebSocketServer", "HTTPServer", "ThreadingHTTPServer", "TCPServer", "ThreadingTCPServer"),
    *("UDPServer", "UnixStreamServer", "TCPSite", "UnixSite", "SockSite", "AppRunner", "Listener", "BaseManager"),
}
METHODS = {"bind", "listen"}
"""Calls by which a program of Python, asyncio, Qt, uvicorn, aiohttp, tornado or Dask begins to listen."""
NOT_SOCKETS = {("mcp_tef/storage/database.py", "listen")}  # to events


def listening_calls(source: str) -> set[str]:
    """The calls in a source that begin to listen."""
    if not any(name in source for name in CALLS | METHODS):
        return set()
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    methods = {func.attr for func in calls if isinstance(func, ast.Attribute)}
    names = {func.id for func in calls if isinstance(func, ast.Name)}
    return (methods & (CALLS | METHODS)) | (names & CALLS)


def sources() -> list[Path]:
    return [*ROOT.glob("mcp_tef/**/*.py"), *ROOT.glob("app/**/*.py"), *ROOT.glob("packaging/**/*.py"), ROOT / "dev.py"]


def test_each_file_that_listens_is_in_the_table_and_no_other() -> None:
    found = set()
    for path in sources():
        place = path.relative_to(ROOT).as_posix()
        calls = {call for call in listening_calls(path.read_text("utf-8")) if (place, call) not in NOT_SOCKETS}
        found |= {place} if calls else set()
    assert found == set(LISTENERS)


@pytest.mark.parametrize(
    "line",
    [
        "socket.socket().bind(('127.0.0.1', 0))",
        "await asyncio.start_unix_server(f, 'x')",
        "QLocalServer(self).listen('mcp-tef')",
        "HTTPServer(('', 0), Handler)",
        "web.TCPSite(runner)",
    ],
)
def test_a_new_listener_is_noticed(line: str) -> None:
    assert listening_calls(f"async def f():\n    {line}")


# ------------------------------------------------------------------ each listener, asked without its proof

Listening = Callable[[Engine], AbstractAsyncContextManager[int]]


@asynccontextmanager
async def rest(engine: Engine) -> AsyncIterator[int]:
    async with rest_service(engine) as (address, _):
        yield int(urlsplit(address).port or 0)


def served(serve: Callable[[Engine, Callable[[str], object]], Coroutine[object, object, None]]) -> Listening:
    """A listener over MCP, from what serves it."""

    @asynccontextmanager
    async def begun(engine: Engine) -> AsyncIterator[int]:
        address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(serve(engine, address.set_result))
        try:
            yield int(urlsplit(await address).port or 0)
        finally:
            await serving_ended(serving)

    return begun


@asynccontextmanager
async def callback(_: Engine) -> AsyncIterator[int]:
    async with listening() as listener:
        listener.expect(f"https://login.test/authorize?state={'s' * 43}")
        yield int(urlsplit(listener.redirect).port or 0)


@asynccontextmanager
async def cluster(_: Engine) -> AsyncIterator[int]:
    words = (sys.executable, "-I", "-m", "mcp_tef.api.cluster_host", "1")
    process = await asyncio.create_subprocess_exec(*words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout, "a pipe"
    try:
        told = json.loads(await process.stdout.readline())
        yield int(urlsplit(told["address"]).port or 0)
    finally:
        await process.communicate(b"")


def operations(engine: Engine) -> WorkspaceOperations:
    return WorkspaceOperations(engine, ModelSettings(), CallBudget())


EACH: Mapping[str, tuple[str, Listening]] = {
    "REST": ("mcp_tef/rest/service.py", rest),
    "agents": ("mcp_tef/servers/serving.py", served(lambda e, tell: serve_agents(operations(e), tell, (0, TOKEN)))),
    "library": ("mcp_tef/servers/serving.py", served(lambda e, tell: e.serve_library(tell, http=(0, TOKEN)))),
    "stand-in": ("mcp_tef/servers/serving.py", served(lambda _, tell: serve_over_http(BikeShop(), 0, TOKEN, tell))),
    "sign-in": ("mcp_tef/servers/oauth.py", callback),
    "cluster": ("mcp_tef/api/cluster_host.py", cluster),
}
LIST_TOOLS = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
REQUESTS = [
    *(("GET", path, "") for path in ("/", "/mcp", "/test-cases", "/mcp-servers", "/callback", "/callback?code=x")),
    *(("GET", path, "") for path in ("//test-cases", "/health/../test-cases", "/docs/", "/HEALTH", "/callback?state=")),
    *(("POST", path, LIST_TOOLS) for path in ("/mcp", "/mcp-servers", "/test-cases", "/tools", "/callback")),
    *(("DELETE", path, "") for path in ("/mcp", "/mcp-servers/x", "/test-cases/x")),
]
PROOFS = (
    "",
    "Authorization: Bearer ",
    f"Authorization: Bearer {TOKEN[:-1]}",
    f"Authorization: {TOKEN}",
    f"X-Token: {TOKEN}",
)


def request(method: str, path: str, body: str, proof: str) -> bytes:
    """The bytes of a request that has no right proof."""
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", f"Content-Length: {len(body)}"]
    head += ["Content-Type: application/json", "Accept: application/json, text/event-stream", *filter(None, [proof])]
    return "\r\n".join((*head, "", body)).encode()


def test_each_listener_of_the_table_is_asked() -> None:
    assert {place for place, _ in EACH.values()} == set(LISTENERS)


@pytest.mark.parametrize("name", EACH)
async def test_nobody_is_answered_without_the_proof(name: str, tmp_path: Path) -> None:
    """Another user of this machine is refused every time, and nothing is listed or told."""
    async with await Engine.open(tmp_path / "work.db", environment={}) as engine, EACH[name][1](engine) as port:
        sent = [request(*one, PROOFS[number % len(PROOFS)]) for number, one in enumerate(REQUESTS)]
        answers = await asyncio.gather(*(asyncio.to_thread(answer_to_another_user, port, one) for one in sent))
        for one, answer in zip(sent, answers, strict=True):
            status = answer[9:12]
            assert status in (b"401", b"400", b"403", b"404", b""), (one, answer)
            assert TOKEN.encode() not in answer
            assert b"book_repair" not in answer
        assert (b"401" in {answer[9:12] for answer in answers}) is (name not in ("sign-in", "cluster"))
        assert await engine.servers.list() == ()


async def test_every_operation_of_rest_needs_the_token_on_loopback_too(tmp_path: Path) -> None:
    wrong = []
    options = RestOptions(port=0)  # a new token, which is told once
    async with (
        await Engine.open(tmp_path / "work.db", environment={}) as engine,
        rest_service(engine, options) as (address, told),
        httpx.AsyncClient(base_url=address) as client,
    ):
        document = (await client.get("/openapi.json")).json()
        for path, methods in document["paths"].items():
            for method in methods:
                status = (await client.request(method, path.replace("{", "").replace("}", ""))).status_code
                wrong += [] if status == (200 if path == "/health" else 401) else [(method, path, status)]
        assert (await client.get("/docs")).status_code == 200
        token = told[0].partition(": ")[2]
        assert (await client.get("/test-cases", headers={"authorization": token})).status_code == 200
    assert wrong == []
    assert len([line for line in told if token in line]) == 1


# ------------------------------------------------------------------ tokens


@pytest.mark.parametrize(
    "text", ["", "s3cret", "0" * 64, "12345678901234567890123456789012", "0123456789abcdef", "ä" * 99]
)
def test_a_token_below_128_bits_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InputError) as refused:
        strong_token(text)
    assert not text or text not in refused.value.message + refused.value.hint


def test_new_tokens_are_strong_and_differ() -> None:
    tokens = {strong_token(new_token()) for _ in range(50)}
    assert len(tokens) == 50
    assert strong_token(Secret(TOKEN).reveal()) == TOKEN


@pytest.mark.parametrize(
    "given", [[], [b""], [b"Bearer"], [b"bearer " + TOKEN.encode()], [f"Bearer {TOKEN}".encode()] * 2]
)
def test_only_one_whole_header_is_a_proof(given: list[bytes]) -> None:
    assert not bears(given, TOKEN)
    assert bears([f"Bearer {TOKEN}".encode()], TOKEN)


def test_a_worker_gets_addresses_and_settings_but_no_key() -> None:
    keys = ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "MCP_TEF_TOKEN", "GITHUB_TOKEN", "DATABASE_URL", "HF_TOKEN")
    kept = {
        "PATH": "/bin",
        "HOME": "/h",
        "OPENAI_BASE_URL": "http://127.0.0.1:1",
        "https_proxy": "p",
        "AWS_REGION": "x",
    }
    assert worker_environment({**dict.fromkeys(keys, "secret"), **kept}) == kept
