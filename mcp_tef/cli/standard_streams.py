"""Standard streams that the caller of a command has closed, and results that cannot be written to them."""

import errno
import os
import sys
from typing import TextIO

from mcp_tef import ReachError

UNWRITTEN = 3
"""Exit code of a command whose result could not be written."""
_CLOSED = {
    "stdin": (os.O_RDONLY, "r"),
    "stdout": (os.O_RDONLY, "w"),
    "stderr": (os.O_WRONLY, "w"),
}
"""How a stream that is closed is opened: one for results stays unwritable, so that their loss is noticed."""


def open_closed_streams() -> None:
    """Open the standard streams that are closed, or the next file to be opened would become one of them.

    Standard input is empty then, notes go nowhere, and each attempt to write a result fails.
    """
    for number, (name, (access, mode)) in enumerate(_CLOSED.items()):
        if getattr(sys, name) is None:
            _open_as(number, access)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _open_as(number: int, access: int) -> None:
    opened = os.open(os.devnull, access)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    os.set_inheritable(number, True)


def write_result(stream: TextIO, text: str) -> None:
    """Write a part of a result. ReachError where the stream is closed or full, BrokenPipeError where nobody reads."""
    try:
        stream.write(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise output_failed(error) from None


def write_note(stream: TextIO, text: str) -> None:
    """Write beside the result; what cannot be written is dropped, since the command can do its work without it."""
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError:
        discard(stream)


def output_failed(error: OSError) -> ReachError:
    """Return the error for standard output that cannot be written."""
    if error.errno == errno.EBADF:
        what, hint = "is closed", "Leave it open, or send it to a file or /dev/null."
    else:
        what, hint = f"cannot be written: {error.strerror}", "Make room where it goes to, or send it elsewhere."
    return ReachError(f"Standard output {what}.", hint=hint, code="output_failed")


def discard(stream: TextIO) -> None:
    """Let what is still to be written to a stream go nowhere, or Python would fail once more when it ends."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)
