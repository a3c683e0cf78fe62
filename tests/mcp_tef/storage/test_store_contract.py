"""The contract of every store port, held by the workspace file and by the store in memory that other tests use."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.model.comparison import Judgement
from mcp_tef.model.drafts import Draft, DraftStep
from mcp_tef.model.ids import BatchId, CaseId, DraftId, RunId, ServerId, ToolCallId
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import Arm, BatchRequest, BatchStatus, ModelSettings, PlannedRun, RunStatus
from mcp_tef.model.servers import ServerStatus
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.model.tools import Listing
from mcp_tef.model.verdicts import Classification, PastVerdict, RejudgeReason, Verdict, VerdictKind
from mcp_tef.ports import CheckResult, Store
from tests.support.workspace_files import (
    Filled,
    draft,
    fill,
    gone_wrong,
    http,
    nothing_picked,
    offered,
    right,
    run_all,
    tool,
)

MISSED = Verdict(classification=Classification.FN, kind=VerdictKind.WRONG_TOOL, explanation="Selected another tool.")
MODEL = ModelSettings(provider="openai", model="gpt-4.1-mini")
TRIAL = {"draft": "shorter texts", "seed": 7, "rounds": 2}
MOMENT = datetime(2026, 11, 22, 6, tzinfo=UTC)


def listing(*names: str) -> Listing:
    """A listing of docs with these tools."""
    return Listing(server="docs", tools=tuple(map(tool, names)), protocol="2025-11-25", latency_ms=5)


async def test_servers_have_unique_names_and_are_found_by_id_and_name(any_store: Store) -> None:
    servers = any_store.servers
    docs = await servers.add(http("docs"))
    assert await servers.get(docs.id) == await servers.find("docs") == docs
    for again in (servers.add(http("docs")), servers.apply([http("wiki"), http("docs")], {})):
        with pytest.raises(ConflictError):
            await again
    assert await servers.all() == (docs,)
    with pytest.raises(NotFoundError):
        await servers.get(ServerId("gone"))
    with pytest.raises(NotFoundError):
        await servers.find("gone")


async def test_servers_are_changed_removed_and_restored(any_store: Store) -> None:
    servers = any_store.servers
    docs = await servers.add(http("docs"))
    added, changed = await servers.apply([http("wiki")], {docs.id: http("docs", alias="handbook")})
    assert (added.name, changed.id, changed.spec.alias) == ("wiki", docs.id, "handbook")
    assert (await servers.update(docs.id, http("papers"))).name == "papers"
    await servers.remove([docs.id])
    assert [server.name for server in await servers.all()] == ["wiki"]
    await servers.restore([docs.id])
    assert [server.name for server in await servers.all()] == ["papers", "wiki"]
    with pytest.raises(ConflictError):
        await servers.update(docs.id, http("wiki", url="http://docs.test/mcp"))


async def test_a_check_leaves_its_result_and_its_listing(any_store: Store) -> None:
    servers = any_store.servers
    docs = await servers.add(http("docs"))
    assert await servers.listing(docs.id) is None
    checked = await servers.record_check(docs.id, CheckResult(listing=listing("search")))
    assert (checked.status, checked.tool_count) == (ServerStatus.ACTIVE, 1)
    assert await servers.listing(docs.id) == listing("search")
    failed = await servers.record_check(docs.id, CheckResult(reason="It ended at once.", exit_code=3))
    assert (failed.status, failed.reason) == (ServerStatus.FAILED, "It ended at once.")
    assert await servers.listing(docs.id) == listing("search")


async def test_the_listing_that_the_user_saw_is_kept_until_the_new_one_is_accepted(any_store: Store) -> None:
    servers = any_store.servers
    docs = await servers.add(http("docs"))
    for names in (("search",), ("search", "read")):
        await servers.record_check(docs.id, CheckResult(listing=listing(*names)))
    assert await servers.accepted_listing(docs.id) == listing("search")
    assert not await servers.accept_listing(docs.id, listing("search"))
    assert await servers.accept_listing(docs.id, listing("search", "read"))
    assert await servers.accepted_listing(docs.id) is None


async def test_a_server_that_changes_only_zero_into_false_lists_something_else(any_store: Store) -> None:
    docs = await any_store.servers.add(http("docs"))
    for value in (0, False):
        [made] = listing("search").tools
        raw = {**made.raw, "inputSchema": {"type": "object", "default": value}}
        listed = replace(listing("search"), tools=(replace(made, raw=raw),))
        await any_store.servers.record_check(docs.id, CheckResult(listing=listed))
    accepted = await any_store.servers.accepted_listing(docs.id)
    assert accepted is not None
    assert accepted.tools[0].raw["inputSchema"]["default"] is not False


async def test_calls_by_hand_are_listed_newest_first_removed_and_restored(any_store: Store) -> None:
    docs = await any_store.servers.add(http("docs"))
    calls = [
        ToolCall(
            id=ToolCallId(str(second)),
            server_id=docs.id,
            server="docs",
            tool=name,
            arguments={"query": "retry"},
            asked_at=MOMENT.replace(second=second),
            status=ToolCallStatus.SENT,
        )
        for second, name in enumerate(("search", "read"))
    ]
    for call in calls:
        await any_store.calls.begin(call)
    reply = ToolReply(content=({"type": "text", "text": "Nothing found."},), execution_time_ms=5)
    ended = replace(calls[0], status=ToolCallStatus.ANSWERED, duration_ms=5, reply=reply)
    await any_store.calls.end(ended)
    assert await any_store.calls.of_server(docs.id) == (calls[1], ended)
    assert await any_store.calls.of_server(docs.id, "search") == (ended,)
    await any_store.calls.remove([ended.id])
    assert await any_store.calls.of_server(docs.id) == (calls[1],)
    await any_store.calls.restore([ended])
    assert await any_store.calls.of_server(docs.id) == (calls[1], ended)


async def test_cases_are_selected_by_id_suite_or_tag_in_the_order_added(any_store: Store) -> None:
    cases = any_store.cases
    await any_store.servers.add(http("docs"))
    drafts = (draft("find", suites=("Everyday",)), draft("look", tags=("smoke",)), draft("chat", tool=None))
    first, second, third = await cases.add(drafts)
    assert [case.draft for case in await cases.all()] == list(drafts)
    assert await cases.select(ids=(third.id,), suites=("Everyday",)) == (first, third)
    assert await cases.select(tags=("smoke",)) == (second,)
    assert await cases.suites() == ("Everyday",)
    assert await cases.get(second.id) == second
    with pytest.raises(NotFoundError):
        await cases.get(CaseId("gone"))


async def test_cases_are_changed_all_or_none(any_store: Store) -> None:
    cases = any_store.cases
    await any_store.servers.add(http("docs"))
    (first,) = await cases.add([draft("find")])
    added, changed = await cases.apply([draft("look")], {first.id: draft("find out")})
    assert [added.draft.name, changed.draft.name] == ["look", "find out"]
    with pytest.raises(NotFoundError):
        await cases.apply([draft("lost")], {first.id: draft("never"), CaseId("gone"): draft("gone")})
    assert [case.draft.name for case in await cases.all()] == ["find out", "look"]
    assert (await cases.update(first.id, draft("find"))).draft.name == "find"


async def test_removed_cases_come_back_and_suites_are_renamed(any_store: Store) -> None:
    cases = any_store.cases
    await any_store.servers.add(http("docs"))
    first, _ = await cases.add([draft("find", suites=("Everyday",)), draft("look", suites=("Nightly",))])
    await cases.remove([first.id])
    assert [case.draft.name for case in await cases.all()] == ["look"]
    await cases.restore([first.id])
    assert [case.draft.name for case in await cases.all()] == ["find", "look"]
    await cases.rename_suite("Everyday", "Daily")
    assert await cases.suites() == ("Daily", "Nightly")
    with pytest.raises(ConflictError):
        await cases.rename_suite("Daily", "Nightly")


async def test_a_batch_has_a_pending_run_for_each_case_model_and_repeat(any_store: Store) -> None:
    filled = await fill(any_store, [draft("find"), draft("look")], repeats=3, name="Evening", max_cost_usd=1.5)
    batch = await any_store.runs.batch(filled.batch.id)
    assert (batch.total, batch.counts, batch.status) == (6, {"pending": 6}, BatchStatus.RUNNING)
    assert await any_store.runs.batches() == (batch,)
    assert await any_store.runs.request(batch.id) == BatchRequest(repeats=3, name="Evening", max_cost_usd=1.5)
    assert await any_store.runs.unfinished(batch.id) == filled.runs
    with pytest.raises(NotFoundError):
        await any_store.runs.batch(BatchId("gone"))


async def test_the_runs_of_a_trial_keep_their_arm_and_place_and_are_added_round_by_round(any_store: Store) -> None:
    runs, first = any_store.runs, TRIAL | {"rounds": 1}
    cases = await any_store.cases.add([draft("find", servers=()), draft("look", servers=())])
    batch, none = await runs.create_batch(BatchRequest(name="Trial", trial=first), ())
    assert (none, batch.trial) == ((), first)
    planned = [
        PlannedRun(id=RunId(f"run-{case.name}-{arm}"), case_id=case.id, settings=MODEL, arm=arm, place=place)
        for place, case in enumerate(reversed(cases))
        for arm in Arm
    ]
    await runs.add_runs(batch.id, planned[:2])
    await runs.add_runs(batch.id, [replace(run, repeat=1) for run in planned[2:]])
    left = await runs.unfinished(batch.id)
    assert left == tuple(replace(run, batch_id=batch.id, repeat=run.place or 0) for run in planned)
    shown = await runs.runs(RunFilter(batch_id=batch.id))
    assert [(run.case_name, run.arm, run.place) for run in shown] == [
        ("look", Arm.ORIGINAL, 0),
        ("look", Arm.DRAFT, 0),
        ("find", Arm.ORIGINAL, 1),
        ("find", Arm.DRAFT, 1),
    ]
    await runs.finish([nothing_picked(left[1])])
    again = await runs.reopen(batch.id, left[1:2], None)
    assert (again.total, again.counts, again.trial, MODEL.label in again.models) == (4, {"pending": 4}, first, True)
    assert (await runs.summaries([left[1].id]))[left[1].id].arm is Arm.DRAFT
    assert (await runs.set_trial(batch.id, TRIAL)).trial == TRIAL
    assert (await runs.request(batch.id)).name == "Trial"
    with pytest.raises(NotFoundError):
        await runs.add_runs(BatchId("gone"), planned)
    with pytest.raises(NotFoundError):
        await runs.add_runs(batch.id, [replace(planned[0], id=RunId("new"), case_id=CaseId("gone"))])
    with pytest.raises(NotFoundError):
        await runs.set_trial(BatchId("gone"), TRIAL)


async def test_an_ordinary_batch_has_neither_trial_nor_arms(any_store: Store) -> None:
    filled = await fill(any_store)
    assert (filled.batch.trial, filled.runs[0].arm, filled.runs[0].place) == (None, None, None)
    assert (await any_store.runs.detail(filled.runs[0].id)).summary.arm is None


async def test_openings_are_counted_of_cases_that_are_held_back(any_store: Store) -> None:
    cases = any_store.cases
    hidden, shown = await cases.add([draft("find", servers=(), held_back=True), draft("look", servers=())])
    assert (hidden.draft.held_back, shown.draft.held_back) == (True, False)
    for _ in range(2):
        await cases.count_openings([hidden.id, shown.id])
    assert [case.openings for case in await cases.all()] == [2, 0]
    assert (await cases.get(hidden.id)).updated_at == hidden.updated_at
    freed = await cases.update(hidden.id, replace(hidden.draft, held_back=False))
    assert (freed.draft.held_back, freed.openings) == (False, 2)


@pytest.fixture
async def ran(any_store: Store) -> Filled:
    """A batch of one right run, one wrong run, one failed run and one that is pending."""
    filled = await fill(any_store, repeats=4)
    correct, wrong, failed, _ = filled.runs
    await any_store.runs.mark_running([run.id for run in filled.runs[:3]])
    await run_all(any_store, [correct])
    await any_store.runs.finish([nothing_picked(wrong), gone_wrong(failed)])
    return filled


async def test_finished_runs_are_counted_and_read_in_full(any_store: Store, ran: Filled) -> None:
    runs, (correct, wrong, failed, pending) = any_store.runs, ran.runs
    assert (await runs.batch(ran.batch.id)).counts == {"TP": 1, "FN": 1, "failed": 1, "pending": 1}
    assert [run.id for run in await runs.unfinished(ran.batch.id)] == [pending.id]
    assert [run.id for run in await runs.failed(ran.batch.id)] == [failed.id]
    detail = await runs.detail(correct.id)
    assert (detail.answer, detail.verdict) == (right(correct).answer, right(correct).verdict)
    assert detail.snapshot is not None
    assert detail.snapshot.tools == offered(tool())
    assert [pair.mark for pair in await runs.outcomes(ran.batch.id)] == ["correct_call", "wrong", None, None]
    assert await runs.batches_of([wrong.id, RunId("gone")]) == {wrong.id: ran.batch.id}
    assert set(await runs.summaries([wrong.id, RunId("gone")])) == {wrong.id}
    assert await runs.changed_definitions([correct.id]) == {}


async def test_filters_name_the_same_runs_for_lists_counts_and_metrics(any_store: Store, ran: Filled) -> None:
    for where, number, ended in (
        (RunFilter(), 4, 3),
        (RunFilter(batch_id=ran.batch.id, statuses=(RunStatus.FAILED,)), 1, 1),
        (RunFilter(classifications=(Classification.TP, Classification.FN)), 2, 2),
        (RunFilter(case_id=ran.cases[0].id, statuses=(RunStatus.PENDING,)), 1, 0),
        (RunFilter(run_ids=(ran.runs[0].id,)), 1, 1),
        (RunFilter(models=("nobody/nothing",)), 0, 0),
    ):
        found = await any_store.runs.runs(where)
        assert (len(found), await any_store.runs.count(where)) == (number, number)
        assert len((await any_store.metrics.history(where)).ended) == ended
    assert len(await any_store.runs.runs(RunFilter(), limit=3, offset=2)) == 2
    assert (await any_store.metrics.choices()).models == (ran.runs[0].settings.label,)


async def test_repeats_of_a_case_can_be_listed_behind_its_first_run(any_store: Store) -> None:
    filled = await fill(any_store, [draft("find"), draft("look")], repeats=2)
    where = RunFilter(batch_id=filled.batch.id)
    assert [run.case_name for run in await any_store.runs.runs(where)] == ["find", "look", "find", "look"]
    grouped = await any_store.runs.runs(replace(where, order=RunOrder.CASE))
    assert [(run.case_name, run.repeat) for run in grouped] == [("find", 0), ("find", 1), ("look", 0), ("look", 1)]
    second = await any_store.runs.runs(replace(where, order=RunOrder.CASE), limit=2, offset=1)
    assert [run.id for run in second] == [run.id for run in grouped[1:3]]


async def test_recent_runs_of_a_case_are_newest_last(any_store: Store, ran: Filled) -> None:
    recent = (await any_store.cases.recent(2))[ran.cases[0].id]
    assert ran.runs[1].id in [run.id for run in recent]
    assert len(recent) == 2


async def test_a_run_is_judged_again_and_its_old_verdict_kept(any_store: Store, ran: Filled) -> None:
    (answered,) = await any_store.runs.answered([ran.runs[0].id, ran.runs[3].id])
    past = PastVerdict(
        verdict=answered.verdict,
        expectation=answered.expectation,
        replaced_at=MOMENT,
        reason=RejudgeReason.RULES_CHANGED,
    )
    (changed,) = await any_store.runs.rejudge(
        [Judgement(run_id=answered.id, verdict=MISSED, expectation=answered.expectation, expected_rank=2, past=past)]
    )
    assert (changed.classification, changed.expected_rank) == (Classification.FN, 2)
    detail = await any_store.runs.detail(answered.id)
    assert (detail.verdict, detail.past_verdicts) == (MISSED, (past,))
    agreed = Judgement(
        run_id=answered.id, verdict=MISSED, expectation=answered.expectation, expected_rank=2, past=None, agreement=0.5
    )
    (changed,) = await any_store.runs.rejudge([agreed])
    assert (changed.confidence, changed.confidence_source) == (0.5, "agreement")
    assert (await any_store.runs.detail(answered.id)).past_verdicts == (past,)
    assert await any_store.runs.count(RunFilter(classifications=(Classification.FN,))) == 2
    assert (await any_store.runs.batch(ran.batch.id)).counts == {"FN": 2, "failed": 1, "pending": 1}
    assert (await any_store.metrics.history(RunFilter())).correct_tool.sum() == 0


async def test_a_batch_is_reopened_renamed_removed_and_restored(any_store: Store, ran: Filled) -> None:
    runs, batch_id = any_store.runs, ran.batch.id
    assert (await runs.set_batch_status(batch_id, BatchStatus.CANCELLED, "The cap.")).status is BatchStatus.CANCELLED
    assert (await runs.batch(batch_id)).stopped == "The cap."
    again = await runs.reopen(batch_id, await runs.failed(batch_id), 2.0)
    assert again.stopped is None
    assert (again.status, again.max_cost_usd, again.counts["pending"]) == (BatchStatus.RUNNING, 2.0, 2)
    assert (await runs.rename_batch(batch_id, "Night")).name == "Night"
    await runs.remove_batches([batch_id])
    assert (await runs.batches(), await runs.count(RunFilter())) == ((), 0)
    await runs.restore_batches([batch_id])
    assert (await runs.batch(batch_id)).name == "Night"
    assert await runs.count(RunFilter()) == 4
    assert await runs.interrupt_leftovers() == 0


def changed(name: str, number: int = 1, **cells: Any) -> Draft:
    """A draft over one tool with so many steps, all of which apply."""
    made = [
        DraftStep(one, ({"op": "add", "path": "/tools/0/title", "value": f"{one}"},), MOMENT)
        for one in range(1, number + 1)
    ]
    listing = {"tools": [dict(tool().raw)]}
    given: dict[str, Any] = {"server": "docs", "steps": tuple(made), "step": number, "created_at": MOMENT} | cells
    return Draft(id=DraftId(f"id of {name}"), name=name, listing=listing, updated_at=MOMENT, **given)


def same_draft(one: Draft, other: Draft) -> bool:
    """True for drafts with one content, whenever they were stored."""
    return replace(one, updated_at=other.updated_at) == other


async def test_drafts_are_kept_with_their_steps_under_names_of_their_own(any_store: Store) -> None:
    drafts, first = any_store.drafts, changed("Shorter texts", 2, step=1)
    assert same_draft(await drafts.add(first), first)
    second = await drafts.add(changed("Änderung", 0, server=None, created_at=MOMENT.replace(minute=1)))
    assert [draft.name for draft in await drafts.all()] == ["Shorter texts", "Änderung"]
    assert (await drafts.get(second.id)).server is None
    for name in ("SHORTER texts", "änderung"):
        with pytest.raises(ConflictError):
            await drafts.add(replace(changed(name), id=DraftId("another")))
    with pytest.raises(ConflictError):
        await drafts.rename(second, "shorter TEXTS")
    with pytest.raises(NotFoundError):
        await drafts.get(DraftId("gone"))
    await drafts.remove([first.id])
    assert await drafts.all() == (second,)
    await drafts.add(first)
    assert [(draft.name, len(draft.steps)) for draft in await drafts.all()] == [("Shorter texts", 2), ("Änderung", 0)]


async def test_a_step_after_an_undo_takes_the_place_of_what_could_be_redone(any_store: Store) -> None:
    drafts = any_store.drafts
    made = await drafts.add(changed("Shorter", 3))
    moved = await drafts.move(made, 1)
    assert (moved.step, len(moved.steps), moved.tools[0]["title"]) == (1, 3, "1")
    step = DraftStep(2, ({"op": "remove", "path": "/tools/0/title"},), MOMENT)
    again = await drafts.append(moved, step)
    assert (again.steps, again.step) == ((made.steps[0], step), 2)
    with pytest.raises(ConflictError):
        await drafts.append(moved, step)
    with pytest.raises(NotFoundError):
        await drafts.move(replace(made, id=DraftId("gone")), 1)
    other = await drafts.replace(again, replace(again, steps=(), step=0, listing={"tools": []}))
    assert same_draft(await drafts.get(made.id), other)
    assert (other.name, other.steps, other.base) == ("Shorter", (), ())
    with pytest.raises(NotFoundError):
        await drafts.replace(replace(other, id=DraftId("gone")), other)
