"""`python -m mcp_tef` and the console script `mcp-tef`."""

import gc
import sys

OBJECTS_BETWEEN_COLLECTIONS = 500_000


def main() -> int:
    """Do what the command line says, and return the exit code.

    The libraries behind a command make a million objects that live as long as it does: looking through
    them as often as Python does by default costs a quarter of the time to load them, and a last time, at
    the end, a second or two. `--version` alone loads neither the command line nor the library.
    """
    if None in (sys.stdin, sys.stdout, sys.stderr):
        from mcp_tef.cli.standard_streams import open_closed_streams

        open_closed_streams()
    if sys.argv[1:] == ["--version"]:
        return print_version()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    from mcp_tef.cli.main import main as do_command
    from mcp_tef.trust.isolation import protect_process

    protect_process()

    try:
        return do_command()
    finally:
        gc.freeze()


def print_version() -> int:
    """Write the name and the version, and return the exit code."""
    from mcp_tef.model.installation import VERSION

    try:
        sys.stdout.write(f"mcp-tef {VERSION}\n")
        sys.stdout.flush()
    except OSError as error:
        from mcp_tef.cli.standard_streams import UNWRITTEN, discard, output_failed

        failed = output_failed(error)
        sys.stderr.write(f"mcp-tef: {failed.message} {failed.hint}\n")
        discard(sys.stdout)
        return UNWRITTEN
    return 0


if __name__ == "__main__":
    sys.exit(main())
