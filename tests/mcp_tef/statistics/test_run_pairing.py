"""Pairs of the runs of two batches, and McNemar's test against scipy."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, multinomial  # type: ignore[import-untyped]  # scipy ships no types

from mcp_tef.model.comparison import ComparisonConclusion, PairableRun, PairChange, PairedBy
from mcp_tef.model.ids import CaseId, RunId
from mcp_tef.model.verdicts import Classification
from mcp_tef.statistics import run_pairing as pairing
from mcp_tef.statistics.run_pairing import difference, mcnemar, more_pairs, paired_by, paired_test, pairs

TP, FN, TN, FP = Classification.TP, Classification.FN, Classification.TN, Classification.FP


def run(
    name: str,
    case: str = "a",
    judged: Classification | None = TP,
    *,
    model: str = "m",
    repeat: int = 0,
    ok: bool | None = None,
    posed: str = "",
) -> PairableRun:
    return PairableRun(
        id=RunId(name),
        case_id=CaseId(case),
        model=model,
        repeat=repeat,
        classification=judged,
        parameters_ok=ok,
        posed=posed,
    )


def changes(before: Sequence[PairableRun], after: Sequence[PairableRun]) -> dict[tuple[str, str], PairChange]:
    found = pairs(before, after, paired_by(before, after))
    return {(pair.before or "–", pair.after or "–"): pair.change for pair in found}


def test_runs_of_the_same_case_repeat_and_model_are_partners() -> None:
    before = [run("1", repeat=0), run("2", repeat=1, judged=FN), run("3", "b", FP)]
    after = [run("4", repeat=1), run("5", repeat=0, judged=FN), run("6", "b", TN)]
    assert changes(before, after) == {
        ("2", "4"): PairChange.FIXED,
        ("1", "5"): PairChange.REGRESSED,
        ("3", "6"): PairChange.FIXED,
    }


def test_what_stays_right_or_wrong_is_unchanged_however_it_is_right_or_wrong() -> None:
    before, after = [run("1"), run("2", "b", FN)], [run("3", judged=TN), run("4", "b", FP)]
    assert list(changes(before, after).values()) == [PairChange.UNCHANGED_RIGHT, PairChange.UNCHANGED_WRONG]


def test_a_run_without_partner_is_new_or_gone_and_one_without_verdict_cannot_be_compared() -> None:
    before, after = [run("1"), run("2", "b")], [run("3", judged=None), run("4", "c")]
    assert changes(before, after) == {
        ("1", "3"): PairChange.NOT_COMPARABLE,
        ("–", "4"): PairChange.NEW,
        ("2", "–"): PairChange.GONE,
    }


def test_different_models_are_paired_by_case() -> None:
    before, after = [run("1", model="old"), run("2", "b", model="old")], [run("3", "b", model="new")]
    assert paired_by(before, after) is PairedBy.CASE
    assert changes(before, after) == {("2", "3"): PairChange.UNCHANGED_RIGHT, ("1", "–"): PairChange.GONE}


def test_further_repeats_of_a_case_are_new() -> None:
    after = [run("2"), run("3", repeat=1)]
    assert changes([run("1")], after) == {("1", "2"): PairChange.UNCHANGED_RIGHT, ("–", "3"): PairChange.NEW}


def test_parameters_are_compared_where_both_chose_the_right_tool() -> None:
    before = [run("1", ok=False), run("2", "b", ok=True), run("3", "c", FN, ok=None), run("4", "d", ok=None)]
    after = [run("5", ok=True), run("6", "b", ok=True), run("7", "c", ok=True), run("8", "d", ok=True)]
    found = pairs(before, after, PairedBy.RUN)
    assert [pair.parameters for pair in found] == [PairChange.FIXED, PairChange.UNCHANGED_RIGHT, None, None]
    test = pairing.tested(pair.parameters for pair in found)
    assert (test.n, test.fixed, test.both_right) == (2, 1, 1)


def test_an_edited_case_is_told_from_one_that_was_posed_alike() -> None:
    found = pairs([run("1", posed="q"), run("2", "b")], [run("3", posed="other"), run("4", "b")], PairedBy.RUN)
    assert [pair.posed_alike for pair in found] == [False, True]


RUNS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from([*Classification, None]), st.integers(0, 2), st.sampled_from("mn")
    ),
    max_size=12,
)


@given(RUNS, RUNS)
def test_every_run_is_in_exactly_one_pair(
    old: list[tuple[str, Classification | None, int, str]], new: list[tuple[str, Classification | None, int, str]]
) -> None:
    before = [run(f"b{n}", case, judged, repeat=k, model=m) for n, (case, judged, k, m) in enumerate(old)]
    after = [run(f"a{n}", case, judged, repeat=k, model=m) for n, (case, judged, k, m) in enumerate(new)]
    found = pairs(before, after, paired_by(before, after))
    assert sorted(pair.before for pair in found if pair.before) == sorted(item.id for item in before)
    assert [pair.after for pair in found if pair.after] == [item.id for item in after]
    assert sum(pair.change in (PairChange.NEW, PairChange.GONE) for pair in found) == sum(
        pair.before is None or pair.after is None for pair in found
    )


COUNTS = st.integers(0, 400)


@given(COUNTS, COUNTS)
def test_the_exact_test_is_the_binomial_one(fixed: int, regressed: int) -> None:
    wanted = binomtest(fixed, fixed + regressed).pvalue if fixed + regressed else 1.0
    assert mcnemar(fixed, regressed) == pytest.approx(wanted, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("fixed", "regressed"), [(20_000, 19_500), (60_000, 59_000), (100_000, 0)])
def test_it_holds_for_very_many_pairs(fixed: int, regressed: int) -> None:
    assert mcnemar(fixed, regressed) == pytest.approx(binomtest(fixed, fixed + regressed).pvalue, rel=1e-6, abs=1e-300)


@given(COUNTS, COUNTS)
def test_which_batch_comes_first_changes_no_probability(fixed: int, regressed: int) -> None:
    assert mcnemar(fixed, regressed) == mcnemar(regressed, fixed)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_interval_holds_the_difference_and_stays_within_its_bounds(a: int, b: int, c: int, d: int) -> None:
    found = difference(a + b + c + d, b, c)
    if a + b + c + d == 0:
        assert (found.value, found.low, found.high) == (None, None, None)
        return
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    assert -1 <= found.low <= found.high <= 1
    turned = difference(a + b + c + d, c, b)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))


def coverage(n: int, up: float, down: float) -> float:
    """The exact chance that the interval holds the true difference: every outcome of n pairs, weighed."""
    held = 0.0
    for fixed, regressed in product(range(n + 1), repeat=2):
        if fixed + regressed <= n:
            found = difference(n, fixed, regressed)
            assert found.low is not None
            assert found.high is not None
            if found.low <= up - down <= found.high:
                held += multinomial.pmf([fixed, regressed, n - fixed - regressed], n, [up, down, 1 - up - down])
    return float(held)


@pytest.mark.parametrize("n", [10, 25, 40])
@pytest.mark.parametrize(("up", "down"), [(0.02, 0.02), (0.1, 0.05), (0.3, 0.1), (0.25, 0.25), (0.5, 0.05)])
def test_the_interval_covers_the_true_difference_as_often_as_it_says(n: int, up: float, down: float) -> None:
    assert coverage(n, up, down) > 0.94


def power(n: int, discordant: float, share: float) -> float:
    """The exact chance that n pairs give a probability below 5 %, for a share of discordant pairs that goes one way."""
    told = 0.0
    for number in range(n + 1):
        weight = binom.pmf(number, n, discordant)
        if weight > 1e-9:
            ways = (binom.pmf(k, number, share) for k in range(number + 1) if mcnemar(k, number - k) < 0.05)
            told += weight * float(sum(ways))
    return told


@pytest.mark.parametrize(("n", "fixed", "regressed"), [(40, 5, 2), (30, 3, 0), (60, 9, 4), (20, 4, 1), (100, 7, 3)])
def test_so_many_more_pairs_would_settle_it_four_times_in_five(n: int, fixed: int, regressed: int) -> None:
    more = more_pairs(n, fixed, regressed)
    assert more is not None
    discordant = fixed + regressed
    assert 0.78 < power(n + more, discordant / n, fixed / discordant) < 0.9


def test_pairs_that_point_nowhere_are_settled_by_no_number() -> None:
    assert more_pairs(50, 4, 4) is None
    assert more_pairs(50, 0, 0) is None


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_reading_follows_the_test_and_its_direction(a: int, b: int, c: int, d: int) -> None:
    found = paired_test(a, b, c, d)
    if found.reading is ComparisonConclusion.UNDECIDED:
        assert found.p is None or found.p >= 0.05
        assert (found.more_pairs is None) == (b == c)
    else:
        assert found.p is not None
        assert found.p < 0.05
        assert (found.reading is ComparisonConclusion.BETTER) == (b > c)
        assert found.more_pairs is None
    assert (found.before.successes, found.after.successes) == (a + c, a + b)


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        ((90, 14, 3, 13), "Better: 14 fixed and 3 regressed of 120 pairs (p = 0.013)."),
        ((90, 0, 12, 3), "Worse: 0 fixed and 12 regressed of 105 pairs (p < 0.001)."),
        ((10, 0, 0, 2), "Not enough runs to tell: none of 12 pairs changed."),
        ((0, 0, 0, 0), "Nothing to compare: no run was judged on both sides."),
        (
            (9, 1, 1, 1),
            "Not enough runs to tell: 1 fixed and 1 regressed of 12 pairs (p = 1.00); nothing points either way.",
        ),
    ],
)
def test_the_reading_in_words(counts: tuple[int, int, int, int], sentence: str) -> None:
    assert paired_test(*counts).sentence == sentence


def test_what_cannot_be_told_says_about_how_many_runs_would_tell() -> None:
    found = paired_test(50, 5, 0, 10)
    assert found.sentence.startswith("Not enough runs to tell: 5 fixed and 0 regressed of 65 pairs (p = 0.062). About ")
    assert found.sentence.endswith("more paired runs would settle it.")
