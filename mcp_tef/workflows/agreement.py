"""Confidence from repeats: how many of the same case and model made the same choice."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from mcp_tef.model.answers import Answer, ConfidenceSource
from mcp_tef.model.cases import TestCase
from mcp_tef.model.runs import Outcome, PlannedRun
from mcp_tef.scoring.judge import judge
from mcp_tef.workflows.ingest import Kit

_Group = tuple[str, str]
_Choice = tuple[tuple[str, str], ...]


def choice(answer: Answer) -> _Choice:
    """Which tools an answer picked, in no order."""
    return tuple(sorted((call.server or "", call.tool) for call in answer.calls or ()))


class Agreement:
    """Waits for all repeats of a case and model, then gives those without a confidence their agreement (0–1)."""

    def __init__(self, runs: Sequence[PlannedRun]) -> None:
        self._left = Counter(_group(run) for run in runs)
        self._silent: defaultdict[_Group, list[Outcome]] = defaultdict(list)

    def settle(self, run: PlannedRun, case: TestCase, kit: Kit, outcome: Outcome) -> Sequence[Outcome]:
        """What is to be stored now: the outcome itself, and with the last repeat those that it completes."""
        group = _group(run)
        self._left[group] -= 1
        silent = self._silent[group]
        is_silent = outcome.answer is not None and outcome.answer.confidence is None
        if is_silent:
            silent.append(outcome)
        if self._left[group] or len(silent) < 2:
            return (outcome,)
        agreed = [_with_share(item, share, case, kit) for item, share in _shares(silent)]
        return agreed if is_silent else (outcome, *agreed)


def _group(run: PlannedRun) -> _Group:
    return (run.case_id, run.settings.label)


def _shares(outcomes: Sequence[Outcome]) -> list[tuple[Outcome, float]]:
    picked = [(outcome, choice(outcome.answer)) for outcome in outcomes if outcome.answer]
    counts = Counter(tools for _, tools in picked)
    return [(outcome, counts[tools] / len(picked)) for outcome, tools in picked]


def _with_share(outcome: Outcome, share: float, case: TestCase, kit: Kit) -> Outcome:
    if outcome.answer is None:
        return outcome
    answer = replace(outcome.answer, confidence=share, confidence_source=ConfidenceSource.AGREEMENT)
    return replace(outcome, answer=answer, verdict=judge(case.draft.expectation, kit.tools, answer.calls, share))
