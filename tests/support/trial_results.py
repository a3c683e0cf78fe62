"""The result of a trial, for tests of what is said about one."""

from dataclasses import replace

from mcp_tef.model.comparison import Claim, ClaimVerdict, PassCriterion, RateDifference, ShareChange
from mcp_tef.model.ids import BatchId
from mcp_tef.model.metrics import Rate
from mcp_tef.model.trials import TrialClaims, TrialEnd, TrialResult


def ended_trial(gain: float = 0.1, low: float = 0.01, high: float = 0.2) -> TrialResult:
    """A trial of 20 cases in two rounds that could not tell, with this gain and its interval."""
    claim = Claim(ClaimVerdict.CANNOT_TELL_YET, "Cannot tell yet on these cases.")
    shares = ShareChange(Rate(0.5, 0.4, 0.6, 40), Rate(0.5 + gain, 0.4, 0.9, 40), RateDifference(gain, low, high))
    return TrialResult(
        batch_id=BatchId("b1"),
        draft_name="draft",
        model="openai/gpt",
        criterion=PassCriterion.CORRECT_CALL,
        claims=TrialClaims(
            on_these_cases=claim,
            for_queries_like_these=replace(claim, sentence="Cannot tell yet for others."),
            look=1,
        ),
        sentence="",
        plan="",
        wins=5,
        losses=1,
        pairs=40,
        left_out=0,
        evidence=None,
        shares=shares,
        other_shares=shares,
        outcomes=(),
        icc=None,
        drafts_tried=1,
        calls=80,
        planned_calls=80,
        cost_usd=None,
        seed=1,
        end=TrialEnd.COMPLETE,
    )
