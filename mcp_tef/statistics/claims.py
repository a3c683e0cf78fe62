"""Verdicts of a comparison with their sentences: the two claims, and if cases that must hold still do; pure.

*On these cases* is about the cases asked here: its unit is the pair of runs. *For queries like these* is about
other queries too: its unit is the family of cases, since repeats of one case are not new cases.
"""

from collections.abc import Iterator, Sequence
from math import ceil, isinf
from statistics import NormalDist

import numpy as np

from mcp_tef.model.comparison import MARGIN, Claim, ClaimVerdict, HeldCase, PassCriterion, RateDifference
from mcp_tef.model.ids import CaseId
from mcp_tef.scoring.phrases import counted
from mcp_tef.statistics.case_pairing import CaseRuns
from mcp_tef.statistics.history import Integers, Numbers
from mcp_tef.statistics.intervals import Z95, sums
from mcp_tef.statistics.paired_evidence import (
    ALPHA,
    DECISIVE,
    ClusteredDifference,
    PairedCases,
    clustered_difference,
    evidence,
    fisher,
    holm,
    paired_interval,
    sign_flip,
)

MOST_MORE = 1_000
FEWEST_FAMILIES = 6
LEADS = {
    ClaimVerdict.BETTER: "Better",
    ClaimVerdict.WORSE: "Worse",
    ClaimVerdict.NO_WORTHWHILE_CHANGE: "No worthwhile change",
    ClaimVerdict.CANNOT_TELL_YET: "Cannot tell yet",
}
NO_CASE = Claim(ClaimVerdict.CANNOT_TELL_YET, "Nothing to compare: no case was judged on both sides.")


def on_these_cases(cases: PairedCases, *, decided: bool = False, decisive: float = DECISIVE) -> Claim:
    """Return the verdict on the cases asked here: decided where the E-value for better or for worse reaches 40.

    `decided` says that it reached 40, or another bound, before, at an earlier look. A deterministic selector would
    answer the same again, so there the count itself decides.
    """
    if not len(cases):
        return NO_CASE
    if cases.deterministic:
        return _counted_claim(cases)
    wins, losses = int(cases.wins.sum()), int(cases.losses.sum())
    gap = _pair_difference(wins, losses, cases.pairs)
    verdict = _verdict(gap, decided or max(evidence(wins, losses), evidence(losses, wins)) >= decisive)
    found = f"{_wins_text(wins, losses)} in {_pairs_text(cases)}"
    match verdict:
        case ClaimVerdict.NO_WORTHWHILE_CHANGE:
            found += f", {range_text(gap)}"
        case ClaimVerdict.CANNOT_TELL_YET:
            found += f"; {_more_wins_text(wins, losses, gap, decisive)}"
    return Claim(verdict, f"{LEADS[verdict]} on these cases: {found}.")


def _counted_claim(cases: PairedCases) -> Claim:
    before, after = cases.shares
    fixed, broken = int(np.count_nonzero(after > before)), int(np.count_nonzero(after < before))
    verdict = ClaimVerdict.NO_WORTHWHILE_CHANGE
    if fixed != broken:
        verdict = ClaimVerdict.BETTER if fixed > broken else ClaimVerdict.WORSE
    found = f"{fixed or 'none'} fixed, {broken or 'none'} broken of {counted(len(cases), 'case', 'cases')}"
    return Claim(verdict, f"{LEADS[verdict]} on these cases: {found}.")


def for_queries_like_these(cases: PairedCases, level: float = ALPHA) -> Claim:
    """Return the verdict on queries like these: decided by the sign-flip test over families at a level.

    The interval beside it has the same level.
    """
    if not len(cases):
        return NO_CASE
    before, after = cases.shares
    moved = sums(after - before, cases.family)
    p = sign_flip(moved)
    found = clustered_difference(cases, Z95 if level == ALPHA else -NormalDist().inv_cdf(level / 2))
    verdict = _verdict(found.difference, p < level)
    gap = found.difference
    lead = f"{LEADS[verdict]} for queries like these: {points_text(gap.value)} points ({range_text(gap)}), "
    told = f"{lead}{size_text(cases)}."
    if verdict is ClaimVerdict.CANNOT_TELL_YET:
        told = " ".join([told, *_to_settle(cases, found, moved)])
    interval = None if gap.low is None or gap.high is None else (gap.low, gap.high)
    return Claim(verdict, told, p, interval)


def held_cases(
    wanted: Sequence[CaseId], cases: Sequence[CaseRuns], criterion: PassCriterion, *, deterministic: bool
) -> tuple[HeldCase, ...]:
    """Return if each wanted case holds, which was judged before: Fisher's one-sided test at 5 %, corrected by Holm.

    A deterministic selector would answer the same again, so there one lost pass is enough.
    """
    counts = [_passes_of(case_id, cases, criterion) for case_id in wanted]
    chances = [0.0 if deterministic else p for p in holm([fisher(*count) for count in counts])]
    return tuple(_held(*one) for one in zip(wanted, counts, chances, strict=True))


def _held(case_id: CaseId, counts: tuple[int, int, int, int], p: float) -> HeldCase:
    was, before, now, after = counts
    told = f"passed {was:,} of {before:,} before, {now:,} of {after:,} now"
    if not after:
        return HeldCase(case_id=case_id, holds=False, sentence=f"{told}: it was not judged again")
    lost = now * before < was * after
    holds = not lost or p > ALPHA
    told += "; too few runs to call it broken" if holds and lost else ""
    return HeldCase(case_id=case_id, holds=holds, sentence=told, p=p)


