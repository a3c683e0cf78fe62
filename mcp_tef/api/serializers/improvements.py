"""JSON shape of searches for a better text."""

from collections.abc import Iterable

from mcp_tef.api.serializers.trials import trial_to_json
from mcp_tef.model.improvements import CandidateRound, ImprovementResult, TextCandidate
from mcp_tef.model.json import Json
from mcp_tef.model.runs import ModelSettings, RunSummary
from mcp_tef.model.trials import TrialResult
from mcp_tef.statistics.improvement_text import improvement_sentences


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
