"""Rates of run summaries in the plain way, random runs, and simulated cases with repeats that agree."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from numpy.typing import NDArray

from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.metrics import Rate
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.model.verdicts import Classification, VerdictKind
from mcp_tef.statistics.intervals import clustered_rate
from mcp_tef.statistics.paired_evidence import PairedCases


class _Numbers(dict[Any, int]):
    """A number from 1 for each value that is asked for."""

    def __missing__(self, value: Any) -> int:
        self[value] = len(self) + 1
        return self[value]


def rate_over(runs: Sequence[RunSummary], yes: Callable[[RunSummary], float]) -> Rate:
    """The rate of some runs by case, from a list of them; `yes` gives 0 to 1 for each."""
    cases = _Numbers()
    family = np.array([cases[run.case_id] for run in runs], dtype=np.int64)
    return clustered_rate(np.array([yes(run) for run in runs], dtype=np.float64), family)


def one_each(successes: float, n: int) -> Rate:
    """The rate where each run is one of another case."""
    whole = int(successes)
    values = [1.0] * whole + [successes - whole] * (successes > whole)
    return clustered_rate(np.array(values + [0.0] * (n - len(values))), np.arange(n))


def alike(one: Rate, other: Rate) -> bool:
    """Whether two rates are the same but for the last digits."""
    bounds = ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    close = (a is b or (a is not None and b is not None and math.isclose(a, b, abs_tol=1e-9)) for a, b in bounds)
    return one.n == other.n and all(close)


_TOOLS = (None, ("docs", "search"), ("wiki", "search"), ("docs", "read"), ("wiki", "find"))
_SOURCES = ("self-reported", "agreement", "logprob", "margin")
Name = tuple[str, str] | None


def judged_run(
    expected: Name, selected: Name, *, case: int = 0, batch: int = 0, model: str = "a/x", invented: bool = False
) -> RunSummary:
    """A run with the verdict that follows from one expected and one selected tool."""
    classification, kind = _outcome(expected, selected, invented)
    return RunSummary(
        id=RunId("run"),
        batch_id=BatchId(f"batch-{batch}"),
        case_id=CaseId(f"case-{case}"),
        case_name=f"Case {case}",
        query="?",
        model=model,
        repeat=0,
        status=RunStatus.COMPLETED,
        classification=classification,
        kind=kind,
        expected_server=expected[0] if expected else None,
        expected_tool=expected[1] if expected else None,
        selected_server=selected[0] if selected else None,
        selected_tool=selected[1] if selected else None,
    )


def _outcome(expected: Name, selected: Name, invented: bool) -> tuple[Classification, VerdictKind]:
    if expected is None:
        answer = (Classification.TN, VerdictKind.NO_CALL_EXPECTED), (Classification.FP, VerdictKind.UNEXPECTED_CALL)
        return answer[selected is not None]
    if expected == selected:
        return Classification.TP, VerdictKind.MATCH
    if selected is None:
        return Classification.FN, VerdictKind.NO_TOOL
    return Classification.FN, VerdictKind.INVENTED_TOOL if invented else VerdictKind.WRONG_TOOL


@st.composite
def any_run(draw: st.DrawFn) -> RunSummary:
    """A judged run of few cases, batches, models and tools; some picked a tool that nobody offered."""
    expected = draw(st.sampled_from(_TOOLS))
    invented = expected is not None and draw(st.booleans())
    selected = ("", "made_up") if invented else draw(st.sampled_from(_TOOLS))
    numbers = {"case": draw(st.integers(0, 3)), "batch": draw(st.integers(0, 1))}
    return judged_run(expected, selected, model=draw(st.sampled_from(("a/x", "b/y"))), invented=invented, **numbers)


def any_runs(most: int = 40) -> SearchStrategy[Sequence[RunSummary]]:
    """Up to so many runs."""
    return st.lists(any_run(), max_size=most)


Array = NDArray[Any]


def pass_rates(p: float, correlation: float, shape: tuple[int, ...], random: np.random.Generator) -> Array:
    """Pass rates of cases: beta with mean p, so that two runs of a case correlate so much; all p at 0."""
    if correlation == 0:
        return np.full(shape, p)
    weight = (1 - correlation) / correlation
    return random.beta(p * weight, (1 - p) * weight, shape)


def compared(before: Array, after: Array, repeats: int, random: np.random.Generator) -> PairedCases:
    """The cases of two batches, each case a family of its own, from its pass rates on both sides."""
    cases = len(before)
    first = random.random((cases, repeats)) < before[:, None]
    second = random.random((cases, repeats)) < after[:, None]
    runs = np.full(cases, repeats)
    return PairedCases(
        runs_before=runs,
        passed_before=first.sum(axis=1),
        runs_after=runs,
        passed_after=second.sum(axis=1),
        wins=(second & ~first).sum(axis=1),
        losses=(first & ~second).sum(axis=1),
        family=np.arange(cases),
    )
