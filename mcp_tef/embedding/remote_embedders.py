"""Embedders over HTTP: the providers of litellm, and endpoints with the API of OpenAI or text-embeddings-inference."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import EmbeddingError
from mcp_tef.model.addresses import allowed_origins, origin_of
from mcp_tef.model.installation import how_to_install, missing_library
from mcp_tef.model.json import loads_bounded
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.secrets import Secret, without_keys
from mcp_tef.model.variables import size_words
from mcp_tef.provider_http.checked_client import checked_client
from mcp_tef.provider_http.exchange import Exchange, FailedCall, ModelCall, error_text, under_way
from mcp_tef.provider_http.guard import UnreadableAnswerError, accept, admit, is_error, read_body
from mcp_tef.provider_http.litellm_loader import new_client
from mcp_tef.scoring.phrases import counted
from mcp_tef.trust.addresses import UnexpectedAddressError

if TYPE_CHECKING:
    from mcp_tef.provider_http.litellm_client import LitellmClient


MOST_DIMENSIONS = 16_384
HINT = "Check that the address and the model are those of an embedding service."


def rows_of(answer: Any) -> Any:
    """Return the vectors in an answer: OpenAI's `data`, `embeddings`, or text-embeddings-inference's bare list."""
    if not isinstance(answer, Mapping):
        return answer
    data = answer.get("data")
    if isinstance(data, list) and all(isinstance(one, Mapping) for one in data):
        return [one.get("embedding") for one in sorted(data, key=_place)]
    return answer.get("embeddings")


def _place(row: Mapping[str, Any]) -> int:
    place = row.get("index")
    return place if isinstance(place, int) else 0


def unit_rows(name: str, rows: Any, count: int) -> NDArray[np.float32]:
    """Return the vectors at length 1, shape (count, dimensions); EmbeddingError that says what is wrong with them."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise refused(name, "its answer holds no list of vectors")
    if len(rows) != count:
        raise refused(name, f"it gave {counted(len(rows), 'vector', 'vectors')} for {counted(count, 'text', 'texts')}")
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not 0 < max(widths) <= MOST_DIMENSIONS:
        raise refused(name, f"its vectors have {_lengths(widths)} numbers")
    return _at_length_one(name, _numbers(name, rows))


