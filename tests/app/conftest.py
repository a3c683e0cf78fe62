"""Coroutine tests of the window run on a loop that serves Qt, and leave no Qt object for another thread to collect."""

import asyncio
import gc
from collections.abc import Callable, Iterator, Mapping

import pytest
from PySide6.QtWidgets import QApplication

from tests.support.isolation import uses_qt


def pytest_asyncio_loop_factories(item: pytest.Item) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run a coroutine test and its fixtures on a loop that serves Qt, if one of them asks for the application."""
    return {"qt": qt_loop} if uses_qt(item) else {"asyncio": asyncio.new_event_loop}


def qt_loop() -> asyncio.AbstractEventLoop:
    """Return a loop over the application, which the fixture `qapp` has made."""
    from qasync import QEventLoop  # type: ignore[import-untyped]  # it ships no types

    loop: asyncio.AbstractEventLoop = QEventLoop(QApplication.instance())
    return loop


@pytest.fixture(autouse=True)
def no_rubbish_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Collect garbage only here, on the thread that Qt's objects belong to, after tests that made some.

    What was there before is set aside: to look through all that libraries hold takes longer than most tests.
    """
    if not uses_qt(request.node):
        yield
        return
    gc.collect()  # also what the report of the test before has held
    gc.freeze()
    gc.disable()
    yield
    gc.collect()
