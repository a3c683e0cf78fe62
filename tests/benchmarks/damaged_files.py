"""Flip bits of workspaces, and run every verb that reads one, as they are and with `--recover`: never exit 70.

`python -I tests/benchmarks/damaged_files.py [FILES] [SEED]` prints what ended otherwise; 5 files are usual, of which 40
bytes each have another bit.
"""

import collections
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main(files: int, seed: int) -> int:
    """Print each verb that ended badly, and how often each exit code came; return 1 where one did."""
    sys.path.insert(0, str(ROOT))
    from tests.support import row_mutations

    codes: collections.Counter[int] = collections.Counter()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HOME": folder, "XDG_DATA_HOME": f"{folder}/data", "XDG_CONFIG_HOME": f"{folder}/config"}
        for outcome in row_mutations.damaged(Path(folder), files, seed):
            codes[outcome.code] += 1
            if outcome.fault:
                faults += 1
                print(outcome, flush=True)
    print(f"{files} damaged files, exit codes {dict(sorted(codes.items()))}, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    sys.exit(main(*(numbers + [5, 1][len(numbers) :])))
