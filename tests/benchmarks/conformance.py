"""Every scenario of the official conformance suite that concerns a client like ours: all of them have to pass."""

import os
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.support.conformance import AUTH, PROTOCOL, judged


def main() -> int:
    """Play, print the table, and fail where the suite is not content."""
    failed: list[str] = []
    print(f"{'scenario':<44}{'checks':>8}  {'seconds':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for scenario in (*PROTOCOL, *AUTH):
            began = time.perf_counter()
            said = judged(scenario, Path(folder), os.environ)
            mark = "passed" if said.passed else "FAILED"
            took = time.perf_counter() - began
            print(f"{scenario:<44}{said.held:>4}/{said.checks:<3}  {took:>7.1f}  {mark}", flush=True)
            failed += [] if said.passed else [scenario]
    print(f"{len(PROTOCOL) + len(AUTH) - len(failed)} of {len(PROTOCOL) + len(AUTH)} scenarios passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except pytest.skip.Exception as reason:
        print(reason)
