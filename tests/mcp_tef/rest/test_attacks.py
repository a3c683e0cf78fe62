"""Attacks on the service, one a row: each is refused with the one shape of error, and the service goes on."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from mcp_tef import (
    LARGEST_PAGE,
    CaseDraft,
    Engine,
    InputError,
    RestOptions,
    Secret,
    ServerSpec,
    Transport,
)
from mcp_tef.rest.request_guard import LARGEST_BODY, AccessRules, RequestGuard
from tests.support import workspace_files
from tests.support.rest_service import BEARER, TOKEN, rest_service

AS_JSON = {"content-type": "application/json"}


class Attack(NamedTuple):
    """A request that must be refused with a status and a code."""

    name: str
    path: str
    status: int
    code: str
    headers: Mapping[str, str] = {}
    content: bytes | None = None
    method: str = ""


ATTACKS = (
    Attack(
        "DNS rebinding: the host is a name of the attacker", "/test-cases", 403, "foreign_host", {"host": "evil.test"}
    ),
    Attack("DNS rebinding with our port", "/test-cases", 403, "foreign_host", {"host": "evil.test:8000"}),
    Attack("a host that only begins like ours", "/", 403, "foreign_host", {"host": "localhost.evil.test"}),
    Attack("a page of another origin", "/test-cases", 403, "foreign_origin", {"origin": "http://evil.test"}),
    Attack("a page of another port", "/test-cases", 403, "foreign_origin", {"origin": "http://127.0.0.1:1"}),
    Attack("a sandboxed page", "/test-cases", 403, "foreign_origin", {"origin": "null"}),
    Attack("token in query", f"/test-cases?token={TOKEN}", 400, "secret_in_query"),
    Attack("key in query", "/test-cases?X-Model-API-Key=sk-123", 400, "secret_in_query"),
    Attack("access token in query, encoded", "/test-cases?%61ccess_token=x", 400, "secret_in_query"),
    Attack("a form that needs no preflight", "/test-cases", 415, "not_json", {"content-type": "text/plain"}, b"{}"),
    Attack("an oversized body", "/test-cases", 413, "body_too_large", AS_JSON, b" " * (LARGEST_BODY + 1)),
    Attack("a body that nests 65 levels", "/test-cases", 400, "bad_json", AS_JSON, b"[" * 65 + b"]" * 65),
    Attack("a body that nests 100,000 levels", "/test-cases", 400, "bad_json", AS_JSON, b"[" * 100_000),
    Attack("no JSON", "/test-cases", 400, "bad_json", AS_JSON, b"{"),
    Attack("a number that is none", "/test-cases", 400, "bad_json", AS_JSON, b'{"name": NaN}'),
    Attack("a number without end", "/test-cases", 400, "bad_json", AS_JSON, b'{"name": 1e999}'),
    Attack("a number of 5,000 digits", "/test-cases", 400, "bad_json", AS_JSON, b"9" * 5_000),
    Attack("half a character", "/test-cases", 400, "bad_json", AS_JSON, b'{"name": "\\ud800"}'),
    Attack("bytes that are no text", "/test-cases", 400, "bad_json", AS_JSON, b'"\xff"'),
    Attack("path traversal", "/test-cases/..%2f..%2fetc%2fpasswd", 404, "not_found"),
    Attack("path traversal with backslashes", "/tools/..%5c..%5cwindows", 404, "not_found"),
    Attack("NUL in an id", "/test-runs/%00", 404, "not_found"),
    Attack("a line break in an id", "/test-runs/a%0d%0aset-cookie:%20x=1", 404, "not_found"),
    Attack("SQL in an id", "/test-cases/'%20OR%201=1--", 404, "not_found"),
    Attack("a page beyond all bounds", "/test-cases?limit=1000000", 422, "invalid_request"),
    Attack("an unknown filter", "/test-cases?where=1", 400, "unknown_parameter"),
    Attack("a method that is not there", "/test-cases", 405, "method_not_allowed", method="PUT"),
    Attack(
        "a preflight of another origin",
        "/test-cases",
        403,
        "foreign_origin",
        {"origin": "http://a.test"},
        None,
        "OPTIONS",
    ),
)


async def test_each_attack_is_refused_in_the_one_shape(engine: Engine) -> None:
    wrong = []
    async with (
        rest_service(engine) as (address, _),
        httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
    ):
        for attack in ATTACKS:
            method = attack.method or ("POST" if attack.content is not None else "GET")
            answer = await client.request(method, attack.path, headers=attack.headers, content=attack.content)
            found = answer.status_code, answer.json().get("error")
            if found != (attack.status, attack.code) or set(answer.json()) != {"error", "message", "details", "hint"}:
                wrong.append(f"{attack.name}: {found} {answer.text[:200]}")
            if "access-control-allow-origin" in answer.headers or "set-cookie" in answer.headers:
                wrong.append(f"{attack.name}: a header that it must not have")
        assert (await client.get("/health")).status_code == 200
    assert not wrong, "\n".join(wrong)


async def test_beyond_loopback_every_request_needs_the_token_that_was_told_once(engine: Engine) -> None:
    async with rest_service(engine, RestOptions(host="0.0.0.0", port=0)) as (address, told):
        token = next(line for line in told if line.startswith("Authorization: ")).partition(": ")[2]
        assert len(told) == 3
        assert "unencrypted" in told[1]
        place = address.replace("0.0.0.0", "127.0.0.1")
        async with httpx.AsyncClient(base_url=place, timeout=60) as client:
            statuses = [
                (await client.get("/test-cases", headers=headers)).status_code
                for headers in (
                    {},
                    {"authorization": "Bearer wrong"},
                    {"authorization": token.removeprefix("Bearer ")},
                    {"authorization": token},
                    {"authorization": token, "host": "evil.test"},
                    {"authorization": token, "host": "192.168.7.7:8000"},
                )
            ]
            assert statuses == [401, 401, 401, 200, 403, 200]
            assert (await client.get("/health")).status_code == 200


@pytest.mark.parametrize(
    "token", ["short", "0123456789abcdef", "a-token-of-mine", "a" * 64, "9876543210" * 3, "é" * 40]
)
async def test_a_token_that_can_be_guessed_is_refused(engine: Engine, token: str) -> None:
    with pytest.raises(InputError, match="too short to be safe"):
        async with rest_service(engine, RestOptions(port=0, token=Secret(token))):
            pass


async def test_a_request_that_never_ends_its_headers_is_closed(engine: Engine) -> None:
    async with rest_service(engine, RestOptions(port=0, token=Secret(TOKEN), head_seconds=0.2, body_seconds=0.2)) as (
        address,
        _,
    ):
        host, port = address.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        assert await reader.read() == b""
        writer.close()
        reader, writer = await asyncio.open_connection(host, int(port))
        head = ("POST /test-cases HTTP/1.1", "Host: localhost", f"Authorization: Bearer {TOKEN}", "Content-Length: 9")
        writer.write("\r\n".join((*head, "", "{")).encode())
        assert (await reader.read()).startswith(b"HTTP/1.1 408")
        writer.close()


async def test_500_connections_at_once_are_answered_and_further_ones_closed(engine: Engine) -> None:
    async with rest_service(engine, RestOptions(port=0, head_seconds=30)) as (address, _):
        host, port = address.removeprefix("http://").split(":")
        open_ones = [await asyncio.open_connection(host, int(port)) for _ in range(500)]
        for _, writer in open_ones:
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        heads = [await reader.readuntil(b"\r\n") for reader, _ in open_ones]
        assert set(heads) == {b"HTTP/1.1 200 OK\r\n"}
        further = [await asyncio.open_connection(host, int(port)) for _ in range(20)]
        for _, writer in further:
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answers = await asyncio.gather(*(reader.read() for reader, _ in further), return_exceptions=True)
        assert sum(isinstance(one, bytes) and one.startswith(b"HTTP/1.1 200") for one in answers) == 12
        for _, writer in (*open_ones, *further):
            writer.close()


async def test_a_body_without_a_length_is_bounded_as_it_comes() -> None:
    asked: list[Any] = []

    async def app(*_: Any) -> None:
        asked.append(1)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b" " * 1_000_000, "more_body": True}

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await RequestGuard(app, AccessRules(token=Secret(TOKEN)))(SCOPE, receive, send)
    assert (sent[0]["status"], json.loads(sent[1]["body"])["error"], asked) == (413, "body_too_large", [])


HEADERS = ((b"host", b"localhost"), (b"transfer-encoding", b"chunked"), (b"content-type", b"application/json"))
SCOPE: dict[str, Any] = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "scheme": "http"}
SCOPE["headers"] = [*HEADERS, (b"authorization", f"Bearer {TOKEN}".encode())]


async def test_bodies_that_stall_hold_at_most_64_mb_of_all_callers_together() -> None:
    answers: list[int] = []
    held, released = asyncio.Semaphore(0), asyncio.Event()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def send(message: Any) -> None:
        answers.extend([message["status"]] if message["type"] == "http.response.start" else [])

    def stalling(size: int) -> Callable[[], Awaitable[Any]]:
        async def receive() -> Any:
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": True}
            held.release()
            await released.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        parts = [b"1" * size]
        return receive

    async def whole() -> Any:
        return {"type": "http.request", "body": b"[]", "more_body": False}

    guard = RequestGuard(app, AccessRules(token=Secret(TOKEN)))
    async with asyncio.TaskGroup() as stalled:
        for _ in range(4):
            stalled.create_task(guard(SCOPE, stalling(LARGEST_BODY), send))
        for _ in range(4):
            await held.acquire()
        await guard(SCOPE, whole, send)
        assert answers == [503]
        released.set()
    await guard(SCOPE, whole, send)
    assert answers[-1] == 200


async def test_no_page_is_larger_than_8_mb_whatever_its_limit(engine: Engine, tmp_path: Path) -> None:
    tools = str(workspace_files.tools_file(tmp_path))
    await engine.servers.add(ServerSpec(name="city", transport=Transport.FILE, path=tools))
    drafts = [CaseDraft(name=f"case {one}", query=f"{one} {'x' * 990_000}", servers=("city",)) for one in range(10)]
    await engine.cases.add(drafts)
    async with (
        rest_service(engine) as (address, _),
        httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
    ):
        first = await client.get("/test-cases", params={"limit": 1000})
        assert len(first.content) <= LARGEST_PAGE + 1_000
        assert (len(first.json()["items"]), first.json()["total"]) == (8, 10)
        rest = await client.get("/test-cases", params={"limit": 1000, "offset": 8})
        assert {one["name"] for page in (first, rest) for one in page.json()["items"]} == {one.name for one in drafts}
