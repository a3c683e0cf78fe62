"""Embedder for the providers of litellm, which is loaded on the first call."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcp_tef.embedding.vector_validation import HINT, joined, refused, rows_of, unit_rows
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.addresses import allowed_origins
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.secrets import Secret, without_keys
from mcp_tef.model.variables import size_words
from mcp_tef.provider_http.exchange import Exchange, FailedCall, ModelCall, error_text
from mcp_tef.provider_http.litellm_loader import new_client

if TYPE_CHECKING:
    from mcp_tef.provider_http.litellm_client import LitellmClient

BATCH_SIZE = 64
AT_ONCE = 4
LONGEST_DETAIL = 300
TIMEOUT_SECONDS = 60.0

_OWN_SERVERS = frozenset({"llama.cpp", "llamacpp", "llamafile", "lm_studio", "lmstudio", "local", "vllm"})

_REASONS = {
    401: ("its key was not accepted", "Give the provider's key, or a valid one."),
    403: ("its key may not use this model", "Give a key that may, or choose another model."),
    404: ("there is no such model or address", "Check the model's name and the base url."),
    429: ("it refused more requests for now", "Wait a little, then try again: what was embedded is remembered."),
}


class LitellmConnection:
    """The one client of litellm that all embedders share, made when it is first needed."""

    def __init__(self) -> None:
        self._client: LitellmClient | None = None
        self._loading = asyncio.Lock()

    async def client(self) -> "LitellmClient":
        """Return the client, loading litellm first where that is still to be done."""
        async with self._loading:
            if self._client is None:
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
            hint = "Give it with --base-url, or in the environment variable of the provider."
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
    if exchange.refused_origin:
        return f"the call would have gone on to {exchange.refused_origin}"
    if exchange.too_large:
        return f"its answer is larger than {size_words(exchange.most_bytes)}"
    return error_text(failure.error)


def _clean(detail: str, key: Secret | None) -> str:
    """Return one short line of the provider's text, without the key and without whatever looks like one."""
    line = " ".join(without_keys(detail, [key] if key else ()).split())
    return line[:LONGEST_DETAIL].rstrip(" .")
