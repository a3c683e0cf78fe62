"""Mutate rows of every table of a workspace, and run the verbs that read it: no start, nothing removed, never exit 70.

`python -I tests/benchmarks/mutated_rows.py [MUTATIONS] [SEED]` prints what ended otherwise; 10,000 are usual.
"""

import collections
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main(mutations: int, seed: int) -> int:
    """Print each mutation that ended badly, and how often each exit code came; return 1 where one did."""
    sys.path.insert(0, str(ROOT))
    from tests.support import row_mutations

    codes: collections.Counter[int] = collections.Counter()
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"HOME": folder, "XDG_DATA_HOME": f"{folder}/data", "XDG_CONFIG_HOME": f"{folder}/config"}
        for outcome in row_mutations.tried(Path(folder), mutations, seed):
            codes[outcome.code] += 1
            if outcome.fault:
                faults += 1
                print(outcome, flush=True)
    print(f"{mutations:,} mutations, exit codes {dict(sorted(codes.items()))}, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    sys.exit(main(*(numbers + [10_000, 1][len(numbers) :])))
