"""Three hands at one file, by two names of it: nothing is lost, overwritten unseen or counted twice."""

from contextlib import AsyncExitStack
from pathlib import Path

from mcp_tef.engine import Engine
from tests.support.many_hands import ManyHands

STEPS, SEED = 200, 7


async def test_many_hands_at_one_file_lose_overwrite_and_count_nothing_twice(tmp_path: Path) -> None:
    """`tests/benchmarks/many_hands.py` is the large form, with real processes."""
    path, link = tmp_path / "work.db", tmp_path / "link.db"
    async with AsyncExitStack() as stack:
        first = await Engine.open(path)
        stack.push_async_callback(first.close)
        await first.open_sample()
        link.symlink_to(path)
        others = [await Engine.open(name) for name in (link, path)]
        for engine in others:
            stack.push_async_callback(engine.close)
        hands = ManyHands([first, *others], SEED)
        hands.held = {case.id: case.draft for case in await first.cases.list()}
        await hands.play(STEPS)
        await hands.check()
        assert hands.done > 20
        assert hands.refused > 3
