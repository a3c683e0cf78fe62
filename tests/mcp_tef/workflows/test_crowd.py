"""Crowd tests and steal tests over a real workspace: the offline baseline, and a stand-in model over HTTP."""

import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from mcp_tef.embedding.tfidf import TfidfIndex
from mcp_tef.engine import Engine
from mcp_tef.errors import InputError
from mcp_tef.llm.retrieval_baseline import wording
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.crowds import CrowdKind, CrowdRequest, CrowdSource, StealRequest
from mcp_tef.model.ids import CaseId
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchStatus, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.definitions import check_definitions
from mcp_tef.workflows.crowd_setup import read_bundled_crowd
from tests.support.model_replies import Received, Reply, broken
from tests.support.model_stub import ModelStub
from tests.support.stand_in_models import TOOL, CrowdedModel
from tests.support.workspace_files import written_tools

BASELINE = ModelSettings(model="words")
KEYS = {"openai": Secret("sk-test")}
BIKES = {
    TOOL: "Book a repair of a bicycle in the workshop.",
    "rent": "Rent a bicycle for some days.",
    "opening_hours": "Tell when the bicycle shop is open.",
}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with await Engine.open(tmp_path / "work.db") as made:
        await added(made, tmp_path, "bikes", BIKES)
        yield made


async def added(engine: Engine, folder: Path, name: str, tools: dict[str, str]) -> None:
    """A server whose tools are those of a file."""
    path = folder / f"{name}.json"
    written_tools(folder, tools).rename(path)
    await engine.servers.add(ServerSpec(name=name, transport=Transport.FILE, path=str(path)))


async def cases(engine: Engine, queries: Sequence[str], tool: str = TOOL, server: str = "bikes") -> tuple[CaseId, ...]:
    """Cases that expect one tool."""
    expected = Expectation(((ExpectedCall(tool=tool, server=server),),))
    drafts = [CaseDraft(name=one, query=one, expectation=expected, servers=(server,)) for one in queries]
    return tuple(case.id for case in await engine.cases.add(drafts))


def repairs(number: int) -> list[str]:
    return [f"Please book a repair of my bicycle, brake {place}" for place in range(number)]


def settings(stub: ModelStub, name: str = "x", **changes: Any) -> ModelSettings:
    return ModelSettings(provider="openai", model=name, base_url=stub.url, max_retries=0, **changes)


async def test_a_crowd_test_offline_has_a_curve_silence_order_and_a_sentence(engine: Engine) -> None:
    request = CrowdRequest(
        cases=await cases(engine, repairs(40)), models=(BASELINE,), sizes=(10, 60, 300), search=(5,), silence=5
    )
    estimate = await engine.crowds.estimate(request)
    batch = await engine.runs.wait((await engine.crowds.start(request)).id)
    found = await engine.crowds.result(batch.id)
    assert batch.status is BatchStatus.COMPLETED
    assert [(one.strangers, one.search) for one in found.points] == [
        (size, search) for search in (None, 5) for size in (0, 10, 60, 300)
    ]
    assert [one.rate.value for one in found.points] == [1.0] * 8
    assert [one.sentence for one in found.lost_at] == [
        "`book_repair` is not lost up to 300 other tools.",
        "With the first 5 tools of a search: `book_repair` is not lost up to 300 other tools.",
    ]
    assert found.points[3].tokens > 10 * found.points[0].tokens > 10 * found.points[7].tokens / 5
    assert len(found.silence) == 8
    assert found.order[0].changed.value == 0.0
    assert sum(one.n for one in found.order[0].fifths) == 4 * 40
    assert found.calls == found.planned_calls == estimate.runs == 8 * 45 + 40


async def test_silence_queries_are_stored_once_and_stay_out_of_the_curve(engine: Engine) -> None:
    request = CrowdRequest(cases=await cases(engine, repairs(3)), models=(BASELINE,), sizes=(10,), silence=7)
    for _ in range(2):
        await engine.runs.wait((await engine.crowds.start(request)).id)
    assert len(await engine.cases.list()) == 3 + 7


