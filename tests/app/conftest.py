"""Tests of the window leave no Qt object behind that another thread's garbage collection could meet."""

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_rubbish_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect garbage here, on the thread that Qt's objects belong to, after tests that made some.

    What was there before is set aside: to look through all that libraries hold takes longer than most tests.
    """
    uses_qt = not {"qtbot", "qapp"}.isdisjoint(request.fixturenames)
    if uses_qt:
        gc.freeze()
    yield
    if uses_qt:
        gc.collect()
