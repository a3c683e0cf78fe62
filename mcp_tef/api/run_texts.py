"""Texts that tell what went wrong in a run, for terminals and reports of tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_tef.model.json import canonical
from mcp_tef.trust.names import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcp_tef.model.runs import RunDetail

_LONGEST = 500


def run_failure_text(detail: RunDetail) -> str:
    """Return query, expected and actual calls, and each reason of a run, with unprintable characters escaped."""
    return "\n".join(visible(line[:_LONGEST]) for line in _lines(detail))


def _lines(detail: RunDetail) -> Iterator[str]:
    run = detail.summary
    yield f"{run.case_name} on {run.model}"
    yield f"  query     {run.query}"
    yield from _call_lines(detail)
    if run.failure:
        yield f"  failed    {run.failure.message} {run.failure.hint}".rstrip()
    if run.explanation:
        yield f"  verdict   {run.explanation}"
    for finding in run.findings:
        yield f"            {finding.sentence}"


def _call_lines(detail: RunDetail) -> Iterator[str]:
    for number, calls in enumerate(detail.expectation.alternatives or ((),)):
        expected = _joined(_call(one.server, one.tool, one.parameters) for one in calls)
        yield f"  {'or' if number else 'expected':9} {expected}"
    answer = detail.answer
    if answer and answer.calls is not None:
        yield f"  selected  {_joined(_call(one.server, one.tool, one.arguments) for one in answer.calls)}"


def _joined(calls: Iterable[str]) -> str:
    return " + ".join(calls) or "no tool"


def _call(server: str | None, tool: str, arguments: object) -> str:
    name = f"{server}/{tool}" if server else tool
    return f"{name} {canonical(arguments)}" if arguments else name
