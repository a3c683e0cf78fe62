"""A hundred commands killed at random moments: batches, imports, and upgrades from version 8.

Each is killed at a moment drawn from the time that it holds its workspace when undisturbed; then the workspace is
opened. Limits: no run that was seen as finished is lost, none is left running or pending, and every file is whole.
Run as `python -m tests.benchmarks.hundred_kills [KILLS]`.
"""

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support import isolation
from tests.support.killed_commands import After, Work, copied, kill_once, span, works

KILLS = 100
SEED = 20261122
FASTER = 0.9


def kills(work: Work, count: int, folder: Path) -> Iterator[After]:
    """Kill a work so many times, each time on a copy of its workspace; one that was done before is tried again."""
    folder.mkdir()
    ready = work.prepare(_made(folder / "ready"))
    seconds = span(work, copied(ready, folder / "whole"))
    print(f"{work.name}: {seconds:.2f} s when undisturbed", flush=True)
    chance, killed = random.Random(SEED), 0
    while killed < count:
        after = kill_once(work, copied(ready, folder / "copy"), chance.uniform(0, seconds))
        shutil.rmtree(folder / "copy")
        killed += after.was_killed
        seconds *= 1 if after.was_killed else FASTER
        yield after


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def told(work: Work, after: list[After]) -> str:
    """A line of the table."""
    killed = sum(one.was_killed for one in after)
    known, lost = sum(one.known for one in after), sum(one.lost for one in after)
    left, broken = sum(one.unfinished for one in after), sum(not one.sound for one in after)
    half = sum(not one.whole for one in after)
    return f"{work.name:14} {len(after):5} {killed:7} {known:15,} {lost:5} {left:11} {broken:7} {half:9}"


def main() -> int:
    """Print the table; 1 where anything was lost, left running, broken or half done."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else KILLS
    everything = works()
    shares = [count // len(everything) + (place < count % len(everything)) for place in range(len(everything))]
    lines, bad = [], False
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {name: str(Path(folder, "home", part)) for name, part in isolation.HOME_VARIABLES.items()}
        for work, share in zip(everything, shares, strict=True):
            after = list(kills(work, share, Path(folder) / work.name.replace(" ", "-")))
            lines.append(told(work, after))
            bad |= any(one.lost or one.unfinished or not one.sound or not one.whole for one in after)
    print(f"{'work':14} {'tried':>5} {'killed':>7} {'finished before':>15} {'lost':>5} {'left undone':>11} ", end="")
    print(f"{'damaged':>7} {'half done':>9}")
    print("\n".join(lines))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
