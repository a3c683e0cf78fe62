"""How many small faults in the rules and the statistics no test notices: 100 % less the mutation score.

`python -m tests.benchmarks.mutations [FILE…] [--number N] [--seed N] [--seconds N] [--jobs N]`

FILE: modules of ours; usual are `RULES`, every mutant of them, and 300 by seed of `mcp_tef/statistics/`. The tests near
a module are collected once; one run of them records which test calls which function. Each mutant is then a copy of that
process in which one function has other code, and runs the tests that call it until one fails; one that takes ten
times as long as usual counts as noticed. Limit: at most 10 % survive, and each survivor stands in `mutations.toml` with
the reason why nobody could notice it. Defaults of parameters, decorators and texts are not changed.
"""

import argparse
import gc
import json
import os
import random
import re
import signal
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Final

import pytest

from tests.support.mutants import Mutant, mutants

ROOT: Final = Path(__file__).parents[2]
EXPLAINED: Final = Path(__file__).with_suffix(".toml")
RULES: Final = ("mcp_tef/workflows/models.py", "mcp_tef/workflows/consent.py", "mcp_tef/trust")
SAMPLED, SAMPLE = "mcp_tef/statistics", 300
MOST_SURVIVORS, LEAST_SECONDS, SLOWER = 0.10, 20.0, 10.0


def near_tests(file: str) -> list[str]:
    """Return the tests of a module's folder, or its own, and others of the core that import it."""
    module = file.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    imports = re.compile(rf"from {re.escape(module)} import|from {re.escape(package)} import .*\b{name}\b")
    folder = ROOT / "tests" / Path(file).parent
    own = sorted(folder.glob("test_*.py")) if "workflows" not in file else [folder / f"test_{name}.py"]
    others = (one for one in sorted((ROOT / "tests/mcp_tef").rglob("test_*.py")) if imports.search(one.read_text()))
    return [str(one) for one in dict.fromkeys((*own, *others)) if one.exists()]


