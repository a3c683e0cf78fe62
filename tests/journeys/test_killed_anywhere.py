"""Whatever a command is doing when it is killed, or its disk full: all of it is done, or nothing has changed."""

from pathlib import Path

import pytest

from tests.support.killed_commands import Work, copied, fill_once, kill_once, moments, works
from tests.support.killed_programs import kill_saving

KILLS = 2
SECONDS = 1.2
ROOMS = (300_000, 700_000)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("work", works(), ids=lambda work: work.name)
def test_a_kill_or_a_full_disk_loses_nothing_that_was_finished_and_leaves_nothing_half_done(
    work: Work, tmp_path: Path
) -> None:
    (tmp_path / "ready").mkdir()
    ready = work.prepare(tmp_path / "ready")
    for number, moment in enumerate(moments(KILLS, SECONDS, seed=5)):
        after = kill_once(work, copied(ready, tmp_path / str(number)), moment)
        assert (after.lost, after.unfinished, after.sound, after.whole) == (0, 0, True, True), after
    for room in ROOMS:
        after = fill_once(work, copied(ready, tmp_path / str(room)), room)
        assert (after.lost, after.unfinished, after.sound, after.whole) == (0, 0, True, True), after


def test_settings_are_whole_whenever_their_process_is_killed(tmp_path: Path) -> None:
    assert kill_saving(tmp_path, moments(1, SECONDS / 4, seed=5)[0]) == 0
