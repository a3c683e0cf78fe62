"""Use the built app as a user would, and stop at the first failure: `python packaging/smoke.py [FOLDER]`."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from display import NEEDS, display
from project import ENDING, NAME, inside

STARTS = 5
PAINT_SECONDS = 1.0
MOST_BYTES = 550_000_000
TOOLS = {
    "tools": [
        {"name": name, "description": text, "inputSchema": {"type": "object", "properties": {}}}
        for name, text in (
            ("search_files", "Find documents in a folder whose name matches a pattern."),
            ("locate_document", "Look for a file by what it is called."),
            ("send_mail", "Write an e-mail to a colleague."),
        )
    ]
}


class Smoke:
    """The checks, on the executables in one folder, with a home of its own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self._terminal = str(folder / f"{NAME}{ENDING}")
        self._window = str(folder / f"{NAME}-desktop{ENDING}")
        self._home = home

    def all(self) -> list[Callable[[], str]]:
        """Every check that can be made on this machine."""
        shown = [self.journeys, self.first_paint] if all(map(shutil.which, NEEDS)) else [self.stays_open]
        real = [self.real_server] if shutil.which("npx") else []
        return [self.help, self.demo, self.similarity, *real, *shown]

    def help(self) -> str:
        """Check that the app prints its help."""
        began = time.monotonic()
        assert "similarity" in self._say("--help").stdout
        return f"{time.monotonic() - began:.2f} s"

    def demo(self) -> str:
        """Check that the sample server starts from the app, and that every case gets a verdict."""
        runs = self._document("demo", "--json")["runs"]
        assert {run["status"] for run in runs} == {"completed"}, runs[0]
        return f"{len(runs)} verdicts"

    def similarity(self) -> str:
        """Tools are compared by meaning, with the model inside."""
        file = self._home / "tools.json"
        file.write_text(json.dumps(TOOLS), "utf-8")
        found = self._document("similarity", "--tools-file", str(file), "--json")
        assert "MiniLM" in found["embedder"], found["embedder"]
        return f"{found['embedder']}"

    def real_server(self) -> str:
        """Check that a server from npm is started and listed."""
        package = "@modelcontextprotocol/server-everything"
        added = self._document(
            *("servers", "add", "everything", "--command", "npx", "--arg=-y", f"--arg={package}", "--yes", "--json"),
            environment={"TOOL_INGESTION_TIMEOUT_SECONDS": "120"},
        )
        assert added["status"] == "active", added
        tools = self._document("servers", "tools", "everything", "--json")["tools"]
        return f"{len(tools)} tools of {package}"

    def journeys(self) -> str:
        """Use the real window by keys alone, as the journeys of the source do."""
        from journey import walk

        return "\n    ".join(("", *walk([self._window], [self._terminal])))

    def first_paint(self) -> str:
        """Check that the window paints soon: warm, by the start that other work disturbed least."""
        starts = [self._painted() for _ in range(STARTS + 1)][1:]
        times, work = [seconds for seconds, _ in starts], min(processor for _, processor in starts)
        assert min(times) <= PAINT_SECONDS, times
        return (
            f"{min(times):.2f} s, as a rule {statistics.median(times):.2f} s, {work:.2f} s of it work of the processor"
        )

    def _painted(self) -> tuple[float, float]:
        """Seconds to the first paint, and those that the processor worked for it."""
        from journey import Room

        with tempfile.TemporaryDirectory() as home, display() as shown_on:
            room = Room([self._window], [self._terminal], Path(home), shown_on)
            with room.window() as opened:
                seconds = shown_on.seconds_to_paint()
                spent = Path(f"/proc/{opened.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[11:13]
            return seconds, sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")

    def stays_open(self) -> str:
        """Check that the window opens and does not exit by itself."""
        opened = subprocess.Popen([self._window], env=self._environment())
        try:
            code = opened.wait(20)
        except subprocess.TimeoutExpired:
            opened.terminate()
            opened.wait(30)
            return "open for 20 s"
        raise SystemExit(f"The window ended by itself with exit code {code}.")

    def _document(self, *arguments: str, environment: dict[str, str] | None = None) -> Any:
        return json.loads(self._say(*arguments, environment=environment).stdout)

    def _say(self, *arguments: str, environment: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
        surroundings = {**self._environment(), **(environment or {})}
        done = subprocess.run(
            [self._terminal, *arguments],
            env=surroundings,
            cwd=self._home,
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        if done.returncode != 0:
            said = f"{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
            raise SystemExit(f"mcp-tef {' '.join(arguments)} ended with {done.returncode}:\n{said}")
        return done

    def _environment(self) -> dict[str, str]:
        """As from a menu: no Python of the builder, a home of its own."""
        foreign = ("PYTHON", "VIRTUAL_ENV", "MCP_TEF", "XDG_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        homes = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(self._home))
        return {**kept, **homes}


def size_of(folder: Path) -> int:
    """Return the bytes of all files below a folder; hard links count once."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def smoke(folder: Path | None = None) -> None:
    """Make every check and say what came of each."""
    place = folder or inside()
    size = size_of(place)
    print(f"  size: {size / 1e6:.0f} MB", flush=True)
    assert size <= MOST_BYTES, size
    with tempfile.TemporaryDirectory() as home:
        for check in Smoke(place, Path(home)).all():
            print(f"  {check.__name__.replace('_', ' ')}: {check()}", flush=True)


if __name__ == "__main__":
    smoke(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
