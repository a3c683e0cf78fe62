"""Sentences about a search for a better text."""

from dataclasses import replace

import pytest

from mcp_tef.model.ids import CaseId
from mcp_tef.model.improvements import (
    CandidateRound,
    HopelessCase,
    ImprovementEnd,
    ImprovementPlan,
    ImprovementRequest,
    ImprovementResult,
    TextCandidate,
)
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.trials import TrialEnd
from mcp_tef.statistics.improvement_text import early_end, failed_text, gain_text, improvement_sentences
from tests.support.trial_results import ended_trial as trial

MODEL = ModelSettings(provider="openai", model="gpt")


def search(end: ImprovementEnd, sealed: int) -> ImprovementResult:
    request = ImprovementRequest(server="desk", settings=MODEL, budget=9)
    cases = tuple(CaseId(f"c{number}") for number in range(sealed))
    plan = ImprovementPlan(request=request, working=(), sealed=cases, gain="", calls=9, cost_usd=None)
    return ImprovementResult(plan=plan, end=end, working=trial(0.2, 0.1, 0.3), sealed=trial(0.15, -0.005, 0.3))


@pytest.mark.parametrize(
    ("end", "sealed", "lead"),
    [
        (ImprovementEnd.PROMISING, 19, "Promising, not proven (only 19 sealed cases)"),
        (ImprovementEnd.PROMISING, 20, "Promising, not proven"),
        (ImprovementEnd.WORSE, 19, "Worse on the sealed cases"),
    ],
)
def test_the_first_sentence_has_both_gains_and_why_nothing_is_proven(
    end: ImprovementEnd, sealed: int, lead: str
) -> None:
    found = improvement_sentences(search(end, sealed))
    assert found == (
        f"{lead}: working +20 points (+10 to +30), sealed +15 points (−0.5 to +30).",
        "Cannot tell yet on these cases.",
        "Cannot tell yet for others.",
    )


def test_a_search_without_an_opening_says_how_it_ended_and_what_was_refused() -> None:
    refused = CandidateRound((TextCandidate(texts={}, refused="It is too long."), TextCandidate(texts={})))
    hopeless = tuple(HopelessCase(f"case {number}", "No tool fits.") for number in range(5))
    found = replace(
        search(ImprovementEnd.NO_CANDIDATE, 20),
        sealed=None,
        rounds=(refused, refused),
        hopeless=hopeless,
        pruned=("x",),
    )
    first, lost, left_out, last = improvement_sentences(found)
    assert first.startswith("No candidate was better")
    assert lost == (
        "Words cannot fix 5 failing cases. case 0: No tool fits. case 1: No tool fits. case 2: No tool fits. "
        "And 2 more."
    )
    assert left_out == "Left out, since it earned nothing: “x”"
    assert last == "2 candidates were refused. It is too long."


def test_the_smallest_gain_is_told_with_what_few_cases_cannot_show() -> None:
    assert gain_text(1, 1).startswith("1 sealed case can show no gain")
    assert gain_text(19, 19).endswith("; below 20 a text is called promising at most.")
    assert gain_text(20, 20).endswith(" for queries like these.")


def test_a_search_whose_pairs_mostly_fail_ends_and_one_with_as_many_good_pairs_goes_on() -> None:
    whole = trial(0.2, 0.1, 0.3)
    assert early_end(replace(whole, left_out=45, not_offered=5), "") is None
    assert early_end(replace(whole, left_out=46, not_offered=5), "") == (
        ImprovementEnd.UNREACHABLE,
        failed_text(replace(whole, left_out=46, not_offered=5)),
    )
    assert failed_text(replace(whole, left_out=46, not_offered=5)).startswith("41 of 81 pairs of runs failed")
    assert early_end(replace(whole, end=TrialEnd.BUDGET), "The budget is spent.") == (
        ImprovementEnd.BUDGET,
        "The budget is spent.",
    )
