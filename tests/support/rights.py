"""Takes away the right of the superuser to write where nobody may, so that a folder can be read-only in every test."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_VERSION_3 = 0x20080522
_WRITE_ANYWHERE = 1 << 1
_GET_SECURE_BITS, _SET_SECURE_BITS, _NO_ROOT = 27, 28, 1
_Words = ctypes.c_uint32 * 6


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing in a folder can be made, changed or removed by this thread and what it starts, threads or programs."""
    before = folder.stat().st_mode
    folder.chmod(0o555)
    try:
        with _without_superuser_rights():
            yield
    finally:
        folder.chmod(before)


@contextmanager
def _without_superuser_rights() -> Iterator[None]:
    if sys.platform != "linux" or os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head, rights = (ctypes.c_uint32 * 2)(_VERSION_3, 0), _Words()
    assert libc.capget(head, rights) == 0
    fewer = _Words(*rights)
    fewer[0] &= ~_WRITE_ANYWHERE
    secure = libc.prctl(_GET_SECURE_BITS, 0, 0, 0, 0)
    assert libc.prctl(_SET_SECURE_BITS, secure | _NO_ROOT, 0, 0, 0) == 0  # else a new program has all rights again
    assert libc.capset(head, fewer) == 0
    try:
        yield
    finally:
        assert libc.capset(head, rights) == 0
        assert libc.prctl(_SET_SECURE_BITS, secure, 0, 0, 0) == 0
