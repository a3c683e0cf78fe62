"""Decisions of trials: both claims, when a trial may stop, levels of repeated looks, and broken guards."""

from collections.abc import Sequence
from math import comb

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.model.trials import TrialClaims, TrialEnd, TrialGoal
from mcp_tef.statistics.paired_evidence import evidence
from mcp_tef.statistics.trial_decision import (
    TrialDecision,
    broken_guards,
    chance_to_decide,
    decisive_wins,
    look_level,
    more_level,
    rules_out,
    what_it_can_show,
)
from tests.benchmarks import trial_verdicts

BETTER, WORSE = ClaimVerdict.BETTER, ClaimVerdict.WORSE
UNKNOWN = ClaimVerdict.CANNOT_TELL_YET
MIRRORED = {BETTER: WORSE, WORSE: BETTER}
Round = Sequence[tuple[bool, bool]]
WON, LOST, TIED = (False, True), (True, False), (True, True)


def asked(rounds: Sequence[Round], order: Sequence[int] | None = None, **options: object) -> TrialDecision:
    """A trial in which every case of some rounds was asked, until it ended."""
    trial = TrialDecision(range(len(rounds[0])), **{"rounds": len(rounds), **options})  # type: ignore[arg-type]
    for number, outcomes in enumerate(rounds):
        for case in order or range(len(outcomes)):
            if trial.end is None:
                trial.add(case, number, *outcomes[case])
    return trial


def verdicts(claims: TrialClaims) -> tuple[ClaimVerdict, ClaimVerdict]:
    return claims.on_these_cases.verdict, claims.for_queries_like_these.verdict


def test_eight_wins_to_none_decide_and_seven_do_not() -> None:
    assert decisive_wins(8) == 8
    assert decisive_wins(7) == 8
    for pairs in range(1, 60):
        fewest = next((wins for wins in range(pairs + 1) if evidence(wins, pairs - wins) >= 40), pairs + 1)
        assert decisive_wins(pairs) == fewest
    assert verdicts(asked([[WON] * 8 + [TIED] * 2]).claims())[0] is BETTER
    assert verdicts(asked([[WON] * 7 + [TIED] * 3]).claims())[0] is UNKNOWN


def test_a_quick_trial_stops_with_the_first_claim_but_never_within_the_first_round() -> None:
    first = [WON] * 12 + [TIED] * 8
    trial = TrialDecision(range(20), rounds=5)
    for case, outcome in enumerate(first[:19]):
        trial.add(case, 0, *outcome)
        assert trial.end is None
    trial.add(19, 0, *first[19])
    assert trial.end is TrialEnd.DECIDED
    assert (trial.counts, trial.look) == ((12, 0, 8), 1)
    just = asked([[WON] * 8 + [TIED] * 12] * 5)
    assert (just.end, just.look) == (TrialEnd.DECIDED, 1)


def test_a_sure_trial_goes_on_until_the_second_claim_is_decided() -> None:
    rounds = [[WON] * 8 + [TIED] * 12] * 5
    trial = asked(rounds, goal=TrialGoal.SURE)
    assert trial.end is TrialEnd.DECIDED
    assert verdicts(trial.claims()) == (BETTER, BETTER)
    few = asked([[WON] * 4 + [TIED] * 16] * 5, goal=TrialGoal.SURE)
    assert few.end is TrialEnd.COMPLETE
    assert verdicts(few.claims()) == (BETTER, UNKNOWN)


def test_a_trial_that_cannot_be_decided_any_more_is_stopped_at_the_end_of_a_round() -> None:
    trial = asked([[WON, LOST, *[TIED] * 38]] * 5)
    assert trial.end is TrialEnd.FUTILE
    assert trial.look < 5
    assert asked([[WON, LOST, *[TIED] * 38]] * 5, goal=TrialGoal.SURE).end is TrialEnd.COMPLETE


def test_a_decision_that_was_reached_stands_when_later_pairs_weaken_the_evidence() -> None:
    rounds = [[WON] * 8 + [TIED] * 12, [LOST] * 2 + [WON] * 6 + [TIED] * 12, [TIED] * 20]
    trial = asked(rounds, goal=TrialGoal.FULL)
    assert evidence(*trial.counts[:2]) > 1
    assert trial.claims().on_these_cases.verdict is BETTER


