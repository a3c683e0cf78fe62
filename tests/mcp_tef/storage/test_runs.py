"""A run's life on disk: planned, under way, ended one way or another, and opened again."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.dialects.sqlite import dialect

from mcp_tef.errors import NotFoundError
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, RankedTool
from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.ids import BatchId, RunId
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import BatchRequest, BatchStatus, FailureInfo, ModelSettings, RunStatus
from mcp_tef.model.verdicts import CallMatch, Classification, FindingReason, ParameterFinding, Verdict, VerdictKind
from mcp_tef.storage import run_queries
from mcp_tef.storage.store import SqliteStore, open_store
from mcp_tef.workflows.metrics import MetricsService
from tests.support.workspace_files import (
    change,
    draft,
    fill,
    gone_wrong,
    nothing_picked,
    offered,
    right,
    rows,
    run_all,
    tool,
)

MODELS = (
    ModelSettings(),
    ModelSettings(
        provider="openai",
        model="gpt-4.1-mini",
        timeout=300,
        temperature=2,
        max_retries=0,
        base_url="http://127.0.0.1:8080/v1",
        system_prompt="Be brief.",
        mode=CallingMode.JSON,
    ),
)


async def test_a_batch_remembers_what_it_was_asked_for(store: SqliteStore) -> None:
    request: dict[str, Any] = {
        "suites": ("S",),
        "tags": ("a",),
        "models": MODELS,
        "repeats": 2,
        "concurrency": 64,
        "max_cost_usd": 0.5,
    }
    filled = await fill(store, **request)
    assert await store.runs.request(filled.batch.id) == BatchRequest(**request)


async def test_settings_are_one_row_for_each_batch_and_model(store: SqliteStore, workspace: Path) -> None:
    await fill(store, [draft("one"), draft("two")], models=MODELS, repeats=3)
    assert rows(workspace, "SELECT count(*) FROM model_settings") == [(2,)]


async def test_a_run_that_is_under_way_counts_as_pending(store: SqliteStore) -> None:
    filled = await fill(store, repeats=2)
    await store.runs.mark_running([filled.runs[0].id])
    listed = await store.runs.runs(RunFilter())
    assert [run.status for run in listed] == [RunStatus.RUNNING, RunStatus.PENDING]
    assert (await store.runs.batch(filled.batch.id)).count("pending") == 2


async def test_everything_of_a_completed_run_can_be_read_again(store: SqliteStore) -> None:
    filled = await fill(store, models=MODELS[1:])
    run = filled.runs[0]
    snapshot = await store.runs.save_snapshot(offered(tool(), tool("read")), run.id)
    outcome = right(run, snapshot, attempts=3, expected_rank=1)
    (summary,) = await store.runs.finish([outcome])
    detail = await store.runs.detail(run.id)
    assert detail.summary == summary
    assert (detail.settings, detail.attempts) == (MODELS[1], 3)
    assert detail.expectation == filled.cases[0].draft.expectation
    assert (detail.answer, detail.verdict) == (outcome.answer, outcome.verdict)
    assert detail.snapshot is not None
    assert detail.snapshot.tools == offered(tool(), tool("read"))


async def test_the_summary_of_a_completed_run_says_what_a_table_shows(store: SqliteStore) -> None:
    filled = await fill(store)
    snapshot = await store.runs.save_snapshot(offered(tool()), filled.runs[0].id)
    (row,) = await store.runs.finish([right(filled.runs[0], snapshot)])
    assert (row.case_name, row.query, row.model) == ("find it", "Please find it", "offline/retrieval")
    assert (row.status, row.classification, row.kind) == (RunStatus.COMPLETED, Classification.TP, VerdictKind.MATCH)
    assert (row.expected, row.selected) == ("docs / search", "docs / search")
    assert (row.expected_server, row.expected_tool) == (row.selected_server, row.selected_tool) == ("docs", "search")
    assert (row.tokens, row.cost_usd, row.execution_time_ms) == (120, 0.002, 412)
    assert (row.confidence, row.confidence_source) == (0.9, "self-reported")
    assert row.parameters_ok is row.type_conformance is True
    assert row.explanation == "Selected search on docs, as expected."
    assert row.completed_at is not None
    assert row.created_at is not None


@pytest.mark.parametrize(
    ("calls", "label"),
    [
        (None, "unreadable answer"),
        (
            (ActualCall(tool=""), ActualCall(tool=" ", server="docs")),
            "a call without a name + docs / a call without a name",
        ),
        ((), "no tool"),
        ((ActualCall(tool="a", server="s"), ActualCall(tool="b")), "s / a + b"),
    ],
    ids=["unreadable", "nameless calls", "no call", "two calls"],
)
async def test_what_was_picked_reads_in_one_line(
    store: SqliteStore, calls: tuple[ActualCall, ...] | None, label: str
) -> None:
    filled = await fill(store)
    answer = Answer(calls=calls)
    (row,) = await store.runs.finish([replace(nothing_picked(filled.runs[0]), answer=answer)])
    assert row.selected == label
    assert (await store.runs.detail(row.id)).answer == answer


async def test_findings_of_a_verdict_come_back_whole(store: SqliteStore) -> None:
    finding = ParameterFinding(
        parameter="filter.name",
        reason=FindingReason.WRONG_VALUE,
        sentence="Not equal.",
        expected={"$any_of": [1, None]},
        actual=False,
    )
    verdict = Verdict(
        classification=Classification.FP,
        kind=VerdictKind.EXTRA_CALL,
        explanation="One call too many.",
        matches=(
            CallMatch(expected=0, actual=1, completeness=0.5, type_conformance=False, findings=(finding,)),
            CallMatch(expected=None, actual=0, hallucinated=("x",)),
        ),
        alternative=2,
        hallucinated=("x",),
        parameters_ok=False,
    )
    filled = await fill(store)
    (row,) = await store.runs.finish([right(filled.runs[0], verdict=verdict)])
    assert (await store.runs.detail(row.id)).verdict == verdict
    assert (row.hallucinated, row.completeness, row.parameters_ok) == (("x",), None, False)


async def test_a_failed_run_says_why_and_has_no_verdict(store: SqliteStore) -> None:
    filled = await fill(store)
    (row,) = await store.runs.finish([gone_wrong(filled.runs[0])])
    assert row.failure == FailureInfo("model_timeout", "The model did not answer within 30 seconds.", "Try again.")
    assert (row.status, row.classification, row.selected) == (RunStatus.FAILED, None, None)
    detail = await store.runs.detail(row.id)
    assert (detail.answer, detail.verdict, detail.snapshot) == (None, None, None)


async def test_a_run_that_is_judged_again_has_the_later_verdict_only(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store)
    run = filled.runs[0]
    first = right(run)
    assert first.answer is not None
    await store.runs.finish([first])
    agreed = replace(first.answer, confidence=0.5, confidence_source=ConfidenceSource.AGREEMENT)
    (row,) = await store.runs.finish([replace(first, answer=agreed)])
    assert (row.confidence, row.confidence_source) == (0.5, "agreement")
    assert rows(workspace, "SELECT count(*) FROM evaluation_results") == [(1,)]


async def test_a_confidence_outside_0_to_1_does_not_lose_the_run(store: SqliteStore) -> None:
    filled = await fill(store, repeats=3)
    given = (1.5, -0.2, float("nan"))
    stored = await store.runs.finish(
        [nothing_picked(run, value) for run, value in zip(filled.runs, given, strict=True)]
    )
    assert [row.confidence for row in stored] == [1.0, 0.0, None]


async def test_hostile_text_in_an_answer_does_not_lose_the_run(store: SqliteStore) -> None:
    filled = await fill(store)
    hostile = "a\x00b \ud800 \u202e 'DROP TABLE"
    answer = Answer(
        calls=(ActualCall(tool=hostile, arguments={hostile: [hostile]}),),
        words=hostile,
        raw_response={"text": hostile},
        ranking=(RankedTool("search", 0.1),),
    )
    (row,) = await store.runs.finish([replace(nothing_picked(filled.runs[0]), answer=answer)])
    kept = (await store.runs.detail(row.id)).answer
    assert kept is not None
    assert kept.raw_response == {"text": hostile}
    assert kept.calls == answer.calls
    assert kept.words == hostile.replace("\ud800", "\\ud800")


async def test_outcomes_come_back_in_the_order_given_however_many(store: SqliteStore) -> None:
    filled = await fill(store, repeats=600)
    stored = await store.runs.finish([right(run) for run in reversed(filled.runs)])
    assert [row.id for row in stored] == [run.id for run in reversed(filled.runs)]
    assert (await store.runs.batch(filled.batch.id)).counts == {"TP": 600}


async def test_an_outcome_of_a_run_that_was_removed_meanwhile_is_left_out(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store)
    other = await fill(store)
    change(workspace, f"DELETE FROM batches WHERE id = '{filled.batch.id}'")
    stored = await store.runs.finish([right(filled.runs[0]), right(other.runs[0])])
    assert [row.id for row in stored] == [other.runs[0].id]


async def test_counts_and_cost_of_a_batch_add_up(store: SqliteStore) -> None:
    filled = await fill(store, repeats=5)
    one, two, three, four, _left = filled.runs
    cancelled = replace(gone_wrong(four), status=RunStatus.CANCELLED, failure=None)
    await store.runs.finish([right(one), nothing_picked(two), gone_wrong(three), cancelled])
    batch = await store.runs.batch(filled.batch.id)
    assert batch.counts == {"TP": 1, "FN": 1, "failed": 1, "cancelled": 1, "pending": 1}
    assert (batch.total, batch.judged, batch.cost_usd) == (5, 2, 0.002)
    assert await store.runs.batches() == (batch,)


async def test_batches_are_listed_newest_first(store: SqliteStore) -> None:
    made = [(await fill(store)).batch.id for _ in range(3)]
    assert [batch.id for batch in await store.runs.batches()] == made[::-1]


async def test_a_batch_ends_at_a_moment_unless_it_runs_again(store: SqliteStore) -> None:
    filled = await fill(store)
    ended = await store.runs.set_batch_status(filled.batch.id, BatchStatus.CANCELLED)
    assert (ended.status, ended.completed_at is None) == (BatchStatus.CANCELLED, False)
    again = await store.runs.reopen(filled.batch.id, filled.runs, None)
    assert (again.status, again.completed_at) == (BatchStatus.RUNNING, None)


async def test_only_runs_without_a_verdict_are_resumed_and_only_failed_ones_retried(store: SqliteStore) -> None:
    filled = await fill(store, repeats=4)
    done, wrong, stopped, left = filled.runs
    cancelled = replace(gone_wrong(stopped), status=RunStatus.CANCELLED, failure=None)
    await store.runs.finish([right(done), gone_wrong(wrong), cancelled])
    assert await store.runs.unfinished(filled.batch.id) == (stopped, left)
    assert await store.runs.failed(filled.batch.id) == (wrong,)


async def test_a_run_that_is_opened_again_has_forgotten_its_failure(store: SqliteStore) -> None:
    filled = await fill(store)
    await store.runs.finish([gone_wrong(filled.runs[0])])
    await store.runs.reopen(filled.batch.id, filled.runs, None)
    (row,) = await store.runs.runs(RunFilter())
    assert (row.status, row.failure, row.completed_at) == (RunStatus.PENDING, None, None)


async def test_a_past_run_keeps_the_query_and_expectation_it_was_judged_by(store: SqliteStore) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    edited = replace(filled.cases[0].draft, name="renamed", query="Something else", expectation=Expectation())
    await store.cases.update(filled.cases[0].id, edited)
    detail = await store.runs.detail(filled.runs[0].id)
    assert (detail.summary.query, detail.summary.case_name) == ("Please find it", "renamed")
    assert detail.expectation == filled.cases[0].draft.expectation


async def test_a_run_that_is_opened_again_is_judged_by_the_case_as_it_was_planned(store: SqliteStore) -> None:
    filled = await fill(store)
    await store.runs.finish([gone_wrong(filled.runs[0])])
    expectation = Expectation(((ExpectedCall(tool="read", server="docs"),),))
    await store.cases.update(filled.cases[0].id, replace(filled.cases[0].draft, query="New", expectation=expectation))
    await store.runs.reopen(filled.batch.id, filled.runs, None)
    detail = await store.runs.detail(filled.runs[0].id)
    assert (detail.summary.query, detail.summary.expected) == ("Please find it", "docs / search")
    planned = (await store.runs.planned_cases(filled.batch.id))[filled.cases[0].id]
    assert (planned.query, planned.expectation) == ("Please find it", filled.cases[0].draft.expectation)
    assert detail.expectation == filled.cases[0].draft.expectation


async def test_the_newest_batch_is_the_last_one_made_whatever_the_clock_said(
    store: SqliteStore, workspace: Path
) -> None:
    filled = await fill(store)
    wrong = "'2040-01-01 00:00:00.000000'"
    change(workspace, f"UPDATE batches SET created_at = {wrong}", f"UPDATE test_runs SET created_at = {wrong}")
    made = [(await store.runs.create_batch(BatchRequest(), filled.cases))[0] for _ in range(2)]
    ids = [batch.id for batch in await store.runs.batches()]
    assert ids == [made[1].id, made[0].id, filled.batch.id]
    for batch in made:
        await store.runs.finish([nothing_picked(run) for run in await store.runs.unfinished(batch.id)])
        await store.runs.set_batch_status(batch.id, BatchStatus.COMPLETED)
    listed = await store.runs.runs(RunFilter())
    assert list(dict.fromkeys(run.batch_id for run in listed))[:2] == [made[1].id, made[0].id]
    (recent,) = [runs for runs in (await store.cases.recent(1)).values() if runs]
    assert recent[0].batch_id == made[1].id
    assert all(run.completed_at and run.created_at and run.completed_at >= run.created_at for run in listed[:2])


async def test_what_is_not_there_says_so(store: SqliteStore) -> None:
    nobody = BatchId("nobody")
    for question in (store.runs.batch, store.runs.request, store.runs.unfinished, store.runs.failed):
        with pytest.raises(NotFoundError, match="not here any more"):
            await question(nobody)
    with pytest.raises(NotFoundError, match="not here any more"):
        await store.runs.detail(RunId("nobody"))
    with pytest.raises(NotFoundError, match="not here any more"):
        await store.runs.save_snapshot(offered(tool()), RunId("nobody"))


async def test_a_removed_batch_is_out_of_sight_until_it_is_restored(store: SqliteStore) -> None:
    gone, kept = await fill(store), await fill(store)
    await store.runs.finish([right(run) for run in (*gone.runs, *kept.runs)])
    batches, metrics = await store.runs.batches(), MetricsService(store.metrics)
    await store.runs.remove_batches([gone.batch.id])
    assert [batch.id for batch in await store.runs.batches()] == [kept.batch.id]
    with pytest.raises(NotFoundError):
        await store.runs.batch(gone.batch.id)
    with pytest.raises(NotFoundError):
        await store.runs.detail(gone.runs[0].id)
    assert [run.id for run in await store.runs.runs(RunFilter())] == [run.id for run in kept.runs]
    assert await store.runs.count(RunFilter(batch_id=gone.batch.id)) == 0
    assert await store.runs.outcomes(gone.batch.id) == ()
    assert (await metrics.summary()).n == 1
    assert gone.cases[0].id not in await store.cases.recent()
    await store.runs.restore_batches([gone.batch.id])
    assert await store.runs.batches() == batches
    assert ((await metrics.summary()).n, len(await store.cases.recent())) == (2, 2)
    assert (await store.runs.detail(gone.runs[0].id)).summary.batch_id == gone.batch.id
    await store.cases.remove([gone.cases[0].id])
    with pytest.raises(NotFoundError):
        await store.runs.detail(gone.runs[0].id)


async def test_a_removed_batch_is_deleted_at_the_next_open(workspace: Path) -> None:
    store = await open_store(workspace)
    gone, kept = await fill(store), await fill(store)
    await store.runs.remove_batches([gone.batch.id])
    await store.close()
    await (await open_store(workspace)).close()
    assert rows(workspace, "SELECT id FROM batches") == [(kept.batch.id,)]
    assert rows(workspace, "SELECT id FROM test_runs") == [(kept.runs[0].id,)]


@pytest.mark.parametrize(
    "where",
    [
        *(RunFilter(order=order) for order in (RunOrder.QUERY, RunOrder.EXPECTED, RunOrder.SELECTED)),
        RunFilter(text="retry"),
        RunFilter(order=RunOrder.QUERY, batch_id=BatchId("batch")),
    ],
    ids=["query", "expected", "selected", "text", "query within a batch"],
)
@pytest.mark.usefixtures("store")
def test_orders_and_searches_by_text_read_no_wide_row(workspace: Path, where: RunFilter) -> None:
    statement = run_queries.page_ids(where).compile(dialect=dialect(), compile_kwargs={"literal_binds": True})
    plan = [detail for *_, detail in rows(workspace, f"EXPLAIN QUERY PLAN {statement}") if "test_runs" in detail]
    assert plan
    assert all("COVERING INDEX ix_test_runs_texts" in detail for detail in plan)
