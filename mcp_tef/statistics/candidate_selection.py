"""Selection among candidate texts: successive halving, gates and their levels, and the last verdict; pure."""

from collections.abc import Sequence

from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.model.improvements import ImprovementEnd
from mcp_tef.model.trials import TrialClaims
from mcp_tef.statistics.paired_evidence import ALPHA

FEWEST_SEALED = 20


def gate_level(round_: int) -> float:
    """Return the level of the gate in round r, from 1: 5 % / (r (r + 1)); those of all rounds add up to 5 %."""
    return ALPHA / (round_ * (round_ + 1))


def halving_sizes(candidates: int) -> list[int]:
    """Return how many candidates each rung of successive halving asks, down to the last two.

    Source: K. Jamieson, A. Talwalkar, Non-stochastic best arm identification and hyperparameter optimization,
    Proceedings of AISTATS 51 (2016), 240-248.
    """
    sizes = []
    while candidates > 1:
        sizes.append(candidates)
        candidates = (candidates + 1) // 2
    return sizes


def better_half(scores: Sequence[tuple[float, ...]]) -> list[int]:
    """Return the places of the better half, rounded up, the best first; of equal scores the first is ahead."""
    order = sorted(range(len(scores)), key=lambda place: scores[place], reverse=True)
    return order[: (len(scores) + 1) // 2]


def passes_gate(claims: TrialClaims) -> bool:
    """Return True for a candidate that is better on the working cases, with no guard broken."""
    return claims.on_these_cases.verdict is ClaimVerdict.BETTER and not claims.worse


def sealed_end(claims: TrialClaims, sealed: int) -> ImprovementEnd:
    """Return what the claims on so many sealed cases say: better only for queries like these, and from 20 cases on."""
    if claims.worse:
        return ImprovementEnd.WORSE
    verdicts = (claims.on_these_cases.verdict, claims.for_queries_like_these.verdict)
    if verdicts[1] is ClaimVerdict.BETTER and sealed >= FEWEST_SEALED:
        return ImprovementEnd.BETTER
    return ImprovementEnd.PROMISING if ClaimVerdict.BETTER in verdicts else ImprovementEnd.NOT_CONFIRMED
