"""Answers of any size: read up to a bound, the rest dropped, said in one sentence, and little of it kept."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from mcp_tef.embedding.remote_embedders import HttpEmbedder, LitellmConnection, LitellmEmbedder
from mcp_tef.errors import EmbeddingError, ModelError, ModelFault
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.llm.redacted_recording import MOST_RECORDED_BYTES
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.limits import Limits
from mcp_tef.model.secrets import Secret
from mcp_tef.provider_http.exchange import ROOM, AnswerRoom
from tests.support.hostile_http_servers import MB, FloodingServer
from tests.support.model_questions import KEY, question
from tests.support.model_replies import completion, tool_calls
from tests.support.model_stub import ModelStub

FLOODS = ("text", "gzip", "deflate", "endless", "endless-gzip")
IN_FLIGHT = 12 * MB
"""The most that two sockets and the client's own buffers hold beside what was read."""


@pytest.fixture(params=["", "litellm"], ids=["direct", "litellm"])
async def selector(request: pytest.FixtureRequest) -> AsyncIterator[LitellmSelector]:
    selector = LitellmSelector(LitellmCatalogue(), through=lambda: str(request.param))
    yield selector
    await selector.close()


@pytest.mark.parametrize("kind", FLOODS)
async def test_a_flood_is_cut_at_16_mb_and_the_connection_closed(selector: LitellmSelector, kind: str) -> None:
    with FloodingServer(kind) as server, pytest.raises(ModelError) as raised:
        await selector.select(question(server.url))
    assert raised.value.fault is ModelFault.ANSWER_TOO_LARGE
    assert raised.value.message == "The answer of openai/gpt-test is larger than 16 MB; the rest was not read."
    assert not raised.value.retryable
    assert await asyncio.to_thread(server.hung_up.wait, 10)
    assert server.sent[0] <= 16 * MB + IN_FLIGHT
    assert ROOM.held == 0


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("azure", "gpt"),
        ("anthropic", "claude-3-haiku"),
        ("gemini", "gemini-pro"),
        ("ollama", "m"),
        ("cohere_chat", "c"),
    ],
)
async def test_the_bound_holds_for_clients_that_litellm_makes_itself(
    selector: LitellmSelector, provider: str, model: str
) -> None:
    with FloodingServer("text") as server, pytest.raises(ModelError) as raised:
        await selector.select(question(server.origin, provider=provider, model=model))
    assert raised.value.fault is ModelFault.ANSWER_TOO_LARGE
    assert await asyncio.to_thread(server.hung_up.wait, 10)


async def test_the_bound_can_be_changed_at_any_time() -> None:
    current = CurrentConfig(Config())
    selector = LitellmSelector(LitellmCatalogue(), {}, current)
    current.config = Config(limits=Limits(model_answer_bytes=1024))
    with ModelStub([completion({"content": "x" * 2000})]) as stub, pytest.raises(ModelError) as raised:
        await selector.select(question(stub.url))
    await selector.close()
    assert "larger than 1 KB" in raised.value.message


async def test_the_body_of_an_error_is_cut_and_its_status_still_told(selector: LitellmSelector) -> None:
    with FloodingServer("error") as server, pytest.raises(ModelError) as raised:
        await selector.select(question(server.url))
    assert raised.value.fault is ModelFault.PROVIDER
    assert "answered with an error (500)" in raised.value.message
    assert await asyncio.to_thread(server.hung_up.wait, 10)
    assert server.sent[0] <= IN_FLIGHT


@pytest.mark.parametrize("kind", ["brotli", "false-length"])
async def test_an_answer_in_another_encoding_or_length_is_an_error(selector: LitellmSelector, kind: str) -> None:
    with FloodingServer(kind, size=10_000) as server, pytest.raises(ModelError) as raised:
        await selector.select(question(server.url))
    assert raised.value.fault in (ModelFault.NOT_AN_API, ModelFault.PROVIDER)


@pytest.mark.parametrize("kind", ["gzip", "deflate"])
async def test_an_honest_compressed_answer_is_read(selector: LitellmSelector, kind: str) -> None:
    with FloodingServer(kind, size=300_000) as server:
        answer = await selector.select(question(server.url))
    assert answer.words.startswith("xxx")
    assert (answer.tokens_in, answer.tokens_out) == (3, 4)


