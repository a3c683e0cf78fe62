"""What a run was judged before, in words."""

from dataclasses import replace
from datetime import UTC, datetime

from app.screens.runs.labels import Mark
from app.screens.runs.verdict import past_views, said, verdict_view
from mcp_tef import Expectation, ExpectedCall, PastVerdict, RejudgeReason, RunDetail, Verdict
from tests.support.made_runs import judged_detail, wrong_detail

MOMENT = datetime(2026, 11, 21, 12, 5, tzinfo=UTC)


def verdict_of(detail: RunDetail) -> Verdict:
    assert detail.verdict is not None
    return detail.verdict


def past(verdict: Verdict, reason: RejudgeReason = RejudgeReason.EXPECTATION_CHANGED) -> PastVerdict:
    expectation = Expectation(((ExpectedCall(tool="search_code", server="docs"),),))
    return PastVerdict(verdict=verdict, expectation=expectation, replaced_at=MOMENT, reason=reason)


def test_a_run_that_was_judged_once_has_no_past() -> None:
    assert verdict_view(wrong_detail()).past == ()


def test_the_line_says_when_it_was_judged_again_what_changed_and_why() -> None:
    missed = verdict_of(wrong_detail())
    (view,) = past_views(replace(judged_detail(), past_verdicts=(past(missed),)))
    local = MOMENT.astimezone()
    assert view.line == (
        f"Judged again on {local.day} {local:%b %Y, %H:%M}: was “missed the expected tool”, "
        "is “right tool, with wrong parameters”, because the case expects something else now."
    )
    assert view.mark is Mark.WRONG
    assert view.expected == "Expected then: docs / search_code"
    assert [span.text for span in view.sentence if span.mono] == ["search_files", "search_code"]


def test_an_outcome_that_stayed_is_not_called_a_change() -> None:
    missed = verdict_of(wrong_detail())
    (view,) = past_views(replace(wrong_detail(), past_verdicts=(past(missed, RejudgeReason.RULES_CHANGED),)))
    assert "“missed the expected tool” as before, though the rules of judging changed." in view.line


def test_each_earlier_verdict_is_told_against_the_one_that_followed_it() -> None:
    missed, right = verdict_of(wrong_detail()), replace(verdict_of(judged_detail()), parameters_ok=True)
    views = past_views(replace(wrong_detail(), past_verdicts=(past(right), past(missed))))
    assert "was “right tool”, is “missed the expected tool”" in views[0].line
    assert "was “missed the expected tool”, is “right tool”" in views[1].line


def test_wrong_parameters_are_part_of_what_is_said() -> None:
    assert said(verdict_of(judged_detail())) == "right tool, with wrong parameters"