def test_pairs_left_out_end_their_round_and_count_nowhere() -> None:
    trial = TrialDecision(range(3), rounds=2, goal=TrialGoal.FULL)
    trial.add(0, 0, *WON)
    trial.leave_out(1, 0)
    assert trial.look == 0
    trial.add(2, 0, *TIED)
    assert (trial.look, trial.left_out, trial.counts, trial.paired().pairs) == (1, 1, (1, 0, 1), 2)


def test_a_selector_that_always_answers_alike_is_asked_once_and_counted() -> None:
    trial = TrialDecision(range(20), rounds=5, deterministic=True)
    for case in range(20):
        trial.add(case, 0, *(WON if case < 3 else TIED))
    assert trial.end is TrialEnd.COMPLETE
    assert "3 fixed, none broken" in trial.claims().on_these_cases.sentence


def test_rounds_of_run_more_are_read_once_at_their_end_at_a_level_of_their_own() -> None:
    trial = TrialDecision(range(10), rounds=2, more=(2, 4, 5))
    read = []
    for number in range(5):
        for case in range(10):
            trial.add(case, number, *(WON if case < 9 else TIED))
        sentence = trial.claims().for_queries_like_these.sentence
        read.append((trial.level, sentence.partition(" Read after ")[2]))
        assert trial.end is (TrialEnd.COMPLETE if number == 4 else None)
    assert read[1] == (look_level(2), f"round 2 of 5, at {100 * look_level(2):.2g} %.")
    assert [level for level, _ in read] == [look_level(2)] * 3 + [0.005, 0.01 / 6]
    assert read[2] == read[1]


def test_a_share_of_the_false_verdicts_takes_as_much_more_evidence() -> None:
    # E(8 wins) is 57 and E(9 wins) 102, where half of 5 % takes 80.
    half = [asked([[WON] * wins + [TIED]], alpha=0.025) for wins in (8, 9)]
    assert [verdicts(trial.claims())[0] for trial in half] == [UNKNOWN, BETTER]
    assert half[0].level == look_level(1, 0.02)
    assert asked([[WON] * 3], deterministic=True, alpha=0.025).level == 0.025


def test_pairs_are_counted_by_case_over_rounds_where_both_arms_ran() -> None:
    random = np.random.default_rng(4)
    trial, told = TrialDecision([0, 0, 2, 3], rounds=4, goal=TrialGoal.FULL), dict[tuple[int, int], tuple[bool, bool]]()
    for number in range(4):
        for case in range(4):
            told[case, number] = random.random() < 0.6, random.random() < 0.4
            if case == number:
                trial.leave_out(case, number)
            else:
                trial.add(case, number, *told[case, number])
    found = trial.paired()
    runs = [[told[case, number] for number in range(4) if number != case] for case in range(4)]
    assert found.runs_before.tolist() == found.runs_after.tolist() == [3] * 4
    assert found.passed_before.tolist() == [sum(before for before, _ in some) for some in runs]
    assert found.passed_after.tolist() == [sum(after for _, after in some) for some in runs]
    assert found.wins.tolist() == [some.count(WON) for some in runs]
    assert found.losses.tolist() == [some.count(LOST) for some in runs]
    assert (found.family.tolist(), trial.left_out) == ([0, 0, 1, 2], 4)


outcomes = st.lists(st.sampled_from([WON, LOST, TIED, (False, False)]), min_size=6, max_size=14)


