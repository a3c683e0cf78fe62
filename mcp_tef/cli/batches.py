"""Batches on the command line: follow one to its end, report it, write its files, keep its thresholds."""

import asyncio
import json
import shlex
from argparse import Namespace
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef import (
    CUT_OFF_CODE,
    GAVE_UP,
    NOT_OFFERED_CODE,
    Batch,
    BatchComparison,
    CaseId,
    ClientResult,
    InputError,
    Json,
    Metrics,
    MetricsOverview,
    Rate,
    ReportFormat,
    RunFilter,
    RunStatus,
    RunSummary,
    ThresholdCheck,
    did_you_mean,
    error_to_json,
    open_regular_file,
)
from mcp_tef.cli.arguments import Parser, share
from mcp_tef.cli.formatting import batch_line, client_lines, comparison_lines, counted, overview_lines, run_lines
from mcp_tef.cli.interruption import to_completion
from mcp_tef.cli.output_files import asked_files, is_dash, is_standard_input, output_name, writable, write_verdict
from mcp_tef.cli.progress import Progress
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine

FILES = {
    "junit": ReportFormat.JUNIT,
    "html": ReportFormat.HTML,
    "csv": ReportFormat.CSV,
    "sarif": ReportFormat.SARIF,
    "markdown": ReportFormat.MARKDOWN,
}
METRICS = (
    "correct_call",
    "correct_tool",
    "precision",
    "recall",
    "f1",
    "accuracy",
    "parameter_accuracy",
    "completeness",
    "type_conformance",
)


def add_threshold_options(parser: Parser) -> None:
    """Add thresholds of metrics."""
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        type=threshold,
        metavar="[METRIC=]X",
        help=f"pass if this metric is at least X, regardless of single runs: {', '.join(METRICS)}; "
        f"without METRIC, {METRICS[0]}",
    )
    parser.add_argument(
        "--fail-if-surely-under",
        action="append",
        default=[],
        type=threshold,
        metavar="[METRIC=]X",
        help="fail only if even the upper end of the metric's 95 %% interval is below X",
    )
    parser.set_defaults(case_pass_rate=None, baseline=None)


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


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """Output of an earlier command with --json, and the file that holds it."""

    path: str
    document: Json

    def __fspath__(self) -> str:
        return self.path

    def at(self, path: str) -> "EarlierResult":
        """Read the document from another place."""
        return earlier_result(path)


def earlier_result(text: str) -> EarlierResult:
    """Read the document of a batch, but standard input only once the command starts; InputError where it holds none."""
    if is_dash(text):
        return EarlierResult(text, None)
    try:
        with open_regular_file(Path(text)) as file:
            return EarlierResult(text, json.loads(file.read()))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a JSON document"
        hint = f"Write it with: mcp-tef run … --json > {text}"
        raise InputError(f"The baseline {text} cannot be read: {reason}.", hint=hint) from error


def threshold(text: str) -> tuple[str, float]:
    """Parse `METRIC=X`, or `X` for a correct call; InputError for an unknown metric, or an X not from 0 to 1."""
    name, _, value = text.rpartition("=")
    name = name if "=" in text else METRICS[0]
    key = name.strip().lower().replace("-", "_")
    if key not in METRICS:
        hint = did_you_mean(key, METRICS, f"Use one of {', '.join(METRICS)}.")
        raise InputError(f"Threshold {text}: {name} is not a metric.", hint=hint)
    return key, share(value)


def _shortfall(metrics: Metrics, name: str, least: float, *, surely: bool = False) -> str:
    """Return why a metric is below a threshold, with its interval; for `surely`, if the interval is below it."""
    value, low, high = _with_interval(metrics, name)
    if value is None:
        return f"{name} is not defined, and was to be at least {least:g}."
    if (high if surely else value) >= least:
        return ""
    return f"{name} is {value:.4f} ({low:.2f} to {high:.2f}), and was to be at least {least:g}."


