"""Successive halving and the levels of gates, beside sorting and sums."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.comparison import Claim, ClaimVerdict
from mcp_tef.model.improvements import ImprovementEnd
from mcp_tef.model.trials import TrialClaims
from mcp_tef.statistics.candidate_selection import better_half, gate_level, halving_sizes, passes_gate, sealed_end
from mcp_tef.statistics.paired_evidence import evidence
from mcp_tef.statistics.trial_decision import TrialDecision, decisive_wins
from tests.benchmarks import improve_sessions


def test_the_levels_of_all_gates_add_up_to_five_in_a_hundred() -> None:
    assert gate_level(1) == pytest.approx(0.025)
    assert sum(map(gate_level, range(1, 10_000))) == pytest.approx(0.05, abs=1e-5)


def test_each_rung_has_half_of_the_candidates_of_the_one_before() -> None:
    assert [halving_sizes(count) for count in (0, 1, 2, 3, 8)] == [[], [], [2], [3, 2], [8, 4, 2]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=9))
def test_the_better_half_holds_the_best_scores_in_a_stable_order(scores: list[tuple[int, int]]) -> None:
    kept = better_half(scores)
    assert len(kept) == -(-len(scores) // 2)
    assert [scores[place] for place in kept] == sorted(scores, reverse=True)[: len(kept)]
    rest = [scores[place] for place in range(len(scores)) if place not in kept]
    assert all(scores[place] >= one for place in kept for one in rest)


@pytest.mark.parametrize("round_", [1, 2, 3])
def test_a_gate_decides_at_the_evidence_of_its_level(round_: int) -> None:
    level = gate_level(round_)
    trial = TrialDecision(range(40), rounds=1, alpha=level)
    wins = decisive_wins(20, 2 / level)
    assert evidence(wins, 20 - wins) >= 2 / level > evidence(wins - 1, 21 - wins)
    for case in range(40):
        trial.add(case, 0, case >= wins and case < 20, case < wins)
    assert trial.claims().on_these_cases.verdict is ClaimVerdict.BETTER
    stricter = TrialDecision(range(40), rounds=1, alpha=gate_level(20))
    for case in range(40):
        stricter.add(case, 0, case >= wins and case < 20, case < wins)
    assert stricter.claims().on_these_cases.verdict is ClaimVerdict.CANNOT_TELL_YET


def test_sessions_with_idle_candidates_seldom_end_in_better_and_one_that_helps_does() -> None:
    """The quick form of `tests/benchmarks/improve_sessions.py`, which holds the limits."""
    random = np.random.default_rng(3)
    rows = improve_sessions.rows()
    for row in rows:
        if row[3]:
            assert improve_sessions.ends(row, 6, random)[ImprovementEnd.BETTER] <= 1
    assert improve_sessions.ends(rows[-1], 4, random)[ImprovementEnd.BETTER] >= 2


def claims(first: ClaimVerdict, second: ClaimVerdict) -> TrialClaims:
    return TrialClaims(on_these_cases=Claim(first, ""), for_queries_like_these=Claim(second, ""), look=1)


@pytest.mark.parametrize(
    ("first", "second", "sealed", "end"),
    [
        (ClaimVerdict.BETTER, ClaimVerdict.BETTER, 20, ImprovementEnd.BETTER),
        (ClaimVerdict.BETTER, ClaimVerdict.BETTER, 19, ImprovementEnd.PROMISING),
        (ClaimVerdict.BETTER, ClaimVerdict.CANNOT_TELL_YET, 50, ImprovementEnd.PROMISING),
        (ClaimVerdict.CANNOT_TELL_YET, ClaimVerdict.NO_WORTHWHILE_CHANGE, 50, ImprovementEnd.NOT_CONFIRMED),
        (ClaimVerdict.BETTER, ClaimVerdict.WORSE, 50, ImprovementEnd.WORSE),
    ],
)
def test_the_sealed_cases_say_better_only_from_twenty_on(
    first: ClaimVerdict, second: ClaimVerdict, sealed: int, end: ImprovementEnd
) -> None:
    assert sealed_end(claims(first, second), sealed) is end
    assert passes_gate(claims(first, second)) is (first is ClaimVerdict.BETTER and second is not ClaimVerdict.WORSE)
