"""What 5,000 generated answers do to a batch: how many runs ended in each way, and how long it took.

Each answer goes over real HTTP through litellm, the reading, the judging and into SQLite. Limits: every run ends as
completed or failed, the batch as completed, and no run by an error of our own. Run as
`python -m tests.benchmarks.hostile_answers [ANSWERS]`.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from tests.support.hostile_answers import counted, ends_of, generated

ANSWERS = 5_000


def main() -> None:
    """Run them all, in batches of a thousand."""
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS
    answers = generated(wanted)
    start = time.perf_counter()
    runs = []
    for number in range(0, len(answers), 1_000):
        with tempfile.TemporaryDirectory() as folder:
            runs += asyncio.run(ends_of(answers[number : number + 1_000], Path(folder)))
    ends = counted(runs)
    for end, count in ends.most_common():
        print(f"{count:6} {end}")
    print(f"{len(runs):6} answers, {sum(map(len, answers)) / 2**20:.1f} MB, {time.perf_counter() - start:.0f} s")
    assert len(runs) == len(answers) >= wanted
    assert "failed: internal" not in ends, "a run ended in an error of our own"


if __name__ == "__main__":
    main()