class MutationRun:
    """Plugin of pytest that runs mutants in place of the collected tests."""

    def __init__(self, found: Sequence[Mutant], seconds: float, jobs: int) -> None:
        self.found, self.seconds, self.jobs = found, seconds, jobs
        self.survivors: list[Mutant] = []
        self.tried = 0
        self._failed = False
        self._calls: dict[str, list[tuple[float, int]]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take down a failure."""
        self._failed = self._failed or report.failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Record the tests of each function, and try each mutant."""
        self._calls = self._recorded(session)
        until = time.monotonic() + self.seconds
        under_way: dict[int, tuple[Mutant, float]] = {}
        waiting = list(reversed(self.found))
        while waiting or under_way:
            while waiting and len(under_way) < self.jobs and time.monotonic() < until:
                one = waiting.pop()
                tests = [session.items[place] for _, place in sorted(self._tests_of(one))]
                usual = sum(seconds for seconds, _ in self._tests_of(one))
                pid = _forked(lambda one=one, tests=tests: self._try(one, tests))  # type: ignore[misc]
                under_way[pid] = one, time.monotonic() + max(LEAST_SECONDS, SLOWER * usual)
            if not under_way:
                break
            self._reap(under_way)
        return True

    def _tests_of(self, one: Mutant) -> list[tuple[float, int]]:
        if one.constant:
            return sorted({test for tests in self._calls.values() for test in tests})
        return self._calls.get(f"{one.file} {one.function}", [])

    def _reap(self, under_way: dict[int, tuple[Mutant, float]]) -> None:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid in under_way:
            one, _ = under_way.pop(pid)
            self.tried += 1
            if os.waitstatus_to_exitcode(status) == 0:
                self.survivors.append(one)
                print(f"survived: {one.key} (line {one.line})", file=sys.stderr, flush=True)
            return
        for child, (_, end) in under_way.items():
            if time.monotonic() > end:
                with suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)
        signal.sigtimedwait([signal.SIGCHLD], 0.01)

    def _try(self, one: Mutant, tests: list[pytest.Item]) -> int:
        """Run the tests with a mutant; return 0 if it survives."""
        if one.constant:
            _set_constant(*one.constant)
        elif not _put_in(one):
            return 0
        for item, following in zip(tests, [*tests[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                return 1
        return 0

    def _recorded(self, session: pytest.Session) -> dict[str, list[tuple[float, int]]]:
        """Return the seconds and the number of each test that calls a function, by file and qualified name."""
        read, write = os.pipe()
        pid = _forked(lambda: self._record(session, write), silent=(0, 1))
        os.close(write)
        with open(read) as lines:
            rows = [line.rstrip("\n").split("\t") for line in lines]
        os.waitpid(pid, 0)
        found: dict[str, list[tuple[float, int]]] = {}
        for name, seconds, place in rows:
            found.setdefault(name, []).append((float(seconds), int(place)))
        return found

    def _record(self, session: pytest.Session, write: int) -> int:
        files = {str(ROOT / one.file): one.file for one in self.found}
        seen: set[str] = set()

        def note(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and (file := files.get(frame.f_code.co_filename)):
                seen.add(f"{file} {frame.f_code.co_qualname.partition('.<locals>')[0]}")

        threading.settrace(note)
        with open(write, "w") as out:
            for place, item in enumerate(session.items):
                seen.clear()
                began = time.monotonic()
                sys.settrace(note)
                following = session.items[place + 1] if place + 1 < len(session.items) else None
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
                sys.settrace(None)
                if self._failed:
                    print(f"left out, since it fails without a mutant: {item.nodeid}", file=sys.stderr)
                else:
                    out.writelines(f"{one}\t{time.monotonic() - began}\t{place}\n" for one in seen)
                self._failed = False
        return 0


def _forked(work: Callable[[], int], silent: Sequence[int] = (0, 1, 2)) -> int:
    """Do work in a copy of this process, in a group of its own, with silent streams; return its number."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.setpgid(0, 0)
        silence = os.open(os.devnull, os.O_RDWR)
        for number in silent:
            os.dup2(silence, number)
        code = work()
    finally:
        os._exit(code)


def _put_in(one: Mutant) -> bool:
    """Give the function that is changed its other code; False if it is nowhere, as where it is not loaded."""
    path = str(ROOT / one.file)
    codes = {code.co_firstlineno: code for code in _codes(compile(one.tree(), path, "exec"))
             if code.co_qualname == one.function}  # fmt: skip
    functions = [each for each in gc.get_objects() if isinstance(each, FunctionType)]
    changed = [each for each in functions if each.__code__.co_filename == path and each.__qualname__ == one.function]
    for each in changed:
        each.__code__ = codes.get(each.__code__.co_firstlineno, each.__code__)
    return bool(changed)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inside in code.co_consts:
        if isinstance(inside, CodeType):
            yield inside
            yield from _codes(inside)


def _set_constant(name: str, value: int) -> None:
    """Give a constant another value in its module, and where that was imported."""
    for module in list(sys.modules.values()):
        if (getattr(module, "__name__", "") or "").startswith("mcp_tef") and vars(module).get(name) == value:
            setattr(module, name, value + 1)


def survivors_of(found: Sequence[Mutant], files: Sequence[str], seconds: float, jobs: int) -> tuple[int, list[str]]:
    """Try mutants in a process of their own; return how many were tried, and the keys of those that survived."""
    read, write = os.pipe()

    def work() -> int:
        run = MutationRun(found, seconds, jobs)
        quiet = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={ROOT}"]
        pytest.main([*quiet, *dict.fromkeys(test for file in files for test in near_tests(file))], plugins=[run])
        with open(write, "w") as out:
            json.dump([run.tried, [one.key for one in run.survivors]], out)
        return 0

    pid = _forked(work, silent=(0, 1))
    os.close(write)
    with open(read) as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    tried, survived = json.loads(text or "[0, []]")
    return tried, survived


def python_files(place: str) -> list[str]:
    """Return the modules of a folder, or the one."""
    found = [ROOT / place] if place.endswith(".py") else sorted((ROOT / place).glob("*.py"))
    return [one.relative_to(ROOT).as_posix() for one in found if one.name != "__init__.py"]


def report(name: str, made: int, tried: int, survived: Sequence[str], explained: Mapping[str, str]) -> bool:
    """Print the figures of a module; return True if it keeps the limit."""
    unexplained = [key for key in survived if key not in explained]
    share = len(survived) / tried if tried else 0.0
    print(f"{name}: {tried:,} of {made:,} mutants tried, {len(survived)} survived ({share:.1%}), "
          f"{len(unexplained)} without a reason", flush=True)  # fmt: skip
    for key in unexplained:
        print(f"  {key}")
    return share <= MOST_SURVIVORS and not unexplained


def main() -> int:
    """Try the mutants, print the figures, and return 1 if too many survived or a reason is missing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="modules or folders; usual are the rules and the statistics")
    parser.add_argument("--number", type=int, help="mutants of each, by seed; usual are all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--seconds",
        type=float,
        default=float("inf"),
        help="stop each after so long, not counting the first run",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    os.chdir(ROOT)
    explained = tomllib.loads(EXPLAINED.read_text("utf-8"))["equivalent"]
    groups = [(place, asked.number) for place in asked.files or RULES]
    groups += [] if asked.files else [(SAMPLED, asked.number or SAMPLE)]
    fine = True
    for place, number in groups:
        files = python_files(place)
        made = [one for file in files for one in mutants(file)]
        chosen = made if number is None else random.Random(asked.seed).sample(made, min(number, len(made)))
        tried, survived = survivors_of(chosen, files, asked.seconds, asked.jobs)
        fine &= report(place, len(chosen), tried, survived, explained)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
