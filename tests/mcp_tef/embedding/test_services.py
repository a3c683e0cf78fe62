"""Embedding models elsewhere: at a provider, or at an address of one's own. Keys are planted and never found again."""

import itertools
import json
import math
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from mcp_tef.embedding.embedder_registry import EmbedderRegistry
from mcp_tef.embedding.remote_embedders import HttpEmbedder
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.ports import Embedder
from tests.support import model_replies
from tests.support.model_replies import Received, Reply, openai_reply, refusal, vector
from tests.support.model_stub import ModelStub, Script

KEY = "sk-planted-4f9c2b7d8e1a"
TEXTS = [f"text {number}" for number in range(150)]


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[EmbedderRegistry]:
    found = EmbedderRegistry({}, tmp_path)
    yield found
    await found.close()


async def test_a_provider_gives_one_unit_vector_a_text_in_order(shelf: EmbedderRegistry) -> None:
    with ModelStub(model_replies.openai) as stub:
        found = await (await _provider(shelf, stub)).embed(TEXTS)
    assert found.dtype == np.float32
    assert np.allclose(found, _units(TEXTS), atol=1e-6)
    assert {request.path for request in stub.requests} == {"/v1/embeddings"}
    assert {request.key for request in stub.requests} == {KEY}
    assert {request.model for request in stub.requests} == {"text-embedding-3-small"}
    assert max(len(request.body["input"]) for request in stub.requests) <= 64


async def test_a_text_is_asked_for_once_and_never_again(shelf: EmbedderRegistry, tmp_path: Path) -> None:
    with ModelStub(model_replies.openai) as stub:
        first = await (await _provider(shelf, stub)).embed(TEXTS)
        asked = len(stub.requests)
        other = EmbedderRegistry({}, tmp_path)
        again = await (await _provider(other, stub)).embed(TEXTS[::-1])
        await other.close()
    assert len(stub.requests) == asked
    assert np.array_equal(first[::-1], again)


async def test_a_server_of_ones_own_needs_neither_a_key_nor_a_known_provider(shelf: EmbedderRegistry) -> None:
    with ModelStub(model_replies.openai) as stub:
        choice = EmbedderChoice(EmbedderKind.LITELLM, "llama.cpp/nomic", base_url=stub.url)
        assert len(await (await shelf.find(choice)).embed(["text"])) == 1
    assert stub.requests[0].model == "nomic"


@pytest.mark.parametrize("script", [model_replies.openai, model_replies.inference])
async def test_an_endpoint_is_asked_in_the_shape_that_it_takes(script: Script, shelf: EmbedderRegistry) -> None:
    with ModelStub(script) as stub:
        found = await (await _endpoint(shelf, stub)).embed(TEXTS)
    assert np.allclose(found, _units(TEXTS), atol=1e-6)
    assert {request.key for request in stub.requests} == {KEY}
    assert len(stub.requests) <= 2 + math.ceil(150 / 64) + 2


async def test_another_model_behind_the_same_address_is_noticed(shelf: EmbedderRegistry) -> None:
    with ModelStub(_upside_down_from(3)) as stub:
        before = await (await _endpoint(shelf, stub)).embed(["text"])
        after = await (await _endpoint(shelf, stub)).embed(["text"])
    assert not np.allclose(before, after)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (refusal(401, f"Incorrect API key provided: {KEY}"), "key was not accepted"),
        (refusal(403, f"no access with {KEY}"), "may not use this model"),
        (refusal(404, "no model of that name"), "no such model or address"),
        (refusal(429, f"slow down, {KEY}"), "refused more requests"),
        (refusal(500, f"traceback with Bearer {KEY}"), "HTTP 500"),
        (Reply(body="<!doctype html><title>Login</title>", content_type="text/html"), ""),
        (Reply(body='{"data": []}'), ""),
        (openai_reply([[1.0, 2.0], [1.0]]), "gave 2 vectors for 1 text"),
        (openai_reply([[0.0, 0.0]]), "all zeros"),
        (openai_reply([[1.0, float("nan")]]), "no finite number"),
        (Reply(drop=True), ""),
    ],
)
async def test_a_provider_that_fails_is_one_clear_sentence_without_the_key(
    reply: Reply, reason: str, shelf: EmbedderRegistry
) -> None:
    with ModelStub(lambda _request: reply) as stub:
        error = await _fails(await _provider(shelf, stub))
    assert reason in error.message
    _is_clear(error, "litellm:openai/text-embedding-3-small")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (refusal(401, KEY), "it answered with HTTP 401"),
        (refusal(404, KEY), "it answered with HTTP 404"),
        (refusal(422, KEY), "it answered with HTTP 422"),
        (Reply(status=302, headers={"Location": "http://elsewhere.invalid/"}), "it answered with HTTP 302"),
        (Reply(body=" <!DOCTYPE html><html>"), "it answered with a web page"),
        (Reply(body="{"), "it answered with no JSON"),
        (Reply(body="[" * 100_000), "it answered with no JSON"),
        (Reply(body="{}"), "holds no list of vectors"),
        (Reply(body="[1, 2]"), "holds no list of vectors"),
        (Reply(body="[[1, 2], [3, 4]]"), "gave 2 vectors for 1 text"),
        (Reply(body="[[]]"), "vectors have 0 numbers"),
        (Reply(body='[["1", 2]]'), "no number"),
        (Reply(body="[[true, 2]]"), "no number"),
        (Reply(body="[[NaN, 2]]"), "no finite number"),
        (Reply(body="[[0, 0.0]]"), "all zeros"),
        (Reply(body=f"[[{'9' * 400}, 1]]"), "too large"),
        (Reply(body=json.dumps([[1.0] * 20_000])), "vectors have 20000 numbers"),
        (Reply(drop=True), "nothing answers there"),
        (Reply(hang=True), "did not answer within 0.5 seconds"),
    ],
)
async def test_an_endpoint_that_answers_oddly_is_one_clear_sentence_without_the_key(reply: Reply, reason: str) -> None:
    with ModelStub(lambda _request: reply) as stub:
        error = await _fails(HttpEmbedder(f"{stub.url}/embeddings?key={KEY}", Secret(KEY), timeout=0.5))
    assert reason in error.message
    _is_clear(error, "http:http://127.0.0.1:")


