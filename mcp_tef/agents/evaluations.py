"""Tools for agents that ask models: runs of cases with their explanation, trials of changes, and crowd tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_tef import (
    BatchRequest,
    CrowdRequest,
    InputError,
    RunFilter,
    RunId,
    TrialRequest,
    batch_to_json,
    draft_of_patch,
    run_detail_to_json,
    trial_of_affected_cases,
    trial_sentences,
)
from mcp_tef.agents.untrusted import name_or_quoted, quoted, unquoted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_tef import (
        Batch,
        CallingAgent,
        Draft,
        Engine,
        Estimate,
        JsonObject,
        ModelSettings,
        Rate,
        RunSummary,
        SpendingRoom,
        TestCase,
        TrialResult,
    )
    from mcp_tef.agents.paid_work import PaidWork

    Answer = Mapping[str, Any]

ACCEPT = "Tell the user this cost. If they accept it, call again with accept_cost set to true."


def cost_answer(work: PaidWork, estimate: Estimate) -> Answer:
    """Return the answer in place of work whose cost the user has not accepted yet."""
    told = {"calls": estimate.runs, "cost_usd": estimate.cost_usd, "tokens": estimate.tokens}
    return {"summary": work.cost_text(estimate), "estimate": told, "next_step": ACCEPT}


async def _chosen(engine: Engine, arguments: JsonObject) -> tuple[TestCase, ...]:
    named = await engine.cases.named(arguments.get("cases", ()))
    suites = [arguments["suite"]] if arguments.get("suite") else []
    grouped = await engine.cases.in_groups(suites, ()) if suites or not named else ()
    cases = {case.id: case for case in (*named, *grouped)}
    if not cases:
        raise InputError("There is no test case to run.", hint="Add one with add_case.")
    return tuple(cases.values())


async def run_cases(
    work: PaidWork, arguments: JsonObject, agent: CallingAgent
) -> tuple[Answer, Sequence[Answer]] | Answer:
    """Run cases, or read a stored batch; the runs that failed follow."""
    engine = work.engine
    if stored := arguments.get("batch"):
        return await _results(engine, await engine.runs.named(stored))
    model = work.model(arguments)
    cases = tuple(case.id for case in await _chosen(engine, arguments))

    def request(room: SpendingRoom | None) -> BatchRequest:
        return BatchRequest(
            cases=cases,
            models=(model,),
            repeats=arguments.get("repeats", 1),
            max_cost_usd=room.max_cost_usd if room else None,
            name=arguments.get("suite", ""),
        )

    estimate = await engine.runs.estimate(request(None))
    if not await work.is_agreed(model, estimate, arguments, agent):
        return cost_answer(work, estimate)
    batch = await work.done(model, estimate, lambda room: engine.runs.start(request(room)), agent)
    return await _results(engine, batch)


async def _results(engine: Engine, batch: Batch) -> tuple[Answer, Sequence[Answer]]:
    where = RunFilter(batch_id=batch.id)
    runs = await engine.runs.list(where)
    metrics = (await engine.metrics.overview(where)).metrics
    wrong = [run for run in runs if not run.passes]
    whole = batch_to_json(batch)
    answer = {
        "summary": f"{len(runs) - len(wrong)} of {len(runs)} runs are correct calls.",
        "batch": str(batch.id),
        "model": quoted(", ".join(batch.models)),
        "correct_call": _rate(metrics.correct_call),
        "correct_tool": _rate(metrics.correct_tool),
        "cost_usd": whole["cost_usd"],
        "stopped": quoted(batch.stopped) if batch.stopped else None,
        "next_step": "Call explain_run with the id of a failed run." if wrong else "Add harder cases with add_case.",
    }
    return answer, [_wrong_run(run) for run in wrong]


def _rate(rate: Rate) -> Answer:
    return {"value": rate.value, "low": rate.low, "high": rate.high, "n": rate.n}


def _wrong_run(run: RunSummary) -> Answer:
    return {
        "run": str(run.id),
        "case": name_or_quoted(run.case_name),
        "status": run.status.value,
        "mark": run.mark.value if run.mark else None,
        "expected": quoted(run.expected, 160),
        "selected": quoted(run.selected, 160) if run.selected is not None else None,
        "failure": run.failure_code or None,
    }


async def explain_run(engine: Engine, arguments: JsonObject) -> Answer:
    """Return the expected call, the call that was made, and every argument that differs."""
    detail = await engine.runs.detail(RunId(arguments["run"]))
    run: Any = run_detail_to_json(detail, {})
    findings = [
        {
            "parameter": name_or_quoted(one["parameter"]),
            "reason": one["reason"],
            "detail": quoted(one["sentence"], 240),
        }
        for one in run["findings"][:10]
    ]
    calls = [
        {"tool": name_or_quoted(one["tool"]), "arguments": quoted(str(one["arguments"]), 300)}
        for one in (run["calls"] or [])[:5]
    ]
    why = run["error"]["message"] if run["error"] else run["explanation"]
    passed = detail.summary.passes
    step = "Nothing has to change for this run." if passed else "Change the tool's texts with try_change."
    return {
        "summary": f"The run is {'a correct call' if passed else 'not a correct call'}.",
        "run": {
            **_wrong_run(detail.summary),
            "query": quoted(detail.summary.query),
            "explanation": quoted(why, 600),
            "model": quoted(detail.summary.model),
            "offered_tools": len(run["tools"]),
        },
        "calls": calls,
        "findings": findings,
        "next_step": step,
    }


async def try_change(work: PaidWork, arguments: JsonObject, agent: CallingAgent) -> Answer:
    """Try a patch on the affected cases; the draft that it makes is removed at the end."""
    engine, model = work.engine, work.model(arguments)
    patch = unquoted(list(arguments["patch"]))
    draft = await draft_of_patch(engine, "Change by an agent", patch, server=arguments["server"])
    try:
        return await _tried(work, draft, model, arguments, agent)
    finally:
        await engine.drafts.remove([draft.id])


async def _tried(
    work: PaidWork, draft: Draft, model: ModelSettings, arguments: JsonObject, agent: CallingAgent
) -> Answer:
    engine, suites = work.engine, [arguments["suite"]] if arguments.get("suite") else []

    async def request(room: SpendingRoom | None) -> TrialRequest:
        wanted = TrialRequest(
            draft=draft.id,
            settings=model,
            cases=(),
            rounds=arguments.get("rounds", 5),
            seed=arguments.get("seed", 0),
            max_cost_usd=room.max_cost_usd if room else None,
            most_calls=room.max_calls if room else None,
        )
        return await trial_of_affected_cases(engine, draft, wanted, suites=suites)

    async def start(room: SpendingRoom | None) -> Batch:
        return await engine.trials.start(await request(room))

    asked = await request(None)
    if not asked.cases:
        raise InputError("No test case is about the changed tools.", hint="Add cases about them with add_case.")
    estimate = await engine.trials.estimate(asked)
    if not await work.is_agreed(model, estimate, arguments, agent):
        return cost_answer(work, estimate)
    batch = await work.done(model, estimate, start, agent)
    return _trial_answer(await engine.trials.result(batch.id))


def _trial_answer(result: TrialResult) -> Answer:
    claim = result.claims.on_these_cases.verdict.value
    steps = {
        "better": "Write the change into the source of the server.",
        "worse": "Do not make this change. Read its failed runs with run_cases and this batch.",
    }
    return {
        "summary": f"On these cases the change is: {claim}.",
        "verdict": claim,
        "for_queries_like_these": result.claims.for_queries_like_these.verdict.value,
        "wins": result.wins,
        "losses": result.losses,
        "pairs": result.pairs,
        "calls": result.calls,
        "original": _rate(result.shares.before),
        "changed": _rate(result.shares.after),
        "broken_cases": sum(one.broken for one in result.claims.guards),
        "details": [quoted(sentence) for sentence in trial_sentences(result)[:6]],
        "batch": str(result.batch_id),
        "cost_usd": result.cost_usd,
        "next_step": steps.get(claim, "Add more cases about these tools, or try another text."),
    }


async def crowd_test(
    work: PaidWork, arguments: JsonObject, agent: CallingAgent
) -> tuple[Answer, Sequence[Answer]] | Answer:
    """Run a crowd test with the bundled strangers."""
    engine, model = work.engine, work.model(arguments)
    cases = tuple(case.id for case in await _chosen(engine, arguments))

    def request(room: SpendingRoom | None) -> CrowdRequest:
        return CrowdRequest(
            cases=cases,
            models=(model,),
            sizes=tuple(arguments.get("sizes", (0, 30, 120))),
            silence=0,
            max_cost_usd=room.max_cost_usd if room else None,
        )

    estimate = await engine.crowds.estimate(request(None))
    if not await work.is_agreed(model, estimate, arguments, agent):
        return cost_answer(work, estimate)
    batch = await work.done(model, estimate, lambda room: engine.crowds.start(request(room)), agent)
    result = await engine.crowds.result(batch.id)
    points = [
        {"other_tools": one.strangers, "correct_tool": _rate(one.rate), "lost": one.lost, "runs": one.runs}
        for one in result.points
    ]
    answer = {
        "summary": f"{result.cases} cases were asked among {len(points)} numbers of other tools.",
        "batch": str(batch.id),
        "details": [quoted(one.sentence) for one in result.lost_at[:5]],
        "cost_usd": result.cost_usd,
        "next_step": "Make the texts of lost tools more specific, then call try_change.",
    }
    return answer, points
