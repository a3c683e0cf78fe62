"""CPU seconds of everyday commands in two checkouts, in alternation, since other work on the machine changes both.

`python -m tests.benchmarks.two_states CHECKOUT [PAIRS [NAME…]]` compares the checkout, with a `.venv` of its own, with
this one: the user CPU seconds of whole processes, the least and the median of all pairs. Limit: 5 % over the checkout,
by the least of each, as whatever disturbs a process only adds to it.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.whole_command import model
from tests.support import isolation, workspace_files
from tests.support.command_line import ROOT

LIMIT, PAIRS = 1.05, 9
FEW, MANY = 200, 10_000
OPENING = """
import asyncio, sys
from pathlib import Path
from mcp_tef.engine import Engine
async def main():
    await (await Engine.open(Path(sys.argv[-1]))).close()
asyncio.run(main())
"""


@dataclass(frozen=True)
class Work:
    """A process to be measured: its arguments after the interpreter, and how many cases its workspace holds."""

    name: str
    arguments: Sequence[str]
    cases: int = 0


@dataclass(frozen=True)
class State:
    """A checkout, and the folder of its workspaces and compiled modules."""

    checkout: Path
    folder: Path

    @property
    def homes(self) -> dict[str, str]:
        """The home folders of its processes, where they know their workspaces."""
        return {name: str(self.folder / "home" / part) for name, part in isolation.HOME_VARIABLES.items()}

    def seconds(self, arguments: Sequence[str]) -> float:
        """Return the user CPU seconds of one process, and of those that it waited for."""
        folder = self.folder
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        process = subprocess.Popen(
            [self.checkout / ".venv" / "bin" / "python", "-P", *arguments],
            env={**os.environ, **compiled, "OPENAI_API_KEY": "sk-bench", "PYTHONPATH": str(self.checkout)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        assert process.stderr
        with process.stderr:
            said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, (arguments, said.decode())
        return used.ru_utime

    def once(self, work: Work) -> float:
        """Measure a work on a fresh copy of its workspace."""
        ready, used = self.folder / f"ready-{work.cases}", self.folder / "used"
        os.environ |= self.homes
        shutil.copytree(ready, used)
        workspace_files.made_own(used / "work.db")
        try:
            return self.seconds([*work.arguments, "--workspace", str(used / "work.db")])
        finally:
            shutil.rmtree(used)

    def prepare(self, count: int) -> None:
        """Make a workspace with a server and so many cases."""
        ready = self.folder / f"ready-{count}"
        ready.mkdir(parents=True)
        os.environ |= self.homes
        tools = workspace_files.tools_file(ready)
        said: list[tuple[str, ...]] = [("servers", "add", "city", "--tools-file", str(tools))]
        if count:
            file = workspace_files.case_file(ready, [workspace_files.weather(number) for number in range(count)])
            said.append(("cases", "import", str(file)))
        for arguments in said:
            self.seconds(["-m", "mcp_tef", *arguments, "--workspace", str(ready / "work.db")])


def works(url: str, cases: Path) -> tuple[Work, ...]:
    """Return what is measured."""
    ours = ("-m", "mcp_tef")
    asked = ("run", "--model", "openai/stub", "--base-url", url, "--concurrency", "64")
    return (
        Work("--version", (*ours, "--version")),
        Work("cases list, 200", (*ours, "cases", "list"), FEW),
        Work("cases list, 10,000", (*ours, "cases", "list"), MANY),
        Work("opening, 200", ("-c", OPENING), FEW),
        Work("opening, 10,000", ("-c", OPENING), MANY),
        Work("run, 200", (*ours, *asked), FEW),
        Work("cases import, 10,000", (*ours, "cases", "import", str(cases))),
    )


def main() -> int:
    """Print a line for each work; 1 where one is over the limit."""
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else PAIRS
    over = False
    with tempfile.TemporaryDirectory() as place, model(0.0) as url:
        folder = Path(place)
        cases = [workspace_files.weather(number) for number in range(MANY)]
        chosen = works(url, workspace_files.case_file(folder, cases))
        chosen = tuple(work for work in chosen if not sys.argv[3:] or work.name in sys.argv[3:])
        states = State(Path(sys.argv[1]), folder / "before"), State(ROOT, folder / "now")
        for state in states:
            for count in {work.cases for work in chosen}:
                state.prepare(count)
            for work in chosen:
                state.once(work)
        print(f"{'user CPU seconds':22} {'before':>15} {'now':>15} {'least':>8} {'median':>8}")
        for work in chosen:
            before, now = list[float](), list[float]()
            for number in range(pairs):
                turns = [(states[0], before), (states[1], now)]
                for state, taken in turns if number % 2 else turns[::-1]:
                    taken.append(state.once(work))
            least, median = min(now) / min(before), statistics.median(now) / statistics.median(before)
            over |= least > LIMIT
            shown = [f"{min(taken):7.3f} {statistics.median(taken):7.3f}" for taken in (before, now)]
            print(f"{work.name:22} {shown[0]} {shown[1]} {least - 1:+8.1%} {median - 1:+8.1%}", flush=True)
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
