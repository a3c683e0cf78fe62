"""How much a test computes, which no other work on the machine changes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def computing_at_most(seconds: float) -> Iterator[None]:
    """Fail where this thread computed for longer, however long it had to wait for its turn."""
    began = time.thread_time()
    yield
    assert time.thread_time() - began < seconds
