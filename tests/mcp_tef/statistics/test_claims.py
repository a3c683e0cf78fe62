"""The two claims of a comparison: verdicts, sentences, and how often they are false in simulated batches."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.statistics.claims import for_queries_like_these, on_these_cases
from mcp_tef.statistics.paired_evidence import DECISIVE, PairedCases, evidence
from tests.benchmarks import compare_claims
from tests.support.run_histories import compared

BETTER, WORSE = ClaimVerdict.BETTER, ClaimVerdict.WORSE
SAME, UNKNOWN = ClaimVerdict.NO_WORTHWHILE_CHANGE, ClaimVerdict.CANNOT_TELL_YET


def counted_cases(fixed: int, broken: int, same: int, repeats: int = 1) -> PairedCases:
    """Cases that turned right or wrong in every repeat, and cases that stayed right."""
    before = np.array([0] * fixed + [repeats] * (broken + same))
    after = np.array([repeats] * fixed + [0] * broken + [repeats] * same)
    runs = np.full(fixed + broken + same, repeats)
    return PairedCases(
        runs_before=runs,
        passed_before=before,
        runs_after=runs,
        passed_after=after,
        wins=np.maximum(after - before, 0),
        losses=np.maximum(before - after, 0),
        family=np.arange(len(runs)),
    )


def test_two_flipped_cases_say_something_of_these_cases_only_however_often_they_are_repeated() -> None:
    once, often = counted_cases(2, 0, 18), counted_cases(2, 0, 18, repeats=5)
    assert on_these_cases(once).verdict is UNKNOWN
    assert on_these_cases(often).verdict is BETTER
    for cases in (once, often):
        found = for_queries_like_these(cases)
        assert (found.verdict, found.p) == (UNKNOWN, 0.5)


def test_each_claim_is_a_sentence_with_its_numbers() -> None:
    cases = counted_cases(9, 0, 11, repeats=5)
    assert on_these_cases(cases).sentence == (
        "Better on these cases: 45 wins, 0 losses in 100 pairs of runs (20 cases × 5 repeats)."
    )
    assert for_queries_like_these(cases).sentence == (
        "Better for queries like these: +45 points (+22 to +66), 20 cases × 5 repeats."
    )
    assert on_these_cases(counted_cases(8, 1, 11)).sentence == (
        "Cannot tell yet on these cases: 8 wins, 1 loss in 20 cases; 3 more wins would decide it."
    )
    assert on_these_cases(counted_cases(0, 0, 40)).sentence == (
        "Cannot tell yet on these cases: no difference in 40 cases; up to 9 points cannot be excluded."
    )


def test_what_would_settle_it_is_more_cases_and_then_more_repeats() -> None:
    told = for_queries_like_these(counted_cases(0, 0, 40)).sentence
    assert told.endswith("About 33 more cases would settle it.")
    # 4 changes by one in 24 cases: a variance of 1/6, and 1.96² / 6 / 0.05² = 257 cases in all.
    told = for_queries_like_these(counted_cases(2, 2, 20)).sentence
    assert told.endswith("Only 4 of 24 cases changed. About 240 more cases would settle it.")
    random = np.random.default_rng(5)
    chance = compared(np.full(80, 0.5), np.full(80, 0.5), 5, random)
    assert "more cases would settle it, or about" in for_queries_like_these(chance).sentence
    stubborn = counted_cases(12, 6, 30, repeats=5)
    passed = stubborn.passed_after - (np.arange(48) == 47)  # one run of one case differs from its repeats
    for agreeing in (stubborn, replace(stubborn, passed_after=passed), counted_cases(0, 0, 13, repeats=2)):
        assert "more repeats would not" in for_queries_like_these(agreeing).sentence


def test_turned_around_better_is_worse() -> None:
    assert on_these_cases(counted_cases(0, 9, 20)).verdict is WORSE
    assert for_queries_like_these(counted_cases(0, 9, 20)).verdict is WORSE


def test_many_cases_without_a_change_are_no_worthwhile_change() -> None:
    cases = counted_cases(1, 1, 198)
    assert on_these_cases(cases).verdict is SAME
    assert for_queries_like_these(cases).verdict is SAME


def test_paraphrases_of_one_query_are_one_case_for_other_queries() -> None:
    cases = counted_cases(9, 0, 11)
    family = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, *range(3, 14)])
    found = for_queries_like_these(replace(cases, family=family))
    assert (for_queries_like_these(cases).verdict, found.verdict) == (BETTER, UNKNOWN)
    assert "Only 3 of 14 families changed." in found.sentence


def test_one_run_against_seventeen_is_one_case_each() -> None:
    runs, zeros = np.ones(30, dtype=np.int64), np.zeros(30, dtype=np.int64)
    cases = PairedCases(
        runs_before=runs,
        passed_before=runs,
        runs_after=runs * 17,
        passed_after=runs * 17,
        wins=zeros,
        losses=zeros,
        family=np.arange(30),
    )
    assert "30 cases, 1 against 17 repeats" in on_these_cases(cases).sentence
    assert for_queries_like_these(cases).sentence.startswith(
        "Cannot tell yet for queries like these: 0 points (−11 to +11)"
    )


@pytest.mark.parametrize(("fixed", "broken", "verdict"), [(7, 0, BETTER), (1, 0, BETTER), (3, 4, WORSE), (2, 2, SAME)])
def test_a_selector_that_always_answers_alike_is_counted(fixed: int, broken: int, verdict: ClaimVerdict) -> None:
    cases = replace(counted_cases(fixed, broken, 4), deterministic=True)
    found = on_these_cases(cases)
    assert found.verdict is verdict
    assert f"{fixed} fixed, {broken or 'none'} broken" in found.sentence


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 100))
def test_no_verdict_stands_beside_an_interval_that_denies_it(fixed: int, broken: int, same: int) -> None:
    cases = counted_cases(fixed, broken, same)
    if not len(cases):
        assert on_these_cases(cases).verdict is for_queries_like_these(cases).verdict is UNKNOWN
        return
    decided = max(evidence(fixed, broken), evidence(broken, fixed)) >= DECISIVE
    assert (on_these_cases(cases).verdict in (BETTER, WORSE)) == decided
    found = for_queries_like_these(cases)
    if found.verdict in (BETTER, WORSE):
        assert found.p is not None
        assert found.p < 0.05
        assert (found.verdict is BETTER) == (fixed > broken)


def test_neither_claim_is_made_too_often_where_nothing_changed() -> None:
    random = np.random.default_rng(7)
    for row in compare_claims.rows():
        if row.cases == 20 and row.repeats == 5:
            _, _, either = compare_claims.verdicts(row, 120, random)
            assert either <= 0.06, row.name


def test_a_gain_of_20_points_is_seen() -> None:
    random = np.random.default_rng(9)
    (row,) = [row for row in compare_claims.rows() if (row.name, row.cases) == ("+20 points, ICC 0.84", 40)]
    first, second, _ = compare_claims.verdicts(row, 100, random)
    assert first > 0.9
    assert second > 0.8
