"""JSON shape of trials."""

from collections.abc import Iterable
from dataclasses import asdict

from mcp_tef.api.serializers.runs import run_to_json
from mcp_tef.model.json import Json
from mcp_tef.model.runs import RunSummary
from mcp_tef.model.trials import TrialResult


def trial_to_json(result: TrialResult, runs: Iterable[RunSummary] = ()) -> dict[str, Json]:
    """Serialize a trial with its runs."""
    claims, shares = result.claims, result.shares
    return {
        "batch": result.batch_id,
        "draft": result.draft_name,
        "model": result.model,
        "criterion": result.criterion.value,
        "on_these_cases": claims.on_these_cases.verdict.value,
        "for_queries_like_these": claims.for_queries_like_these.verdict.value,
        "wins": result.wins,
        "losses": result.losses,
        "pairs": result.pairs,
        "evidence": dict(zip(("better", "worse"), result.evidence or (None, None), strict=True)),
        "rates": {"original": asdict(shares.before), "draft": asdict(shares.after)},
        "difference": asdict(shares.difference),
        "guards": {"n": result.guards, "broken": [one.case_id for one in claims.guards if one.broken]},
        "icc": result.icc,
        "look": claims.look,
        "drafts_tried": result.drafts_tried,
        "left_out": result.left_out,
        "calls": result.calls,
        "planned_calls": result.planned_calls,
        "stopped": result.end.value if result.end else None,
        "cost_usd": result.cost_usd,
        "seed": result.seed,
        "sentence": result.sentence,
        "sentences": [claims.on_these_cases.sentence, claims.for_queries_like_these.sentence],
        "runs": [run_to_json(run) for run in runs],
    }
