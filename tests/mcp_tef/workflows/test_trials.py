"""Trials over a real workspace: rounds, arms, decisions, failures and guards; the selector is the offline baseline."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.engine import Engine
from mcp_tef.errors import InputError
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.prediction import DirectionRecord
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Arm, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.trials import TrialEnd, TrialGoal, TrialRequest
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import WordSensitiveModel
from tests.support.workspace_files import written_tools

VAGUE, CLEAR = "Does things.", "Return the weather forecast of a city: rain, sun, wind and temperature."
OTHER = "Return departures of trains between two stations."
WEATHER = [f"Will it rain in town {number}, and the temperature?" for number in range(8)]
TRAINS = [f"departures of trains to station {number}" for number in range(4)]
OLD_PLAN = {
    "draft", "draft_name", "step", "listing_hash", "draft_hash", "cases", "guards", "rounds", "goal", "seed",
    "same_against_same", "more",
}  # fmt: skip
KEYS = {"openai": Secret("sk-test")}
BASELINE = ModelSettings(model="words")


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    file = written_tools(tmp_path, {"forecast": VAGUE, "departures": OTHER, "rent": "Rent a bicycle."})
    async with await Engine.open(tmp_path / "work.db") as made:
        await made.servers.add(ServerSpec(name="city", transport=Transport.FILE, path=str(file)))
        yield made


def case(query: str, tool: str) -> CaseDraft:
    expected = Expectation(((ExpectedCall(tool=tool),),))
    return CaseDraft(name=query, query=query, expectation=expected, servers=("city",))


async def tried(engine: Engine, edit: ToolEdit, **options: Any) -> TrialRequest:
    """A draft that edits the forecast, and the request for its trial: eight cases, four guards."""
    draft = await engine.drafts.new(f"Draft {len(await engine.drafts.list())}", server="city")
    draft = await engine.drafts.edit(draft.id, "forecast", edit)
    cases = await engine.cases.list() or await engine.cases.add(
        [case(query, "forecast") for query in WEATHER] + [case(query, "departures") for query in TRAINS]
    )
    ids = [one.id for one in sorted(cases, key=lambda one: one.name)]
    weather = tuple(one.id for one in cases if one.name in WEATHER)
    guards = tuple(one for one in ids if one not in weather)
    return TrialRequest(**{"draft": draft.id, "settings": BASELINE, "cases": weather, "guards": guards, **options})


async def test_a_baseline_trial_asks_each_case_once_in_both_arms_and_decides_by_the_count(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=CLEAR))
    batch = await engine.runs.wait((await engine.trials.start(request)).id)
    found = await engine.trials.result(batch.id)
    assert (found.wins, found.losses, found.pairs, found.left_out) == (8, 0, 8, 0)
    assert (found.end, found.evidence) == (TrialEnd.COMPLETE, None)
    assert found.claims.on_these_cases.verdict is ClaimVerdict.BETTER
    assert not found.claims.worse
    assert (found.calls, found.planned_calls) == (24, 24)
    runs = await engine.runs.list(RunFilter(batch_id=batch.id))
    assert sorted(run.place for run in runs if run.place is not None) == list(range(24))
    assert all(
        one.case_id == two.case_id and one.arm != two.arm for one, two in zip(runs[::2], runs[1::2], strict=True)
    )


async def test_each_run_keeps_the_tools_of_its_arm(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=CLEAR))
    batch = await engine.runs.wait((await engine.trials.start(request)).id)
    runs = await engine.runs.list(RunFilter(batch_id=batch.id))
    for arm, text in ((Arm.ORIGINAL, VAGUE), (Arm.DRAFT, CLEAR)):
        run = next(run for run in runs if run.arm is arm)
        snapshot = (await engine.runs.detail(run.id)).snapshot
        assert snapshot is not None
        assert {item.tool.description for item in snapshot.tools if item.tool.name == "forecast"} == {text}


async def test_a_broken_guard_is_told_and_fails_the_trial(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description="Departures of trains to a station."))
    batch = await engine.runs.wait((await engine.trials.start(request)).id)
    found = await engine.trials.result(batch.id)
    assert [one.broken for one in found.claims.guards].count(True) > 0
    assert {one.case_id: (one.pairs, one.original > one.draft) for one in found.guard_outcomes} == {
        guard: (1, guard in {one.case_id for one in found.claims.guards}) for guard in request.guards
    }
    assert found.claims.worse
    assert "must not change broke" in found.sentence


async def test_drafts_tried_on_the_same_cases_are_counted_once_each(engine: Engine) -> None:
    for text, tried_so_far in ((CLEAR, 1), (f"{CLEAR} Also snow.", 2), (CLEAR, 2)):
        request = await tried(engine, ToolEdit(description=text))
        batch = await engine.runs.wait((await engine.trials.start(request)).id)
        assert (await engine.trials.result(batch.id)).drafts_tried == tried_so_far


async def test_a_trial_that_can_show_nothing_is_refused(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=VAGUE))
    with pytest.raises(InputError, match="changes nothing"):
        await engine.trials.start(request)
    changed = await tried(engine, ToolEdit(description=CLEAR), cases=())
    with pytest.raises(InputError, match="nothing to try"):
        await engine.trials.start(changed)


async def test_an_ended_trial_has_nothing_to_resume(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=CLEAR))
    batch = await engine.runs.wait((await engine.trials.start(request)).id)
    with pytest.raises(InputError, match="no run left"):
        await engine.trials.resume(batch.id)


def with_model(request: TrialRequest, stub: ModelStub, **changes: Any) -> TrialRequest:
    """The same trial with a model at the address of a stub."""
    settings = ModelSettings(provider="openai", model="x", base_url=stub.url, max_retries=0)
    return replace(request, settings=settings, **changes)


async def test_each_round_has_an_order_of_its_own_and_both_arms_get_the_same_rotation(engine: Engine) -> None:
    with ModelStub(WordSensitiveModel(6)) as stub:
        plain = await tried(engine, ToolEdit(description=CLEAR))
        engine.consents.add_typed_address("openai", stub.url)
        request = with_model(plain, stub, rounds=2, goal=TrialGoal.FULL)
        batch = await engine.runs.wait((await engine.trials.start(request, KEYS)).id)
    runs = [run for run in await engine.runs.list(RunFilter(batch_id=batch.id)) if run.repeat < 2]
    orders = [[run.case_id for run in runs if run.repeat == number] for number in range(2)]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])
    offered: dict[int, set[tuple[str, ...]]] = {}
    for run in runs:
        snapshot = (await engine.runs.detail(run.id)).snapshot
        assert snapshot is not None
        offered.setdefault(run.repeat, set()).add(tuple(item.offered_name for item in snapshot.tools))
    assert offered == {0: {("forecast", "departures", "rent")}, 1: {("departures", "rent", "forecast")}}


async def test_run_more_keeps_the_pairs_and_reads_at_a_level_of_its_own(engine: Engine) -> None:
    with ModelStub(WordSensitiveModel(7)) as stub:
        plain = await tried(engine, ToolEdit(description=f"{VAGUE}  "))
        engine.consents.add_typed_address("openai", stub.url)
        request = with_model(plain, stub, rounds=1)
        batch = await engine.runs.wait((await engine.trials.start(request, KEYS)).id)
        first = await engine.trials.result(batch.id)
        await engine.runs.wait((await engine.trials.more(batch.id, KEYS, rounds=2)).id)
        found = await engine.trials.result(batch.id)
    assert (first.pairs, found.pairs, found.end) == (8, 24, TrialEnd.COMPLETE)
    assert "0.5 %" in found.claims.for_queries_like_these.sentence


async def test_run_more_that_cannot_start_leaves_the_trial_as_it_had_ended(engine: Engine) -> None:
    with ModelStub(WordSensitiveModel(7)) as stub:
        plain = await tried(engine, ToolEdit(description=f"{VAGUE}  "))
        engine.consents.add_typed_address("openai", stub.url)
        request = with_model(plain, stub, rounds=1)
        priced = replace(request.settings, input_price=1.0, output_price=1.0)
        batch = await engine.runs.wait((await engine.trials.start(replace(request, settings=priced), KEYS)).id)
        before = await engine.trials.result(batch.id)
        for _ in range(2):
            with pytest.raises(InputError, match="cap"):
                await engine.trials.more(batch.id, KEYS, max_cost_usd=1e-9)
    assert await engine.trials.result(batch.id) == before
    estimate = await engine.trials.estimate_more(batch.id)
    assert estimate.runs == 2 * 12


async def test_evidence_is_of_the_newest_whole_trial_of_the_tools_as_they_are(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=CLEAR))
    draft = await engine.drafts.get(request.draft)
    assert await engine.trials.evidence(draft) == ()
    same = await engine.runs.wait((await engine.trials.start(replace(request, same_against_same=True))).id)
    assert await engine.trials.newest(draft.id) == (same,)
    assert await engine.trials.evidence(draft) == ()
    batch = await engine.runs.wait((await engine.trials.start(request)).id)
    assert [one.id for one, _ in await engine.trials.evidence(draft)] == [batch.id]
    changed = await engine.drafts.edit(draft.id, "forecast", ToolEdit(description=f"{CLEAR} Also snow."))
    assert await engine.trials.evidence(changed) == ()
    assert await engine.trials.evidence(await engine.drafts.undo(draft.id))


async def test_a_trial_under_a_cost_cap_ends_within_it_and_says_so(engine: Engine) -> None:
    with ModelStub(WordSensitiveModel(8)) as stub:
        plain = await tried(engine, ToolEdit(description=CLEAR))
        engine.consents.add_typed_address("openai", stub.url)
        request = with_model(plain, stub, max_cost_usd=0.003)
        settings = replace(request.settings, input_price=1.0, output_price=1.0)
        batch = await engine.trials.start(replace(request, settings=settings), KEYS)
        await engine.runs.wait(batch.id)
    found = await engine.trials.result(batch.id)
    assert found.end is TrialEnd.BUDGET
    assert (found.cost_usd or 0.0) <= 0.003


async def test_two_states_of_a_draft_are_tried_against_each_other(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=CLEAR))
    draft = await engine.drafts.describe(request.draft, {"forecast": f"{CLEAR} Also snow."})
    assert (draft.step, draft.changed_tools()) == (2, ("forecast",))
    batch = await engine.trials.start(replace(request, step=2, against=1, name="Two states"))
    await engine.runs.wait(batch.id)
    found = await engine.trials.result(batch.id)
    assert (found.wins, found.losses, found.pairs) == (0, 0, 8)
    texts = {}
    for run in await engine.runs.list(RunFilter(batch_id=batch.id)):
        snapshot = (await engine.runs.detail(run.id)).snapshot
        assert snapshot is not None
        texts[run.arm] = {item.tool.description for item in snapshot.tools if item.tool.name == "forecast"}
    assert texts == {Arm.ORIGINAL: {CLEAR}, Arm.DRAFT: {f"{CLEAR} Also snow."}}
    assert (await engine.runs.batch(batch.id)).name == "Two states"


async def test_hints_offer_each_case_its_own_query_in_the_arm_of_the_draft_only(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=CLEAR))
    batch = await engine.trials.start(replace(request, step=0, hints=True, guards=()))
    await engine.runs.wait(batch.id)
    assert (await engine.trials.result(batch.id)).wins == 8
    for run in await engine.runs.list(RunFilter(batch_id=batch.id)):
        snapshot = (await engine.runs.detail(run.id)).snapshot
        assert snapshot is not None
        (text,) = (item.tool.description for item in snapshot.tools if item.tool.name == "forecast")
        assert (run.query in text) is (run.arm is Arm.DRAFT)
        assert not any(run.query in item.tool.description for item in snapshot.tools if item.tool.name != "forecast")


async def test_no_run_is_planned_beyond_the_calls_and_a_plan_of_an_older_version_is_read(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(description=CLEAR))
    batch = await engine.runs.wait((await engine.trials.start(replace(request, most_calls=7, gate=1))).id)
    assert (await engine.trials.result(batch.id)).calls == 6
    plan = {name: value for name, value in (batch.trial or {}).items() if name in OLD_PLAN}
    await engine._store.runs.set_trial(batch.id, plan)
    assert (await engine.trials.result(batch.id)).pairs > 0


async def test_a_renamed_tool_is_expected_by_its_new_name_in_the_arm_of_the_draft(engine: Engine) -> None:
    request = await tried(engine, ToolEdit(rename="weather_forecast", description=CLEAR))
    batch = await engine.runs.wait((await engine.trials.start(request)).id)
    found = await engine.trials.result(batch.id)
    assert (found.wins, found.losses, found.left_out) == (8, 0, 0)
    runs = [run for run in await engine.runs.list(RunFilter(batch_id=batch.id)) if run.arm and run.query in WEATHER]
    assert {run.arm: run.expected_tool for run in runs} == {Arm.ORIGINAL: "forecast", Arm.DRAFT: "weather_forecast"}
    report = await engine.runs.rejudge([run.id for run in runs])
    assert (report.judged, report.changes) == (len(runs), ())
    assert (await engine.metrics.summary()).n == (len(runs) + 8) / 2
    prediction = await engine.predictions.predict(await engine.drafts.get(request.draft))
    assert prediction is not None
    assert (prediction.fixed, prediction.broken) == (8, 0)
    assert all(one.rank_after is not None for one in prediction.cases)


async def test_a_model_that_calls_a_renamed_tool_is_correct(engine: Engine) -> None:
    with ModelStub(WordSensitiveModel(seed=1)) as stub:
        request = await tried(engine, ToolEdit(rename="weather_forecast", description=CLEAR))
        engine.consents.add_typed_address("openai", stub.url)
        started = await engine.trials.start(with_model(request, stub, rounds=2, goal=TrialGoal.FULL), KEYS)
        batch = await engine.runs.wait(started.id)
    found = await engine.trials.result(batch.id)
    assert found.losses == 0
    assert sum(one.draft for one in found.outcomes) > sum(one.original for one in found.outcomes)


async def test_predictions_keep_score_of_trials_that_asked_a_model(engine: Engine) -> None:
    with ModelStub(WordSensitiveModel(seed=1)) as stub:
        helps = await tried(engine, ToolEdit(description=CLEAR))
        engine.consents.add_typed_address("openai", stub.url)
        for request in (helps, with_model(helps, stub, rounds=2), with_model(helps, stub, same_against_same=True)):
            await engine.runs.wait((await engine.trials.start(request, KEYS)).id)
        prediction = await engine.predictions.predict(await engine.drafts.get(helps.draft))
        assert prediction is not None
        assert prediction.record == DirectionRecord(right=1, trials=1)
        idle = await tried(engine, ToolEdit(description=f"{VAGUE} Rain, temperature, town, will, the."))
        batch = await engine.runs.wait((await engine.trials.start(with_model(idle, stub, rounds=2), KEYS)).id)
        found = await engine.trials.result(batch.id)
        prediction = await engine.predictions.predict(await engine.drafts.get(idle.draft))
    assert prediction is not None
    assert prediction.record.trials == 1 + (found.wins != found.losses)
