"""Selection among candidate texts: successive halving, and the level of each gate; pure."""

from collections.abc import Sequence

from mcp_tef.statistics.paired_evidence import ALPHA


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
