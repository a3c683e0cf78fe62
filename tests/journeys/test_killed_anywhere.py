"""Whatever a command is doing when its process is killed: the workspace is whole, and nothing finished is lost."""

from pathlib import Path

import pytest

from tests.support.killed_commands import Work, copied, kill_once, moments, works

KILLS = 2
SECONDS = 1.2


@pytest.mark.timeout(300)
@pytest.mark.parametrize("work", works(), ids=lambda work: work.name)
def test_a_kill_loses_nothing_that_was_finished(work: Work, tmp_path: Path) -> None:
    (tmp_path / "ready").mkdir()
    ready = work.prepare(tmp_path / "ready")
    for number, moment in enumerate(moments(KILLS, SECONDS, seed=5)):
        after = kill_once(work, copied(ready, tmp_path / str(number)), moment)
        assert (after.lost, after.unfinished, after.sound, after.whole) == (0, 0, True, True), after
