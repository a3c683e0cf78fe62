"""How long `mcp-tef --help` takes beside a bare Python: at most 0.3 s, the best of ten."""

import subprocess
import sys
import time

LIMIT_SECONDS = 0.3
TRIES = 10
BARE = [sys.executable, "-c", "pass"]
HELP = [sys.executable, "-m", "mcp_tef", "--help"]
IMPORT = [sys.executable, "-c", "import mcp_tef"]


def best(command: list[str]) -> float:
    """The shortest time of some tries, in seconds: the least disturbed by what else runs here."""
    return min(_once(command) for _ in range(TRIES))


def _once(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def main() -> int:
    """Measure, print, and fail where the limit is not kept."""
    bare, library, help_page = best(BARE), best(IMPORT), best(HELP)
    print(f"bare python {bare:.3f} s · import mcp_tef {library:.3f} s · mcp-tef --help {help_page:.3f} s", end="")
    print(f" (limit {LIMIT_SECONDS} s, {help_page / bare:.1f} × a bare python)")
    return 0 if max(help_page, library) <= LIMIT_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
