"""Drafts of changed tools as JSON, and all that is tried with them: trials, searches for a better text, crowd tests."""

from collections.abc import Iterable, Mapping

from mcp_tef.api.serializers.runs import run_to_json
from mcp_tef.api.serializers.tools import lint_finding_to_json
from mcp_tef.model.crowds import CrowdResult, RetrievalPoint, StealResult
from mcp_tef.model.draft_edits import TextConflict
from mcp_tef.model.drafts import Draft, ToolRevision
from mcp_tef.model.ids import CaseId
from mcp_tef.model.improvements import CandidateRound, ImprovementResult, TextCandidate
from mcp_tef.model.json import Json, as_json, fields_to_json
from mcp_tef.model.json_patch import MISSING
from mcp_tef.model.prediction import Neighbour, Prediction, ToolPrediction
from mcp_tef.model.runs import ModelSettings, RunSummary
from mcp_tef.model.trials import TrialResult
from mcp_tef.statistics.improvement_text import improvement_sentences


def trial_to_json(result: TrialResult, runs: Iterable[RunSummary] = ()) -> dict[str, Json]:
    """Serialize a trial with its runs."""
    claims, shares = result.claims, result.shares
    return {
        "batch": result.batch_id,
        "draft": result.draft_name,
        **fields_to_json(result, "model criterion"),
        "on_these_cases": claims.on_these_cases.verdict.value,
        "for_queries_like_these": claims.for_queries_like_these.verdict.value,
        **fields_to_json(result, "wins losses pairs"),
        "evidence": dict(zip(("better", "worse"), result.evidence or (None, None), strict=True)),
        "rates": {"original": as_json(shares.before), "draft": as_json(shares.after)},
        "difference": as_json(shares.difference),
        "guards": {"n": result.guards, "broken": [one.case_id for one in claims.guards if one.broken]},
        "icc": result.icc,
        "look": claims.look,
        **fields_to_json(result, "drafts_tried left_out calls planned_calls"),
        "stopped": as_json(result.end),
        **fields_to_json(result, "cost_usd seed sentence"),
        "sentences": [claims.on_these_cases.sentence, claims.for_queries_like_these.sentence],
        "runs": [run_to_json(run) for run in runs],
    }


def draft_summary_to_json(draft: Draft) -> dict[str, Json]:
    """Return a draft as an item of a list."""
    return {
        **fields_to_json(draft, "id name server"),
        "tools": len(draft.tools),
        "changed": list(draft.changed_tools()),
        "step": draft.step,
        "steps": len(draft.steps),
        **fields_to_json(draft, "created_at updated_at"),
    }


def draft_to_json(draft: Draft) -> dict[str, Json]:
    """Return a draft with its changes and its patch."""
    changes = [_revision_to_json(one) for one in draft.revisions]
    return draft_summary_to_json(draft) | {"changes": changes, "patch": list(draft.patch)}


def conflict_to_json(conflict: TextConflict) -> dict[str, Json]:
    """Return a text that the draft and the listing changed, in three columns."""
    return fields_to_json(conflict, "tool path was now draft")


def prediction_to_json(draft: Draft, prediction: Prediction, names: Mapping[CaseId, str]) -> dict[str, Json]:
    """Return what a draft is predicted to change; `names` holds the names of the cases."""
    return {
        "draft": draft.name,
        "tools": [_tool_to_json(one) for one in prediction.tools],
        "set_tokens": {"before": prediction.set_tokens_before, "after": prediction.set_tokens_after},
        "cases": [
            {
                "id": one.case_id,
                "name": names.get(one.case_id),
                "rank": {"before": one.rank_before, "after": one.rank_after},
                "passed": {"before": one.passed_before, "after": one.passed_after},
            }
            for one in prediction.cases
        ],
        **fields_to_json(prediction, "fixed broken"),
        "record": fields_to_json(prediction.record, "right trials"),
    }


def _tool_to_json(one: ToolPrediction) -> dict[str, Json]:
    return {
        "tool": one.name,
        "findings_gone": [lint_finding_to_json(finding) for finding in one.findings_gone],
        "findings_new": [lint_finding_to_json(finding) for finding in one.findings_new],
        "tokens": {"before": one.tokens_before, "after": one.tokens_after},
        "neighbours": {
            "before": [_neighbour_to_json(other) for other in one.neighbours_before],
            "after": [_neighbour_to_json(other) for other in one.neighbours_after],
        },
        "newly_near": [other.tool for other in one.newly_near],
    }


