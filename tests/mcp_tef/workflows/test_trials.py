"""Trials over a real workspace: rounds, arms, decisions, failures and guards; the selector is the offline baseline."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.engine import Engine
from mcp_tef.errors import InputError
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.comparison import ClaimVerdict
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Arm, ModelSettings
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tool_edits import ToolEdit
from mcp_tef.model.trials import TrialEnd, TrialRequest
from tests.support.workspace_files import written_tools

VAGUE, CLEAR = "Does things.", "Return the weather forecast of a city: rain, sun, wind and temperature."
OTHER = "Return departures of trains between two stations."
WEATHER = [f"Will it rain in town {number}, and the temperature?" for number in range(8)]
TRAINS = [f"departures of trains to station {number}" for number in range(4)]
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
