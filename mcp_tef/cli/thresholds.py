"""Thresholds of metrics on the command line: options, and what keeps a batch from passing them."""

from __future__ import annotations

from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mcp_tef import CaseId, InputError, RunSummary, did_you_mean
from mcp_tef.cli.arguments import Parser, add_list_option, share
from mcp_tef.cli.formatting import counted
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import BatchComparison, Metrics, Rate, ThresholdCheck

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
MOST_LOW = 5


def add_threshold_options(parser: Parser) -> None:
    """Add thresholds of metrics."""
    names = f"{', '.join(METRICS)}; without METRIC, {METRICS[0]}"
    under = f"pass if this metric is at least X, regardless of single runs: {names}"
    surely = "fail only if even the upper end of the metric's 95 %% interval is below X"
    for option, summary in (("--fail-under", under), ("--fail-if-surely-under", surely)):
        add_list_option(parser, option, "[METRIC=]X", summary, type=threshold)
    parser.set_defaults(case_pass_rate=None, baseline=None)


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
    if found is None or isinstance(found, float):
        return found, *(metrics.f1_interval or (0.0, 1.0))
    return found.value, found.low or 0.0, 1.0 if found.high is None else found.high


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


def has_thresholds(asked: Namespace) -> bool:
    """Return True if options decide what passes, in place of single runs."""
    given = (asked.fail_under, asked.fail_if_surely_under, asked.baseline)
    return any(given) or asked.case_pass_rate is not None


def _check(metrics: Metrics, name: str, least: float, *, surely: bool = False) -> ThresholdCheck:
    from mcp_tef import ThresholdCheck

    asks = "not surely under" if surely else "at least"
    return ThresholdCheck(f"{name} is {asks} {least:g}", _shortfall(metrics, name, least, surely=surely))


def threshold_checks(
    metrics: Metrics, runs: Sequence[RunSummary], asked: Namespace, comparison: BatchComparison | None = None
) -> list[ThresholdCheck]:
    """Return every threshold with its shortfall, and runs that no metric of a threshold counts; none without any."""
    if not has_thresholds(asked):
        return []
    from mcp_tef import ThresholdCheck

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
