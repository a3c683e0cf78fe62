"""Write unexpected errors to a log file and name that file in one sentence."""

import os
import traceback
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from mcp_tef import TefError
from mcp_tef.cli.terminal import Terminal

CRASHED = 70
FILE = "cli-errors.log"
LARGEST_FILE = 1_000_000


def log_crash(error: Exception, terminal: Terminal) -> TefError:
    """Write the error to the log file without any key, and return the message for the user."""
    text = terminal.redacted("".join(traceback.format_exception(error)))
    kind = type(error).__name__
    try:
        where = _written(text)
    except OSError:
        hint = "Run it again with --debug to see where."
    else:
        hint = f"What had finished is kept; where it happened is written in {where}."
    return TefError(f"mcp-tef itself failed, by an error of the kind {kind}.", hint=hint, code="internal")


def _written(text: str) -> Path:
    """Add it to the file of such errors, which is begun anew where it has grown large."""
    from mcp_tef import make_private_folder, open_private

    folder = Path(platformdirs.user_log_dir("mcp-tef", appauthor=False))
    make_private_folder(folder)
    file = folder / FILE
    keep = file.exists() and file.stat().st_size < LARGEST_FILE
    with open_private(file, "a" if keep else "w") as log:
        log.write(f"{datetime.now(UTC).isoformat(timespec='seconds')}, process {os.getpid()}\n{text}\n")
    return file
