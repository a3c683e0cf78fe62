"""Sentences about trials: each number in them, and when each is said."""

from dataclasses import replace

import pytest

from mcp_tef.model.comparison import Claim, ClaimVerdict, PassCriterion
from mcp_tef.model.ids import CaseId
from mcp_tef.model.trials import CaseOutcome, GuardOutcome, TrialEnd, TrialResult
from mcp_tef.statistics.trial_text import (
    drafts_tried_text,
    guards_text,
    joint_sentence,
    joint_verdict,
    left_out_text,
    plan_text,
    trial_explanation,
    trial_sentences,
    unasked_reason,
    until_guards_are_asked,
    verdict_sentence,
)
from tests.support.trial_results import ended_trial

BETTER, WORSE = ClaimVerdict.BETTER, ClaimVerdict.WORSE
SAME, UNKNOWN = ClaimVerdict.NO_WORTHWHILE_CHANGE, ClaimVerdict.CANNOT_TELL_YET
TRIAL = ended_trial()


def with_claims(result: TrialResult, first: Claim, second: Claim) -> TrialResult:
    return replace(result, claims=replace(result.claims, on_these_cases=first, for_queries_like_these=second))


def outcome(broken: bool) -> GuardOutcome:
    return GuardOutcome(case_id=CaseId("g"), original=(6, 6), draft=(0, 6), broken=broken)


def explained(result: TrialResult, held_back: int = 0) -> dict[str, str]:
    return dict(trial_explanation(result, held_back))


def test_better_is_not_said_before_every_guard_was_asked() -> None:
    better = Claim(BETTER, "Better on these cases: 9 wins.")
    waiting = until_guards_are_asked(better)
    assert waiting.verdict is UNKNOWN
    assert waiting.sentence == (
        "Cannot tell yet on these cases: 9 wins. The cases that must not change are still being asked."
    )
    worse = Claim(WORSE, "Worse on these cases: 9 losses.")
    assert until_guards_are_asked(worse) == worse


def test_broken_guards_are_named_up_to_three_and_others_counted() -> None:
    assert guards_text(0, (), ()) == ""
    assert guards_text(9, (), ()) == "None of 9 cases that must not change broke."
    assert guards_text(9, (outcome(False),), ()).endswith(" broke; 1 was asked again.")
    assert guards_text(1, (), ["a"]) == "1 of 1 case that must not change broke: a."
    assert guards_text(9, (), ["a", "b", "c"]).endswith(" broke: a, b, c.")
    assert guards_text(9, (), ["a", "b", "c", "d", "e"]) == (
        "5 of 9 cases that must not change broke: a, b, c and 2 more."
    )
    assert verdict_sentence(TRIAL.claims, "") == "Cannot tell yet on these cases."
    assert verdict_sentence(TRIAL.claims, "None broke.") == "Cannot tell yet on these cases. None broke."


@pytest.mark.parametrize(("number", "nth"), [(2, "Second"), (3, "Third"), (10, "Tenth"), (11, "11th")])
def test_a_further_draft_is_counted_and_is_to_be_confirmed_unless_runs_would_be_the_same(number: int, nth: str) -> None:
    tried = replace(TRIAL, drafts_tried=number, evidence=(9.0, 0.1))
    assert drafts_tried_text(tried) == f"{nth} draft tried on these cases: confirm it with fresh runs."
    assert drafts_tried_text(replace(tried, evidence=None)) == f"{nth} draft tried on these cases."
    assert drafts_tried_text(replace(tried, evidence=None, of_prompts=True)) == f"{nth} prompt tried on these cases."
    assert drafts_tried_text(replace(tried, drafts_tried=1)) == ""


def test_the_plan_is_what_would_settle_an_open_claim() -> None:
    told = "Cannot tell yet: 0 points. About 33 more cases would settle it. Read after 2 rounds."
    open_ = with_claims(TRIAL, Claim(UNKNOWN, ""), Claim(UNKNOWN, told))
    assert plan_text(open_.claims) == "About 33 more cases would settle it."
    assert plan_text(with_claims(TRIAL, Claim(UNKNOWN, ""), Claim(SAME, told)).claims) == ""


def test_a_trial_is_told_in_order_and_failed_pairs_are_counted_without_those_that_were_not_asked() -> None:
    failed = replace(TRIAL, sentence="Better.", left_out=3, not_offered=2, drafts_tried=2)
    assert trial_sentences(failed) == (
        "Better.",
        "Cannot tell yet for others.",
        "1 pair was left out, since a run failed twice.",
        "Second draft tried on these cases.",
    )
    assert left_out_text(TRIAL) == ""
    assert left_out_text(replace(TRIAL, left_out=40)).endswith("failed twice.")
    assert left_out_text(replace(TRIAL, left_out=41)).endswith("failed twice. Check the model, and try again.")


def test_cases_whose_tool_is_not_offered_are_named_with_what_to_do() -> None:
    fix = "correct the case, or add the tool."
    one = replace(TRIAL, left_out=1, not_offered=1, missing_tools={"a": "search"})
    two = replace(TRIAL, left_out=2, not_offered=2, missing_tools={"a": "search", "b": "read"})
    assert left_out_text(one) == f"“a” was not asked, since search is not offered: {fix}"
    assert left_out_text(two) == f"“a” and “b” were not asked, since search and read are not offered: {fix}"
    assert left_out_text(replace(one, missing_tools={"a": "", "b": ""})) == (
        f"“a” and “b” were not asked, since the expected tool is not offered: {fix}"
    )
    assert unasked_reason(one, "a") == f"search is not offered: {fix}"
    assert unasked_reason(replace(one, missing_tools={"a": ""}), "a") == f"An expected tool is not offered: {fix}"
    assert unasked_reason(one, "b") == ""


