"""Which runs of two batches are partners, and what changed between them."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.comparison import PairableRun, PairChange, PairedBy
from mcp_tef.model.ids import CaseId, RunId
from mcp_tef.model.verdicts import Classification
from mcp_tef.statistics import run_pairing as pairing
from mcp_tef.statistics.run_pairing import paired_by, pairs

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
