"""How long it takes to compare two batches of 20,000 runs, and to judge one of them again.

Limits: comparing in at most 1 s of this process's CPU; judging again, where every verdict changes, in at most 20 s of
it (1 ms a run); it never keeps the core's loop from other work for
longer than 50 ms, with the switch interval and the garbage collection of the window.
Run as `python -m tests.benchmarks.compare_batches`.
"""

import asyncio
import gc
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from mcp_tef.events import EventStream
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.ids import BatchId
from mcp_tef.ports import Store
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.compare import Compare
from mcp_tef.workflows.rejudge import RejudgeJob
from tests.support.workspace_files import draft, fill, run_all

CASES, REPEATS = 2_000, 10
COMPARE_S, JUDGE_S, STALL_S = 1.0, 20.0, 0.05
TICK_S = 0.002
NEVER, TURN_S = 1_000_000, 0.0002


async def two_batches(store: Store) -> tuple[BatchId, BatchId]:
    """Two finished batches of the same cases."""
    filled = await fill(store, [draft(f"case {number}") for number in range(CASES)], repeats=REPEATS)
    await run_all(store, filled.runs)
    batch, runs = await store.runs.create_batch(await store.runs.request(filled.batch.id), filled.cases)
    await run_all(store, runs)
    return filled.batch.id, batch.id


async def compared(store: Store, before: BatchId, after: BatchId) -> float:
    """Seconds of CPU for the comparison, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        await Compare(store.runs).batches(before, after)
        best = min(best, time.process_time() - start)
    return best


async def longest_stall() -> float:
    """The longest that this loop kept a short sleep waiting, until cancelled."""
    worst = 0.0
    try:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(TICK_S)
            worst = max(worst, time.perf_counter() - start - TICK_S)
    except asyncio.CancelledError:
        return worst


async def judged_again(store: Store, batch: BatchId) -> tuple[float, float]:
    """Seconds of CPU for judging a batch again after every case was edited, and the longest stall meanwhile."""
    for case in await store.cases.all():
        other = Expectation(((ExpectedCall(tool="read", server="docs"),),))
        await store.cases.update(case.id, replace(case.draft, expectation=other))
    ids = [run.id for run in await store.runs.outcomes(batch)]
    watch = asyncio.create_task(longest_stall())
    start = time.process_time()
    await RejudgeJob(store, EventStream(), ()).work(ids, "")
    seconds = time.process_time() - start
    watch.cancel()
    return seconds, await watch


async def main() -> int:
    """Print both; 1 where a limit is missed."""
    gc.set_threshold(*gc.get_threshold()[:2], NEVER)
    sys.setswitchinterval(TURN_S)
    with tempfile.TemporaryDirectory() as folder:
        store = await open_store(Path(folder) / "workspace.db")
        before, after = await two_batches(store)
        comparing = await compared(store, before, after)
        judging, stall = await judged_again(store, after)
        await store.close()
    runs = CASES * REPEATS
    print(f"comparing 2 × {runs:,} runs     {comparing:6.2f} s   (wanted: ≤ {COMPARE_S:g} s)")
    print(f"judging {runs:,} runs again    {judging:6.2f} s   (wanted: ≤ {JUDGE_S:g} s)")
    print(f"longest stall of the loop      {stall * 1000:6.0f} ms  (wanted: ≤ {STALL_S * 1000:.0f} ms)")
    return 0 if comparing <= COMPARE_S and judging <= JUDGE_S and stall <= STALL_S else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