def judged(verdict: ClaimVerdict, evidence: tuple[float, float] | None) -> TrialResult:
    return replace(with_claims(TRIAL, Claim(verdict, ""), Claim(UNKNOWN, "")), evidence=evidence)


def test_several_models_are_one_verdict_corrected_for_their_number() -> None:
    # 2 / 50 = 0.04 alone stays; of two models the smaller chance counts twice, 0.08.
    just, sure, open_ = judged(BETTER, (50.0, 0.1)), judged(WORSE, (0.1, 400.0)), judged(UNKNOWN, (1.0, 0.5))
    assert joint_sentence([just]) == "Better on 1 of 1 model, worse on none."
    assert joint_sentence([just, sure]) == "Better on 1 of 2 models, worse on 1."
    assert joint_sentence([just, open_]) == (
        "Better on 1 of 2 models, worse on none; corrected for 2 models: better on none, worse on none."
    )
    assert joint_sentence([judged(BETTER, None), open_]) == "Better on 1 of 2 models, worse on none."
    assert [joint_verdict(some) for some in ([just, sure], [just, open_], [open_], [judged(SAME, None)])] == [
        WORSE,
        BETTER,
        UNKNOWN,
        SAME,
    ]


def test_the_explanation_has_the_pairs_the_evidence_and_the_end() -> None:
    told = explained(replace(TRIAL, evidence=(1234.4, 0.0123), planned_calls=1200, end=TrialEnd.BUDGET, left_out=1))
    assert told["Pairs"] == (
        "40 pairs: 5 wins, 1 loss, 34 without a difference. A pair is one case in one round, asked with the original "
        "and with the draft, and judged by correct call. 1 pair was left out, since a run failed twice."
    )
    assert told["Evidence on these cases"] == (
        "Evidence for better 1,234, for worse 0.012; 40 decides. "
        "It may be read after every pair, from the end of the first round on."
    )
    assert "for better 10, for worse 9.9" in explained(replace(TRIAL, evidence=(10.0, 9.9)))["Evidence on these cases"]
    assert explained(TRIAL)["Evidence on these cases"].startswith("The baseline answers the same every time")
    assert told["Margin"].startswith("A change of at most 5 points")
    assert told["Calls"] == "80 of 1,200 planned calls; it ended at the cost cap. Seed 1."
    assert explained(replace(TRIAL, end=None))["Calls"] == "80 of 80 planned calls. Seed 1."


def test_the_second_claim_has_its_probability_where_there_is_one() -> None:
    assert explained(TRIAL)["Queries like these"] == "Cannot tell yet for others."
    found = with_claims(TRIAL, Claim(UNKNOWN, ""), Claim(UNKNOWN, "Cannot tell.", p=0.0625))
    assert explained(found)["Queries like these"].endswith(" over families of cases gives p = 0.062.")


def test_repeats_are_worth_what_their_correlation_leaves() -> None:
    cases = tuple(CaseOutcome(CaseId(f"c{number}"), pairs, 1, 1) for number, pairs in enumerate((5, 5, 0)))
    asked = replace(TRIAL, pairs=10, outcomes=cases, icc=0.5)
    # 5 repeats at 0.5: 5 / (1 + 4 · 0.5).
    assert explained(asked)["Repeats"] == (
        "Runs of one case agree with each other at 0.50 (intraclass correlation). "
        "5.0 repeats of a case here are worth 1.7."
    )
    assert explained(replace(asked, icc=-0.2))["Repeats"].endswith("5.0 repeats of a case here are worth 5.0.")
    for silent in (replace(asked, icc=None), replace(asked, outcomes=()), replace(asked, pairs=2)):
        assert "Repeats" not in explained(silent)


def test_guards_are_explained_by_how_often_they_were_asked() -> None:
    title = "Cases that must not change"
    guarded = replace(TRIAL, guards=7, evidence=(1.0, 1.0))
    assert explained(TRIAL)[title] == "None was asked."
    assert explained(guarded)[title] == "7 cases were asked, and none broke."
    broken = replace(guarded, claims=replace(TRIAL.claims, guards=(outcome(True), outcome(False))))
    assert explained(broken)[title] == (
        "2 of 7 broke once, so both arms were asked 6 times again. "
        "1 of them broke by Fisher’s one-sided test at 5 %, corrected by Holm."
    )
    held = replace(guarded, claims=replace(TRIAL.claims, guards=(outcome(False),)))
    assert "None of them broke" in explained(held)[title]
    assert explained(replace(broken, evidence=None))[title] == "7 cases were asked once; a case that is lost is broken."


def test_the_other_outcome_and_what_the_writer_could_read_are_explained() -> None:
    assert explained(TRIAL)["Other outcome"] == "Correct tool: 50 % → 60 %, without a verdict."
    other = replace(TRIAL, criterion=PassCriterion.CORRECT_TOOL)
    assert explained(other)["Other outcome"].startswith("Correct call: ")
    assert explained(TRIAL)["Drafts and cases"] == (
        "First draft tried on these cases. No case was held back: the writer of the draft could read all of them."
    )
    assert explained(replace(TRIAL, drafts_tried=2), 3)["Drafts and cases"] == (
        "Second draft tried on these cases. 3 cases were held back from the editor of drafts."
    )
