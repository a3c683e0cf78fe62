"""Pages on a loop that serves Qt, over an engine in memory that tests choose by the parameter `engine`."""

import inspect
from collections.abc import Awaitable, Callable

import pytest

from tests.support.fake_engine import FakeEngine


@pytest.fixture
def engine() -> Callable[[], FakeEngine | Awaitable[FakeEngine]]:
    """Return a function that makes the engine; it may be a coroutine function."""
    return FakeEngine


@pytest.fixture
async def fake(engine: Callable[[], FakeEngine | Awaitable[FakeEngine]]) -> FakeEngine:
    """The engine in memory."""
    made = engine()
    return await made if inspect.isawaitable(made) else made
