"""Batches on the command line: follow one to its end, report it, write its files, keep its thresholds."""

from __future__ import annotations

import asyncio
import shlex
from argparse import Namespace
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    CUT_OFF_CODE,
    GAVE_UP,
    NOT_OFFERED_CODE,
    Json,
    ReportFormat,
    RunEnded,
    RunFilter,
    RunStatus,
    RunSummary,
    error_to_json,
)
from mcp_tef.cli.arguments import DONE, FAILED, UNREACHED, Parser, share
from mcp_tef.cli.formatting import batch_line, client_lines, comparison_lines, counted, overview_lines, run_lines
from mcp_tef.cli.interruption import to_completion
from mcp_tef.cli.output_files import (
    asked_files,
    earlier_result,
    is_standard_input,
    output_name,
    writable,
    write_verdict,
)
from mcp_tef.cli.progress import Progress
from mcp_tef.cli.terminal import Terminal
from mcp_tef.cli.thresholds import add_threshold_options, note_missed, threshold_checks

if TYPE_CHECKING:
    from mcp_tef import (
        Batch,
        BatchComparison,
        ClientResult,
        Engine,
        Event,
        MetricsOverview,
        ThresholdCheck,
    )

FILES = {
    "junit": ReportFormat.JUNIT,
    "html": ReportFormat.HTML,
    "csv": ReportFormat.CSV,
    "sarif": ReportFormat.SARIF,
    "markdown": ReportFormat.MARKDOWN,
}


def add_report_options(parser: Parser) -> None:
    """Files to write, and thresholds to keep."""
    add_threshold_options(parser)
    parser.add_argument(
        "--case-pass-rate", type=share, metavar="X", help="fail if a case passes in less than X of its runs, 0 to 1"
    )
    parser.add_argument(
        "--baseline",
        type=earlier_result,
        metavar="RESULT.json",
        help="compare with what run --json printed earlier; only proven worsening fails, not single runs",
    )
    for name in (*FILES, "verdict"):
        parser.add_argument(f"--{name}", type=writable, metavar="F", help=f"write the results as {name} to F")


async def write_reports(
    engine: Engine, batch: Batch, arguments: Namespace, terminal: Terminal, checks: Sequence[ThresholdCheck] = ()
) -> None:
    """Write the files that were asked for."""
    if files := asked_files(arguments, FILES):
        from mcp_tef import RunReports

        await RunReports(engine).write_all(batch.id, files, checks=checks, case_file=_case_file(arguments))
    await write_verdict(engine, batch, arguments, terminal)
    for form, path in files.items():
        terminal.say(f"The results were written to {output_name(path)} as {form.value}.")


def _case_file(arguments: Namespace) -> Path | None:
    file: Path | None = getattr(arguments, "cases", None)
    return None if file is None or is_standard_input(file) else file


FINISHED = (RunStatus.COMPLETED, RunStatus.FAILED)


async def follow(
    engine: Engine, terminal: Terminal, start: Awaitable[Batch], asked: Namespace | None = None
) -> tuple[Batch, int]:
    """Start a batch, follow it to its end and report it; the batch, and the exit code that it means."""
    batch = await followed(engine, terminal, start, asked)
    return batch, await to_completion(report(engine, batch, terminal, asked))


async def followed(
    engine: Engine, terminal: Terminal, start: Awaitable[Batch], asked: Namespace | None = None
) -> Batch:
    """Start a batch and follow it to its end.

    An interruption stops it so that it can be resumed; what had finished is reported all the same.
    """
    progress, loading = Progress(terminal), list[asyncio.Task[object]]()

    def hear(event: Event) -> None:
        progress.hear(event)
        if isinstance(event, RunEnded) and not loading:
            # Done while further answers are under way.
            loading.append(asyncio.create_task(asyncio.to_thread(getattr, engine, "metrics")))

    stop = engine.subscribe(hear)
    starting = asyncio.ensure_future(start)
    try:
        return await engine.runs.wait((await asyncio.shield(starting)).id)
    except asyncio.CancelledError:
        batch = await starting
        await engine.runs.close()
        await _report_interrupted(engine, await engine.runs.batch(batch.id), terminal, asked)
        raise
    finally:
        stop()
        progress.end()
        await asyncio.gather(*loading)


async def report(engine: Engine, batch: Batch, terminal: Terminal, asked: Namespace | None = None) -> int:
    """Tell every run and the figures of a batch, write the files that were asked for; the exit code that it means."""
    results = await _compared(engine, await _read(engine, batch), asked)
    if terminal.json:
        terminal.document(results.document | {"conditions": await _conditions(engine, batch)})
    terminal.say(batch_line(batch))
    if batch.stopped:
        terminal.say(f"Stopped early: {batch.stopped}")
    _tell(results, terminal)
    if batch.text_calls_note:
        terminal.note(f"{batch.text_calls_note}.")
    checks = _checks(results, asked)
    if asked is not None:
        await write_reports(engine, batch, asked, terminal, checks)
    if batch.stopped and batch.stopped.startswith(GAVE_UP):
        if not getattr(asked, "stateless", False):
            terminal.note(f"Go on with: {_resume_command(engine, batch)}")
        return UNREACHED
    return _kept(results.runs, checks, terminal)


