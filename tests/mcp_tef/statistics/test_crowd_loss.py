"""Decisions about losses in crowds: step-down, bracket, bands, decided sizes, and the claims of a steal test."""

from statistics import NormalDist

import numpy as np
import pytest

from mcp_tef.model.metrics import Rate
from mcp_tef.statistics.crowd_loss import CrowdDecision, lost_sentence, stolen_tools, two_way_interval
from mcp_tef.statistics.intervals import clustered_rate
from mcp_tef.statistics.paired_evidence import clustered_difference
from tests.benchmarks.crowd_loss import Row, shares

SIZES = (0, 10, 30, 60)


def decided(lost_from: int, cases: int = 60, passes: int = 1) -> CrowdDecision:
    """A selector that is always right below a size, and never from it on."""
    decision = CrowdDecision(range(cases), SIZES, passes=passes, margin=0.1)
    for crowd in range(passes):
        for size in decision.open_sizes() if crowd else range(len(SIZES)):
            for case in range(cases):
                decision.add(size, crowd, case, SIZES[size] < lost_from)
        decision.read()
    return decision


@pytest.mark.parametrize(
    ("lost_from", "bracket", "sentence"),
    [
        (5, (0, 10), "`it` is lost with at most 10 other tools."),
        (30, (10, 30), "`it` is lost between 10 and 30 other tools."),
        (60, (30, 60), "`it` is lost between 30 and 60 other tools."),
        (90, (60, None), "`it` is not lost up to 60 other tools."),
    ],
)
def test_the_bracket_is_between_the_last_size_that_holds_and_the_first_that_is_lost(
    lost_from: int, bracket: tuple[int, int | None], sentence: str
) -> None:
    decision = decided(lost_from, passes=2)
    assert decision.bracket == bracket
    assert lost_sentence("`it`", decision) == sentence
    assert decision.open_sizes() == []


def test_few_cases_cannot_tell() -> None:
    decision = decided(90, cases=5)
    assert decision.bracket == (0, None)
    assert "Cannot tell yet" in lost_sentence("`it`", decision)


def test_a_loss_below_the_margin_is_no_loss() -> None:
    decision = CrowdDecision(range(200), (0, 10), passes=1, margin=0.1)
    for case in range(200):
        decision.add(0, 0, case, True)
        decision.add(1, 0, case, case >= 12)
    decision.read()
    assert decision.lost == set()
    assert decision.difference(1).value == pytest.approx(-0.06)


def test_bands_are_wider_where_crowds_differ() -> None:
    decision = CrowdDecision(range(40), (0, 10), passes=5, margin=0.1)
    for crowd in range(5):
        for case in range(40):
            decision.add(0, crowd, case, case % 2 == crowd % 2)
            decision.add(1, crowd, case, crowd > 2)
    rate = decision.rate(1)
    assert rate.value == pytest.approx(0.4)
    assert rate.low is not None
    assert rate.low < 0.1
    same = two_way_interval(np.full((5, 40), 1.0), np.full((5, 40), 2.0))
    assert same == (0.5, 0.5)


def test_a_band_is_that_of_crowds_and_families_drawn_one_by_one() -> None:
    random = np.random.default_rng(17)
    runs = random.integers(1, 4, (10, 12)).astype(float)
    total = random.binomial(runs.astype(int), random.random((10, 1))).astype(float)
    drawn = []
    for _ in range(3_000):
        cells = np.ix_(random.integers(0, 10, 10), random.integers(0, 12, 12))
        drawn.append(total[cells].sum() / runs[cells].sum())
    assert two_way_interval(total, runs) == pytest.approx(np.quantile(drawn, (0.025, 0.975)), abs=0.03)
    runs[:, 1:] = 0
    assert two_way_interval(total, runs) is None  # some draws hold no run


def test_left_out_runs_are_in_no_share() -> None:
    decision = CrowdDecision(range(3), (0, 10), passes=1, margin=0.1)
    decision.add(1, 0, 0, None)
    decision.add(1, 0, 1, True)
    assert (decision.rate(1).value, decision.rate(1).n, decision.left_out) == (1.0, 1, 1)


def test_a_stolen_tool_is_worse_after_holm_and_above_the_margin() -> None:
    decision = CrowdDecision(range(40), (0, 3), passes=1, margin=0.05)
    for case in range(40):
        decision.add(0, 0, case, True)
        decision.add(1, 0, case, case >= 10)
    pairs = [decision.paired(range(20)), decision.paired(range(20, 40))]
    (first, p, worse), (second, _, kept) = stolen_tools(pairs, 0.05)
    assert first.value == pytest.approx(-0.5)
    assert (worse, second.value, kept) == (True, 0.0, False)
    assert p == pytest.approx(2 * 2 / 2**10)
    assert not stolen_tools(pairs, 0.6)[0][2]


