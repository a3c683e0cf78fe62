"""Search for a better text: split of the cases into working and sealed ones, halving, gates and the verdict; pure."""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.model.improvements import ImprovementEnd
from mcp_tef.model.trials import TrialClaims
from mcp_tef.statistics.claims import for_queries_like_these
from mcp_tef.statistics.paired_evidence import ALPHA, PairedCases

SEALED_SHARE = 0.4
NEAREST_SHARE = 0.01
LARGEST_GROUP = 0.2


def related_groups(families: Sequence[str], vectors: NDArray[np.float32]) -> list[int]:
    """Return a group for each case, numbered from 0: cases of one family, and the nearest 1 % of query pairs, share it.

    `vectors` are unit vectors of the queries. Nearer pairs are joined first. A pair is not joined where the group would
    hold more than a fifth of the cases, since a chain of near pairs could otherwise join all of them.
    """
    group = list(range(len(families)))
    first: dict[str, int] = {}
    for place, family in enumerate(families):
        if family:
            _join(group, first.setdefault(family, place), place)
    most = max(2, int(LARGEST_GROUP * len(families)))
    for a, b in nearest_pairs(vectors):
        if group.count(group[a]) + group.count(group[b]) <= most:
            _join(group, a, b)
    numbers = {one: number for number, one in enumerate(dict.fromkeys(group))}
    return [numbers[one] for one in group]


def nearest_pairs(vectors: NDArray[np.float32]) -> list[tuple[int, int]]:
    """Return the nearest 1 % of all pairs of unit vectors, the nearest first; pairs that share nothing are none."""
    rows, columns = np.triu_indices(len(vectors), 1)
    cosines = (vectors @ vectors.T)[rows, columns]
    order = np.argsort(-cosines, kind="stable")[: int(NEAREST_SHARE * len(rows))]
    return [(int(rows[at]), int(columns[at])) for at in order if cosines[at] > 0]


def _join(group: list[int], a: int, b: int) -> None:
    old, new = group[b], group[a]
    if old != new:
        group[:] = [new if one == old else one for one in group]


def sealed_places(
    groups: Sequence[int], strata: Sequence[str], seed: int, always: Collection[int] = ()
) -> frozenset[int]:
    """Return the places of the cases to seal, about 40 % of all and of each stratum; groups stay whole.

    Groups are taken in an order drawn by the seed, the largest first. Each goes where the shares of the sealed cases so
    far, of its strata and of all, stay nearest to 40 %. The groups of the places in `always` are sealed.
    """
    seen, sealed, found = Counter[str](), Counter[str](), set[int]()
    for places, fixed in _in_drawn_order(groups, seed, always):
        added = Counter([*(f"stratum {strata[place]}" for place in places), *["all"] * len(places)])
        seen.update(added)
        if fixed or _deviation(added, sealed + added, seen) < _deviation(added, sealed, seen):
            sealed.update(added)
            found.update(places)
    return frozenset(found)


def _in_drawn_order(groups: Sequence[int], seed: int, always: Collection[int]) -> list[tuple[list[int], bool]]:
    """Return the places of each group, and if it is sealed in any case: these first, then the largest."""
    members: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    drawn = np.random.default_rng(seed).permutation(len(members)).tolist()
    found = [(places, not set(places).isdisjoint(always)) for places in members.values()]
    return sorted((found[at] for at in drawn), key=lambda one: (one[1], len(one[0])), reverse=True)


def _deviation(keys: Collection[str], sealed: Counter[str], seen: Counter[str]) -> float:
    """Return how far the counts of sealed cases are from 40 % of those seen so far, as a sum of squares."""
    return sum((sealed[key] - SEALED_SHARE * seen[key]) ** 2 for key in keys)


def smallest_gain(families: int) -> float | None:
    """Return the smallest gain (0 to 1) that so many families can show for queries like these; None for none.

    The share of families that must go from failing to passing, the others unchanged, until the claim says better.
    """
    for fixed in range(1, families + 1):
        if for_queries_like_these(_fixed(fixed, families), ALPHA).verdict is ClaimVerdict.BETTER:
            return fixed / families
    return None


def _fixed(fixed: int, families: int) -> PairedCases:
    runs, none = np.ones(families, dtype=np.int64), np.zeros(families, dtype=np.int64)
    wins = (np.arange(families) < fixed).astype(np.int64)
    return PairedCases(
        runs_before=runs,
        passed_before=none,
        runs_after=runs,
        passed_after=wins,
        wins=wins,
        losses=none,
        family=np.arange(families),
    )


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