def _neighbour_to_json(one: Neighbour) -> dict[str, Json]:
    return {
        "tool": one.tool,
        "similarity": round(one.similarity, 4),
        "confusability": round(one.confusability, 4),
    }


def _revision_to_json(one: ToolRevision) -> dict[str, Json]:
    if one.before is None or one.after is None:
        return {"tool": one.name, "change": "added" if one.before is None else "removed", "fields": []}
    fields = [
        {"path": list(path), "before": _plain(before), "after": _plain(after)}
        for path, (before, after) in one.fields.items()
    ]
    return {"tool": one.name, "change": "changed", "fields": fields}


def _plain(value: Json) -> Json:
    return None if value is MISSING else value


def _writer(writer: ModelSettings | None) -> dict[str, Json]:
    return {"writer": writer.label if writer else None, "prompt": writer.prompt or None if writer else None}


def improvement_to_json(result: ImprovementResult, runs: Iterable[RunSummary] = ()) -> dict[str, Json]:
    """Serialize a search as the trial of its sealed cases, with what came before; without one these fields lack.

    `runs` are those of the sealed cases.
    """
    sentences = improvement_sentences(result)
    sealed = trial_to_json(result.sealed, runs) if result.sealed else {}
    return sealed | {
        "draft": result.draft.name if result.draft else None,
        "model": result.plan.request.settings.label,
        **_writer(result.plan.request.writer),
        "result": result.end.value,
        "sentence": sentences[0],
        "sentences": list(sentences),
        "gain_to_show": result.plan.gain,
        "seed": result.plan.request.seed,
        "cases": {"working": list(result.plan.working), "sealed": list(result.plan.sealed)},
        "failing": result.failing,
        "hopeless": [{"case": one.name, "reason": one.reason} for one in result.hopeless],
        "working": _trial(result.working),
        "rounds": [_round(one) for one in result.rounds],
        "pruned": list(result.pruned),
        "patch": list(result.draft.patch) if result.draft else None,
        "budget": result.plan.calls,
        **fields_to_json(result, "calls cost_usd"),
    }


def _trial(result: TrialResult | None) -> Json:
    return trial_to_json(result) if result else None


def _round(one: CandidateRound) -> dict[str, Json]:
    return {"candidates": [_candidate(each) for each in one.candidates], "gate": _trial(one.gate)}


def _candidate(one: TextCandidate) -> dict[str, Json]:
    return {
        "texts": dict(one.texts),
        "author": one.author,
        "reason": one.reason,
        "score": one.score if one.asked else None,
        "asked": one.asked,
        "refused": one.refused or None,
    }


def crowd_to_json(result: CrowdResult, retrieval: tuple[RetrievalPoint, ...] = ()) -> dict[str, Json]:
    """Serialize a crowd test, with the line of the retrieval."""
    return {
        "batch": result.batch_id,
        **fields_to_json(result, "status kind crowds cases"),
        "points": [as_json(one) | {"kind": result.kind.value} for one in result.points],
        "lost_at": [as_json(one) | {"value": one.high} for one in result.lost_at],
        **fields_to_json(result, "order silence"),
        "selected_instead": as_json(result.picks),
        "retrieval": [_retrieval(one) for one in retrieval],
        **fields_to_json(result, "calls planned_calls cost_usd seed sentence"),
    }


def _retrieval(point: RetrievalPoint) -> dict[str, Json]:
    recall = {str(most): share for most, share in point.recall}
    return {"strangers": point.strangers, "recall": recall, "silent": point.silent}


def steal_to_json(result: StealResult) -> dict[str, Json]:
    """Serialize a steal test. `matrix` holds by tool how often each tool of the new server was selected instead."""
    tools: list[Json] = [
        as_json(one) | {"takers": [{"tool": tool, "times": times} for tool, times in one.takers]}
        for one in result.tools
    ]
    return {
        "batch": result.batch_id,
        **fields_to_json(result, "status server among model"),
        "margin": 100 * result.margin,
        "worse": [f"{one.server} / {one.tool}" for one in result.tools if one.worse],
        "tools": tools,
        "matrix": {f"{one.server} / {one.tool}": dict(one.takers) for one in result.tools},
        **fields_to_json(result, "unknown left_out calls planned_calls cost_usd seed sentence"),
    }
