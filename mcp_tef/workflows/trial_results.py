"""Results of a trial: its record from the stored runs, and what it has shown so far."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from mcp_tef.model.cases import TestCase
from mcp_tef.model.comparison import PassCriterion
from mcp_tef.model.ids import CaseId
from mcp_tef.model.runs import Arm, Batch, BatchStatus, ModelSettings, RunStatus, RunSummary
from mcp_tef.model.trials import TrialClaims, TrialEnd, TrialResult
from mcp_tef.statistics.case_pairing import correlation, share_change
from mcp_tef.statistics.paired_evidence import evidence
from mcp_tef.statistics.trial_text import guards_text, plan_text, until_guards_are_asked, verdict_sentence
from mcp_tef.workflows.batch_job import COST_CAP
from mcp_tef.workflows.trial_plan import TrialPlan
from mcp_tef.workflows.trial_record import TrialRecord, TrialRun

UNDER_WAY = (BatchStatus.WAITING, BatchStatus.RUNNING, BatchStatus.PAUSED, BatchStatus.INTERRUPTED)
_NO_TOOLS: Mapping[CaseId, str] = {}


def record_of(plan: TrialPlan, cases: Mapping[CaseId, TestCase], *, baseline: bool) -> TrialRecord:
    """Return an empty record for a plan."""
    families = {case_id: case.draft.family for case_id, case in cases.items()}
    return TrialRecord(plan, families, PassCriterion.CORRECT_TOOL if baseline else PassCriterion.CORRECT_CALL)


def stored_run(run: RunSummary, arm: Arm, place: int) -> TrialRun:
    """Return a stored run as a record takes it in."""
    ended = run.status in (RunStatus.COMPLETED, RunStatus.FAILED) and not run.interrupted
    failure = run.failure_code if ended else ""
    return TrialRun(run.id, run.case_id, arm, run.repeat, place, ended, run.mark, failure)


def _end(batch: Batch, record: TrialRecord) -> TrialEnd | None:
    if batch.status in UNDER_WAY:
        return None
    if batch.status is BatchStatus.CANCELLED:
        return TrialEnd.BUDGET if (batch.stopped or "").startswith(COST_CAP) else TrialEnd.CANCELLED
    return record.decision.end or TrialEnd.COMPLETE


def _claims(record: TrialRecord) -> TrialClaims:
    claims = record.decision.claims()
    if record.guards_are_open:
        claims = replace(claims, on_these_cases=until_guards_are_asked(claims.on_these_cases))
    return replace(claims, guards=record.guards())


def result_of(
    batch: Batch,
    record: TrialRecord,
    settings: ModelSettings,
    names: Mapping[CaseId, str],
    tried: int,
    missing: Mapping[CaseId, str] = _NO_TOOLS,
) -> TrialResult:
    """Return what a trial has shown so far; `tried` counts the different ones tried on its cases.

    `missing` names by case the expected tools that were not offered.
    """
    plan, decision, claims = record.plan, record.decision, _claims(record)
    wins, losses, ties = decision.counts
    broken = [names.get(one.case_id, one.case_id) for one in claims.guards if one.broken]
    change = {one: share_change(record.paired(one)) for one in PassCriterion}
    other = next(one for one in PassCriterion if one is not record.criterion)
    unasked = record.not_offered()
    text = partial(guards_text, len(plan.guards), claims.guards)
    return TrialResult(
        batch_id=batch.id,
        draft_name=plan.draft_name,
        model=settings.label,
        criterion=record.criterion,
        claims=claims,
        sentence=verdict_sentence(claims, "" if record.guards_are_open or not any(decision.counts) else text(broken)),
        plan=plan_text(claims),
        wins=wins,
        losses=losses,
        pairs=wins + losses + ties,
        left_out=decision.left_out,
        evidence=None if settings.offline else (evidence(wins, losses), evidence(losses, wins)),
        shares=change[record.criterion],
        other_shares=change[other],
        outcomes=record.outcomes(),
        icc=correlation(decision.paired()),
        drafts_tried=tried,
        calls=record.calls,
        planned_calls=len(Arm) * (len(plan.cases) + len(plan.guards)) * (1 if settings.offline else plan.all_rounds),
        cost_usd=batch.cost_usd,
        seed=plan.seed,
        end=_end(batch, record),
        guards=len(plan.guards),
        of_prompts=bool(plan.prompts),
        not_offered=len(unasked),
        missing_tools={names.get(one.case_id, one.case_id): missing.get(one.case_id, "") for one in unasked},
    )
