"""Runs and batches over REST: keys that leave no trace, consent at the machine, progress by events, cancel, compare."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from mcp_tef import CaseDraft, Engine, RestOptions, ServerSpec, Transport, expectation_from_json
from tests.support.command_line import command
from tests.support.model_stub import ModelStub
from tests.support.rest_service import BEARER, curl, rest_service
from tests.support.workspace_files import TOOLS

KEY = "sk-planted-0123456789abcdef"
NEXT_KEY = "sk-another-fedcba9876543210"


async def add_cases(engine: Engine, folder: Path, number: int) -> list[str]:
    """Some cases that a tools file answers; their ids."""
    tools = folder / "tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}), "utf-8")
    await engine.servers.add(ServerSpec(name="city", transport=Transport.FILE, path=str(tools)))
    expected = expectation_from_json([{"tool": "weather_report"}])
    drafts = [
        CaseDraft(name=f"case {one}", query="Will it rain?", expectation=expected, servers=("city",))
        for one in range(number)
    ]
    return [case.id for case in await engine.cases.add(drafts)]


def asked_at(stub: ModelStub) -> dict[str, Any]:
    """The fields of a model that stands at the stub."""
    return {"provider": "openai", "model": "stand-in", "base_url": stub.url, "max_retries": 0}


async def test_a_key_lives_for_its_run_and_is_in_no_file_log_or_answer(
    engine: Engine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (case,) = await add_cases(engine, tmp_path, 1)
    texts = []
    with ModelStub() as stub:
        body = {"model_settings": asked_at(stub)}
        async with (
            rest_service(engine, allowed=[stub.url]) as (address, told),
            httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
        ):
            for key in (KEY, NEXT_KEY, None):
                headers = {"x-model-api-key": key} if key else {}
                texts.append((await client.post(f"/test-cases/{case}/run", json=body, headers=headers)).text)
            wrong = {"model_settings": {"provider": KEY, "model": "m", "timeout": KEY}}
            texts.append(
                (await client.post(f"/test-cases/{case}/run", json=wrong, headers={"x-model-api-key": KEY})).text
            )
            run = json.loads(texts[0])["id"]
            read = ("/test-runs", f"/test-runs/{run}", f"/test-runs/{run}/detail", "/batches")
            texts += [(await client.get(path)).text for path in read]
        sent = [request.headers.get("authorization", "") for request in stub.requests]
    assert [one.removeprefix("Bearer ") for one in sent[:2]] == [KEY, NEXT_KEY]
    assert not any(key in one for one in sent[2:] for key in (KEY, NEXT_KEY))
    assert json.loads(texts[0])["status"] == "completed"
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    logged = [
        record.getMessage() + str(record.exc_info) for record in caplog.records if record.name != "httpcore.http11"
    ]
    everything = "\n".join((*texts[:3], *texts[4:], *told, *logged)).encode() + b"\n".join(files)
    assert KEY.encode() not in everything
    assert NEXT_KEY.encode() not in everything
    assert KEY not in json.loads(texts[3])["message"]


async def test_keys_of_the_environment_are_not_used(tmp_path: Path) -> None:
    async with await Engine.open(tmp_path / "own.db", environment={"OPENAI_API_KEY": KEY}) as engine:
        (case,) = await add_cases(engine, tmp_path, 1)
        with ModelStub() as stub:
            async with (
                rest_service(engine, allowed=[stub.url]) as (address, _),
                httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
            ):
                cloud = {"model_settings": {"provider": "openai", "model": "gpt-4"}}
                refused = await client.post(f"/test-cases/{case}/run", json=cloud)
                assert (refused.status_code, refused.json()["error"]) == (401, "key_missing")
                machine = {"model_settings": {"provider": "bedrock", "model": "claude"}}
                assert (await client.post(f"/test-cases/{case}/run", json=machine)).status_code == 400
                foreign = {"model_settings": asked_at(stub)}
                await client.post(
                    f"/test-cases/{case}/run", json=foreign, headers={"x-model-api-key": "sk-of-a-caller"}
                )
                await client.post(f"/test-cases/{case}/run", json=foreign)
            assert not any(KEY in str(request.headers) for request in stub.requests)
            assert len(stub.requests) == 2


async def test_a_program_is_not_started_before_somebody_agreed_at_the_machine(engine: Engine, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    program = {"name": "clock", "transport": "stdio", "command": "touch", "args": [str(mark)]}
    async with (
        rest_service(engine) as (address, _),
        httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
    ):
        server = (await client.post("/mcp-servers", json=program)).json()
        assert (server["status"], server["consent_needed"]) == ("inactive", True)
        case = {"name": "time", "query": "What time is it?", "expected_mcp_server_name": "clock"}
        (added,) = [(await client.post("/test-cases", json=case | {"expected_tool_name": "now"})).json()["id"]]
        offline = {"provider": "offline", "model": "words"}
        for path, body in (
            (f"/test-cases/{added}/run", {"model_settings": offline}),
            ("/batches", {"models": [offline]}),
            (f"/mcp-servers/{server['id']}/analyze-tool-quality", {}),
        ):
            answer = await client.post(path, json=body)
            assert (answer.status_code, "touch" in answer.text) == (403, True)
            assert "mcp-tef servers check" in answer.json()["hint"]
            assert str(engine.workspace) not in answer.text
        changed = await client.request("PATCH", f"/mcp-servers/{server['id']}", json={"args": [str(mark), "more"]})
        assert changed.json()["consent_needed"]
        assert not mark.exists()
        await engine.consents.allow_server((await engine.servers.get(server["id"])).spec)
        answer = await client.post(f"/mcp-servers/{server['id']}/analyze-tool-quality", json={})
        assert answer.status_code == 502
    assert mark.exists()


async def test_secrets_are_refused_in_definitions(engine: Engine) -> None:
    async with (
        rest_service(engine) as (address, _),
        httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
    ):
        for fields in (
            {"url": f"https://shop.test/mcp?api_key={KEY}"},
            {"url": "https://user:password@shop.test/mcp"},
            {"transport": "stdio", "command": "shop", "env": {"SHOP_API_KEY": KEY}},
        ):
            answer = await client.post("/mcp-servers", json={"name": "shop", **fields})
            assert answer.status_code == 400
            assert KEY not in answer.text
        address_with_variable = {"url_list": ["https://evil.test/${OPENAI_API_KEY}"]}
        assert (await client.post("/similarity/matrix", json=address_with_variable)).status_code == 400
        folder = {"tool_list": [{"name": "a"}, {"name": "b"}], "embedding_model": "folder:/etc"}
        assert (await client.post("/similarity/matrix", json=folder)).status_code == 400


async def test_a_batch_tells_its_progress_is_cancelled_and_compared(engine: Engine, tmp_path: Path) -> None:
    ids = await add_cases(engine, tmp_path, 6)
    with ModelStub() as stub:
        body = {"test_case_ids": ids, "models": [asked_at(stub)], "name": "first", "concurrency": 2}
        async with (
            rest_service(engine, allowed=[stub.url]) as (address, _),
            httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
        ):
            first = (await client.post("/batches", json=body, headers={"x-model-api-key": KEY})).json()
            async with client.stream("GET", f"/batches/{first['id']}/events") as events:
                assert events.headers["content-type"].startswith("text/event-stream")
                lines = [line async for line in events.aiter_lines() if line]
            assert lines[-2] == "event: end"
            assert json.loads(lines[-1].removeprefix("data: "))["status"] == "completed"
            assert lines.count("event: run") == len(ids)
            again = await curl(f"curl -N {address}/batches/{first['id']}/events", {})
            assert again.text.startswith("event: end")
            stub.delay = 30
            second = (await client.post("/batches", json=body, headers={"x-model-api-key": KEY})).json()
            deleted = await client.delete(f"/test-cases/{ids[0]}")
            assert deleted.status_code == 409
            cancelled = await client.post(f"/batches/{second['id']}/cancel")
            assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
            assert (await client.post(f"/batches/{second['id']}/cancel")).status_code == 409
            compared = await client.get("/compare", params={"before": first["id"], "after": second["id"]})
            assert compared.json()["before"]["id"] == first["id"]
            listed = (await client.get("/batches", params={"limit": 1})).json()
            assert (listed["total"], listed["items"][0]["id"]) == (2, second["id"])
            runs = (await client.get("/test-runs", params={"batch_id": first["id"], "status": "completed"})).json()
            assert runs["total"] == len(ids)
            several = {**body, "models": [asked_at(stub), {"provider": "anthropic", "model": "m"}]}
            assert (await client.post("/batches", json=several, headers={"x-model-api-key": KEY})).status_code == 400


async def test_pages_of_cases_follow_every_change_also_that_of_another_program(engine: Engine, tmp_path: Path) -> None:
    ids = await add_cases(engine, tmp_path, 3)
    async with (
        rest_service(engine) as (address, _),
        httpx.AsyncClient(base_url=address, headers=BEARER, timeout=60) as client,
    ):

        async def names() -> list[str]:
            page = (await client.get("/test-cases", params={"limit": 2, "offset": 1})).json()
            assert page["total"] >= len(page["items"])
            return [item["name"] for item in page["items"]]

        assert await names() == ["case 1", "case 2"]
        await client.request("PATCH", f"/test-cases/{ids[1]}", json={"name": "changed here", "suites": ["Smoke"]})
        assert await names() == ["changed here", "case 2"]
        words = command("cases", "edit", ids[2], "--name", "changed there", "--workspace", engine.workspace)
        other = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.DEVNULL)
        assert await other.wait() == 0
        assert await names() == ["changed here", "changed there"]
        assert (await client.get("/test-cases", params={"suite": "Smoke"})).json()["total"] == 1


async def test_the_docs_page_names_every_operation_and_needs_no_script(engine: Engine) -> None:
    async with rest_service(engine, RestOptions(port=0)) as (address, _):
        page, document = await curl(f"curl {address}/docs", {}), await curl(f"curl {address}/openapi.json", {})
    for path, methods in document.json["paths"].items():
        assert all(f"{method.upper()} {path}" in page.text for method in methods)
    assert "<script" not in page.text
    assert "//" not in page.text.replace("http://json-schema.org", "").partition("</style>")[0]
