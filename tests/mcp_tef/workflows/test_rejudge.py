"""Judging finished runs again: what is judged, what is kept, and who hears of it."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.errors import InputError, ModelError, ModelFault, NotFoundError
from mcp_tef.events import RejudgeProgressed, RunsChanged
from mcp_tef.model.answers import Answer, ConfidenceSource
from mcp_tef.model.cases import Expectation, ExpectedCall, TestCase
from mcp_tef.model.comparison import AnsweredRun, RejudgeReport
from mcp_tef.model.ids import BatchId, CaseId, RunId, SnapshotId
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import Batch, BatchStatus
from mcp_tef.model.tools import OfferedTool, Snapshot
from mcp_tef.model.verdicts import Classification, RejudgeReason
from mcp_tef.ports import Question, Store
from mcp_tef.scoring.judge import judge
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.rejudge import judged_again
from tests.support.fake_ports import Reply, picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write
from tests.support.workspace_files import change

DESK = {"desk": [tool("find"), tool("book")]}
REFUSED = ModelError(ModelFault.KEY_WRONG, "The key was refused.")
NOW = datetime(2026, 11, 21, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


def finds(_: Question) -> Reply:
    return picks("find")


def wants(case: TestCase, name: str) -> TestCase:
    return replace(case, draft=replace(case.draft, expectation=Expectation(((ExpectedCall(tool=name),),))))


async def ran(store: Store, *queries: str, **changes: object) -> tuple[Bench, Batch, tuple[TestCase, ...]]:
    """A finished batch of runs that all picked what was expected."""
    made = bench(store, DESK, finds)
    await made.register("desk")
    cases = await write(made, *(draft(query) for query in queries or ("one",)))
    batch = await made.runs.start(request(**changes))
    await made.runs.wait(batch.id)
    return made, batch, cases


async def expect(made: Bench, case: TestCase, name: str) -> None:
    await made.cases.edit(case.id, wants(case, name).draft)


async def test_an_edited_expectation_changes_the_verdict_and_keeps_the_old_one(store: Store) -> None:
    made, batch, (case,) = await ran(store)
    await expect(made, case, "book")
    report = await made.runs.rejudge(batch_id=batch.id)
    (changed,) = report.changes
    assert (changed.passed_before, changed.run.passes) == (True, False)
    detail = await made.runs.detail(changed.run.id)
    assert detail.verdict is not None
    assert detail.verdict.classification is Classification.FN
    assert detail.summary.expected == detail.expectation.label == "book"
    assert [past.verdict.classification for past in detail.past_verdicts] == [Classification.TP]
    assert detail.past_verdicts[0].expectation == case.draft.expectation
    assert detail.past_verdicts[0].reason is RejudgeReason.EXPECTATION_CHANGED
    assert (await made.runs.batch(batch.id)).counts == {"FN": 1}


async def test_what_was_answered_stays_as_it_was(store: Store) -> None:
    made, batch, (case,) = await ran(store)
    (run,) = await made.runs.list(RunFilter(batch_id=batch.id))
    before = await made.runs.detail(run.id)
    await expect(made, case, "book")
    await made.runs.rejudge([run.id])
    after = await made.runs.detail(run.id)
    assert (after.answer, after.snapshot, after.settings) == (before.answer, before.snapshot, before.settings)
    assert (after.summary.query, after.summary.completed_at) == (before.summary.query, before.summary.completed_at)


async def test_judging_twice_changes_nothing_more(store: Store) -> None:
    made, batch, (case,) = await ran(store)
    await expect(made, case, "book")
    await made.runs.rejudge(batch_id=batch.id)
    report = await made.runs.rejudge(batch_id=batch.id)
    assert (report.judged, report.unchanged, report.changes) == (1, 1, ())
    assert report.sentence == "Judged again: 1 run, and no verdict changed."


async def test_an_expectation_that_comes_back_brings_the_verdict_back_and_both_are_kept(store: Store) -> None:
    made, batch, (case,) = await ran(store)
    for name in ("book", "find"):
        await expect(made, case, name)
        report = await made.runs.rejudge(batch_id=batch.id)
    detail = await made.runs.detail(report.changes[0].run.id)
    assert detail.summary.classification is Classification.TP
    assert [past.verdict.classification for past in detail.past_verdicts] == [Classification.FN, Classification.TP]


async def test_only_the_runs_that_were_named_are_judged(store: Store) -> None:
    made, batch, cases = await ran(store, "one", "two")
    for case in cases:
        await expect(made, case, "book")
    first, second = await made.runs.list(RunFilter(batch_id=batch.id))
    report = await made.runs.rejudge([first.id, first.id])
    assert [change.run.id for change in report.changes] == [first.id]
    assert (await made.runs.detail(second.id)).past_verdicts == ()


async def test_runs_without_an_answer_and_runs_that_are_gone_are_counted(store: Store) -> None:
    made = bench(store, DESK, lambda question: REFUSED if question.query == "one" else picks("find"))
    await made.register("desk")
    *_, three = await write(made, draft("one"), draft("two"), draft("three"))
    batch = await made.runs.start(request())
    await made.runs.wait(batch.id)
    ids = [run.id for run in await made.runs.list(RunFilter(batch_id=batch.id))]
    await made.cases.remove([three.id])
    report = await made.runs.rejudge([*ids, RunId("never")])
    assert (report.judged, report.without_answer, report.gone) == (1, 1, 2)


async def test_views_hear_how_far_it_is_and_in_the_end_what_changed(store: Store) -> None:
    made, batch, (case,) = await ran(store, repeats=210)
    await expect(made, case, "book")
    made.said.clear()
    await made.runs.rejudge(batch_id=batch.id, by="runs")
    assert made.of(RejudgeProgressed) == [RejudgeProgressed(done, 210) for done in (100, 200, 210)]
    (touched,) = made.of(RunsChanged)
    assert isinstance(touched, RunsChanged)
    assert (len(touched.runs), touched.batches, touched.by) == (210, (batch.id,), "runs")
    assert {run.classification for run in touched.runs} == {Classification.FN}
    assert [run.classification for run in (await made.cases.recent())[case.id]] == [Classification.FN] * 5


async def test_nothing_is_said_where_nothing_changed(store: Store) -> None:
    made, batch, _ = await ran(store)
    await made.runs.rejudge(batch_id=batch.id)
    assert made.of(RunsChanged) == []


async def test_a_batch_under_way_is_not_judged_again(store: Store) -> None:
    made = bench(store, DESK, finds)
    await made.register("desk")
    await write(made, draft("one"))
    batch = await made.runs.start(request(repeats=20))
    with pytest.raises(InputError, match="running cannot be judged"):
        await made.runs.rejudge(batch_id=batch.id)
    await made.runs.wait(batch.id)


async def test_a_batch_that_is_not_there_is_named(store: Store) -> None:
    made, _, _ = await ran(store)
    with pytest.raises(NotFoundError):
        await made.runs.rejudge(batch_id=BatchId("nowhere"))


async def test_other_rules_are_told_from_another_expectation(store: Store, tmp_path: Path) -> None:
    made, batch, _ = await ran(store)
    change(
        tmp_path / "workspace.db",
        "UPDATE evaluation_results SET classification = 'FP', kind = 'extra_call'",
        "UPDATE test_runs SET classification = 'FP'",
    )
    report = await made.runs.rejudge(batch_id=batch.id)
    assert [changed.past.reason for changed in report.changes] == [RejudgeReason.RULES_CHANGED]
    assert (await made.runs.batch(batch.id)).counts == {"TP": 1}


async def test_a_sentence_in_other_words_is_not_another_verdict(store: Store, tmp_path: Path) -> None:
    made, batch, _ = await ran(store)
    change(tmp_path / "workspace.db", "UPDATE evaluation_results SET reasoning = 'Once said otherwise.'")
    assert (await made.runs.rejudge(batch_id=batch.id)).changes == ()


async def test_removing_a_batch_removes_what_it_was_judged_before(store: Store, tmp_path: Path) -> None:
    made, batch, (case,) = await ran(store)
    await expect(made, case, "book")
    await made.runs.rejudge(batch_id=batch.id)
    assert (await made.runs.batch(batch.id)).status is BatchStatus.COMPLETED
    await made.runs.remove_batches([batch.id])
    report = await made.runs.rejudge([RunId("gone")])
    assert (report.judged, report.gone) == (0, 1)


def answered(names: list[str], expectation: Expectation, confidence: float | None) -> AnsweredRun:
    tools = tuple(OfferedTool(item.name, item) for item in (tool("find"), tool("book")))
    calls = tuple(call for name in names for call in picks(name).calls or ())
    verdict = judge(expectation, [item.tool for item in tools], calls, confidence)
    return AnsweredRun(
        id=RunId("r"),
        case_id=CaseId("c"),
        batch_id=None,
        expectation=expectation,
        snapshot=Snapshot(SnapshotId("s"), tools),
        answer=Answer(calls=calls, confidence=confidence, confidence_source=ConfidenceSource.SELF_REPORTED),
        verdict=verdict,
    )


NAMES = st.lists(st.sampled_from(["find", "book", "made_up"]), max_size=3)
CONFIDENCES = st.none() | st.floats(0, 1)


@given(NAMES, NAMES, NAMES, CONFIDENCES)
def test_judging_again_gives_what_judging_anew_would_give(
    called: list[str], then: list[str], now: list[str], confidence: float | None
) -> None:
    before, after = (Expectation((tuple(ExpectedCall(tool=name) for name in names),)) for names in (then, now))
    run = answered(called, before, confidence)
    again = judged_again(run, after, NOW)
    if before == after:
        assert again is None
        return
    assert again is not None
    assert again.past is not None
    assert again.verdict == answered(called, after, confidence).verdict
    assert (again.past.verdict, again.past.expectation) == (run.verdict, before)


def test_nothing_to_judge_says_so() -> None:
    assert RejudgeReport().sentence == "No run was judged again: none of them has an answer."


async def test_the_report_says_what_turned(store: Store) -> None:
    made, batch, (one, _) = await ran(store, "one", "two")
    await expect(made, one, "book")
    report = await made.runs.rejudge(batch_id=batch.id)
    assert report.sentence == "Judged again: 2 runs, 1 otherwise than before (1 now no correct call)."
    await expect(made, one, "find")
    report = await made.runs.rejudge(batch_id=batch.id)
    assert report.sentence == "Judged again: 2 runs, 1 otherwise than before (1 now correct)."
