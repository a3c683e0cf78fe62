"""Trials repeated from their evidence: the tools, cases, seed and model of a verdict file, asked again."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from mcp_tef.api.batch_following import batch_to_its_end
from mcp_tef.api.patch_trials import draft_of_patch
from mcp_tef.api.temporary_workspace import temporary_workspace
from mcp_tef.errors import InputError
from mcp_tef.model.answers import CallingMode, ToolChoiceMode
from mcp_tef.model.runs import Arm, ModelSettings
from mcp_tef.model.trials import TrialGoal, TrialRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_tef.model.trials import TrialResult


async def repeated_trial(
    document: Mapping[str, Any], *, base_url: str | None = None, max_cost_usd: float | None = None
) -> TrialResult:
    """Ask the trial of a verified document again. InputError where it holds no trial, or not all of it.

    The key comes from the environment or the keychain, and is never sent to an address that only the document names.
    """
    plan = _repeatable_plan(document)
    original, changed = _tools(document, Arm.ORIGINAL), _tools(document, Arm.DRAFT)
    cases = [
        {"name": key, "query": one["query"], "expected": one["expected"], "family": one["family"]}
        for key, one in document["cases"].items()
    ]
    settings = _settings(document["settings"], base_url)
    async with temporary_workspace(original, cases) as engine:
        if base_url:
            engine.consents.add_typed_address(settings.provider, base_url)
        stored = {case.name: case.id for case in await engine.cases.list()}
        (server,) = await engine.servers.list()
        patch = [{"op": "replace", "path": "/tools", "value": changed}]
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
        return await engine.trials.result(batch.id)


def _repeatable_plan(document: Mapping[str, Any]) -> Mapping[str, Any]:
    plan: Mapping[str, Any] | None = document["plan"]
    if plan is None:
        raise InputError(
            "Only trials can be repeated, and that is a run.", hint="Run the cases again with mcp-tef run."
        )
    if any("query" not in one for one in document["cases"].values()):
        raise InputError("A case is held back, so the file lacks its query.", hint="Repeat the trial in its workspace.")
    return plan


def _tools(document: Mapping[str, Any], arm: Arm) -> list[dict[str, Any]]:
    """Return the definitions of one arm, in the order in which they were offered."""
    names = dict.fromkeys(name for run in document["runs"] if run["arm"] == arm.value for name in run["tools"])
    found = [document["tools"][name] for name in names]
    if len({one["server"] for one in found}) > 1:
        raise InputError("The trial offered tools of several servers.", hint="Repeat it in its workspace.")
    return [{key: value for key, value in one.items() if key != "server"} for one in found]


def _settings(stored: Mapping[str, Any], base_url: str | None) -> ModelSettings:
    """Return the settings of the trial, with an address that the caller names instead of that of the file."""
    kinds = {"mode": CallingMode, "tool_choice": ToolChoiceMode}
    known = {one.name: stored[one.name] for one in fields(ModelSettings)}
    known["variables"] = tuple(map(tuple, known["variables"]))
    return ModelSettings(**known | {name: kind(known[name]) for name, kind in kinds.items()} | {"base_url": base_url})
