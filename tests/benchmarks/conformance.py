"""Every client scenario of the official conformance suite: those that concern a client like ours have to pass.

Further arguments are scripts of other published lines of the suite, `…/conformance/dist/index.js`.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.support.conformance_suite import AUTH, NOT_OURS, PROTOCOL, SUPERSEDED, judged, listed, suite


def main(scripts: list[str]) -> int:
    """Play, print a table for each line of the suite, and fail where one is not content."""
    failed = [name for script in (suite()[1], *scripts) for name in play(script)]
    return 1 if failed else 0


def play(script: str) -> list[str]:
    """The scenarios that failed, or that nobody has judged yet."""
    print(f"{script}\n{'scenario':<44}{'checks':>8}  {'seconds':>7}")
    failed, passed = list[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        for scenario in listed(script):
            reasons = NOT_OURS if script == suite()[1] else {**NOT_OURS, **SUPERSEDED}
            why = next((reason for start, reason in reasons.items() if scenario.startswith(start)), "")
            if why:
                print(f"{scenario:<44}{'–':>8}  {'–':>7}  does not apply: {why}")
                continue
            began = time.perf_counter()
            said = asyncio.run(judged(scenario, Path(folder), script))
            mark = "passed" if said.passed else "FAILED"
            took = time.perf_counter() - began
            print(f"{scenario:<44}{said.held:>4}/{said.checks:<3}  {took:>7.1f}  {mark}", flush=True)
            failed += [] if said.passed and scenario in (*PROTOCOL, *AUTH) else [scenario]
            passed += said.passed
    print(f"{passed} of {passed + len(failed)} scenarios passed.\n")
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except pytest.skip.Exception as reason:
        print(reason)
