"""Commands killed at random moments, and with disks that are full at random places: each is whole, or changed nothing.

Each is killed at a moment drawn from the time that it holds its workspace when undisturbed; then the workspace is
opened. A full disk lets no file grow beyond a size drawn from those that the work needs. Limits: no run that was seen
as finished is lost, none is left running or pending, and every file is whole, the settings of the window as well.
Run as `python -m tests.benchmarks.hundred_kills [KILLS [DISKS [WORK…]]]`, so many of each work.
"""

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support import isolation
from tests.support.killed_commands import After, Work, copied, fill_once, kill_once, span, works
from tests.support.killed_programs import kill_saving

KILLS = 60
SETTINGS = "settings"
SETTINGS_SECONDS = 0.5
SEED = 20261122
FASTER = 0.9
WELL = (0, 0, True, True)


def kills(work: Work, ready: Path, folder: Path, count: int) -> Iterator[After]:
    """Kill a work so many times, each time on a copy of its workspace; one that was done before is tried again."""
    seconds = span(work, copied(ready, folder / "timed"))
    chance, killed = random.Random(SEED), 0
    while killed < count:
        after = kill_once(work, copied(ready, folder / "copy"), chance.uniform(0, seconds))
        killed += after.was_killed
        seconds *= 1 if after.was_killed else FASTER
        yield after


def full_disks(work: Work, ready: Path, folder: Path, count: int) -> Iterator[After]:
    """Do a work so many times with a disk that is full at random places."""
    span(work, copied(ready, folder / "whole"))
    most = max(file.stat().st_size for file in (folder / "whole").rglob("*") if file.is_file())
    shutil.rmtree(folder / "whole")
    chance = random.Random(SEED)
    for _ in range(count):
        yield fill_once(work, copied(ready, folder / "copy"), int(chance.uniform(0, most)))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def told(name: str, folder: Path, after: Iterator[After]) -> bool:
    """Print a line of the table; whether anything was lost, left running, broken or half done."""
    tried = killed = known = lost = left = broken = half = 0
    for one in after:
        tried, killed, known, lost = tried + 1, killed + one.was_killed, known + one.known, lost + one.lost
        left, broken, half = left + one.unfinished, broken + (not one.sound), half + (not one.whole)
        if (one.lost, one.unfinished, one.sound, one.whole) != WELL:
            print(name, one, flush=True)
        shutil.rmtree(folder / "copy")
    return _line(name, tried, killed, known, lost, left, broken, half)


def settings(folder: Path, count: int) -> bool:
    """Do the same of a process that saves the settings of the window, when it is killed."""
    chance, broken = random.Random(SEED), 0
    for number in range(count):
        broken += kill_saving(_made(folder / f"settings-{number}"), chance.uniform(0, SETTINGS_SECONDS))
    return _line(SETTINGS, count, count, 0, 0, 0, broken, 0)


def _line(name: str, tried: int, killed: int, known: int, *bad: int) -> bool:
    lost, left, broken, half = bad
    print(f"{name:20} {tried:5} {killed:7} {known:15,} {lost:5} {left:11} {broken:7} {half:9}", flush=True)
    return any(bad)


def main() -> int:
    """Print the table; 1 where anything was lost, left running, broken or half done."""
    count, disks = (int(sys.argv[place]) if len(sys.argv) > place else KILLS for place in (1, 2))
    bad = []
    print(f"{'work':20} {'tried':>5} {'stopped':>7} {'finished before':>15} {'lost':>5} {'left undone':>11} ", end="")
    print(f"{'damaged':>7} {'half done':>9}", flush=True)
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {name: str(Path(place, "home", part)) for name, part in isolation.HOME_VARIABLES.items()}
        wanted = sys.argv[3:] or [SETTINGS, *(work.name for work in works())]
        for work in (work for work in works() if work.name in wanted):
            folder = _made(Path(place) / work.name.replace(" ", "-"))
            ready = work.prepare(_made(folder / "ready"))
            bad.append(told(work.name, folder, kills(work, ready, folder, count)))
            bad.append(told(f"{work.name}, full", folder, full_disks(work, ready, folder, disks)))
        if SETTINGS in wanted:
            bad.append(settings(Path(place), count))
    return int(any(bad))


if __name__ == "__main__":
    sys.exit(main())
