"""Drafts of changed tools as JSON, and all that is tried with them: trials, searches for a better text, crowd tests."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from mcp_tef.api.serializers.runs import run_to_json
from mcp_tef.api.serializers.tools import lint_finding_to_json
from mcp_tef.model.crowds import CrowdResult, RetrievalPoint, StealResult
from mcp_tef.model.draft_edits import TextConflict
from mcp_tef.model.drafts import Draft, ToolRevision
from mcp_tef.model.ids import CaseId
from mcp_tef.model.improvements import CandidateRound, ImprovementResult, TextCandidate
from mcp_tef.model.json import Json
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


def draft_summary_to_json(draft: Draft) -> dict[str, Json]:
    """Return a draft as an item of a list."""
    return {
        "id": draft.id,
        "name": draft.name,
        "server": draft.server,
        "tools": len(draft.tools),
        "changed": list(draft.changed_tools()),
        "step": draft.step,
        "steps": len(draft.steps),
        "created_at": draft.created_at.isoformat(),
        "updated_at": draft.updated_at.isoformat(),
    }


def draft_to_json(draft: Draft) -> dict[str, Json]:
    """Return a draft with its changes and its patch."""
    changes = [_revision_to_json(one) for one in draft.revisions]
    return draft_summary_to_json(draft) | {"changes": changes, "patch": list(draft.patch)}


def conflict_to_json(conflict: TextConflict) -> dict[str, Json]:
    """Return a text that the draft and the listing changed, in three columns."""
    columns = {"was": conflict.was, "now": conflict.now, "draft": conflict.draft}
    return {"tool": conflict.tool, "path": list(conflict.path), **columns}


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
        "fixed": prediction.fixed,
        "broken": prediction.broken,
        "record": {"right": prediction.record.right, "trials": prediction.record.trials},
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
        "calls": result.calls,
        "cost_usd": result.cost_usd,
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
    kind = {"kind": result.kind.value}
    points: list[Json] = [asdict(one) | kind for one in result.points]
    losses: list[Json] = [{**asdict(one), "value": one.high} for one in result.lost_at]
    return {
        "batch": result.batch_id,
        "status": result.status.value,
        **kind,
        "crowds": result.crowds,
        "cases": result.cases,
        "points": points,
        "lost_at": losses,
        "order": [asdict(one) for one in result.order],
        "silence": [asdict(one) for one in result.silence],
        "selected_instead": [asdict(one) for one in result.picks],
        "retrieval": [_retrieval(one) for one in retrieval],
        "calls": result.calls,
        "planned_calls": result.planned_calls,
        "cost_usd": result.cost_usd,
        "seed": result.seed,
        "sentence": result.sentence,
    }


def _retrieval(point: RetrievalPoint) -> dict[str, Json]:
    recall = {str(most): share for most, share in point.recall}
    return {"strangers": point.strangers, "recall": recall, "silent": point.silent}


def steal_to_json(result: StealResult) -> dict[str, Json]:
    """Serialize a steal test. `matrix` holds by tool how often each tool of the new server was selected instead."""
    tools: list[Json] = [
        asdict(one) | {"takers": [{"tool": tool, "times": times} for tool, times in one.takers]} for one in result.tools
    ]
    return {
        "batch": result.batch_id,
        "status": result.status.value,
        "server": result.server,
        "among": list(result.among),
        "model": result.model,
        "margin": 100 * result.margin,
        "worse": [f"{one.server} / {one.tool}" for one in result.tools if one.worse],
        "tools": tools,
        "matrix": {f"{one.server} / {one.tool}": dict(one.takers) for one in result.tools},
        "unknown": list(result.unknown),
        "left_out": result.left_out,
        "calls": result.calls,
        "planned_calls": result.planned_calls,
        "cost_usd": result.cost_usd,
        "seed": result.seed,
        "sentence": result.sentence,
    }
