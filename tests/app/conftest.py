"""Tests of the window leave no Qt object behind that another thread's garbage collection could meet."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_rubbish_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect garbage here, on the thread that Qt's objects belong to, after tests that made some."""
    yield
    if not {"qtbot", "qapp"}.isdisjoint(request.fixturenames):
        gc.collect()
