"""Lazy loading of litellm, in a thread because it takes seconds, with its side effects switched off."""

import asyncio
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_tef.provider_http.litellm_client import LitellmClient

# litellm would fetch tables of prices and of Anthropic's headers from GitHub, and read a file `.env` of the current
# folder.
_SETTINGS = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}


async def new_client() -> "LitellmClient":
    """Return a client of its own, loading litellm first where that is still to be done."""
    return await asyncio.to_thread(_new_client)


async def load_chat(*, tools: bool = False) -> None:
    """Load what litellm loads at the first completion, or at the first with tools: about a second's work each."""
    await asyncio.to_thread(_load_chat, tools)


def _new_client() -> "LitellmClient":
    client: LitellmClient = _load().LitellmClient()
    return client


@cache
def _load_chat(tools: bool) -> None:
    with _quietly():
        _load().rehearse_chat(tools=tools)


@cache
def _load() -> ModuleType:
    os.environ.update(_SETTINGS)
    with _quietly():
        from mcp_tef.provider_http import litellm_client
    return litellm_client


@contextmanager
def _quietly() -> Iterator[None]:
    """Ignore the warnings that libraries print while they are loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
