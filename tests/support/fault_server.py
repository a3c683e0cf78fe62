"""A stdio MCP server that misbehaves in the one way its argument names; standard library only, so it starts at once.

Add a fault by writing a `Talk` with the method overridden in which it differs, and naming it in the `FAULTS` of its
kind under `faults/`.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.faults import endings, lists, noise, silence
from tests.support.faults.talk import Talk, tool

ROOT = Path(__file__).parents[3]
FAULTS: Mapping[str, type[Talk]] = {
    "none": Talk,
    **silence.SILENCES,
    **endings.ENDINGS,
    **noise.NOISES,
    **lists.FAULTS,
}


def command(fault: str) -> tuple[str, ...]:
    """The command line that starts this server with one fault, wherever it is started."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.support.fault_server import main; main()"
    return (sys.executable, "-S", "-c", script, fault)


def main() -> None:
    """Misbehave."""
    FAULTS[sys.argv[1]]().run()
