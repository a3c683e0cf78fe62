"""Who gives up waiting for work that is all or nothing hears of it once nothing of it is left, however often."""

import asyncio

import pytest

from mcp_tef.model.cancellation import CancellableWork, StoppedError
from mcp_tef.workflows.cancellation import to_its_end


class Doing:
    """Work that is under way until it may look whether it is still wanted."""

    def __init__(self) -> None:
        self.work = CancellableWork()
        self.began, self.may_go_on = asyncio.Event(), asyncio.Event()
        self.taken_back = False

    async def __call__(self) -> str:
        """Do it, or take it back."""
        self.began.set()
        await self.may_go_on.wait()
        try:
            self.work.step(1, 2)
        except StoppedError:
            self.taken_back = True
            raise
        return "done"


async def test_giving_up_again_does_not_leave_before_all_is_taken_back() -> None:
    doing = Doing()
    waiting = asyncio.ensure_future(to_its_end(doing.work, doing()))
    await doing.began.wait()
    for _ in range(2):
        waiting.cancel()
        await asyncio.sleep(0)
    left_early = waiting.done()
    doing.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (left_early, doing.taken_back) == (False, True)


async def test_who_waits_on_hears_that_it_was_stopped_or_what_came_of_it() -> None:
    for stopped in (False, True):
        doing = Doing()
        doing.may_go_on.set()
        if stopped:
            doing.work.stop()
            with pytest.raises(StoppedError):
                await to_its_end(doing.work, doing())
        else:
            assert await to_its_end(doing.work, doing()) == "done"
