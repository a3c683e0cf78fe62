"""Addresses of callers: what the service was not started for is never contacted, and nothing of it is told."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from mcp_tef import Engine, ServerSpec, Transport
from mcp_tef.rest.schemas import server_answer
from tests.support.model_replies import Reply
from tests.support.model_stub import ModelStub
from tests.support.rest_service import BEARER, rest_service

INNER = "an inner service says this"
OTHER_NOTATIONS = (
    *("http://127.0.0.1:{port}/v1", "http://2130706433:{port}/v1", "http://0x7f.1:{port}/v1", "http://127.1:{port}/v1"),
    *("http://[::ffff:127.0.0.1]:{port}/v1", "http://0.0.0.0:{port}/v1", "http://localhost:{port}/v1"),
    *("http://0177.0.0.1:{port}/v1", "http://x.localhost:{port}/v1", "http://user@127.0.0.1:{port}/v1"),
)
METADATA = (
    "http://169.254.169.254/latest",
    "http://[fd00:ec2::254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://2852039166/",
)


async def asked_at(client: httpx.AsyncClient, url: str, case: str) -> list[httpx.Response]:
    """The answers of every operation that takes an address."""
    model = {"provider": "openai", "model": "x", "base_url": url}
    compared: dict[str, Any] = {"tool_list": [{"name": "a", "description": "b"}, {"name": "c", "description": "d"}]}
    key = {"x-model-api-key": "sk-of-a-caller-0123456789"}
    return [
        await client.post("/mcp-servers", json={"name": f"s {url}", "url": url}),
        await client.post(f"/test-cases/{case}/run", json={"model_settings": model}),
        await client.post(f"/test-cases/{case}/run", json={"model_settings": model}, headers=key),
        await client.post("/batches", json={"test_case_ids": [case], "models": [model]}, headers=key),
        await client.post("/similarity/analyze", json={"url_list": [url, f"{url}/2"], "embedding_model": "tfidf"}),
        await client.post("/similarity/analyze", json=compared | {"embedding_model": f"http:{url}"}),
    ]


async def one_case(client: httpx.AsyncClient) -> str:
    case = {"name": "rain", "query": "Will it rain?", "expected_mcp_server_name": "none", "expected_tool_name": None}
    return str((await client.post("/test-cases", json=case)).json().get("id", "none"))


async def test_no_notation_of_an_inner_address_is_contacted_or_remembered(engine: Engine) -> None:
    with ModelStub(lambda _: Reply(status=500, body=INNER)) as stub:
        port = httpx.URL(stub.url).port
        async with rest_service(engine) as (address, _), httpx.AsyncClient(base_url=address, headers=BEARER) as client:
            case = await one_case(client)
            for form in (*OTHER_NOTATIONS, *METADATA):
                for answer in await asked_at(client, form.format(port=port), case):
                    refused = answer.status_code in (400, 403, 404, 422)
                    assert refused or answer.json().get("consent_needed"), (form, answer.request.url, answer.text)
                    assert INNER not in answer.text
        assert stub.requests == []
    assert engine.consents.all() == ()


@pytest.mark.parametrize("url", METADATA)
async def test_what_serves_the_network_itself_is_refused_even_where_it_was_named(engine: Engine, url: str) -> None:
    async with (
        rest_service(engine, allowed=[url]) as (address, _),
        httpx.AsyncClient(base_url=address, headers=BEARER) as client,
    ):
        model = {"provider": "openai", "model": "x", "base_url": url}
        answer = await client.post("/batches", json={"test_case_ids": ["x"], "models": [model]})
        assert (answer.status_code, answer.json()["error"]) == (403, "address_not_allowed")


async def test_an_origin_that_the_service_was_started_with_is_contacted_and_its_words_are_not_told(
    engine: Engine,
) -> None:
    with ModelStub(lambda _: Reply(status=500, body=f'{{"error": {{"message": "{INNER}"}}}}')) as stub:
        async with (
            rest_service(engine, allowed=[stub.url]) as (address, _),
            httpx.AsyncClient(base_url=address, headers=BEARER) as client,
        ):
            made = await client.post("/mcp-servers", json={"name": "inner", "url": stub.url})
            assert made.status_code == 201
            assert made.json()["consent_needed"] is False
            assert INNER not in made.text
    assert engine.consents.all() == ()  # for as long as it runs


async def test_an_address_that_was_allowed_at_the_machine_is_not_contacted_for_a_caller(engine: Engine) -> None:
    with ModelStub(lambda _: Reply(status=500, body="{}")) as stub:
        own = await engine.servers.add(ServerSpec(name="own", transport=Transport.SSE, url=f"{stub.url}/own"))
        await engine.consents.allow_server(own.spec)
        async with rest_service(engine) as (address, _), httpx.AsyncClient(base_url=address, headers=BEARER) as client:
            made = (await client.post("/mcp-servers", json={"name": "theirs", "url": f"{stub.url}/theirs"})).json()
            assert made["consent_needed"] is True
            moved = (await client.request("PATCH", f"/mcp-servers/{own.id}", json={"url": f"{stub.url}/moved"})).json()
            assert moved["consent_needed"] is True
            for id_ in (made["id"], moved["id"]):
                assert (await client.post(f"/mcp-servers/{id_}/analyze-tool-quality")).status_code == 403
        assert stub.requests == []
        theirs = await engine.servers.find("theirs")
        kept = engine.consents.all()
        await engine.consents.allow_server(theirs.spec)  # by a person who saw who named it: for this session
        assert not engine.consents.needed(theirs.spec)
        assert engine.consents.all() == kept


async def test_why_a_server_fails_is_told_without_its_own_words(engine: Engine) -> None:
    server = await engine.servers.add(ServerSpec(name="s", transport=Transport.SSE, url="http://127.0.0.1:9/sse"))
    failed = replace(server, reason=f"s refused the request: {INNER}.")
    assert server_answer(failed, consent_needed=False).reason == "s refused the request."
    assert server_answer(server, consent_needed=False).reason is None
