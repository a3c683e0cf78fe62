"""A stdio server that greets with long instructions and lists one heavy tool; standard library only."""

import sys
from pathlib import Path

from tests.support.faults.fault_script import Json, Talk, tool

ROOT = Path(__file__).parents[2]
BEGINNING, END = "Look things up before you book.", "Never book twice."
INSTRUCTIONS = BEGINNING + " Be patient." * 168 + f" {END}"


def command() -> tuple[str, ...]:
    """The options of `servers add` that name it."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.support.instructing_server import main; main()"
    return ("--command", sys.executable, "--arg=-S", "--arg=-c", f"--arg={script}")


class Instructing(Talk):
    """Has instructions of more than 2,048 characters, and a description of as many."""

    def greeting(self) -> Json:
        """With instructions."""
        return super().greeting() | {"instructions": INSTRUCTIONS}

    def page(self, cursor: str | None) -> Json:
        """One tool that fits, one whose end is cut."""
        return {"tools": [tool("find"), tool("book", description="Book a table. " * 150 + "Not for groups.")]}


def main() -> None:
    """Answer until the input ends."""
    Instructing().run()