async def test_of_a_large_answer_the_beginning_is_kept_with_the_length_of_the_whole(selector: LitellmSelector) -> None:
    hard = KEY * 60_000 + '"\\\u0000€😀' * 200_000
    reply = completion({"content": hard, "tool_calls": json.loads(tool_calls(("find_order", {"order": 7})).body)[
        "choices"][0]["message"]["tool_calls"]})  # fmt: skip
    with ModelStub([reply]) as stub:
        answer = await selector.select(question(stub.url))
    kept = answer.raw_response
    assert kept["truncated"] is True
    assert kept["length"] == len(reply.body.encode())
    assert 300_000 < len(json.dumps(kept, ensure_ascii=False).encode()) <= MOST_RECORDED_BYTES
    assert kept["beginning"][:20] == reply.body[:20]
    assert KEY[:8] not in kept["beginning"][-40:] + kept["beginning"]
    assert answer.calls is not None
    assert [call.tool for call in answer.calls] == ["find_order"]


async def test_calls_that_are_too_large_to_keep_are_an_error(selector: LitellmSelector) -> None:
    reply = tool_calls(("find_order", {"order": "x" * 2_000_000}))
    with ModelStub([reply]) as stub, pytest.raises(ModelError) as raised:
        await selector.select(question(stub.url))
    assert raised.value.message == "The tool calls of openai/gpt-test are larger than 1 MB, so they were not judged."


@pytest.mark.parametrize("kind", FLOODS)
async def test_the_same_bound_holds_for_embedding_endpoints(kind: str) -> None:
    with FloodingServer(kind) as server, pytest.raises(EmbeddingError) as raised:
        await HttpEmbedder(server.url, Secret(KEY)).embed(["x"])
    assert "its answer is larger than 16 MB" in raised.value.message
    assert await asyncio.to_thread(server.hung_up.wait, 10)
    assert server.sent[0] <= 16 * MB + IN_FLIGHT


@pytest.mark.parametrize("provider", ["openai", "azure", "gemini", "ollama", "cohere"])
async def test_the_same_bound_holds_for_providers_of_embeddings(provider: str) -> None:
    connection = LitellmConnection()
    with FloodingServer("gzip") as server:
        embedder = LitellmEmbedder(connection, f"{provider}/m", base_url=server.origin, key=Secret(KEY))
        with pytest.raises(EmbeddingError) as raised:
            await embedder.embed(["x"])
        assert len(server.sent) == 1
    await connection.close()
    assert "its answer is larger than 16 MB" in raised.value.message


async def test_answers_that_are_read_together_hold_two_times_the_bound_and_all_end() -> None:
    room, largest, most_held = AnswerRoom(), 10 * MB, 0

    async def read(reader: int) -> None:
        nonlocal most_held
        for _ in range(10):
            await room.take(reader, MB, largest)
            most_held = max(most_held, room.held)
            await asyncio.sleep(0)
        room.give_back(reader)

    await asyncio.wait_for(asyncio.gather(*(read(reader) for reader in range(30))), 5)
    assert 10 * MB <= most_held <= 20 * MB
    assert room.held == 0


async def test_an_ordinary_answer_waits_for_no_large_one() -> None:
    room = AnswerRoom()
    await room.take("large", 10 * MB, 10 * MB)
    await room.take("larger", 64 * 1024, 10 * MB)
    waiting = asyncio.create_task(room.take("larger", MB, 10 * MB))
    await asyncio.wait_for(room.take("ordinary", 50_000, 10 * MB), 1)
    assert not waiting.done()
    room.give_back("large")
    await asyncio.wait_for(waiting, 1)


async def test_many_floods_at_once_all_end(selector: LitellmSelector) -> None:
    with FloodingServer("text", size=20 * MB) as server:
        outcomes = await asyncio.gather(
            *(selector.select(question(server.url)) for _ in range(8)), return_exceptions=True
        )
    assert {type(outcome) for outcome in outcomes} == {ModelError}
    assert ROOM.held == 0