async def test_each_kind_of_crowd_is_nested_and_whole_servers_have_five_crowds(engine: Engine) -> None:
    ids = await cases(engine, repairs(4))
    for kind in CrowdKind:
        request = CrowdRequest(cases=ids, models=(BASELINE,), sizes=(10, 30), kind=kind, silence=0)
        batch = await engine.runs.wait((await engine.crowds.start(request)).id)
        found = await engine.crowds.result(batch.id)
        offered: dict[int, list[set[str]]] = {}
        for run in await engine.runs.list(RunFilter(batch_id=batch.id)):
            snapshot = (await engine.runs.detail(run.id)).snapshot
            assert snapshot is not None
            offered.setdefault(run.repeat, []).append({f"{one.tool.server}/{one.tool.name}" for one in snapshot.tools})
        for turn in range(found.crowds):
            small, middle, large = (offered[3 * turn + size][0] for size in range(3))
            assert small < middle < large
        assert found.crowds == (5 if kind is CrowdKind.SERVERS else 1)


async def test_a_model_that_is_lost_at_a_known_size_is_bracketed_and_decided_sizes_are_not_asked_again(
    engine: Engine,
) -> None:
    ids = await cases(engine, repairs(45))
    with ModelStub(CrowdedModel(lost_from=50)) as stub:
        engine.consents.add_typed_address("openai", stub.url)
        request = CrowdRequest(cases=ids, models=(settings(stub),), sizes=(10, 30, 60), silence=0, concurrency=16)
        batch = await engine.runs.wait((await engine.crowds.start(request, KEYS)).id)
    found = await engine.crowds.result(batch.id)
    assert found.sentence == "`book_repair` is lost between 30 and 60 other tools."
    assert [one.lost for one in found.points] == [False, False, False, True]
    assert found.points[3].rate.value == 0.0
    assert {one.runs for one in found.points} == {45}
    assert found.calls == 5 * 45 < found.planned_calls
    assert found.picks[0].times >= 45


async def test_a_crowd_test_that_was_cancelled_goes_on_and_asks_nothing_twice(engine: Engine) -> None:
    ids = await cases(engine, repairs(12))
    with ModelStub(CrowdedModel(lost_from=50)) as stub:
        engine.consents.add_typed_address("openai", stub.url)
        models = (settings(stub), settings(stub, "y"))
        request = CrowdRequest(cases=ids, models=models, sizes=(10, 60), silence=3)
        batch = await engine.crowds.start(request, KEYS)
        stub.delay = 0.05
        while len(stub.requests) < 10:
            await engine.runs.list(RunFilter(batch_id=batch.id))
        await engine.runs.cancel(batch.id)
        stub.delay = 0
        partial = await engine.crowds.result(batch.id)
        await engine.runs.wait((await engine.runs.resume(batch.id, KEYS)).id)
    found = await engine.crowds.result(batch.id)
    assert partial.status is BatchStatus.CANCELLED
    assert partial.calls < found.calls
    runs = await engine.runs.list(RunFilter(batch_id=batch.id))
    assert len({(run.model, run.case_id, run.repeat) for run in runs}) == len(runs) == found.calls
    assert [(one.model, one.high) for one in found.lost_at] == [("openai/x", 60), ("openai/y", 60)]


async def test_the_estimate_is_what_a_test_without_early_decisions_spends(engine: Engine) -> None:
    ids = await cases(engine, repairs(5))
    with ModelStub(CrowdedModel(lost_from=500)) as stub:
        engine.consents.add_typed_address("openai", stub.url)
        model = settings(stub, input_price=1.0, output_price=0.0)
        request = CrowdRequest(cases=ids, models=(model,), sizes=(10, 60), silence=4)
        estimate = await engine.crowds.estimate(request)
        batch = await engine.runs.wait((await engine.crowds.start(request, KEYS)).id)
    found = await engine.crowds.result(batch.id)
    assert found.calls == estimate.runs
    assert estimate.cost_usd is not None
    assert found.cost_usd == pytest.approx(estimate.cost_usd, rel=0.1)
    more = await engine.crowds.estimate(replace(request, rounds=3))
    assert more.runs == estimate.runs + 3 * len(ids)
    with pytest.raises(InputError, match="rounds"):
        replace(request, rounds=0)


