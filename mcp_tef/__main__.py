"""`python -m mcp_tef` and the console script `mcp-tef`."""

import gc
import sys

from mcp_tef.cli.main import main as do_command

OBJECTS_BETWEEN_COLLECTIONS = 500_000


def main() -> int:
    """Do what the command line says, and return the exit code.

    The libraries behind a command make a million objects that live as long as it does: looking through
    them as often as Python does by default costs a quarter of the time to load them, and a last time, at
    the end, a second or two.
    """
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        return do_command()
    finally:
        gc.freeze()


if __name__ == "__main__":
    sys.exit(main())
