"""What `demo`, `run` and `runs` share: following a batch to its end, and telling what came of it."""

import asyncio
from argparse import Namespace
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from mcp_tef import Batch, Metrics, RunFilter, RunStatus, RunSummary
from mcp_tef.cli.progress import Progress
from mcp_tef.cli.reports import shortfalls, write_reports
from mcp_tef.cli.shapes import run_shape
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.words import batch_line, counted, metrics_lines, passed, repeats_lines, run_lines

if TYPE_CHECKING:
    from mcp_tef import Engine

PASSED, MISSED, UNREACHED = 0, 1, 3


async def follow(engine: "Engine", terminal: Terminal, start: Awaitable[Batch]) -> Batch:
    """Start a batch and stay until it has ended; on interruption say how to go on."""
    stop = engine.subscribe(Progress(terminal).hear)
    batch = await start
    try:
        return await engine.runs.wait(batch.id)
    except asyncio.CancelledError:
        terminal.note(f"Stopped. What had finished is kept; go on with: mcp-tef runs resume {batch.id}")
        raise
    finally:
        stop()


async def report(engine: "Engine", batch: Batch, terminal: Terminal, asked: Namespace | None = None) -> int:
    """Tell every run and the figures of a batch, write the files that were asked for; the exit code that it means."""
    from mcp_tef import overview_to_json

    runs = await engine.runs.list(RunFilter(batch_id=batch.id))
    overview = await engine.metrics.overview(RunFilter(batch_id=batch.id))
    terminal.document(
        {"batch": batch.id, "runs": [run_shape(run) for run in runs], "metrics": overview_to_json(overview)}
    )
    terminal.say(batch_line(batch))
    for run in runs:
        terminal.say(*run_lines(run))
    terminal.say("", *metrics_lines(overview.metrics), *repeats_lines(overview.repeats))
    if asked is None:
        return verdict_code(runs)
    await write_reports(engine, batch, asked, terminal)
    return _kept(runs, overview.metrics, asked, terminal)


def _kept(runs: tuple[RunSummary, ...], metrics: Metrics, asked: Namespace, terminal: Terminal) -> int:
    """The exit code by thresholds, where there are any: then single misses pass, but a run that failed does not."""
    if not asked.fail_under:
        return verdict_code(runs)
    missed = shortfalls(metrics, asked.fail_under)
    failed = sum(run.classification is None for run in runs)
    if failed:
        missed.append(
            f"{failed} of {counted(len(runs), 'run')} {'has' if failed == 1 else 'have'} no verdict, "
            "and no metric counts them."
        )
    for sentence in missed:
        terminal.note(f"Not passed: {sentence}")
    return max(MISSED, verdict_code(runs)) if missed else PASSED


def verdict_code(runs: tuple[RunSummary, ...]) -> int:
    """0 when every run passed, 3 when none could be judged for want of a server or model, else 1."""
    if all(passed(run) for run in runs):
        return PASSED
    return UNREACHED if all(run.status is RunStatus.FAILED for run in runs) else MISSED