async def test_a_run_that_failed_is_asked_once_more(engine: Engine) -> None:
    ids = await cases(engine, repairs(4))
    model, number = CrowdedModel(lost_from=500), 0

    def flaky(request: Received) -> Reply:
        nonlocal number
        number += 1
        return broken() if number in (2, 5) else model(request)

    with ModelStub(flaky) as stub:
        engine.consents.add_typed_address("openai", stub.url)
        request = CrowdRequest(cases=ids, models=(settings(stub),), sizes=(10,), silence=0, concurrency=1)
        batch = await engine.runs.wait((await engine.crowds.start(request, KEYS)).id)
    found = await engine.crowds.result(batch.id)
    assert [(one.rate.value, one.runs, one.left_out) for one in found.points] == 2 * [(1.0, 8, 0)]
    assert found.calls == found.planned_calls + 2


async def test_a_cost_cap_holds(engine: Engine) -> None:
    ids = await cases(engine, repairs(5))
    with ModelStub(CrowdedModel(lost_from=500)) as stub:
        engine.consents.add_typed_address("openai", stub.url)
        model = settings(stub, input_price=1.0, output_price=0.0)
        request = CrowdRequest(cases=ids, models=(model,), sizes=(60,), max_cost_usd=0.02)
        batch = await engine.runs.wait((await engine.crowds.start(request, KEYS)).id)
    assert batch.status is BatchStatus.CANCELLED
    assert 0 < (batch.cost_usd or 0.0) <= 0.02


async def test_a_stranger_of_the_same_name_and_text_is_an_equivalent_that_can_be_accepted(
    engine: Engine, tmp_path: Path
) -> None:
    ids = await cases(engine, repairs(8))
    await added(engine, tmp_path, "cycles", {TOOL: f"{BIKES[TOOL]} Bicycle repair: book a brake repair, please."})
    source = CrowdSource(servers=("cycles",))
    request = CrowdRequest(cases=ids, models=(BASELINE,), sizes=(1,), source=source, silence=0)
    for accepted, rate in ((False, 0.0), (True, 1.0)):
        started = await engine.crowds.start(replace(request, accept_equivalents=accepted))
        found = await engine.crowds.result((await engine.runs.wait(started.id)).id)
        assert (found.points[1].equivalents, found.points[1].rate.value) == (8, rate)


async def test_what_a_search_does_not_find_is_counted_apart(engine: Engine) -> None:
    ids = await cases(engine, [f"Do number {number} with it" for number in range(6)])
    request = CrowdRequest(cases=ids, models=(BASELINE,), sizes=(60,), search=(1,), silence=0)
    batch = await engine.runs.wait((await engine.crowds.start(request)).id)
    last = (await engine.crowds.result(batch.id)).points[-1]
    assert (last.not_found, last.rate.value) == (6, 0.0)
    wrong = await engine.crowds.wrong_runs(batch.id, last)
    assert {run.case_id for run in wrong} == set(ids)
    assert len(wrong) == 6


async def test_the_line_without_a_model_has_recall_and_silence(engine: Engine) -> None:
    found = await engine.crowds.retrieval(await cases(engine, repairs(5)))
    assert [one.strangers for one in found] == [0, 10, 30, 60, 120, 300]
    assert all(recall == 1.0 for one in found for _, recall in one.recall)
    assert all(one.silent is not None and one.silent > 0.5 for one in found)


async def test_tests_that_can_show_nothing_are_refused(engine: Engine) -> None:
    with pytest.raises(InputError, match="No case expects"):
        await engine.crowds.start(CrowdRequest(cases=(), models=(BASELINE,)))
    with pytest.raises(InputError, match="0 to 1,000"):
        CrowdRequest(cases=(), models=(BASELINE,), sizes=(0,))


async def test_a_crowd_test_whose_tools_have_changed_does_not_go_on(engine: Engine, tmp_path: Path) -> None:
    ids = await cases(engine, repairs(5))
    with ModelStub(CrowdedModel(lost_from=50)) as stub:
        engine.consents.add_typed_address("openai", stub.url)
        stub.delay = 0.1
        batch = await engine.crowds.start(CrowdRequest(cases=ids, models=(settings(stub),), sizes=(10,)), KEYS)
        await engine.runs.cancel(batch.id)
    tools = {"tools": [{"name": TOOL, "description": "Other.", "inputSchema": {"type": "object"}}]}
    (tmp_path / "bikes.json").write_text(json.dumps(tools))
    await engine.servers.check((await engine.servers.find("bikes")).id)
    with pytest.raises(InputError, match="have changed"):
        await engine.runs.resume(batch.id, KEYS)


