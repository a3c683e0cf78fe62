"""Embedder for the providers of litellm, which is loaded on the first call."""

import asyncio
import os
import warnings
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mcp_tef.embedding.vector_validation import HINT, joined, refused, unit_rows
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.addresses import allowed_origins
from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.secrets import Secret, without_keys
from mcp_tef.provider_http.exchange import Exchange

if TYPE_CHECKING:
    from mcp_tef.embedding.litellm_calls import Calls, Failure

BATCH_SIZE = 64
AT_ONCE = 4
LONGEST_DETAIL = 300

_SETTINGS = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_REASONS = {
    401: ("its key was not accepted", "Give the provider's key, or a valid one."),
    403: ("its key may not use this model", "Give a key that may, or choose another model."),
    404: ("there is no such model or address", "Check the model's name and the base url."),
    429: ("it refused more requests for now", "Wait a little, then try again: what was embedded is remembered."),
}


class Providers:
    """The one way to litellm, shared by all embedders that go there."""

    def __init__(self) -> None:
        self._calls: Calls | None = None
        self._loading = asyncio.Lock()

    async def calls(self) -> "Calls":
        """litellm, loaded first where that is still to be done."""
        async with self._loading:
            if self._calls is None:
                self._calls = await asyncio.to_thread(_new_calls)
            return self._calls

    async def close(self) -> None:
        """Give back connections and forget keys."""
        if self._calls is not None:
            await self._calls.close()
            self._calls = None


class LitellmEmbedder:
    """A model as `PROVIDER/MODEL`, at a base url of one's own where there is one. The key is for these calls only."""

    def __init__(
        self,
        providers: Providers,
        model: str,
        *,
        base_url: str = "",
        key: Secret | None = None,
        limits: Limits = USUAL,
    ) -> None:
        self._providers = providers
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
            calls = await self._providers.calls()
            exchange = Exchange(origins=self._origins(), most_bytes=self._limits.model_answer_bytes)
            given = [text or " " for text in texts]
            answer = await calls.embed(self._model, given, self._base_url, self._key, exchange)
        if isinstance(answer, list):
            return unit_rows(self.name, answer, len(texts))
        raise self._failed(answer)

    def _origins(self) -> frozenset[str]:
        """The origins that a call may reach."""
        return allowed_origins(self._model.partition("/")[0], self._base_url)

    def _require_address(self) -> None:
        """Raise EmbeddingError if it is not known where to send texts and key."""
        if "://" in self._model:
            raise refused(self.name, "its name holds an address", "Give the address by itself, and the model's name.")
        if not self._origins():
            hint = "Give it with --base-url, or in the environment variable of the provider."
            raise refused(self.name, "the address of its provider is not known", hint)

    def _failed(self, failure: "Failure") -> EmbeddingError:
        reason, hint = _REASONS.get(failure.status or 0, ("", HINT))
        said = _clean(failure.detail, self._key)
        reason = reason or (f"it answered with HTTP {failure.status}" if failure.status else "it gave no answer")
        error = refused(self.name, f"{reason} ({said})" if said else reason, hint)
        error.context["status"] = failure.status
        return error


def _clean(detail: str, key: Secret | None) -> str:
    """One short line of the provider's words, without the key and without whatever looks like one."""
    line = " ".join(without_keys(detail, [key] if key else ()).split())
    return line[:LONGEST_DETAIL].rstrip(" .")


def _new_calls() -> "Calls":
    calls: Calls = _load().Calls()
    return calls


@cache
def _load() -> ModuleType:
    os.environ.update(_SETTINGS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mcp_tef.embedding import litellm_calls
    return litellm_calls