def test_brackets_hold_the_true_size_and_nothing_is_called_lost_without_a_loss() -> None:
    lost, held, *_ = shares(Row(cases=40, passes=5, rate=0.9, fall=0.0), 20)
    assert (lost, held) == (0, 20)
    lost, held, *_ = shares(Row(cases=40, passes=1, rate=0.9, fall=0.5), 30)
    assert (lost >= 22, held >= 28) == (True, True)


def test_five_cases_that_fail_in_a_crowd_are_too_few_to_call_it_lost_and_six_are_enough() -> None:
    def lost(failing: int) -> set[int]:
        decision = CrowdDecision(range(8), (0, 10), passes=1, margin=0.1)
        for case in range(8):
            decision.add(0, 0, case, True)
            decision.add(1, 0, case, case >= failing)
        decision.read()
        assert (decision.difference(1).high or 0.0) < 0
        return decision.lost

    # Of the 2^n ways to give n equal losses signs, 2 are as extreme: 1 in 16, and 1 in 32.
    assert (lost(5), lost(6)) == (set(), {1})


def test_a_size_that_was_never_asked_has_no_rate_and_is_neither_lost_nor_held() -> None:
    decision = CrowdDecision(range(3), (0, 10), passes=1, margin=0.1)
    assert decision.rate(1) == Rate(None, None, None, 0)
    assert (decision.loss(1).lost, decision.loss(1).excluded) == (False, False)


def test_pairs_are_counted_over_the_runs_that_were_judged_with_and_without_strangers() -> None:
    random = np.random.default_rng(21)
    decision = CrowdDecision([0, 0, 2, 3, 4, 5], (0, 10, 30), passes=3, margin=0.1)
    told = np.array([True, False, None])[random.integers(0, 3, (3, 3, 6))]
    for (size, crowd, case), passed in np.ndenumerate(told):
        decision.add(size, crowd, case, passed)
    found = decision.paired(range(6))
    pairs = [
        [(told[0, crowd, case], told[2, crowd, case]) for crowd in range(3)
         if told[0, crowd, case] is not None and told[2, crowd, case] is not None]
        for case in range(6)
    ]  # fmt: skip
    families = [family for family, some in zip([0, 0, 2, 3, 4, 5], pairs, strict=True) if some]
    pairs = [some for some in pairs if some]
    assert found.runs_before.tolist() == found.runs_after.tolist() == list(map(len, pairs))
    assert found.passed_before.tolist() == [sum(before for before, _ in some) for some in pairs]
    assert found.passed_after.tolist() == [sum(after for _, after in some) for some in pairs]
    assert found.wins.tolist() == [some.count((False, True)) for some in pairs]
    assert found.losses.tolist() == [some.count((True, False)) for some in pairs]
    assert found.family.tolist() == [sorted(set(families)).index(family) for family in families]


def test_the_bands_of_one_crowd_are_those_of_its_families() -> None:
    decision = CrowdDecision([case // 2 for case in range(20)], (0, 10), passes=2, margin=0.1)
    passed = np.arange(20) % 3 > 0
    for case in range(20):
        decision.add(0, 0, case, case > 1)
        decision.add(1, 0, case, bool(passed[case]))
    assert decision.rate(1) == clustered_rate(passed, np.arange(20) // 2)
    assert (
        decision.difference(1)
        == clustered_difference(decision.paired(range(20)), -NormalDist().inv_cdf(0.025)).difference
    )


def test_a_loss_of_just_the_margin_is_lost_and_what_is_excluded_is_not_asked_again() -> None:
    decision = CrowdDecision(range(100), (0, 10, 30), passes=2, margin=0.25)
    for case in range(100):
        decision.add(0, 0, case, True)
        decision.add(1, 0, case, True)
        decision.add(2, 0, case, case >= 25)
    assert decision.open_sizes() == [0, 1, 2]
    decision.read()
    assert decision.loss(2).difference.value == -0.25
    assert (decision.lost, decision.bracket, decision.open_sizes()) == ({2}, (10, 30), [])


def test_a_size_that_holds_below_one_that_is_open_is_not_asked_again() -> None:
    decision = CrowdDecision(range(100), (0, 10, 30), passes=2, margin=0.25)
    for case in range(100):
        decision.add(0, 0, case, True)
        decision.add(1, 0, case, True)
        decision.add(2, 0, case, case >= 24)
    decision.read()
    assert (decision.lost, decision.bracket, decision.open_sizes()) == (set(), (10, None), [0, 2])
    assert lost_sentence("these tools", decision, plural=True).startswith(
        "Cannot tell yet if these tools are lost: a loss of 3"
    )