@settings(max_examples=40, deadline=None)
@given(outcomes, st.integers(1, 3), st.randoms(use_true_random=False))
def test_swapped_arms_mirror_the_verdicts_and_the_order_of_cases_changes_nothing(
    one: list[tuple[bool, bool]], rounds: int, random: object
) -> None:
    plain = asked([one] * rounds, goal=TrialGoal.FULL).claims()
    swapped = asked([[(after, before) for before, after in one]] * rounds, goal=TrialGoal.FULL).claims()
    assert verdicts(swapped) == tuple(MIRRORED.get(verdict, verdict) for verdict in verdicts(plain))
    order = list(range(len(one)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert verdicts(asked([one] * rounds, order, goal=TrialGoal.FULL).claims()) == verdicts(plain)


@given(st.integers(0, 60), st.integers(0, 60))
def test_one_more_win_never_lowers_the_evidence_for_better(wins: int, losses: int) -> None:
    assert evidence(wins + 1, losses) >= evidence(wins, losses)
    n = wins + losses
    by_beta = (
        2.0 ** (n + 1)
        * scipy.stats.beta(1 + wins, 1 + losses).sf(0.5)
        * np.exp(-np.log(n + 1) - np.log(float(comb(n, wins))))
    )
    assert evidence(wins, losses) == pytest.approx(float(by_beta), rel=1e-6)


def test_levels_of_planned_looks_spend_four_percent_in_all() -> None:
    assert look_level(1) == pytest.approx(0.04, abs=1e-4)
    random = np.random.default_rng(1)
    for looks in (2, 5):
        sums = np.cumsum(random.normal(size=(200_000, looks)), axis=1) / np.sqrt(np.arange(1, looks + 1))
        crossed = (np.abs(sums) > scipy.stats.norm.isf(look_level(looks) / 2)).any(axis=1).mean()
        assert crossed == pytest.approx(0.04, abs=0.002)
    # 1 / (k (k + 1)) is 1 / k less 1 / (k + 1), so the first 999 add up to all but 1 / 1,000.
    assert sum(more_level(number) for number in range(1, 1_000)) == pytest.approx(0.01 * 0.999)


def test_pococks_published_level_for_five_looks_at_five_percent() -> None:
    assert look_level(5, 0.05) == pytest.approx(0.0158, abs=1e-4)


@pytest.mark.parametrize(
    ("wins", "losses", "ties", "left"),
    [(6, 1, 13, 12), (7, 0, 0, 1), (0, 7, 2, 1), (6, 0, 1, 3), (2, 2, 0, 20), (0, 0, 0, 20)],
)
def test_the_chance_to_decide_agrees_with_its_enumeration(wins: int, losses: int, ties: int, left: int) -> None:
    exact = 0.0
    differ = scipy.stats.betabinom(left, wins + losses + 1, ties + 1)
    for different in range(left + 1):
        won = scipy.stats.betabinom(different, wins + 1, losses + 1)
        bound = decisive_wins(wins + losses + different)
        exact += differ.pmf(different) * sum(
            won.pmf(k) for k in range(different + 1) if wins + k >= bound or losses + different - k >= bound
        )
    assert chance_to_decide(wins, losses, ties, left) == pytest.approx(exact, abs=0.035)


def test_what_a_trial_can_show_is_the_bound_without_a_difference() -> None:
    assert what_it_can_show(29, 29) == "29 cases can rule out changes above 12 points."
    assert what_it_can_show(0, 0) == "No case is selected, so this trial can show nothing."
    assert what_it_can_show(1, 1).startswith("1 case can rule out")
    assert what_it_can_show(29, 1).startswith("29 cases in 1 family can rule out")
    assert what_it_can_show(40, 29) == "40 cases in 29 families can rule out changes above 12 points."
    high = scipy.stats.binomtest(0, 29).proportion_ci(method="wilson").high
    assert rules_out(29) == pytest.approx(high, abs=1e-6)


def test_a_guard_is_broken_only_by_breaks_beyond_chance() -> None:
    assert broken_guards([(6, 6, 0, 6)]) == [True]
    assert broken_guards([(6, 6, 4, 6)]) == [False]
    assert broken_guards([(6, 6, 2, 6)] * 8) == [False] * 8
    assert broken_guards([]) == []


def test_false_verdicts_stay_rare_in_a_few_simulated_trials() -> None:
    random = np.random.default_rng(7)
    for row in trial_verdicts.rows()[:4]:
        first, second, _ = trial_verdicts.shares(row, TrialGoal.QUICK, 25, random)
        assert max(share for share, false in zip((first, second), row[3], strict=True) if false) <= 0.16
    helped = trial_verdicts.shares(trial_verdicts.rows()[-1], TrialGoal.QUICK, 10, random)
    assert helped[0] >= 0.8
    assert helped[2] <= 0.45
