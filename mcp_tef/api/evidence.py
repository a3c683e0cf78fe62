"""Evidence of a batch: tools, cases, answers and numbers in one document that anyone can recompute offline.

What agrees is consistent, and proves nothing: who invents answers can compute their numbers.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from mcp_tef.api.score_lines import scored_line
from mcp_tef.api.scored_runs import scored_run
from mcp_tef.api.serializers.drafts import trial_to_json
from mcp_tef.errors import InputError, TefError
from mcp_tef.model.cases import expectation_to_json
from mcp_tef.model.comparison import PassCriterion
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.installation import VERSION
from mcp_tef.model.json import fingerprint
from mcp_tef.model.rates import share_text
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Arm, Batch, BatchStatus, FailureInfo, ModelSettings, RunStatus, is_baseline
from mcp_tef.statistics.metrics import summarise
from mcp_tef.statistics.run_history import history_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcp_tef.engine import Engine
    from mcp_tef.model.cases import CaseDraft
    from mcp_tef.model.json import Json, JsonObject
    from mcp_tef.model.runs import RunDetail, RunSummary

KIND: Final = "mcp-tef verdict"
FORMAT: Final = 1
_DIGITS: Final = 9
_BADGE: Final[Mapping[str, Json]] = MappingProxyType({"schemaVersion": 1, "label": "mcp-tef"})
_NOT_RECOMPUTED: Final = ("batch", "cost_usd", "runs")


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """One thing that was recomputed; `problem` is empty where it agrees."""

    what: str
    problem: str = ""


def tools_hash(definitions: Iterable[JsonObject]) -> str:
    """Return the hash of tool definitions, whatever their order."""
    return fingerprint(sorted({fingerprint(dict(raw)) for raw in definitions}))


def case_content(draft: CaseDraft) -> dict[str, Json]:
    """Return what a verdict depends on; servers are left out, since they may be registered under any name."""
    expected = draft.expectation
    calls = tuple(tuple(replace(call, server=None) for call in each) for each in expected.alternatives)
    plain = replace(expected, alternatives=calls)
    return {"name": draft.name, "query_hash": fingerprint(draft.query), "expected": expectation_to_json(plain)}


def cases_hash(contents: Iterable[Mapping[str, Json]]) -> str:
    """Return the hash of cases, whatever their order."""
    names = ("name", "query_hash", "expected")
    return fingerprint(sorted(fingerprint({name: one.get(name) for name in names}) for one in contents))


async def batch_evidence(engine: Engine, batch_id: BatchId) -> dict[str, Any]:
    """Return the evidence of a batch or trial that has ended; queries of cases that are held back are left out."""
    batch = await engine.runs.batch(batch_id)
    runs = await engine.runs.list(RunFilter(batch_id=batch_id))
    details = [await engine.runs.detail(run.id) for run in reversed(runs)]
    if not details:
        raise InputError("The batch has no runs.", hint="Run it first.")
    tried = (await engine.trials.result(batch_id)).drafts_tried if batch.trial else None
    cases = {case.id: case for case in await engine.cases.list()}
    tools: dict[str, Json] = {}
    document: dict[str, Any] = {
        "kind": KIND,
        "format": FORMAT,
        "product": VERSION,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": batch.status.value,
        "stopped": batch.stopped,
        "models": list(batch.models),
        "answered": _answered(details),
        "settings": asdict(details[0].settings),
        "plan": dict(batch.trial) if batch.trial else None,
        "drafts_tried": tried,
        "cases": {run.case_id: _case(cases[run.case_id].draft) for run in runs if run.case_id in cases},
        "runs": [_run(detail, tools) for detail in details],
        "tools": tools,
    }
    document["hashes"] = _hashes(document)
    document["verdict"] = evidence_numbers(document)
    return document


def _case(draft: CaseDraft) -> dict[str, Json]:
    query = {} if draft.held_back else {"query": draft.query}
    return case_content(draft) | {"family": draft.family} | query


def _answered(details: Sequence[RunDetail]) -> Json:
    """Return the models, fingerprints and prompts that answers name."""
    answers = [detail.answer for detail in details if detail.answer]
    return {
        "models": sorted({one.answered_model for one in answers if one.answered_model}),
        "fingerprints": sorted({one.answered_fingerprint for one in answers if one.answered_fingerprint}),
        "prompts": sorted({one.prompt for one in answers if one.prompt}),
    }


def _run(detail: RunDetail, tools: dict[str, Json]) -> dict[str, Json]:
    """Return a run with its answer; definitions are added to `tools` under their hash."""
    run, answer = detail.summary, detail.answer
    offered = []
    for item in detail.snapshot.tools if detail.snapshot else ():
        definition = {**item.tool.raw, "server": item.tool.server}
        offered.append(fingerprint(definition))
        tools.setdefault(offered[-1], definition)
    calls = getattr(answer, "calls", None)
    return {
        "id": run.id,
        "case": run.case_id,
        "name": run.case_name,
        "model": run.model,
        "status": run.status.value,
        "failure": run.failure_code or None,
        "arm": run.arm.value if run.arm else None,
        "round": run.repeat,
        "place": run.place,
        "expected": expectation_to_json(detail.expectation),
        "tools": offered,
        "calls": None if calls is None else list(map(asdict, calls)),
        "confidence": getattr(answer, "confidence", None),
        "mark": _mark(run),
    }


def _hashes(document: Mapping[str, Any]) -> dict[str, Json]:
    def offered(*arms: str | None) -> str:
        names = {name for run in document["runs"] if run["arm"] in arms for name in run["tools"]}
        raws = [document["tools"][name] for name in names]
        return tools_hash([{key: value for key, value in raw.items() if key != "server"} for raw in raws])

    is_trial = document["plan"] is not None
    return {
        "tools": offered(Arm.ORIGINAL.value if is_trial else None),
        "changed_tools": offered(Arm.DRAFT.value) if is_trial else None,
        "cases": cases_hash(document["cases"].values()),
        "prompt": fingerprint([document["answered"]["prompts"], document["settings"]["system_prompt"]]),
        "profile": fingerprint(document["settings"]["client"]),
        "runs": fingerprint(document["runs"]),
    }


def _judged(document: Mapping[str, Any]) -> list[RunSummary]:
    """Judge every stored answer again."""
    return [_judged_run(document, run, number) for number, run in enumerate(document["runs"], start=1)]


def _judged_run(document: Mapping[str, Any], run: Mapping[str, Any], number: int) -> RunSummary:
    tools = [document["tools"][name] for name in run["tools"]]
    line = {"id": run["id"], "tools": tools, "expected": run["expected"], "calls": run["calls"]}
    found = scored_run(scored_line(json.dumps(line | {"confidence": run["confidence"]})), number)
    status = RunStatus(run["status"])
    found = replace(
        found,
        id=RunId(run["id"]),
        case_id=CaseId(run["case"]),
        case_name=run["name"],
        model=run["model"],
        repeat=run["round"],
        arm=Arm(run["arm"]) if run["arm"] else None,
        place=run["place"],
    )
    if status is RunStatus.COMPLETED:
        return found
    failure = FailureInfo(run["failure"] or "", "") if status is RunStatus.FAILED else None
    return replace(found, status=status, classification=None, kind=None, parameters_ok=None, failure=failure)


def evidence_numbers(document: Mapping[str, Any]) -> dict[str, Any]:
    """Compute every number of the verdict from the answers in the document."""
    runs = _judged(document)
    families = {CaseId(key): str(one["family"]) for key, one in document["cases"].items()}
    if document["plan"] is not None:
        return _trial_numbers(document, runs, families)
    history = history_of(runs)
    cases = {key: replace(case, family=families.get(case.id, "")) for key, case in history.cases.items()}
    metrics = summarise(replace(history, cases=cases).ended)
    names = ("correct_call", "correct_tool")
    return {"runs": len(runs), "failed": metrics.failed} | {name: asdict(getattr(metrics, name)) for name in names}


def _trial_numbers(
    document: Mapping[str, Any], runs: Sequence[RunSummary], families: Mapping[CaseId, str]
) -> dict[str, Any]:
    from mcp_tef.workflows.trial_plan import TrialPlan
    from mcp_tef.workflows.trial_record import TrialRecord, result_of, stored_run

    plan = TrialPlan.from_json(document["plan"])
    settings = ModelSettings(provider=document["settings"]["provider"], model=document["settings"]["model"])
    by_tool = is_baseline(runs[0].model)
    record = TrialRecord(plan, families, PassCriterion.CORRECT_TOOL if by_tool else PassCriterion.CORRECT_CALL)
    for run in runs:
        if run.arm is not None and run.place is not None:
            record.put(stored_run(run, run.arm, run.place))
    record.advance()
    batch = Batch(
        id=BatchId(""),
        name="",
        status=BatchStatus(document["status"]),
        models=tuple(document["models"]),
        total=len(runs),
        created_at=datetime.fromtimestamp(0, UTC),
        stopped=document["stopped"],
    )
    names = {CaseId(key): str(one["name"]) for key, one in document["cases"].items()}
    found = trial_to_json(result_of(batch, record, settings, names, document["drafts_tried"]))
    return {name: value for name, value in found.items() if name not in _NOT_RECOMPUTED}


def verified_evidence(document: Json) -> list[EvidenceCheck]:
    """Recompute hashes, marks and numbers, and compare; InputError for another kind of document."""
    if not isinstance(document, dict) or (document.get("kind"), document.get("format")) != (KIND, FORMAT):
        raise InputError("That is no verdict file of this format.", hint="Write one with: mcp-tef run … --verdict F")
    try:
        return [*_definition_checks(document), *_number_checks(document)]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, TefError) as error:
        raise InputError("The verdict file is damaged.", hint="Make a new one.") from error


def _definition_checks(document: Mapping[str, Any]) -> Iterator[EvidenceCheck]:
    for name, again in _hashes(document).items():
        yield _same(f"hash of {name}", document["hashes"][name], again)
    yield _same("tool definitions", list(document["tools"]), list(map(fingerprint, document["tools"].values())))
    queries = [one for one in document["cases"].values() if "query" in one]
    yield _same("queries", [one["query_hash"] for one in queries], [fingerprint(one["query"]) for one in queries])


def _number_checks(document: Mapping[str, Any]) -> Iterator[EvidenceCheck]:
    marks = [_mark(run) for run in _judged(document)]
    yield _same("marks of all runs", [run["mark"] for run in document["runs"]], marks)
    stored, again = document["verdict"], json.loads(json.dumps(evidence_numbers(document)))
    for name in sorted({*stored, *again}):
        yield _same(name, stored.get(name), again.get(name))


def _mark(run: RunSummary) -> str | None:
    return run.mark.value if run.mark else None


def _same(what: str, stored: Any, again: Any) -> EvidenceCheck:
    if _rounded(stored) == _rounded(again):
        return EvidenceCheck(what)
    return EvidenceCheck(what, f"The file says {str(stored)[:100]}, and its answers give {str(again)[:100]}.")


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, _DIGITS)
    if isinstance(value, list):
        return list(map(_rounded, value))
    return {key: _rounded(one) for key, one in value.items()} if isinstance(value, dict) else value


def outdated_parts(
    document: Mapping[str, Any], definitions: Sequence[JsonObject] = (), drafts: Sequence[CaseDraft] = ()
) -> list[str]:
    """Return what differs from the tools and cases of today; tools as the trial changed them are current as well."""
    found, hashes = [], document["hashes"]
    if definitions and tools_hash(definitions) not in (hashes["tools"], hashes["changed_tools"]):
        found.append("tools")
    if drafts and cases_hash(map(case_content, drafts)) != hashes["cases"]:
        found.append("cases")
    return found


def outdated_badge(outdated: Sequence[str]) -> dict[str, Json]:
    """Return a badge that says what has changed since; without a change, that asking again did not confirm the file."""
    message = f"outdated: {' and '.join(outdated)} changed" if outdated else "not confirmed"
    return {**_BADGE, "message": message, "color": "lightgrey"}


def evidence_badge(document: Mapping[str, Any]) -> dict[str, Json]:
    """Return a badge as an endpoint of shields.io reads it, for answers that this process has asked for itself."""
    verdict = document["verdict"]
    if document["plan"] is not None:
        claim = str(verdict["on_these_cases"])
        colors = {"better": "brightgreen", "worse": "red"}
        return {**_BADGE, "message": claim.replace("_", " "), "color": colors.get(claim, "blue")}
    rate = verdict["correct_call"]
    if rate["value"] is None:
        return {**_BADGE, "message": "no verdict", "color": "lightgrey"}
    message = f"correct call {share_text(rate['value'], rate['low'], rate['high'])}"
    return {**_BADGE, "message": message, "color": "brightgreen" if rate["value"] >= 0.9 else "yellow"}