def joined(name: str, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the vectors of several answers below one another; EmbeddingError where their lengths differ."""
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise refused(name, f"its vectors have {_lengths(widths)} numbers")
    return np.vstack(parts) if parts else np.zeros((0, 0), dtype=np.float32)


def refused(name: str, reason: str, hint: str = HINT) -> EmbeddingError:
    """Return the error for an answer that cannot be used."""
    return EmbeddingError(f"The embedding model {name} cannot be used: {reason}.", hint=hint, context={"model": name})


def _lengths(widths: set[int]) -> str:
    return " and ".join(str(width) for width in sorted(widths)[:3])


def _numbers(name: str, rows: Sequence[Sequence[Any]]) -> NDArray[np.float64]:
    if not all(type(value) in (int, float) for row in rows for value in row):
        raise refused(name, "its vectors hold something that is no number")
    try:
        found = np.asarray(rows, dtype=np.float64)
    except OverflowError:
        raise refused(name, "its vectors hold numbers that are too large") from None
    if not np.isfinite(found).all():
        raise refused(name, "its vectors hold something that is no finite number")
    return found


def _at_length_one(name: str, rows: NDArray[np.float64]) -> NDArray[np.float32]:
    scaled = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    if not lengths.all():
        raise refused(name, "one of its vectors is all zeros")
    return np.asarray(scaled / lengths, dtype=np.float32)


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
        async with checked_client(headers=self._headers(), timeout=self._timeout, limits=_ONE) as client:
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
        except UnexpectedAddressError as error:
            return error.message.rstrip(".")
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
            return loads_bounded(body)
        except (ValueError, RecursionError):
            kind = "a web page" if body.lstrip()[:15].lower().startswith((b"<!doctype", b"<html")) else "no JSON"
        raise refused(self.name, f"it answered with {kind}", _HINTS[404])


AT_ONCE = 4
LONGEST_DETAIL = 300

_OWN_SERVERS = frozenset({"llama.cpp", "llamacpp", "llamafile", "lm_studio", "lmstudio", "local", "vllm"})

_REASONS = {
    401: ("its key was not accepted", "Give the provider's key, or a valid one."),
    403: ("its key may not use this model", "Give a key that may, or select another model."),
    404: ("there is no such model or address", "Check the model's name and the base url."),
    429: ("it refused more requests for now", "Wait a little, then try again: what was embedded is remembered."),
}


class LitellmConnection:
    """The one client of litellm that all embedders share, made when it is first needed."""

    def __init__(self) -> None:
        self._client: LitellmClient | None = None
        self._loading = asyncio.Lock()

    async def client(self) -> "LitellmClient":
        """Return the client, loading litellm first where that is still to be done; EmbeddingError without litellm."""
        async with self._loading:
            if self._client is None:
                if library := missing_library("litellm", "openai"):
                    raise EmbeddingError(
                        f"This embedding model is asked through litellm, and {library} is not installed.",
                        hint=how_to_install(library),
                    )
                self._client = await new_client()
            return self._client

    async def close(self) -> None:
        """Give back connections and forget keys."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


class LitellmEmbedder:
    """A model as `PROVIDER/MODEL`, at a base url of one's own where there is one. The key is for these calls only."""

    def __init__(
        self,
        connection: LitellmConnection,
        model: str,
        *,
        base_url: str = "",
        key: Secret | None = None,
        limits: Limits = USUAL,
    ) -> None:
        self._connection = connection
        self._model = model
        self._base_url = base_url
        self._key = key
        self._limits = limits

    @property
    def name(self) -> str:
        """`litellm:PROVIDER/MODEL`."""
        return f"litellm:{self._model}"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (len(texts), dimensions), asked for 64 at a time; raises EmbeddingError."""
        self._require_address()
        room = asyncio.Semaphore(AT_ONCE)
        parts = [texts[at : at + BATCH_SIZE] for at in range(0, len(texts), BATCH_SIZE)]
        found = await asyncio.gather(*(self._part(part, room) for part in parts), return_exceptions=True)
        for one in found:
            if isinstance(one, BaseException):
                raise one
        return joined(self.name, [one for one in found if not isinstance(one, BaseException)])

    async def _part(self, texts: Sequence[str], room: asyncio.Semaphore) -> NDArray[np.float32]:
        async with room:
            client = await self._connection.client()
            exchange = Exchange(origins=self._origins(), most_bytes=self._limits.model_answer_bytes)
            provider, model = litellm_name(self._model, self._base_url, client.providers)
            call = ModelCall(provider, model, self._base_url or None, self._key, TIMEOUT_SECONDS)
            # Some providers refuse an empty text.
            answer = await client.embed(call, exchange, [text or " " for text in texts])
        if isinstance(answer, FailedCall):
            raise self._failed(answer, exchange)
        return unit_rows(self.name, rows_of({"data": answer}), len(texts))

    def _origins(self) -> frozenset[str]:
        """Return the origins that a call may reach."""
        return allowed_origins(self._model.partition("/")[0], self._base_url)

    def _require_address(self) -> None:
        """Raise EmbeddingError if it is not known where to send texts and key."""
        if "://" in self._model:
            raise refused(self.name, "its name holds an address", "Give the address by itself, and the model's name.")
        if not self._origins():
            hint = "Give its base URL, or set the environment variable of the provider."
            raise refused(self.name, "the address of its provider is not known", hint)

    def _failed(self, failure: FailedCall, exchange: Exchange) -> EmbeddingError:
        reason, hint = _REASONS.get(failure.status or 0, ("", HINT))
        said = _clean(_detail(failure, exchange), self._key)
        reason = reason or (f"it answered with HTTP {failure.status}" if failure.status else "it gave no answer")
        error = refused(self.name, f"{reason} ({said})" if said else reason, hint)
        error.context["status"] = failure.status
        return error


def litellm_name(label: str, base_url: str, known: frozenset[str]) -> tuple[str, str]:
    """Return provider and model as litellm knows them; a name of its own with an address is OpenAI-compatible."""
    provider, _, model = label.partition("/")
    foreign = provider not in known or provider in _OWN_SERVERS
    return ("openai", model or provider) if base_url and foreign else (provider, model)


def _detail(failure: FailedCall, exchange: Exchange) -> str:
    if failure.timed_out:
        return f"it did not answer within {TIMEOUT_SECONDS:g} seconds"
    if exchange.refusal:
        return exchange.refusal.message.rstrip(".")
    if exchange.refused_origin:
        return f"the call would have gone on to {exchange.refused_origin}"
    if exchange.too_large:
        return f"its answer is larger than {size_words(exchange.most_bytes)}"
    return error_text(failure.error)


def _clean(detail: str, key: Secret | None) -> str:
    """Return one short line of the provider's text, without the key and without whatever looks like one."""
    line = " ".join(without_keys(detail, [key] if key else ()).split())
    return line[:LONGEST_DETAIL].rstrip(" .")