async def _report_interrupted(engine: Engine, batch: Batch, terminal: Terminal, asked: Namespace | None = None) -> None:
    """Report what finished before a signal came, and how to go on."""
    results = await _read(engine, batch)
    resume = None if getattr(asked, "stateless", False) else _resume_command(engine, batch)
    finished = tuple(run for run in results.runs if run.status in FINISHED and not run.interrupted)
    onwards = f"Go on with: {resume}" if resume else "Nothing is kept without a workspace; run it again."
    terminal.interruption.hint = f"{len(finished)} of {counted(batch.total, 'run')} finished. {onwards}"
    error = error_to_json(terminal.interruption.error)
    terminal.document(results.document | {"interrupted": True, "resume": resume, "error": error})
    if asked is not None and "fail_under" in asked:  # reports of a trial or a crowd test tell more than runs
        await write_reports(engine, batch, asked, terminal, _checks(results, asked))
    terminal.say(f"Batch {batch.id} was interrupted.", batch_line(batch))
    _tell(replace(results, runs=finished), terminal)


def _resume_command(engine: Engine, batch: Batch) -> str:
    """Return the command that runs the rest; it names the workspace unless that is the default one."""
    from mcp_tef import default_workspace

    command = f"mcp-tef runs resume {batch.id}"
    if engine.workspace == (engine.config.workspace or default_workspace()):
        return command
    return f"{command} --workspace {shlex.quote(str(engine.workspace))}"


@dataclass(frozen=True, slots=True)
class _BatchResults:
    """The runs of a batch with their metrics."""

    batch: Batch
    runs: tuple[RunSummary, ...]
    overview: MetricsOverview
    comparison: BatchComparison | None = None
    clients: tuple[ClientResult, ...] = ()

    @property
    def document(self) -> dict[str, Json]:
        """The shape that `run --json` promises."""
        from mcp_tef import client_result_to_json, comparison_to_json, overview_to_json, run_to_json

        runs = [run_to_json(run) for run in self.runs]
        metrics = overview_to_json(self.overview)
        more: dict[str, Json] = {"comparison": comparison_to_json(self.comparison)} if self.comparison else {}
        if self.clients:
            more["clients"] = [client_result_to_json(one) for one in self.clients]
        return {"batch": self.batch.id, "runs": runs, "metrics": metrics, "stopped": self.batch.stopped, **more}


async def _read(engine: Engine, batch: Batch) -> _BatchResults:
    where = RunFilter(batch_id=batch.id)
    clients = await engine.compare.clients(batch.id) if any(" via " in model for model in batch.models) else ()
    return _BatchResults(batch, await engine.runs.list(where), await engine.metrics.overview(where), clients=clients)


async def _conditions(engine: Engine, batch: Batch) -> list[Json]:
    """Return settings, address, version and date of each model."""
    from mcp_tef import RunReports

    found = await RunReports(engine).results(batch.id)
    return [found.conditions(model) for model in found.models]


async def _compared(engine: Engine, results: _BatchResults, asked: Namespace | None) -> _BatchResults:
    if asked is None or not asked.baseline:
        return results
    return replace(results, comparison=await engine.compare.with_document(asked.baseline.document, results.batch.id))


def _tell(results: _BatchResults, terminal: Terminal) -> None:
    for run in results.runs:
        terminal.say(*run_lines(run))
    terminal.say("", *overview_lines(results.overview))
    if results.comparison:
        terminal.say("", *comparison_lines(results.comparison))
    if results.clients:
        terminal.say("", *client_lines(results.clients))


def _checks(results: _BatchResults, asked: Namespace | None) -> list[ThresholdCheck]:
    """Return every threshold with its shortfall; none without any."""
    if asked is None:
        return []
    return threshold_checks(results.overview.metrics, results.runs, asked, results.comparison)


def _kept(runs: tuple[RunSummary, ...], checks: Sequence[ThresholdCheck], terminal: Terminal) -> int:
    """Return the exit code by thresholds, if any: then single misses pass, but a failed run does not."""
    if not checks:
        return verdict_code(runs)
    return max(FAILED, verdict_code(runs)) if note_missed(checks, terminal) else DONE


def verdict_code(runs: tuple[RunSummary, ...]) -> int:
    """0 when every run passed, 3 when none could be judged for want of a server or model, else 1.

    An expected tool that was not offered is a failed expectation, and an answer that was cut off came from a model.
    """
    if all(run.passes for run in runs):
        return DONE
    reached = (CUT_OFF_CODE, NOT_OFFERED_CODE)
    unreached = (run.status is RunStatus.FAILED and run.failure_code not in reached for run in runs)
    return UNREACHED if all(unreached) else FAILED
