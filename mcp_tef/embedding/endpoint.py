"""Embedder for an HTTP endpoint with the API of OpenAI or of text-embeddings-inference."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from numpy.typing import NDArray

from mcp_tef.embedding.vector_validation import HINT, joined, refused, rows_of, unit_rows
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.secrets import Secret
from mcp_tef.model.variables import size_words
from mcp_tef.provider_http.exchange import Exchange, under_way
from mcp_tef.provider_http.guard import UnreadableAnswerError, accept, admit, is_error, read_body

BATCH_SIZE = 64
TIMEOUT_SECONDS = 60.0
_WRONG_SHAPE = frozenset({400, 415, 422})
_SHAPES = ("input", "inputs")
_NESTED_ITERATIONS = 8
_ONE = httpx.Limits(max_connections=1)
_HINTS = {
    401: "Give the key that the endpoint asks for.",
    403: "Give a key that may use this endpoint.",
    404: "Give the whole address, such as http://localhost:8080/v1/embeddings.",
    429: "Wait a little, then try again: what was embedded already is remembered.",
}


class HttpEmbedder:
    """Posts texts to an address, 64 at a time. Redirects are not followed, so that a key goes nowhere else."""

    def __init__(
        self,
        address: str,
        key: Secret | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        limits: Limits = USUAL,
    ) -> None:
        self._address = f"http:{address}" if address.startswith("//") else address
        self._key = key
        self._timeout = timeout
        self._limits = limits
        self._shape = ""

    @property
    def name(self) -> str:
        """`http:ADDRESS`, without anything in it that may be secret."""
        parts = urlsplit(self._address)
        return f"http:{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimensions); raises EmbeddingError."""
        if urlsplit(self._address).scheme not in ("http", "https"):
            raise refused(self.name, "it is no web address", "Start it with http:// or https://.")
        async with httpx.AsyncClient(headers=self._headers(), timeout=self._timeout, limits=_ONE) as client:
            parts = [await self._part(client, texts[at : at + BATCH_SIZE]) for at in range(0, len(texts), BATCH_SIZE)]
        return joined(self.name, parts)

    async def _part(self, client: httpx.AsyncClient, texts: Sequence[str]) -> NDArray[np.float32]:
        return unit_rows(self.name, rows_of(await self._ask(client, texts)), len(texts))

    def _headers(self) -> dict[str, str]:
        plain = {"Accept": "application/json"}
        return plain | ({"Authorization": f"Bearer {self._key.reveal()}"} if self._key else {})

    async def _ask(self, client: httpx.AsyncClient, texts: Sequence[str]) -> Any:
        """Return the answer as JSON, in the first shape of request that the endpoint takes."""
        status, body = 0, b""
        for shape in [self._shape] if self._shape else _SHAPES:
            status, body = await self._post(client, {shape: list(texts)})
            if status not in _WRONG_SHAPE:
                self._shape = shape
                break
        if status != 200:
            raise refused(self.name, f"it answered with HTTP {status}", _HINTS.get(status, HINT))
        return self._read(body)

    async def _post(self, client: httpx.AsyncClient, question: Mapping[str, Any]) -> tuple[int, bytes]:
        outcome = await self._exchange(client, question)
        if isinstance(outcome, str):
            raise refused(self.name, outcome)
        return outcome

    async def _exchange(self, client: httpx.AsyncClient, question: Mapping[str, Any]) -> tuple[int, bytes] | str:
        """Status and body, or why there is none; the exceptions of httpx hold the key, so none leaves this frame."""
        exchange = Exchange(origins=frozenset({origin_of(self._address)}), most_bytes=self._limits.model_answer_bytes)
        try:
            async with asyncio.timeout(self._timeout):
                with under_way(exchange):
                    return await self._answer(client, client.build_request("POST", self._address, json=question))
        except (TimeoutError, httpx.TimeoutException):
            return f"it did not answer within {self._timeout:g} seconds"
        except UnreadableAnswerError as error:
            # httpx closes its nested iterations one after the other, each in a turn of the loop.
            for _ in range(_NESTED_ITERATIONS):
                await asyncio.sleep(0)
            too_large = f"its answer is larger than {size_words(exchange.most_bytes)}"
            return too_large if exchange.too_large else str(error)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
            return "nothing answers there"

    async def _answer(self, client: httpx.AsyncClient, request: httpx.Request) -> tuple[int, bytes]:
        exchange = admit(request)
        answer = await client.send(request, stream=True)
        try:
            decoder = accept(answer, exchange)
            return answer.status_code, await read_body(answer.aiter_raw(), decoder, exchange, is_error=is_error(answer))
        finally:
            await answer.aclose()

    def _read(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            kind = "a web page" if body.lstrip()[:15].lower().startswith((b"<!doctype", b"<html")) else "no JSON"
        raise refused(self.name, f"it answered with {kind}", _HINTS[404])
