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
    from mcp_tef.llm.litellm_backend import Backend

_SETTINGS = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}


async def new_backend() -> "Backend":
    """A fresh backend, loading litellm first where that is still to be done."""
    return await asyncio.to_thread(_new_backend)


async def load_tool_calling() -> None:
    """Load what litellm loads when it is first given tools, a second's work; after `new_backend`."""
    await asyncio.to_thread(_load_tool_calling)


@cache
def _load_tool_calling() -> None:
    with _quietly():
        _load().prepare_tools()


def _new_backend() -> "Backend":
    module = _load()
    backend: Backend = module.Backend()
    return backend


@cache
def _load() -> ModuleType:
    os.environ.update(_SETTINGS)
    with _quietly():
        from mcp_tef.llm import litellm_backend

        litellm_backend.prepare()
    return litellm_backend


@contextmanager
def _quietly() -> Iterator[None]:
    """Ignore the warnings that libraries print while they are loaded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
