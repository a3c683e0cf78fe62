"""Two afternoons at the real window, by keys alone, with what a screen reader says as the only eyes.

`python3 dev.py package journey` walks them with the source, `smoke` with the built app, `bare_root` with the installed
one: the very same. `python packaging/journey.py FOLDER` keeps a picture of each step there.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from display import Display, desktop
from keyboard import Keyboard
from project import ROOT

sys.path.insert(0, str(ROOT))

from tests.support.model_replies import Received, Reply, tool_calls, words
from tests.support.model_stub import ModelStub

SOURCE = ([sys.executable, "-P", "-m", "app"], [sys.executable, "-P", "-m", "mcp_tef"])
CONFUSED = re.compile(r"Expected (?!no tool).*, selected (?!no tool).*: [1-9]")
QUESTION, TOOL = "Do you sell rear lights?", "find_parts"
MOST_TOOLS = 12
REPORT = 6  # the place of "Report as HTML…" in its menu


class Room:
    """A home folder of its own, with the two programs and a desktop; they may call the folder by another path."""

    def __init__(
        self, window: Sequence[str], terminal: Sequence[str], home: Path, shown_on: Display, called: str = ""
    ) -> None:
        self.home = home
        self.called = called or str(home)
        self.display = shown_on
        self.sample_server = [terminal[-1], "sample-server"] if called else [*terminal, "sample-server"]
        self._window = window
        self._terminal = terminal
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self._environment = {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT), **shown_on.environment()}

    @contextmanager
    def window(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Keep the window open until the end."""
        opened = subprocess.Popen(self._window, env=self._environment, cwd=self.home)
        try:
            yield opened
        finally:
            opened.terminate()
            opened.wait(30)

    def runs(self) -> list[dict[str, str]]:
        """Return the runs on disk, as the command line lists them; none without a workspace."""
        command = [*self._terminal, "runs", "list", "--limit", "1000", "--json"]
        listed = subprocess.run(
            command, env=self._environment, cwd=self.home, capture_output=True, text=True, check=False
        )
        found: list[dict[str, str]] = json.loads(listed.stdout).get("runs", []) if listed.returncode == 0 else []
        return found


def from_the_first_start_to_what_to_write_instead(room: Room, user: Keyboard) -> str:
    """Run the sample, follow a confusion to the pair and what to write instead, copy that and export a report."""
    with room.window():
        _run_the_sample(room, user)
        cell = _follow_a_confusion(user)
        _export_a_report(room, user)
    return cell


def _run_the_sample(room: Room, user: Keyboard) -> None:
    user.see("Open the sample")
    user.keep("first start")
    user.press("Return")
    user.push("cases offline")
    user.until(lambda: _judged(room, 1), "every run has a verdict")
    user.see("Picked")
    user.keep("runs")


def _follow_a_confusion(user: Keyboard) -> str:
    """From the matrix to the run, and on to the pair; the cell in words."""
    user.press("ctrl+4")
    user.tab_to("Confusion matrix")
    cell = user.walk_to(lambda name: bool(CONFUSED.search(name)), *["Down"] * MOST_TOOLS)
    user.keep("confusion")
    user.press("Return")
    user.see("What to write instead")
    user.keep("run")
    user.press("ctrl+i")
    return cell.partition(": ")[2]


def _export_a_report(room: Room, user: Keyboard) -> None:
    """Copy what the pair should say instead, and keep all of it as a report."""
    user.until(lambda: (found := user.focus()) and "Copy" in found.name, "what to write instead can be copied")
    user.press("space")
    user.see("Copied")
    user.keep("advice")
    user.push("Export")
    user.choose(REPORT)
    report = room.home / "report.html"
    user.save_as(f"{room.called}/{report.name}", report)
    user.until(lambda: "What to work on" in report.read_text("utf-8"), "the report is whole")
    user.keep("exported")
    report.unlink()


def from_a_config_to_two_models_compared(room: Room, user: Keyboard) -> str:
    """Bring in a server of Claude Desktop, agree to its program, write a case, run it with two models, compare them."""
    config = room.home / ".config" / "Claude" / "claude_desktop_config.json"
    config.parent.mkdir(parents=True)
    program, *rest = room.sample_server
    config.write_text(json.dumps({"mcpServers": {"bikes": {"command": program, "args": rest}}}), "utf-8")
    with ModelStub(only_the_first_finds_it) as stub, room.window():
        _import_the_server(user)
        _write_a_case(user)
        for number, model in enumerate(("openai/a", "openai/b"), 1):
            _run_with(room, user, model, stub.url, number)
        _compare(user)
    config.unlink()
    config.parent.rmdir()
    return "0 fixed and 1 regressed"


def only_the_first_finds_it(request: Received) -> Reply:
    """Model a calls the tool that is expected; model b talks instead."""
    return tool_calls((TOOL, {"query": "rear light"})) if request.model == "a" else words("Of course!")


def _import_the_server(user: Keyboard) -> None:
    user.push("Choose from 1 server")
    user.see("Import 1 server")
    user.keep("found")
    user.push("Import 1 server")
    user.see("Allow and start")
    user.keep("consent")
    user.push("Allow and start")
    user.see("1 server, 12 tools")
    user.keep("server")


def _write_a_case(user: Keyboard) -> None:
    user.press("ctrl+2")
    user.see("No test cases yet")
    user.press("ctrl+n")
    user.until(lambda: (field := user.focus()) and field.name == "What the user says", "a case can be written")
    user.type(QUESTION)
    user.pick("Expected tool", TOOL)
    user.see("Saved")
    user.keep("case")


def _run_with(room: Room, user: Keyboard, model: str, address: str, runs: int) -> None:
    """Run the case with a model, and wait until there are so many runs."""
    user.press("ctrl+3")
    user.press("ctrl+r")
    user.see("Run test cases")
    user.tab_to("Selector")
    user.press("Right")
    user.tab_to("Model")
    user.type(model)
    user.tab_to("Address")
    user.type(address)
    user.keep(f"ask {model[-1]}")
    user.push("Run 1 case")
    user.until(lambda: _judged(room, runs), "the case is judged")
    user.keep(f"answered {model[-1]}")


def _compare(user: Keyboard) -> None:
    user.press("ctrl+4")
    user.tab_to("View")
    user.press("Right", "Right", "Right")
    user.see("0 fixed and 1 regressed", "The batches asked different models")
    user.see(f"Picked no tool, expected {TOOL}")
    user.keep("compared")


def _judged(room: Room, least: int) -> bool:
    """Whether there are so many runs or more, all with a verdict."""
    runs = room.runs()
    return len(runs) >= least and {run["status"] for run in runs} == {"completed"}


JOURNEYS: tuple[Callable[[Room, Keyboard], str], ...] = (
    from_the_first_start_to_what_to_write_instead,
    from_a_config_to_two_models_compared,
)


def walk(window: Sequence[str], terminal: Sequence[str], pictures: Path | None = None) -> Iterator[str]:
    """Walk each, in a home of its own; a line for each that says what came of it."""
    for journey in JOURNEYS:
        began = time.monotonic()
        kept = pictures / journey.__name__ if pictures else None
        with tempfile.TemporaryDirectory() as home, desktop() as shown_on:
            came = journey(Room(window, terminal, Path(home), shown_on), Keyboard(shown_on, kept))
        yield f"{journey.__name__.replace('_', ' ')}: {came}; {time.monotonic() - began:.0f} s"


def main(folders: Sequence[str]) -> int:
    """Walk them with the source."""
    for line in walk(*SOURCE, Path(folders[0]) if folders else None):
        print(f"  {line}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
