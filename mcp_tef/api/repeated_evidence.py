"""Trials and runs repeated from their evidence: the tools, cases, seed and model of a verdict file, asked again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from mcp_tef.api.batch_following import batch_to_its_end
from mcp_tef.api.evidence import batch_evidence, evidence_badge
from mcp_tef.api.patch_trials import draft_of_patch
from mcp_tef.api.temporary_workspace import temporary_workspace
from mcp_tef.errors import InputError, ReachError
from mcp_tef.model.answers import CallingMode, ToolChoiceMode
from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.model.runs import Arm, BatchRequest, ModelSettings
from mcp_tef.model.trials import TrialGoal, TrialRequest
from mcp_tef.statistics.trial_text import trial_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_tef.engine import Engine
    from mcp_tef.model.ids import BatchId
    from mcp_tef.model.json import Json


@dataclass(frozen=True, slots=True)
class RepeatedEvidence:
    """A trial or run that was asked again: whether the verdicts agree, why, and a badge of what was answered now."""

    same: bool
    sentences: tuple[str, ...]
    badge: Mapping[str, Json]


async def repeated_evidence(
    document: Mapping[str, Any], *, base_url: str | None = None, max_cost_usd: float | None = None
) -> RepeatedEvidence:
    """Ask the trial or the run of a verified document again.

    A trial has to decide the same. A run agrees unless it is surely better or worse on these cases.

    The key comes from the environment or the keychain, and is never sent to an address that only the document names.

    Raises:
        InputError: the document does not hold all that was asked.
        ReachError: no answer could be judged.
    """
    _require_repeatable(document)
    plan = document["plan"]
    cases = [
        {"name": key, "query": one["query"], "expected": one["expected"], "family": one["family"]}
        for key, one in document["cases"].items()
    ]
    settings = _settings(document["settings"], base_url)
    async with temporary_workspace(_tools(document, Arm.ORIGINAL.value if plan else None), cases) as engine:
        if base_url:
            engine.consents.add_typed_address(settings.provider, base_url)
        repeated = _repeated_trial if plan else _repeated_run
        return await repeated(engine, document, settings, max_cost_usd)


def _require_repeatable(document: Mapping[str, Any]) -> None:
    if any("query" not in one for one in document["cases"].values()):
        raise InputError("A case is held back, so the file lacks its query.", hint="Repeat it in its workspace.")
    if len(document["models"]) > 1:
        raise InputError(
            "The file is about several models.", hint="Run the cases again with mcp-tef run, and use compare."
        )


async def _repeated_trial(
    engine: Engine, document: Mapping[str, Any], settings: ModelSettings, max_cost_usd: float | None
) -> RepeatedEvidence:
    plan = document["plan"]
    stored = {case.name: case.id for case in await engine.cases.list()}
    (server,) = await engine.servers.list()
    patch = [{"op": "replace", "path": "/tools", "value": _tools(document, Arm.DRAFT.value)}]
    draft = await draft_of_patch(engine, str(plan["draft_name"]), patch, server=server.name)
    request = TrialRequest(
        draft=draft.id,
        settings=settings,
        cases=tuple(stored[name] for name in plan["cases"]),
        guards=tuple(stored[name] for name in plan["guards"]),
        rounds=plan["rounds"],
        goal=TrialGoal(plan["goal"]),
        seed=plan["seed"],
        max_cost_usd=max_cost_usd,
    )
    batch = await batch_to_its_end(engine, engine.trials.start(request))
    found = await engine.trials.result(batch.id)
    same = document["verdict"]["on_these_cases"] == found.claims.on_these_cases.verdict.value
    told = "The repeated trial decides the same." if same else "The repeated trial decides otherwise."
    return RepeatedEvidence(same, (*trial_sentences(found), told), await _badge(engine, batch.id))


async def _repeated_run(
    engine: Engine, document: Mapping[str, Any], settings: ModelSettings, max_cost_usd: float | None
) -> RepeatedEvidence:
    runs, cases = document["runs"], document["cases"]
    repeats = max(Counter(run["case"] for run in runs).values())
    request = BatchRequest(models=(settings,), repeats=repeats, max_cost_usd=max_cost_usd)
    batch = await batch_to_its_end(engine, engine.runs.start(request))
    rows: list[Json] = [{**run, "query": cases[run["case"]]["query"], "expected": None} for run in runs]
    found = await engine.compare.with_document({"batch": "", "runs": rows}, batch.id)
    if not found.cases:
        raise ReachError("No repeated run could be judged.", hint="Check the model, its key and its address.")
    claim = found.on_these_cases
    same = claim.verdict not in (ClaimVerdict.BETTER, ClaimVerdict.WORSE)
    told = "The repeated runs agree with the file." if same else "The repeated runs differ from the file."
    return RepeatedEvidence(same, (claim.sentence, told), await _badge(engine, batch.id))


async def _badge(engine: Engine, batch: BatchId) -> Mapping[str, Json]:
    return evidence_badge(await batch_evidence(engine, batch))


def _tools(document: Mapping[str, Any], arm: str | None) -> list[dict[str, Any]]:
    """Return the definitions of one arm, or of a run without arms, in the order in which they were offered."""
    names = dict.fromkeys(name for run in document["runs"] if run["arm"] == arm for name in run["tools"])
    found = [document["tools"][name] for name in names]
    if len({one["server"] for one in found}) > 1:
        raise InputError("The models were offered tools of several servers.", hint="Repeat it in its workspace.")
    return [{key: value for key, value in one.items() if key != "server"} for one in found]


def _settings(stored: Mapping[str, Any], base_url: str | None) -> ModelSettings:
    """Return the settings of the trial, with an address that the caller names instead of that of the file."""
    kinds = {"mode": CallingMode, "tool_choice": ToolChoiceMode}
    known = {one.name: stored[one.name] for one in fields(ModelSettings)}
    known["variables"] = tuple(map(tuple, known["variables"]))
    return ModelSettings(**known | {name: kind(known[name]) for name, kind in kinds.items()} | {"base_url": base_url})