async def test_answers_whose_vectors_differ_in_length_are_refused() -> None:
    with ModelStub(_longer_each_time()) as stub:
        error = await _fails(HttpEmbedder(f"{stub.url}/embeddings"), TEXTS)
    assert "its vectors have 1 and 2" in error.message


async def test_vectors_as_large_as_numbers_go_are_brought_to_length_one() -> None:
    with ModelStub([Reply(body="[[1e300, -1e300], [3e-310, 4e-310]]")]) as stub:
        found = await HttpEmbedder(f"{stub.url}/embeddings").embed(["one", "two"])
    assert np.allclose(np.linalg.norm(found, axis=1), 1)


@pytest.mark.parametrize("address", ["localhost:1", "file:///etc/hosts", "ftp://here", ""])
async def test_what_is_no_web_address_is_refused(address: str) -> None:
    assert "no web address" in (await _fails(HttpEmbedder(address))).message


async def test_an_address_on_its_own_is_understood() -> None:
    with ModelStub(model_replies.inference) as stub:
        embedder = HttpEmbedder(stub.url.removeprefix("http:"))
        assert len(await embedder.embed(["text"])) == 1
        assert embedder.name == f"http:{stub.url}"


async def test_an_endpoint_that_is_not_there_is_an_error_when_it_is_looked_for(shelf: EmbedderRegistry) -> None:
    with ModelStub() as gone:
        pass
    with pytest.raises(EmbeddingError, match="nothing answers there"):
        await _endpoint(shelf, gone)


async def test_a_key_is_in_no_file(shelf: EmbedderRegistry, tmp_path: Path, home: Path) -> None:
    with ModelStub(model_replies.openai) as stub:
        await (await _provider(shelf, stub)).embed(TEXTS)
        await (await _endpoint(shelf, stub)).embed(TEXTS)
    with ModelStub(lambda _request: refusal(401, KEY)) as stub:
        await _fails(await _provider(shelf, stub), ["another"])
    files = [file for folder in (tmp_path, home) for file in folder.rglob("*") if file.is_file()]
    assert files
    assert [file for file in files if KEY.encode() in file.read_bytes() or KEY in file.name] == []


async def _provider(shelf: EmbedderRegistry, stub: ModelStub) -> Embedder:
    choice = EmbedderChoice(EmbedderKind.LITELLM, "openai/text-embedding-3-small", base_url=stub.url)
    return await shelf.find(choice, Secret(KEY))


async def _endpoint(shelf: EmbedderRegistry, stub: ModelStub) -> Embedder:
    return await shelf.find(EmbedderChoice(EmbedderKind.HTTP, f"{stub.url}/embeddings"), Secret(KEY))


async def _fails(embedder: Embedder, texts: list[str] | None = None) -> EmbeddingError:
    with pytest.raises(EmbeddingError) as raised:
        await embedder.embed(texts or ["text"])
    return raised.value


def _is_clear(error: EmbeddingError, name: str) -> None:
    assert error.message.startswith(f"The embedding model {name}")
    assert error.message.endswith(".")
    assert error.hint
    assert "Traceback" not in error.message
    assert KEY not in f"{error!r} {error.message} {error.hint} {error.context} {error.__context__!r}"


def _units(texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    rows = np.asarray([vector(text) for text in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _upside_down_from(number: int) -> Script:
    """Another model answers from the request of that number on."""
    counted = itertools.count(1)

    def script(request: Received) -> Reply:
        turned = next(counted) >= number
        return openai_reply([vector(text)[:: -1 if turned else 1] for text in request.body["input"]])

    return script


def _longer_each_time() -> Script:
    widths = iter(range(1, 100))

    def script(request: Received) -> Reply:
        width = next(widths)
        return Reply(body=json.dumps([[1.0] * width for _ in request.body["input"]]))

    return script
