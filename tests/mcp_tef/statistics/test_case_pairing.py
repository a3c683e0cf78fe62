"""Cases that two batches ran, and their pass rates on both sides."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.comparison import PairableRun, PairChange, PairedBy, PassCriterion
from mcp_tef.model.ids import CaseId, RunId
from mcp_tef.model.verdicts import Classification, RunMark
from mcp_tef.statistics.case_pairing import (
    CaseRuns,
    case_pair,
    correlation,
    paired_by,
    paired_cases,
    runs_by_case,
    share_change,
)
from mcp_tef.statistics.claims import held_cases

TP, FN, TN, FP = Classification.TP, Classification.FN, Classification.TN, Classification.FP
CALL, TOOL = PassCriterion.CORRECT_CALL, PassCriterion.CORRECT_TOOL


def run(
    name: str,
    case: str = "a",
    judged: Classification | None = TP,
    *,
    model: str = "m",
    repeat: int = 0,
    ok: bool | None = None,
    posed: str = "",
    family: str = "",
) -> PairableRun:
    return PairableRun(
        id=RunId(name),
        case_id=CaseId(case),
        model=model,
        repeat=repeat,
        mark=RunMark.of(judged, ok, unreadable=False),
        posed=posed,
        family=family,
    )


def repeats(case: str, passed: int, times: int, prefix: str) -> list[PairableRun]:
    """Runs of a case, the first of which pass."""
    return [run(f"{prefix}{case}{n}", case, TP if n < passed else FN, repeat=n) for n in range(times)]


def cases(before: Sequence[PairableRun], after: Sequence[PairableRun]) -> tuple[CaseRuns, ...]:
    return runs_by_case(before, after, paired_by(before, after))


def changes(
    before: Sequence[PairableRun], after: Sequence[PairableRun], criterion: PassCriterion = CALL
) -> list[tuple[str, PairChange]]:
    pairs = [case_pair(one, criterion) for one in cases(before, after)]
    return [(pair.case_id, pair.change) for pair in pairs]


def test_the_pass_rate_of_a_case_says_what_became_of_it() -> None:
    before = [*repeats("a", 2, 5, "b"), *repeats("b", 5, 5, "b"), *repeats("c", 3, 5, "b"), *repeats("d", 5, 5, "b")]
    after = [*repeats("a", 4, 5, "a"), *repeats("b", 4, 5, "a"), *repeats("c", 3, 5, "a"), *repeats("d", 5, 5, "a")]
    assert changes(before, after) == [
        ("a", PairChange.FIXED),
        ("b", PairChange.REGRESSED),
        ("c", PairChange.UNCHANGED_WRONG),
        ("d", PairChange.UNCHANGED_RIGHT),
    ]


def test_thirty_cases_once_against_seventeen_times_are_thirty_cases() -> None:
    names = [f"case {number}" for number in range(30)]
    before = [one for name in names for one in repeats(name, 1, 1, "b")]
    after = [one for name in names for one in repeats(name, 17, 17, "a")]
    assert changes(before, after) == [(name, PairChange.UNCHANGED_RIGHT) for name in names]
    found = paired_cases(cases(before, after), CALL)
    assert (len(found), found.families, found.pairs) == (30, 30, 30)


def test_a_case_of_one_batch_is_new_or_gone_and_one_without_verdict_cannot_be_compared() -> None:
    before, after = [run("1"), run("2", "b")], [run("3", judged=None), run("4", "c")]
    assert changes(before, after) == [
        ("a", PairChange.NOT_COMPARABLE),
        ("c", PairChange.NEW),
        ("b", PairChange.GONE),
    ]
    assert len(paired_cases(cases(before, after), CALL)) == 0


def test_wrong_values_fail_a_call_and_not_the_choice_of_a_tool() -> None:
    before, after = [run("1", ok=False)], [run("2", ok=True)]
    assert changes(before, after, CALL) == [("a", PairChange.FIXED)]
    assert changes(before, after, TOOL) == [("a", PairChange.UNCHANGED_RIGHT)]


def test_an_unreadable_answer_passes_by_neither_criterion() -> None:
    before, after = [run("1", judged=TN)], [replace(run("2"), mark=RunMark.of(TN, None, unreadable=True))]
    assert changes(before, after, CALL) == changes(before, after, TOOL) == [("a", PairChange.REGRESSED)]


def test_the_runs_to_look_at_are_those_that_differ() -> None:
    (one,) = cases(repeats("a", 4, 5, "b"), repeats("a", 2, 5, "a"))
    pair = case_pair(one, CALL)
    assert pair.shown == ("ba0", "aa2")
    assert pair.before is not None
    assert (pair.before.passed, pair.before.judged, len(pair.before.runs)) == (4, 5, 5)
    shown = [
        case_pair(cases(repeats("a", *before, "b"), repeats("a", *after, "a"))[0], CALL).shown
        for before, after in (((2, 5), (4, 5)), ((2, 5), (3, 5)), ((3, 5), (3, 5)), ((1, 1), (4, 5)), ((0, 1), (1, 5)))
    ]
    assert shown == [("ba2", "aa0"), ("ba2", "aa0"), ("ba0", "aa0"), ("ba0", "aa4"), ("ba0", "aa0")]
    assert case_pair(cases([], repeats("a", 1, 2, "a"))[0], CALL).shown == (None, "aa0")


def test_models_are_paired_apart_unless_they_differ() -> None:
    both = [run("1", model="m"), run("2", model="n", judged=FN)]
    assert paired_by(both, both) is PairedBy.CASE_AND_MODEL
    assert len(changes(both, both)) == 2
    assert paired_by(both, both[:1]) is PairedBy.CASE
    assert changes(both, [run("3", model="m")]) == [("a", PairChange.FIXED)]


def test_an_edited_case_is_told_from_one_that_was_posed_alike() -> None:
    found = cases([run("1", posed="q"), run("2", "b")], [run("3", posed="other"), run("4", "b")])
    assert [case_pair(one, CALL).posed_alike for one in found] == [False, True]


def test_paraphrases_are_one_family_with_the_cases_named_like_them() -> None:
    before = [run("1", "a", family="books"), run("2", "b", family="books"), run("3", "books")]
    found = paired_cases(cases(before, before), CALL)
    assert (len(found), found.families) == (3, 2)


def test_the_shares_are_those_of_the_runs_and_their_difference() -> None:
    before = [*repeats("a", 1, 3, "b"), *repeats("b", 2, 2, "b"), *repeats("c", 0, 5, "b")]
    after = [*repeats("a", 3, 3, "a"), *repeats("b", 1, 4, "a"), *repeats("c", 2, 5, "a")]
    found = share_change(paired_cases(cases(before, after), CALL))
    assert (found.before.value, found.after.value) == pytest.approx((3 / 10, 6 / 12))
    assert (found.before.n, found.after.n) == (10, 12)
    assert found.difference.value == pytest.approx(6 / 12 - 3 / 10)


def test_runs_of_a_case_that_agree_in_both_batches_correlate() -> None:
    before = [*repeats("a", 5, 5, "b"), *repeats("b", 0, 5, "b")]
    assert correlation(paired_cases(cases(before, before), CALL)) == 1
    assert correlation(paired_cases(cases(before[:1], before[:1]), CALL)) is None


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        ((3, 3), (0, 3), False),
        ((5, 5), (2, 5), True),
        ((1, 1), (0, 1), True),
        ((2, 5), (5, 5), True),
        ((5, 5), (0, 0), False),
    ],
)
def test_a_case_that_must_hold_is_broken_beyond_chance(
    before: tuple[int, int], after: tuple[int, int], holds: bool
) -> None:
    found = cases(repeats("a", *before, "b"), repeats("a", *after, "a"))
    (held,) = held_cases([CaseId("a")], found, CALL, deterministic=False)
    assert held.holds is holds
    assert f"passed {before[0]} of {before[1]} before" in held.sentence


def test_several_cases_that_must_hold_need_stronger_evidence_and_a_baseline_none() -> None:
    found = cases(
        [*repeats("a", 3, 3, "b"), *repeats("b", 3, 3, "b")], [*repeats("a", 0, 3, "a"), *repeats("b", 3, 3, "a")]
    )
    wanted = [CaseId("a"), CaseId("b")]
    assert [held.holds for held in held_cases(wanted, found, CALL, deterministic=False)] == [True, True]
    assert [held.holds for held in held_cases(wanted, found, CALL, deterministic=True)] == [False, True]


RUNS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from([*Classification, None]), st.integers(0, 2), st.sampled_from("mn")
    ),
    max_size=12,
)
Drawn = list[tuple[str, Classification | None, int, str]]


@given(RUNS, RUNS)
def test_every_run_is_in_exactly_one_pair(old: Drawn, new: Drawn) -> None:
    before = [run(f"b{n}", case, judged, repeat=k, model=m) for n, (case, judged, k, m) in enumerate(old)]
    after = [run(f"a{n}", case, judged, repeat=k, model=m) for n, (case, judged, k, m) in enumerate(new)]
    pairs = [case_pair(one, CALL) for one in cases(before, after)]
    sides = [(pair.before.runs if pair.before else (), pair.after.runs if pair.after else ()) for pair in pairs]
    assert sorted(run_id for one, _ in sides for run_id in one) == sorted(item.id for item in before)
    assert sorted(run_id for _, one in sides for run_id in one) == sorted(item.id for item in after)
    for pair in pairs:
        assert (pair.change is PairChange.NEW, pair.change is PairChange.GONE) == (not pair.before, not pair.after)


@given(RUNS, RUNS)
def test_wins_and_losses_are_those_of_first_runs_with_first_runs(old: Drawn, new: Drawn) -> None:
    before = [run(f"b{n}", case, judged, repeat=n) for n, (case, judged, _, _) in enumerate(old)]
    after = [run(f"a{n}", case, judged, repeat=n) for n, (case, judged, _, _) in enumerate(new)]
    found = paired_cases(cases(before, after), TOOL)
    sides = []
    for runs in (before, after):
        kept = sorted((one for one in runs if one.mark), key=lambda one: one.case_id)
        sides.append({case: [one.passed(TOOL) for one in some] for case, some in _groups(kept)})
    met = [pair for case in sides[0] if case in sides[1] for pair in zip(sides[0][case], sides[1][case], strict=False)]
    assert (found.wins.sum(), found.losses.sum()) == (met.count((False, True)), met.count((True, False)))
    assert found.pairs == len(met)


def _groups(runs: Sequence[PairableRun]) -> list[tuple[str, list[PairableRun]]]:
    return [(case, list(some)) for case, some in groupby(runs, key=lambda one: one.case_id)]
