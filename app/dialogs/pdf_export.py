"""Export of reports as PDF by a separate process, so that the window never waits for it."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import resources
from mcp_tef import InputError, require_replaceable

LONGEST_S: Final = 600
OWN_FOLDER: Final = Path(resources.__file__).parent
"""Where the process starts, so that no file of the current folder has a part in it."""


async def print_page(page: str, title: str, file: Path) -> None:
    """Print an HTML page into a file; raise InputError if that fails, and leave the file as it was."""
    await asyncio.to_thread(require_replaceable, file)
    printing = _Printing()
    try:
        await asyncio.to_thread(printing.print, page, title, file)
    finally:
        printing.stop()


class _Printing:
    """Process that prints; it ends when its caller stops waiting."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._unwanted = False

    def print(self, page: str, title: str, file: Path) -> None:
        """Print a page; blocks its thread."""
        try:
            self._run(command(title, file), page)
        except (OSError, subprocess.SubprocessError) as error:
            raise InputError(f"{file} could not be written: {_reason(error)}.", hint="Use another place.") from error

    def stop(self) -> None:
        """End the process, if it runs."""
        self._unwanted = True
        if self._process is not None:
            self._process.kill()

    def _run(self, words: list[str], page: str) -> None:
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        with subprocess.Popen(
            words, stdin=pipe, stdout=nothing, stderr=pipe, encoding="utf-8", cwd=OWN_FOLDER
        ) as process:
            self._process = process
            if self._unwanted:
                process.kill()
            try:
                _, errors = process.communicate(page, timeout=LONGEST_S)
            finally:
                process.kill()
        if process.returncode:
            raise OSError(errors.strip().rpartition("\n")[2] or "the printing process ended")


def _reason(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return "printing took too long"
    return getattr(error, "strerror", None) or str(error)


def command(title: str, file: Path, *, built: bool = hasattr(sys, "frozen")) -> list[str]:
    """Return the command line with which this program prints."""
    own = Path(sys.executable)
    program = [str(own.with_name(f"mcp-tef-desktop{own.suffix}"))] if built else [str(own), "-P", "-m", "app"]
    return [*program, "--print", title, os.path.abspath(file)]
