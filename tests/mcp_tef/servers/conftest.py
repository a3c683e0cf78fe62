"""A lister for each test, which must leave no program behind."""

from collections.abc import AsyncIterator

import pytest

from mcp_tef.model.limits import Limits
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.processes import children


@pytest.fixture
def environment() -> dict[str, str]:
    """What `${NAME}` is read from, beside the names that every program gets."""
    return {}


@pytest.fixture
def limits() -> Limits:
    """The usual ones, with time for last words where the machine is busy."""
    return Limits(exit_seconds=5.0)


@pytest.fixture
async def lister(environment: dict[str, str], limits: Limits) -> AsyncIterator[McpToolLister]:
    """A lister that is closed afterwards; a program that survives that fails the test."""
    before = children()
    lister = McpToolLister(environment, limits)
    yield lister
    await lister.close()
    assert children() <= before
