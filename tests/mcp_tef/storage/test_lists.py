"""Lists of runs: filtered, sorted and cut into pages by the store, so that the window never sorts a batch."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from mcp_tef.model.answers import ActualCall, Answer
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunFilter, RunOrder, RunResult, RunStatus, RunSummary
from mcp_tef.model.verdicts import Classification, Verdict, VerdictKind
from mcp_tef.storage.store import SqliteStore
from tests.support.workspace_files import Filled, draft, fill, gone_wrong, nothing_picked, right

GPT = ModelSettings(provider="openai", model="gpt-4.1-mini")


def false_alarm(run: PlannedRun) -> RunResult:
    """Something was picked where nothing should have been."""
    verdict = Verdict(classification=Classification.FP, kind=VerdictKind.UNEXPECTED_CALL, explanation="Picked a tool.")
    answer = Answer(calls=(ActualCall(tool="Zip"),), confidence=0.2)
    return right(run, answer=answer, verdict=verdict)


@pytest.fixture
async def filled(store: SqliteStore) -> Filled:
    """Four cases, judged TP, FN, FP and failed, in this order."""
    names = ("find docs", "Read a_file", "chat 100%", "wait")
    filled = await fill(store, [draft(name) for name in names])
    judge: Sequence[Callable[[PlannedRun], RunResult]] = (right, nothing_picked, false_alarm, gone_wrong)
    await store.runs.finish([outcome(run) for outcome, run in zip(judge, filled.runs, strict=True)])
    return filled


def names(runs: Sequence[RunSummary]) -> list[str]:
    """The first word of each run's case."""
    return [run.case_name.split()[0] for run in runs]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (RunFilter(), ["find", "Read", "chat", "wait"]),
        (RunFilter(statuses=(RunStatus.FAILED,)), ["wait"]),
        (RunFilter(classifications=(Classification.TP, Classification.FP)), ["find", "chat"]),
        (RunFilter(kinds=(VerdictKind.NO_TOOL,)), ["Read"]),
        (RunFilter(model="offline/retrieval"), ["find", "Read", "chat", "wait"]),
        (RunFilter(model="openai/gpt-4.1-mini"), []),
        (RunFilter(text="  read A_  "), ["Read"]),
        (RunFilter(text="100%"), ["chat"]),
        (RunFilter(text="zip"), ["chat"]),
        (RunFilter(text="docs / search"), ["find", "Read", "chat", "wait"]),
        (RunFilter(text="100_"), []),
        (RunFilter(statuses=(RunStatus.COMPLETED,), text="find"), ["find"]),
        (RunFilter(batch_id=BatchId("other")), []),
        (RunFilter(case_id=CaseId("other")), []),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value).removeprefix("RunFilter")[:60],
)
async def test_a_filter_lets_through_what_it_names(
    store: SqliteStore, filled: Filled, where: RunFilter, found: list[str]
) -> None:
    assert names(await store.runs.runs(where)) == found
    assert await store.runs.count(where) == len(found)


@pytest.mark.parametrize(
    ("order", "upwards", "downwards"),
    [
        (RunOrder.PLANNED, ["find", "Read", "chat", "wait"], ["wait", "chat", "Read", "find"]),
        (RunOrder.OUTCOME, ["Read", "chat", "find", "wait"], ["find", "chat", "Read", "wait"]),
        (RunOrder.QUERY, ["chat", "find", "Read", "wait"], ["wait", "Read", "find", "chat"]),
        (RunOrder.SELECTED, ["find", "Read", "chat", "wait"], ["chat", "Read", "find", "wait"]),
        (RunOrder.CONFIDENCE, ["chat", "find", "Read", "wait"], ["find", "chat", "Read", "wait"]),
        (RunOrder.MODEL, ["find", "Read", "chat", "wait"], ["find", "Read", "chat", "wait"]),
    ],
)
async def test_a_list_comes_in_the_order_asked_for(
    store: SqliteStore, filled: Filled, order: RunOrder, upwards: list[str], downwards: list[str]
) -> None:
    where = RunFilter(batch_id=filled.batch.id, order=order)
    assert names(await store.runs.runs(where)) == upwards
    assert names(await store.runs.runs(replace(where, descending=True))) == downwards
    assert names(await store.runs.runs(replace(where, batch_id=None))) == upwards


async def test_runs_can_be_named_one_by_one_and_still_meet_the_rest_of_the_filter(
    store: SqliteStore, filled: Filled
) -> None:
    first, second, *_ = filled.runs
    where = RunFilter(run_ids=(second.id, first.id, RunId("of nobody")))
    assert names(await store.runs.runs(where)) == ["find", "Read"]
    assert await store.runs.count(replace(where, kinds=(VerdictKind.NO_TOOL,))) == 1


async def test_the_newest_batch_comes_first_each_as_it_was_planned(store: SqliteStore) -> None:
    old = await fill(store, [draft("old one"), draft("old two")])
    new = await fill(store, [draft("new one"), draft("new two")])
    listed = await store.runs.runs(RunFilter())
    assert [run.id for run in listed] == [run.id for run in (*new.runs, *old.runs)]


async def test_pages_meet_without_gap_or_overlap(store: SqliteStore) -> None:
    await fill(store, repeats=25)
    everything = await store.runs.runs(RunFilter())
    pages = [await store.runs.runs(RunFilter(), limit=10, offset=start) for start in (0, 10, 20, 30)]
    assert [len(page) for page in pages] == [10, 10, 5, 0]
    assert tuple(run for page in pages for run in page) == everything


async def test_runs_of_one_model_can_be_listed(store: SqliteStore) -> None:
    await fill(store, models=(ModelSettings(), GPT), repeats=2)
    assert {run.model for run in await store.runs.runs(RunFilter(model=GPT.label))} == {GPT.label}
    assert await store.runs.count(RunFilter(model=GPT.label)) == 2
