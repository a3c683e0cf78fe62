"""Options for report files and for thresholds on the metrics of a batch."""

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp_tef import Batch, InputError, Metrics, Rate, ReportFormat
from mcp_tef.cli.arguments import Parser
from mcp_tef.cli.outputs import output_name, writable
from mcp_tef.cli.terminal import Terminal

if TYPE_CHECKING:
    from mcp_tef import Engine

FILES = {"junit": ReportFormat.JUNIT, "html": ReportFormat.HTML, "csv": ReportFormat.CSV}
METRICS = (
    "precision",
    "recall",
    "f1",
    "accuracy",
    "parameters_right",
    "parameter_accuracy",
    "completeness",
    "type_conformance",
)


def add_report_options(parser: Parser) -> None:
    """Files to write, and thresholds to keep."""
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        type=threshold,
        metavar="METRIC=X",
        help=f"pass when this metric is at least X, whatever single runs say: {', '.join(METRICS)}",
    )
    for name in FILES:
        parser.add_argument(f"--{name}", type=writable, metavar="F", help=f"write the results as {name} to F")


def threshold(text: str) -> tuple[str, float]:
    """A metric with the least that it has to be; InputError for what is no metric, or no share."""
    name, _, value = text.partition("=")
    key = name.strip().lower().replace("-", "_")
    if key not in METRICS:
        raise InputError(f"--fail-under {text}: {name} is not a metric.", hint=f"Use one of {', '.join(METRICS)}.")
    try:
        least = float(value)
    except ValueError:
        least = -1.0
    if not 0 <= least <= 1:
        raise InputError(f"--fail-under {text}: {value or 'nothing'} is not from 0 to 1.", hint=f"Write {key}=0.9.")
    return key, least


def shortfalls(metrics: Metrics, wanted: Sequence[tuple[str, float]]) -> list[str]:
    """One sentence for each threshold that is not kept."""
    return [sentence for name, least in wanted if (sentence := _shortfall(name, least, getattr(metrics, name)))]


def _shortfall(name: str, least: float, found: Rate | float | None) -> str:
    value = found.value if isinstance(found, Rate) else found
    if value is None:
        return f"{name} is not defined, and was to be at least {least:g}."
    return f"{name} is {value:.4f}, and was to be at least {least:g}." if value < least else ""


async def write_reports(engine: "Engine", batch: Batch, arguments: Namespace, terminal: Terminal) -> None:
    """Write the files that were asked for."""
    files = {form: path for name, form in FILES.items() if (path := getattr(arguments, name, None))}
    if files:
        from mcp_tef import RunReports

        await RunReports(engine).write_all(batch.id, files)
    for form, path in files.items():
        terminal.say(f"The results were written to {output_name(path)} as {form.value}.")
