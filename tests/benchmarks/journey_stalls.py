"""How long the window's thread works without a pause while somebody goes through the journeys by keyboard.

The real window, offscreen, with real servers and a model on loopback; what is measured says `watch_roles.py`.

    python -m tests.benchmarks.journey_stalls
"""

import json
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt

from tests.benchmarks.watch_roles import WORST_MS, Watch, go_through, prepared, told, watched
from tests.journeys.test_by_keyboard import compare_two_models, only_the_first_finds_it
from tests.journeys.test_change_a_tool import follow_a_confusion, run_the_sample
from tests.support.command_line import command
from tests.support.keyboard_user import Keyboard
from tests.support.model_stub import ModelStub

SCREENS = ("servers", "cases", "runs", "metrics", "similarity", "workshop", "quality")


async def see_the_sample(user: Keyboard, report: Path) -> None:
    """Run the sample, and follow a confusion to what to write instead."""
    await run_the_sample(user)
    await follow_a_confusion(user, report)


async def see_every_screen(user: Keyboard) -> None:
    """Go to each screen, twice."""
    await user.see("Open the sample")
    user.press(Qt.Key.Key_Return)
    await user.come_to("runs")
    for _ in range(2):
        for number, place in enumerate(SCREENS, 1):
            await user.go(number, place)


def measure(folder: Path) -> dict[str, Watch]:
    """Every journey with its watch."""
    program, *rest = command("sample-server")
    config = json.dumps({"mcpServers": {"bikes": {"command": program, "args": rest}}})
    seen: dict[str, Watch] = {}
    with ModelStub(only_the_first_finds_it) as stub:
        journeys: dict[str, Callable[[Keyboard], Coroutine[Any, Any, None]]] = {
            "every screen": see_every_screen,
            "the sample": lambda user: see_the_sample(user, folder / "report.html"),
            "two models": lambda user: compare_two_models(user, config, stub.url),
        }
        for number, (name, journey) in enumerate(journeys.items()):
            seen[name] = Watch()
            go_through(watched(seen[name], folder / f"{number}.db", journey))
            seen[name].stop()
    return seen


def main() -> int:
    """Print a table; 1 where the limit is passed."""
    with tempfile.TemporaryDirectory() as folder:
        prepared(Path(folder))
        worst = told(measure(Path(folder)))
    return int(worst >= WORST_MS)


if __name__ == "__main__":
    sys.exit(main())
