"""200 rounds of file dialogs in the workspace's folder while two commands import 60 cases each, one at a time.

Limits: SQLite keeps its locks after each dialog, the file is sound at the end, and no case and no edit is lost.
Run as `python -m tests.benchmarks.window_dialogs [ROUNDS]`.
"""

import os
import sys
import tempfile
from pathlib import Path

from tests.journeys.test_window_beside_commands import play
from tests.support import isolation

ROUNDS, IMPORTS = 200, 60


def main() -> int:
    """Play the rounds, which fail with what was lost."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {name: str(Path(folder, "home", part)) for name, part in isolation.HOME_VARIABLES.items()}
        play(Path(folder, "work.db"), rounds, IMPORTS)
    print(f"{rounds} rounds and {2 * IMPORTS} imports: nothing was lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
