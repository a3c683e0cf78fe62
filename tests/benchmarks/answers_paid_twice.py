"""Runs killed at random moments and resumed: nothing stored is lost, and how many answers are paid for twice.

`python -m tests.benchmarks.answers_paid_twice [KILLS [SEED]]` kills a command so many times, each on a copy of its
workspace, and resumes it; a stub of a model counts. Goal: no more answers are asked twice than were in flight.
"""

import os
import random
import sys
import tempfile
from pathlib import Path

from tests.support import isolation
from tests.support.paid_answers import CONCURRENCY, kill_and_resume, ready

KILLS, SEED, SECONDS = 60, "20261128", 2.0


def main() -> int:
    """Print what was asked; 1 where a run was lost, or more were paid twice than were in flight."""
    count = int(sys.argv[1]) if sys.argv[1:] else KILLS
    chance = random.Random(sys.argv[2] if sys.argv[2:] else SEED)
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {name: str(Path(place, "home", part)) for name, part in isolation.HOME_VARIABLES.items()}
        os.environ["OPENAI_API_KEY"] = "sk-test"
        workspace = ready(Path(place))
        found = [
            kill_and_resume(workspace, Path(place, str(number)), chance.uniform(0, SECONDS)) for number in range(count)
        ]
    known, lost = sum(one.known for one in found), sum(one.lost for one in found)
    twice = [one.twice for one in found]
    print(f"{count} kills, {known} runs had finished: {lost} lost; paid twice at most {max(twice)} of {CONCURRENCY}")
    print(f"in flight, {sum(twice)} in all; missing after the resumption: {sum(one.missing for one in found)}")
    return int(bool(lost or max(twice) > CONCURRENCY or any(one.missing for one in found)))


if __name__ == "__main__":
    sys.exit(main())
