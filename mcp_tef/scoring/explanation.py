"""One-sentence explanation of a verdict."""

from collections import Counter
from collections.abc import Sequence

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import ExpectedCall
from mcp_tef.model.verdicts import FindingReason, Verdict, VerdictKind
from mcp_tef.scoring.call_pairing import CallPairing
from mcp_tef.scoring.confidence import HIGH
from mcp_tef.scoring.phrases import counted, figure, listed, ticked


def explain(verdict: Verdict, pairing: CallPairing, *, unreadable: bool, confidence: float | None) -> str:
    """Return one sentence: “Picked `search_files` on docs, expected `search_code`: a wrong tool …”."""
    picked = "The answer was unreadable and counts as no tool" if unreadable else f"Picked {_picked(pairing)}"
    sure = _sure(confidence)
    if verdict.right:
        return f"{picked}, as expected{_with_low(confidence)}{_of_parameters(verdict)}."
    fault = _fault(verdict.kind, pairing)
    chosen = f", chosen with {sure}" if sure and pairing.extra else f", with {sure}" if sure else ""
    return f"{picked}, expected {_expected(pairing)}{fault}{chosen}."


def repeated_arguments(calls: Sequence[ActualCall]) -> str:
    """Return a sentence on arguments that were given more than once; nothing if there are none."""
    names = list(dict.fromkeys(ticked(name) for call in calls for name in call.repeated))
    if not names:
        return ""
    noun, verb = ("argument", "was") if len(names) == 1 else ("arguments", "were")
    return f" The {noun} {listed(names)} {verb} given more than once; the last value was judged."


def _picked(pairing: CallPairing) -> str:
    calls = [*pairing.met, *pairing.extra]
    names = [f"{ticked(call.tool)}{_on(pairing.offer.server_of(call))}" for call in calls]
    return listed(_gathered(names)) or "no tool"


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
    FindingReason.HALLUCINATED: "made up",
    FindingReason.NOT_EXPECTED: "not expected",
}
