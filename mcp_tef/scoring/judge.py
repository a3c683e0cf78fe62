"""Verdict on one run: correct tools, correct arguments, what its confidence means, and one sentence; ranks of tools."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import fsum

from mcp_tef.model.answers import NAMELESS_CALL, ActualCall, RankedTool
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.model.verdicts import (
    CallMatch,
    Classification,
    ConfidenceCategory,
    FindingReason,
    RunMark,
    Verdict,
    VerdictKind,
)
from mcp_tef.scoring.call_pairing import CallPairing, OfferedTools, pair_up
from mcp_tef.scoring.phrases import counted, figure, listed, ticked

HIGH = 0.7
MOST_ACCEPTED = 4
_RIGHT = (Classification.TP, Classification.TN)


def usable(confidence: float | None) -> float | None:
    """Return the confidence where it is a number from 0 to 1; None for anything else."""
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        return None
    return float(confidence) if 0 <= confidence <= 1 else None


def categorise(mark: RunMark, confidence: float | None, *, unreadable: bool) -> ConfidenceCategory | None:
    """Return robust (high, a correct call), needs clarity (a correct call), misleading (high, none), or None.

    High is 0.7 and more. An answer that could not be read has no category.
    """
    if confidence is None or unreadable:
        return None
    if mark is RunMark.CORRECT_CALL:
        return ConfidenceCategory.ROBUST if confidence >= HIGH else ConfidenceCategory.NEEDS_CLARITY
    return ConfidenceCategory.MISLEADING if confidence >= HIGH else None


def explain(verdict: Verdict, pairings: Sequence[CallPairing], *, confidence: float | None) -> str:
    """Return one sentence: “Picked `search_files` on docs, expected `search_code`: a wrong tool …”.

    `pairings` has one entry for each accepted alternative.
    """
    pairing = pairings[verdict.alternative]
    picked = "The answer was unreadable and counts as no tool" if verdict.unreadable else f"Selected {_picked(pairing)}"
    sure = _sure(confidence)
    if verdict.classification in _RIGHT:
        as_expected = "as expected, but does not pass" if verdict.unreadable else "as expected"
        return f"{picked}, {as_expected}{_with_low(confidence)}{_of_parameters(verdict)}."
    fault = _fault(verdict.kind, pairing)
    chosen = f", selected with {sure}" if sure and pairing.extra else f", with {sure}" if sure else ""
    accepted = list(dict.fromkeys(map(_expected, (pairing, *pairings))))
    more = len(accepted) - MOST_ACCEPTED
    named = accepted if more <= 0 else [*accepted[:MOST_ACCEPTED], f"{counted(more, 'other', 'others')}"]
    return f"{picked}, expected {' or '.join(named)}{fault}{chosen}."


def repeated_arguments(calls: Sequence[ActualCall]) -> str:
    """Return a sentence on arguments that were given more than once; nothing if there are none."""
    names = list(dict.fromkeys(ticked(name) for call in calls for name in call.repeated))
    if not names:
        return ""
    noun, verb = ("argument", "was") if len(names) == 1 else ("arguments", "were")
    return f" The {noun} {listed(names)} {verb} given more than once; the last value was judged."


def _picked(pairing: CallPairing) -> str:
    calls = [*pairing.met, *pairing.extra]
    return listed(_gathered([_called(call, pairing.offer.server_of(call)) for call in calls])) or "no tool"


def _called(call: ActualCall, server: str | None) -> str:
    return call.label if call.label == NAMELESS_CALL else f"{ticked(call.tool)}{_on(server)}"


def _on(server: str | None) -> str:
    return f" on {ticked(server)[1:-1]}" if server else ""


def _expected(pairing: CallPairing) -> str:
    servers = {pairing.offer.server_of(call) for call in (*pairing.met, *pairing.extra)}
    names = [f"{ticked(call.tool)}{_on(_worth_telling(call, servers))}" for call in pairing.wanted]
    return ", then ".join(names) if pairing.ordered else listed(_gathered(names)) or "no tool"


def _worth_telling(call: ExpectedCall, picked_from: set[str | None]) -> str | None:
    return None if picked_from == {call.server} else call.server


def _gathered(names: Sequence[str]) -> list[str]:
    """Return each name once, in order of the alphabet, with how often it comes."""
    often = Counter(names)
    return [name if often[name] == 1 else f"{name} ({often[name]} times)" for name in sorted(often)]


def _fault(kind: VerdictKind, pairing: CallPairing) -> str:
    if pairing.ordered and kind is VerdictKind.WRONG_TOOL:
        return f": {len(pairing.met)} of {counted(len(pairing.wanted), 'call', 'calls')} in their place"
    unmet = counted(len(pairing.unmet), "call is", "calls are")
    extra = counted(len(pairing.extra), "call", "calls")
    several = len(pairing.wanted) > 1
    words = {
        VerdictKind.WRONG_TOOL: f": {unmet} missing, and a wrong tool was called" if several else ": a wrong tool",
        VerdictKind.INVENTED_TOOL: ": a tool that was not offered",
        VerdictKind.NO_TOOL: f": {unmet} missing" if several else "",
        VerdictKind.EXTRA_CALL: f": {extra} too many",
        VerdictKind.UNEXPECTED_CALL: f": {'an unexpected call' if len(pairing.extra) == 1 else 'unexpected calls'}",
    }
    return words.get(kind, "")


def _sure(confidence: float | None) -> str:
    if confidence is None:
        return ""
    return f"{'high' if confidence >= HIGH else 'low'} confidence ({figure(confidence)})"


def _with_low(confidence: float | None) -> str:
    return "" if confidence is None or confidence >= HIGH else f", with {_sure(confidence)}"


def _of_parameters(verdict: Verdict) -> str:
    findings = [finding for match in verdict.matches for finding in match.findings]
    if not findings:
        return ""
    often = Counter(finding.reason for finding in findings)
    told = [f"{often[reason]} {words}" for reason, words in _REASONS.items() if often[reason]]
    count, words = told[0].split(" ", 1)
    noun = "parameter" if count == "1" else "parameters"
    return f"; {listed([f'{count} {noun} {words}', *told[1:]])}"


_REASONS = {
    FindingReason.WRONG_VALUE: "with a wrong value",
    FindingReason.MISSING: "missing",
    FindingReason.WRONG_TYPE: "of a wrong type",
    FindingReason.HALLUCINATED: "hallucinated",
    FindingReason.NOT_EXPECTED: "not expected",
}


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
    unreadable = calls is None
    alternatives = expectation.alternatives or ((),)
    pairings = [pair_up(wanted, calls or (), offer, expectation.ordered) for wanted in alternatives]
    verdicts = [_verdict(pairing, number, unreadable=unreadable) for number, pairing in enumerate(pairings)]
    best = verdicts[0] if len(verdicts) == 1 else max(verdicts, key=_merit)
    sure = usable(confidence)
    return replace(
        best,
        explanation=explain(best, pairings, confidence=sure) + repeated_arguments(calls or ()),
        confidence_category=categorise(best.mark, sure, unreadable=unreadable),
    )


def _verdict(pairing: CallPairing, alternative: int, *, unreadable: bool) -> Verdict:
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
        unreadable=unreadable,
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
        verdict.classification in _RIGHT,
        verdict.kind is VerdictKind.EXTRA_CALL,
        verdict.classification is Classification.FN,
        met / len(expected) if expected else 0.0,
        verdict.parameters_ok is True,
        1.0 if verdict.correctness is None else verdict.correctness,
        0.0 if verdict.completeness is None else verdict.completeness,
    )


def rank_of_expected(
    expectation: Expectation, ranking: Sequence[RankedTool], tools: Sequence[OfferedTool]
) -> int | None:
    """Return the rank, from 1, down to which all tools of an acceptable answer are found; the best over all answers.

    None where no tool is expected, there is no ranking, or an expected tool is not in it. `tools` are those
    offered, under the names that the ranking uses.
    """
    offered = {tool.offered_name: tool.tool for tool in tools}
    ranked = [offered.get(item.offered_name) for item in ranking]
    depths = [
        _depth(calls, [(tool.server, tool.name) if tool else None for tool in ranked])
        for calls in expectation.alternatives
        if calls
    ]
    return min((depth for depth in depths if depth is not None), default=None)


def _depth(calls: Sequence[ExpectedCall], ranked: Sequence[tuple[str, str] | None]) -> int | None:
    ranks = [_rank(call, ranked) for call in calls]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if len(known) == len(ranks) else None


def _rank(call: ExpectedCall, ranked: Sequence[tuple[str, str] | None]) -> int | None:
    for rank, name in enumerate(ranked, start=1):
        if name and name[1] == call.tool and (not call.server or name[0] in (call.server, "")):
            return rank
    return None
