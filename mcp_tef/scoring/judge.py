"""Verdict on one run: correct tools, and correct arguments."""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import Expectation
from mcp_tef.model.tools import Tool
from mcp_tef.model.verdicts import CallMatch, Classification, Verdict, VerdictKind
from mcp_tef.scoring.call_pairing import CallPairing, OfferedTools, pair_up
from mcp_tef.scoring.confidence import categorise, usable
from mcp_tef.scoring.explanation import explain, repeated_arguments


def judge(
    expectation: Expectation, tools: Sequence[Tool], calls: Sequence[ActualCall] | None, confidence: float | None = None
) -> Verdict:
    """Judge the calls of one answer against an expectation; never raises, whatever the arguments hold.

    `tools` are those that were offered; `calls` None means an answer that could not be read, which counts
    as no tool. Of several acceptable answers the one that gives the best verdict counts, the earlier where
    two are equal. The order of tools, of names in objects, and of calls (unless the expectation is ordered)
    changes nothing. A confidence that is not a number from 0 to 1 counts as none.
    """
    offer = OfferedTools(tools)
    alternatives = expectation.alternatives or ((),)
    pairings = [pair_up(wanted, calls or (), offer, expectation.ordered) for wanted in alternatives]
    verdicts = [_verdict(pairing, number) for number, pairing in enumerate(pairings)]
    best = verdicts[0] if len(verdicts) == 1 else max(verdicts, key=_merit)
    sure = usable(confidence)
    return replace(
        best,
        explanation=explain(best, pairings[best.alternative], unreadable=calls is None, confidence=sure)
        + repeated_arguments(calls or ()),
        confidence_category=categorise(best.classification, sure),
    )


def _verdict(pairing: CallPairing, alternative: int) -> Verdict:
    classification, kind = _classify(pairing)
    judged = [match for match in pairing.matches if match.expected is not None and match.actual is not None]
    return Verdict(
        classification=classification,
        kind=kind,
        explanation="",
        matches=pairing.matches,
        alternative=alternative,
        completeness=_mean([match.completeness for match in judged]),
        correctness=_mean([match.correctness for match in judged]),
        type_conformance=_all_conform(judged),
        hallucinated=tuple(sorted({name for match in judged for name in match.hallucinated})),
        parameters_ok=_parameters_ok(classification, judged),
    )


def _classify(pairing: CallPairing) -> tuple[Classification, VerdictKind]:
    if not pairing.wanted:
        if pairing.extra:
            return Classification.FP, VerdictKind.UNEXPECTED_CALL
        return Classification.TN, VerdictKind.NO_CALL_EXPECTED
    if not pairing.unmet:
        return (Classification.FP, VerdictKind.EXTRA_CALL) if pairing.extra else (Classification.TP, VerdictKind.MATCH)
    if not pairing.extra:
        return Classification.FN, VerdictKind.NO_TOOL
    invented = any(pairing.offer.invented(call) for call in pairing.extra)
    return Classification.FN, VerdictKind.INVENTED_TOOL if invented else VerdictKind.WRONG_TOOL


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None


def _all_conform(judged: Sequence[CallMatch]) -> bool | None:
    answers = {match.type_conformance for match in judged}
    if False in answers:
        return False
    return None if None in answers or not answers else True


def _parameters_ok(classification: Classification, judged: Sequence[CallMatch]) -> bool | None:
    if not judged:
        return None
    return classification is Classification.TP and not any(match.findings for match in judged)


def _merit(verdict: Verdict) -> tuple[bool, bool, bool, float, bool, float, float]:
    """Greater is better: a right choice, else one with only extra calls, else one where something was expected."""
    expected = [match for match in verdict.matches if match.expected is not None]
    met = sum(match.actual is not None for match in expected)
    return (
        verdict.right,
        verdict.kind is VerdictKind.EXTRA_CALL,
        verdict.classification is Classification.FN,
        met / len(expected) if expected else 0.0,
        verdict.parameters_ok is True,
        1.0 if verdict.correctness is None else verdict.correctness,
        0.0 if verdict.completeness is None else verdict.completeness,
    )