def _with_interval(metrics: Metrics, name: str) -> tuple[float | None, float, float]:
    found: Rate | float | None = getattr(metrics, name)
    if isinstance(found, Rate):
        return found.value, found.low or 0.0, 1.0 if found.high is None else found.high
    return found, *(metrics.f1_interval or (0.0, 1.0))


def _low_cases(runs: Sequence[RunSummary], least: float) -> str:
    """Return the cases that pass less often than they should, with their counts; empty without any."""
    passes = defaultdict[tuple[CaseId, str], list[bool]](list)
    names = {run.case_id: run.case_name for run in runs}
    for run in runs:
        if run.mark is not None:
            passes[run.case_id, run.model].append(run.passes)
    low = [(names[case], sum(ones), len(ones)) for (case, _), ones in passes.items() if sum(ones) < least * len(ones)]
    told = ", ".join(f"{name} ({passed} of {count})" for name, passed, count in low[:MOST_LOW])
    verb = "case passes" if len(low) == 1 else "cases pass"
    return f"{len(low)} {verb} in less than {least:g} of the runs: {told}." if low else ""


async def write_reports(
    engine: "Engine", batch: Batch, arguments: Namespace, terminal: Terminal, checks: Sequence[ThresholdCheck] = ()
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


PASSED, MISSED, UNREACHED = 0, 1, 3
MOST_LOW = 5
FINISHED = (RunStatus.COMPLETED, RunStatus.FAILED)


async def follow(
    engine: "Engine", terminal: Terminal, start: Awaitable[Batch], asked: Namespace | None = None
) -> tuple[Batch, int]:
    """Start a batch, follow it to its end and report it; the batch, and the exit code that it means."""
    batch = await followed(engine, terminal, start, asked)
    return batch, await to_completion(report(engine, batch, terminal, asked))


async def followed(
    engine: "Engine", terminal: Terminal, start: Awaitable[Batch], asked: Namespace | None = None
) -> Batch:
    """Start a batch and follow it to its end.

    An interruption stops it so that it can be resumed; what had finished is reported all the same.
    """
    progress = Progress(terminal)
    stop = engine.subscribe(progress.hear)
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


async def report(engine: "Engine", batch: Batch, terminal: Terminal, asked: Namespace | None = None) -> int:
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


async def _report_interrupted(
    engine: "Engine", batch: Batch, terminal: Terminal, asked: Namespace | None = None
) -> None:
    """Report what finished before a signal came, and how to go on."""
    results = await _read(engine, batch)
    resume = None if getattr(asked, "stateless", False) else _resume_command(engine, batch)
    finished = tuple(run for run in results.runs if run.status in FINISHED and not run.interrupted)
    onwards = f"Go on with: {resume}" if resume else "Nothing is kept without a workspace; run it again."
    terminal.interruption.hint = f"{len(finished)} of {counted(batch.total, 'run')} finished. {onwards}"
    error = error_to_json(terminal.interruption.error)
    terminal.document(results.document | {"interrupted": True, "resume": resume, "error": error})
    if asked is not None:
        await write_reports(engine, batch, asked, terminal, _checks(results, asked))
    terminal.say(f"Batch {batch.id} was interrupted.", batch_line(batch))
    _tell(replace(results, runs=finished), terminal)


def _resume_command(engine: "Engine", batch: Batch) -> str:
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


async def _read(engine: "Engine", batch: Batch) -> _BatchResults:
    where = RunFilter(batch_id=batch.id)
    clients = await engine.compare.clients(batch.id) if any(" via " in model for model in batch.models) else ()
    return _BatchResults(batch, await engine.runs.list(where), await engine.metrics.overview(where), clients=clients)


async def _conditions(engine: "Engine", batch: Batch) -> list[Json]:
    """Return settings, address, version and date of each model."""
    from mcp_tef import RunReports

    found = await RunReports(engine).results(batch.id)
    return [found.conditions(model) for model in found.models]


async def _compared(engine: "Engine", results: _BatchResults, asked: Namespace | None) -> _BatchResults:
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


def has_thresholds(asked: Namespace) -> bool:
    """Return True if options decide what passes, in place of single runs."""
    return any((asked.fail_under, asked.fail_if_surely_under, asked.baseline)) or asked.case_pass_rate is not None


def _check(metrics: Metrics, name: str, least: float, *, surely: bool = False) -> ThresholdCheck:
    asks = "not surely under" if surely else "at least"
    return ThresholdCheck(f"{name} is {asks} {least:g}", _shortfall(metrics, name, least, surely=surely))


def _checks(results: _BatchResults, asked: Namespace | None) -> list[ThresholdCheck]:
    """Return every threshold with its shortfall; none without any."""
    if asked is None:
        return []
    return threshold_checks(results.overview.metrics, results.runs, asked, results.comparison)


def threshold_checks(
    metrics: Metrics, runs: Sequence[RunSummary], asked: Namespace, comparison: BatchComparison | None = None
) -> list[ThresholdCheck]:
    """Return every threshold with its shortfall, and runs that no metric of a threshold counts; none without any."""
    if not has_thresholds(asked):
        return []
    names = {name for name, _ in (*asked.fail_under, *asked.fail_if_surely_under)}
    uncounted = " ".join(_uncounted(runs, metrics, names))
    kept = [_check(metrics, *one) for one in asked.fail_under]
    kept += [_check(metrics, *one, surely=True) for one in asked.fail_if_surely_under]
    if asked.case_pass_rate is not None:
        low = _low_cases(runs, asked.case_pass_rate)
        kept.append(ThresholdCheck(f"Every case passes in {asked.case_pass_rate:g} of its runs", low))
    if comparison:
        claim = comparison.for_queries_like_these.sentence
        kept.append(ThresholdCheck("No worse than the baseline", claim * comparison.failed))
    return [*kept, ThresholdCheck("Every run counts", uncounted)]


def note_missed(checks: Sequence[ThresholdCheck], terminal: Terminal) -> bool:
    """Note each threshold that is not kept; return True if there is one."""
    missed = [check.shortfall for check in checks if check.shortfall]
    for sentence in missed:
        terminal.note(f"Not passed: {sentence}")
    return bool(missed)


def _kept(runs: tuple[RunSummary, ...], checks: Sequence[ThresholdCheck], terminal: Terminal) -> int:
    """Return the exit code by thresholds, if any: then single misses pass, but a failed run does not."""
    if not checks:
        return verdict_code(runs)
    return max(MISSED, verdict_code(runs)) if note_missed(checks, terminal) else PASSED


def _uncounted(runs: Sequence[RunSummary], metrics: Metrics, names: set[str]) -> Iterator[str]:
    """Yield a sentence for runs that the metrics of a threshold do not count."""
    if metrics.unreadable and not names & set(METRICS[:2]):
        yield (
            f"{metrics.unreadable} of {counted(metrics.n, 'answer')} could not be read, which only {METRICS[0]} and "
            f"{METRICS[1]} count as wrong everywhere."
        )
    if failed := sum(run.classification is None for run in runs):
        verb = "has" if failed == 1 else "have"
        yield f"{failed} of {counted(len(runs), 'run')} {verb} no verdict, and no metric counts them."


def verdict_code(runs: tuple[RunSummary, ...]) -> int:
    """0 when every run passed, 3 when none could be judged for want of a server or model, else 1.

    An expected tool that was not offered is a failed expectation, and an answer that was cut off came from a model.
    """
    if all(run.passes for run in runs):
        return PASSED
    reached = (CUT_OFF_CODE, NOT_OFFERED_CODE)
    unreached = (run.status is RunStatus.FAILED and run.failure_code not in reached for run in runs)
    return UNREACHED if all(unreached) else MISSED