def _passes_of(case_id: CaseId, cases: Sequence[CaseRuns], criterion: PassCriterion) -> tuple[int, int, int, int]:
    runs = [run.judged for run in cases if (run.after or run.before)[0].case_id == case_id]
    before = [run.passed(criterion) for one in runs for run in one.before]
    after = [run.passed(criterion) for one in runs for run in one.after]
    return sum(before), len(before), sum(after), len(after)


def _verdict(gap: RateDifference, decided: bool) -> ClaimVerdict:
    """Return the verdict of a test and the interval beside it; where these disagree, it cannot tell."""
    low, high = gap.low or 0.0, gap.high or 0.0
    if not decided:
        within = low >= -MARGIN and high <= MARGIN
        return ClaimVerdict.NO_WORTHWHILE_CHANGE if within else ClaimVerdict.CANNOT_TELL_YET
    if low > 0:
        return ClaimVerdict.BETTER
    return ClaimVerdict.WORSE if high < 0 else ClaimVerdict.CANNOT_TELL_YET


def _pair_difference(wins: int, losses: int, pairs: int) -> RateDifference:
    low, high = paired_interval(wins / pairs, losses / pairs, pairs)
    return RateDifference((wins - losses) / pairs, low, high)


def _wins_text(wins: int, losses: int) -> str:
    if not wins and not losses:
        return "no difference"
    return f"{counted(wins, 'win', 'wins')}, {counted(losses, 'loss', 'losses')}"


def _more_wins_text(wins: int, losses: int, gap: RateDifference, decisive: float) -> str:
    """Return how many more wins, or losses, would decide it; of an even count, what cannot be excluded."""
    if wins == losses:
        most = max(abs(gap.low or 0.0), abs(gap.high or 0.0))
        return f"up to {100 * most:.0f} points cannot be excluded"
    ahead, behind, one, several = (wins, losses, "win", "wins") if wins > losses else (losses, wins, "loss", "losses")
    more = next((k for k in range(1, MOST_MORE) if evidence(ahead + k, behind) >= decisive), MOST_MORE)
    return f"{counted(more, f'more {one}', f'more {several}')} would decide it"


def _pairs_text(cases: PairedCases) -> str:
    """Return the number of pairs of runs, the unit of wins and losses; where each case ran once, of cases."""
    size = size_text(cases)
    return size if cases.pairs == len(cases) else f"{counted(cases.pairs, 'pair', 'pairs')} of runs ({size})"


def size_text(cases: PairedCases) -> str:
    """Return how many cases were compared, and how often each was run: `20 cases × 5 repeats`."""
    if not len(cases):
        return "no case"
    number = counted(len(cases), "case", "cases")
    if cases.families < len(cases):
        number += f" in {counted(cases.families, 'family', 'families')}"
    before, after = _range_of(cases.runs_before), _range_of(cases.runs_after)
    if before == after:
        return number if before == "1" else f"{number} × {before} repeats"
    return f"{number}, {before} against {after} repeats"


def _range_of(runs: Integers) -> str:
    low, high = int(runs.min()), int(runs.max())
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _to_settle(cases: PairedCases, found: ClusteredDifference, moved: Numbers) -> Iterator[str]:
    """Name the plan for an interval within the margin: more cases first, then more repeats.

    K cases give a half width of z √(V / K), V the variance of one case as observed; where no run differs the score
    interval is within the margin from K = z² (1 - m) / m on. With m' repeats V is B + W m / m', W the part within
    cases.
    """
    families = int(np.count_nonzero(moved))
    if 0 < families < FEWEST_FAMILIES:
        unit = ("case", "cases") if cases.families == len(cases) else ("family", "families")
        yield f"Only {families} of {counted(cases.families, *unit)} changed."
    wanted = ceil(max(Z95**2 * found.of_case / MARGIN**2, Z95**2 * (1 - MARGIN) / MARGIN))
    more = wanted - len(cases)
    if more > 0 and not isinf(found.of_case):
        cases_text = counted(_rounded_up(more), "more case", "more cases")
        yield f"About {cases_text} would settle it{_or_repeats(cases, found)}."


def _or_repeats(cases: PairedCases, found: ClusteredDifference) -> str:
    before, after = cases.shares
    again = np.minimum(cases.runs_before, cases.runs_after) > 1
    if not again.all():
        return ""
    within = float(
        (before * (1 - before) / (cases.runs_before - 1) + after * (1 - after) / (cases.runs_after - 1)).mean()
    )
    allowed = len(cases) * (MARGIN / Z95) ** 2 - max(0.0, found.of_case - within)
    if allowed <= 0 or within == 0:  # Repeats that all agree tell nothing new.
        return "; more repeats would not"
    repeats = ceil(within / allowed * float(np.minimum(cases.runs_before, cases.runs_after).mean()))
    return f", or about {_rounded_up(repeats):,} repeats of each"


def _rounded_up(number: int) -> int:
    """Round an estimate up to two significant digits."""
    step = int(10 ** max(0, len(str(number)) - 2))
    return -(-number // step) * step


def range_text(gap: RateDifference) -> str:
    """Return the interval of a difference in points of a hundred."""
    return f"{points_text(gap.low)} to {points_text(gap.high)}"


def points_text(value: float | None) -> str:
    """Return a difference in points of a hundred with its sign; only 0 reads 0."""
    points = 100 * (value or 0.0)
    digits = 1 if 0 < abs(points) < 0.95 else 0
    return "0" if not points else f"{points:+.{digits}f}".replace("-", "−")
