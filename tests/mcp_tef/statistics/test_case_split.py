"""Splits into working and sealed cases, checked by brute force and by properties over seeds."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.statistics.candidate_selection import nearest_pairs, related_groups, sealed_places, smallest_gain
from mcp_tef.statistics.claims import for_queries_like_these
from mcp_tef.statistics.paired_evidence import PairedCases


def units(count: int, seed: int, size: int = 6) -> NDArray[np.float32]:
    """Random unit vectors."""
    drawn = np.random.default_rng(seed).normal(size=(count, size)).astype(np.float32)
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_pairs_are_those_of_brute_force(seed: int) -> None:
    vectors = units(40, seed)
    cosines = {(a, b): float(vectors[a] @ vectors[b]) for a, b in itertools.combinations(range(40), 2)}
    wanted = sorted(cosines, key=lambda pair: -cosines[pair])[:7]
    assert nearest_pairs(vectors) == wanted


def test_cases_of_a_family_and_near_paraphrases_share_a_group() -> None:
    vectors = units(30, 1)
    vectors[4] = vectors[9]
    families = ["", "f", *[""] * 20, "f", *[""] * 7]
    groups = related_groups(families, vectors)
    assert groups[1] == groups[22]
    assert groups[4] == groups[9]
    assert max(Counter(groups).values()) <= 6
    assert len(related_groups([], units(0, 0))) == 0


def test_a_chain_of_near_pairs_joins_no_more_than_a_fifth_of_the_cases() -> None:
    vectors = np.ones((50, 1), dtype=np.float32)
    assert max(Counter(related_groups([""] * 50, vectors)).values()) <= 10


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("abcd")), max_size=60), st.integers(0, 99))
def test_groups_stay_whole_and_a_seed_gives_one_split(rows: list[tuple[int, str]], seed: int) -> None:
    groups, strata = [group for group, _ in rows], [stratum for _, stratum in rows]
    sealed = sealed_places(groups, strata, seed)
    assert sealed == sealed_places(groups, strata, seed)
    for group in set(groups):
        places = {place for place, one in enumerate(groups) if one == group}
        assert places <= sealed or places.isdisjoint(sealed)


@pytest.mark.parametrize("seed", range(20))
def test_about_forty_in_a_hundred_are_sealed_of_all_and_of_each_tool(seed: int) -> None:
    strata = [f"tool {place % 5}" for place in range(100)]
    sealed = sealed_places(range(100), strata, seed)
    assert abs(len(sealed) - 40) <= 3
    assert all(abs(count - 8) <= 2 for count in Counter(strata[place] for place in sealed).values())
    singles = sealed_places(range(20), [str(place) for place in range(20)], seed)
    assert abs(len(singles) - 8) <= 1


def test_other_seeds_give_other_splits_and_held_back_cases_are_always_sealed() -> None:
    splits = {sealed_places(range(30), ["a"] * 30, seed, always={3, 7}) for seed in range(10)}
    assert len(splits) > 5
    assert all({3, 7} <= one for one in splits)


@pytest.mark.parametrize("families", [1, 5, 6, 12, 20, 40, 100])
def test_the_smallest_gain_is_the_first_that_the_claim_calls_better(families: int) -> None:
    """By the closed form: 2 · 2^−k < 5 % needs k = 6 families that all gain."""
    found = smallest_gain(families)
    if families < 6:
        assert found is None
        return
    assert found is not None
    fixed = round(found * families)
    assert fixed >= 6
    wins = np.array([place < fixed for place in range(families)], dtype=np.int64)
    ones, zeros = np.ones(families, dtype=np.int64), np.zeros(families, dtype=np.int64)
    cases = PairedCases(
        runs_before=ones,
        passed_before=zeros,
        runs_after=ones,
        passed_after=wins,
        wins=wins,
        losses=zeros,
        family=np.arange(families),
    )
    assert for_queries_like_these(cases).verdict is ClaimVerdict.BETTER
