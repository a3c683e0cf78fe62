"""`score`: judges recorded calls; no model, no server, no workspace."""

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from mcp_tef import (
    ReportFormat,
    RunSummary,
    ThresholdCheck,
    bounded_lines,
    json_text,
    open_regular_file,
    overview_to_json,
    write_failed,
    write_lines,
)
from mcp_tef.cli.arguments import Verbs, add_verb
from mcp_tef.cli.formatting import counted, overview_lines
from mcp_tef.cli.output_files import output_name, writable
from mcp_tef.cli.terminal import Terminal, unreachable
from mcp_tef.cli.thresholds import add_threshold_options, has_thresholds, note_missed, threshold_checks

NOT_PROMISED = "alternative"
COUNTED = ("TP", "FP", "TN", "FN", "bad")
SHAPE = """With --json: the metrics of mcp-tef metrics --json, with "lines" and "bad", the number of lines that cannot
be read. They count as failed.

Exit codes: 0 every line was judged, and every threshold is kept; 1 a line cannot be read, or a threshold is not kept.
Wrong calls alone are no failure."""


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "score", "judge recorded calls, one JSON object a line, without model or server", score, more=SHAPE
    )
    parser.add_argument("file", type=Path, metavar="IN.jsonl")
    parser.add_argument("--out", type=writable, required=True, metavar="OUT.jsonl", help="where the verdicts go")
    parser.set_defaults(reads_any_size=True)
    add_threshold_options(parser)
    parser.add_argument("--junit", type=writable, metavar="F", help="write the results as junit to F")


@dataclass(slots=True)
class _Scores:
    """Counts of the judged lines, and where metrics are wanted, a run for each."""

    keeps_runs: bool
    counts: Counter[str] = field(default_factory=Counter)
    runs: list[RunSummary] = field(default_factory=list)

    def verdicts(self, source: BinaryIO) -> Iterator[str]:
        """Judge every line in turn."""
        from mcp_tef import score_lines, scored_run

        for number, scored in enumerate(score_lines(bounded_lines(source)), start=1):
            self.counts[str(scored.result.get("classification", "bad"))] += 1
            if self.keeps_runs:
                self.runs.append(scored_run(scored, number))
            scored.result.pop(NOT_PROMISED, None)
            yield json_text(json.dumps(scored.result, ensure_ascii=False)) + "\n"


def score(arguments: Namespace, terminal: Terminal) -> int:
    """Judge every line; a line that cannot be read gets an error in its place, and the exit code 1."""
    found = _Scores(keeps_runs=terminal.json or has_thresholds(arguments) or arguments.junit is not None)
    _write(arguments, found)
    counts = found.counts
    told = ", ".join(f"{counts[name]} {name}" for name in COUNTED)
    terminal.say(f"{told} of {counted(counts.total(), 'line')}.")
    missed = _tell_metrics(found, arguments, terminal) if found.keeps_runs else False
    return 1 if counts["bad"] or missed else 0


def _write(arguments: Namespace, found: _Scores) -> None:
    try:
        source = open_regular_file(arguments.file)
    except OSError as error:
        raise unreachable(error) from error
    try:
        with source:
            write_lines(arguments.out, found.verdicts(source))
    except OSError as error:
        raise write_failed(arguments.out, error) from error


def _tell_metrics(found: _Scores, arguments: Namespace, terminal: Terminal) -> bool:
    """Tell the metrics, write the report and note each threshold that is not kept; True if there is one."""
    from mcp_tef import Results, scored_overview, write_results

    overview = scored_overview(found.runs)
    bad = found.counts["bad"]
    terminal.document(overview_to_json(overview) | {"lines": found.counts.total(), "bad": bad})
    terminal.say("", *overview_lines(overview))
    checks = threshold_checks(overview.metrics, found.runs, arguments)
    if arguments.junit:
        results = Results("Recorded calls", tuple(found.runs), overview, checks=(*_deciding(checks, bad),))
        write_results(results, {ReportFormat.JUNIT: arguments.junit})
        terminal.say(f"The results were written to {output_name(arguments.junit)} as junit.")
    return note_missed(checks, terminal)


def _deciding(checks: Sequence[ThresholdCheck], bad: int) -> Sequence[ThresholdCheck]:
    """Return what decides about the exit code, so that the report fails where the command does."""
    unread = f"{counted(bad, 'line')} cannot be read." if bad else ""
    return checks or [ThresholdCheck("Every line can be read", unread)]
