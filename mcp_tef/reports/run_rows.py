"""The runs of the HTML report: each with how it came out, those that did not pass first and with the reason."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.model.verdicts import VerdictKind
from mcp_tef.reports.charts import shown
from mcp_tef.reports.page import cell
from mcp_tef.reports.results import passed

MOST_RUNS: Final = 2000
_KINDS: Final[Mapping[VerdictKind, str]] = {
    VerdictKind.MATCH: "Wrong parameters",
    VerdictKind.WRONG_TOOL: "Wrong tool",
    VerdictKind.NO_TOOL: "No tool",
    VerdictKind.INVENTED_TOOL: "Invented tool",
    VerdictKind.EXTRA_CALL: "Extra call",
    VerdictKind.UNEXPECTED_CALL: "Call not wanted",
}
_CODE: Final = re.compile("`([^`]+)`")


def runs_table(runs: Sequence[RunSummary]) -> str:
    """The first `MOST_RUNS` of the runs; the model only where there are several."""
    first = sorted(runs, key=passed)[:MOST_RUNS]
    rest = f"<p>{MOST_RUNS:,} of {len(runs):,} runs; the CSV holds all.</p>" if len(runs) > MOST_RUNS else ""
    several = len({run.model for run in runs}) > 1
    names = ("Outcome", "Query", "Expected", "Selected", *["Model"] * several)
    heads = "".join(f"<th>{name}</th>" for name in names) + '<th class="number">Confidence</th>'
    body = "".join(_run(run, several=several) for run in first)
    table = f'<table class="runs"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
    return f'{rest}<div class="wide">{table}</div>'


def _run(run: RunSummary, *, several: bool) -> str:
    mark, colour = ("✓", "good") if passed(run) else ("✗", "bad") if run.classification else ("!", "warn")
    why = f"{run.failure.message} {run.failure.hint}" if run.failure else run.explanation or ""
    more = f'<div class="dim">{_told(why)}</div>' if why and not passed(run) else ""
    confidence = "–" if run.confidence is None else f"{run.confidence:.2f}"
    texts = (run.expected or NO_TOOL_TEXT, run.selected or "–", *[run.model] * several)
    tail = "".join(f"<td>{cell(text)}</td>" for text in texts)
    return (
        f'<tr><td class="{colour}">{mark}&nbsp;{_outcome(run)}</td><td>{shown(run.query)}{more}</td>{tail}'
        f'<td class="number">{confidence}</td></tr>'
    )


def _outcome(run: RunSummary) -> str:
    if passed(run):
        return "Passed"
    if run.kind is not None:
        return _KINDS.get(run.kind, "Wrong")
    return "Failed" if run.status is RunStatus.FAILED else "Not run"


def _told(text: str) -> str:
    """A sentence of a verdict, with what stands in backticks as code."""
    return _CODE.sub(r"<code>\1</code>", shown(text))