async def test_a_server_that_overlaps_takes_from_the_tool_that_it_is_like(engine: Engine, tmp_path: Path) -> None:
    await added(engine, tmp_path, "garage", {"fix_bicycle": "Book a repair of my bicycle, brake or gears, please."})
    await cases(engine, repairs(12))
    await cases(engine, [f"Rent a bicycle for {days} days" for days in range(2, 14)], tool="rent")
    request = StealRequest(server="garage", among=("bikes",), settings=BASELINE)
    batch = await engine.runs.wait((await engine.crowds.start_steal(request)).id)
    found = await engine.crowds.steal_result(batch.id)
    assert found.worse
    assert [(one.tool, one.worse, one.takers) for one in found.tools] == [
        (TOOL, True, (("fix_bicycle", 12),)),
        ("rent", False, ()),
    ]
    assert found.unknown == ("bikes / opening_hours",)
    assert found.tools[0].sentence.startswith("garage takes 100 % of `book_repair`")
    assert (found.calls, found.planned_calls) == (48, 48)
    pairs = await engine.crowds.stolen_pairs(batch.id)
    assert {(one.tool, one.lost, one.without.selected_tool, one.with_new.selected_tool) for one in pairs} == {
        (TOOL, True, TOOL, "fix_bicycle")
    }
    assert len(pairs) == 12
    assert [one.id for one in await engine.crowds.tests(stealing=True)] == [batch.id]
    assert await engine.crowds.tests(stealing=False) == ()


async def test_a_server_that_shares_nothing_takes_nothing_in_any_of_eight_seeds(engine: Engine, tmp_path: Path) -> None:
    await added(engine, tmp_path, "poems", {"write_sonnet": "Compose rhymes.", "list_authors": "Names of poets."})
    await cases(engine, repairs(10))
    with ModelStub(CrowdedModel(lost_from=500, noise=0.2, seed=4)) as stub:
        engine.consents.add_typed_address("openai", stub.url)
        for seed in range(8):
            request = StealRequest(
                server="poems", among=("bikes",), settings=settings(stub), rounds=1, seed=seed, concurrency=16
            )
            batch = await engine.runs.wait((await engine.crowds.start_steal(request, KEYS)).id)
            assert not (await engine.crowds.steal_result(batch.id)).worse


KNOWN_VERSIONS = {1: "a4b3df3cd6e0c2b457c399e73b8dfa3eeec0f2590165dedb9c73cef94dca2917"}
"""The SHA-256 of each version; a changed file needs a new version, since stored tests name theirs."""


def test_every_definition_is_sound_and_about_300_stand_in_30_servers() -> None:
    crowd = read_bundled_crowd()
    for name, definitions in crowd.servers.items():
        checked = check_definitions(ServerSpec(name=name, transport=Transport.FILE, path="crowd"), definitions)
        assert len(checked.tools) == len(definitions), checked.problems
    assert len(crowd.servers) == 30
    assert 280 <= sum(map(len, crowd.servers.values())) <= 330


def test_names_collide_as_they_do_in_life() -> None:
    names = Counter(raw["name"] for ones in read_bundled_crowd().servers.values() for raw in ones)
    shared = {name for name, count in names.items() if count > 1}
    assert {"search", "create_issue", "get_issue", "search_issues", "move_file"} <= shared


def test_no_tool_is_near_a_query_that_none_can_serve() -> None:
    crowd = read_bundled_crowd()
    spec = ServerSpec(name="crowd", transport=Transport.FILE, path="crowd")
    tools = [tool for ones in crowd.servers.values() for tool in check_definitions(spec, ones).tools]
    scores = TfidfIndex([wording(tool) for tool in tools]).scores_of(crowd.silence)
    assert len(set(crowd.silence)) >= 40
    assert {query: float(one) for query, one in zip(crowd.silence, scores.max(axis=1), strict=True) if one > 0.45} == {}


def test_a_changed_crowd_has_a_new_version() -> None:
    text = files("resources").joinpath("crowd.json").read_bytes()
    assert KNOWN_VERSIONS[read_bundled_crowd().version] == hashlib.sha256(text).hexdigest()
