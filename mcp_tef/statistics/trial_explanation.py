"""Explanation of a trial's verdict: the pairs, the evidence, the looks, the margin and the guards; pure."""

from collections.abc import Iterator

from mcp_tef.model.comparison import MARGIN, PassCriterion
from mcp_tef.model.rates import percent_text
from mcp_tef.model.trials import TrialEnd, TrialResult
from mcp_tef.scoring.phrases import counted
from mcp_tef.statistics.paired_evidence import DECISIVE
from mcp_tef.statistics.trial_text import drafts_tried_text, failed_pairs_text, not_offered_text

ENDS = {
    TrialEnd.DECIDED: "it ended as soon as the claim was decided",
    TrialEnd.FUTILE: "it ended early, since more rounds were unlikely to decide it",
    TrialEnd.BUDGET: "it ended at the cost cap",
    TrialEnd.COMPLETE: "all planned rounds were asked",
    TrialEnd.CANCELLED: "it was stopped",
}


def trial_explanation(result: TrialResult, held_back: int = 0) -> tuple[tuple[str, str], ...]:
    """Return titles and sentences about the way a trial was decided; `held_back` counts its held-back cases."""
    return tuple((title, " ".join(sentences)) for title, sentences in _parts(result, held_back) if sentences)


def _parts(result: TrialResult, held_back: int) -> Iterator[tuple[str, list[str]]]:
    yield "Pairs", _pairs(result)
    yield "Evidence on these cases", _evidence(result)
    yield "Queries like these", _second_claim(result)
    yield "Repeats", _repeats(result)
    points = 100 * MARGIN
    yield "Margin", [f"A change of at most {points:.0f} points in either direction is not worthwhile."]
    yield "Cases that must not change", _guards(result)
    yield "Other outcome", [_other_outcome(result)]
    yield "Drafts and cases", _writer(result, held_back)
    yield "Calls", _calls(result)


def _pairs(result: TrialResult) -> list[str]:
    ties = result.pairs - result.wins - result.losses
    wins, losses = counted(result.wins, "win", "wins"), counted(result.losses, "loss", "losses")
    judged = result.criterion.value.replace("_", " ")
    told = [
        f"{counted(result.pairs, 'pair', 'pairs')}: {wins}, {losses}, {ties:,} without a difference.",
        f"A pair is one case in one round, asked with the original and with the draft, and judged by {judged}.",
    ]
    return [*told, *filter(None, (failed_pairs_text(result), not_offered_text(result)))]


def _evidence(result: TrialResult) -> list[str]:
    if result.evidence is None:
        return [
            "The baseline answers the same every time, so each case is asked once and the count itself decides.",
        ]
    better, worse = (_number(value) for value in result.evidence)
    return [
        f"Evidence for better {better}, for worse {worse}; {DECISIVE:.0f} decides.",
        "It may be read after every pair, from the end of the first round on.",
    ]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _second_claim(result: TrialResult) -> list[str]:
    claim = result.claims.for_queries_like_these
    told = [claim.sentence]
    if claim.p is not None:
        told.append(f"The sign-flip test over families of cases gives p = {claim.p:.2g}.")
    return told


def _repeats(result: TrialResult) -> list[str]:
    asked = [one.pairs for one in result.outcomes if one.pairs]
    if result.icc is None or not asked or result.pairs <= len(asked):
        return []
    repeats = result.pairs / len(asked)
    worth = repeats / (1 + (repeats - 1) * max(0.0, result.icc))
    return [
        f"Runs of one case agree with each other at {result.icc:.2f} (intraclass correlation).",
        f"{repeats:.1f} repeats of a case here are worth {worth:.1f}.",
    ]


def _guards(result: TrialResult) -> list[str]:
    if not result.guards:
        return ["None was asked."]
    asked = result.claims.guards
    if not asked:
        return [f"{counted(result.guards, 'case was', 'cases were')} asked, and none broke."]
    if result.evidence is None:
        return [f"{counted(result.guards, 'case was', 'cases were')} asked once; a case that is lost is broken."]
    broken = sum(one.broken for one in asked)
    return [
        f"{len(asked):,} of {result.guards:,} broke once, so both arms were asked 6 times again.",
        f"{broken or 'None'} of them broke by Fisher’s one-sided test at 5 %, corrected by Holm.",
    ]


def _other_outcome(result: TrialResult) -> str:
    other = next(one for one in PassCriterion if one is not result.criterion).value.replace("_", " ").capitalize()
    shares = [percent_text(rate.value) for rate in (result.other_shares.before, result.other_shares.after)]
    return f"{other}: {' → '.join(shares)}, without a verdict."


def _writer(result: TrialResult, held_back: int) -> list[str]:
    tried = drafts_tried_text(result) or "First draft tried on these cases."
    if held_back:
        return [tried, f"{counted(held_back, 'case was', 'cases were')} held back from the editor of drafts."]
    return [tried, "No case was held back: the writer of the draft could read all of them."]


def _calls(result: TrialResult) -> list[str]:
    end = f"; {ENDS[result.end]}" if result.end else ""
    planned = counted(result.planned_calls, "planned call", "planned calls")
    return [f"{result.calls:,} of {planned}{end}. Seed {result.seed}."]
