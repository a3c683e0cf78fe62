"""Test cases and lists of runs on disk: cases come back as written, and lists are sorted by the store."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.model.answers import ActualCall, Answer
from mcp_tef.model.cases import CaseDraft, CaseOrigin, Expectation, ExpectedCall
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult, RunStatus, RunSummary
from mcp_tef.model.verdicts import Classification, Verdict, VerdictKind
from mcp_tef.storage.store import SqliteStore, open_store
from tests.support.workspace_files import Filled, draft, fill, gone_wrong, http, nothing_picked, right, rows, run_all

SEARCH = ExpectedCall(tool="search", server="docs", parameters={"q": {"$contains": "Größe"}, "n": 3}, exact=True)


@pytest.fixture
async def registered(store: SqliteStore) -> SqliteStore:
    """A workspace with two servers."""
    for name in ("docs", "web"):
        await store.servers.add(http(name))
    return store


@pytest.mark.parametrize(
    "expectation",
    [
        Expectation(),
        Expectation(((SEARCH,),)),
        Expectation(((SEARCH, ExpectedCall(tool="read")),), ordered=True),
        Expectation(((SEARCH,), (ExpectedCall(tool="read"),), ())),
    ],
    ids=["no tool", "one call", "several in order", "any of several"],
)
async def test_a_case_is_kept_exactly_as_it_was_written(registered: SqliteStore, expectation: Expectation) -> None:
    written = CaseDraft(
        name="Größe",
        query="Wie groß ist \ud83d\ude00?".encode("utf-16", "surrogatepass").decode("utf-16"),
        expectation=expectation,
        servers=("web", "docs"),
        suites=("Nightly", "Everyday"),
        tags=("smoke", "de"),
        origin=CaseOrigin.GENERATED,
    )
    (case,) = await registered.cases.add([written])
    assert case.draft == written
    assert await registered.cases.get(case.id) == case


async def test_the_first_expected_call_stands_in_the_columns_of_the_data_model(
    registered: SqliteStore, workspace: Path
) -> None:
    await registered.cases.add([draft(expectation=Expectation(((SEARCH,),))), draft("chat", tool=None)])
    columns = "expected_mcp_server_name, expected_tool_name, expected_parameters"
    assert rows(workspace, f"SELECT {columns} FROM test_cases ORDER BY rowid") == [
        ("docs", "search", '{"q":{"$contains":"Größe"},"n":3}'),
        (None, None, None),
    ]


async def test_cases_are_listed_in_the_order_they_were_added(registered: SqliteStore) -> None:
    names = [f"case {number}" for number in range(600)]
    added = await registered.cases.add([draft(name) for name in names])
    assert [case.name for case in added] == names
    assert await registered.cases.all() == added


async def test_a_case_of_an_unknown_server_is_refused_and_nothing_is_added(registered: SqliteStore) -> None:
    with pytest.raises(NotFoundError, match="No server is named “dcos”") as caught:
        await registered.cases.add([draft(), draft(server="dcos")])
    assert caught.value.hint == "Did you mean docs?"
    assert await registered.cases.all() == ()


async def test_an_edited_case_reads_as_edited(registered: SqliteStore) -> None:
    (case,) = await registered.cases.add([draft(suites=("S",), tags=("a", "b"))])
    edited = replace(case.draft, name="new", servers=("web",), suites=("T",), tags=("b",), expectation=Expectation())
    changed = await registered.cases.update(case.id, edited)
    assert changed.draft == edited
    assert changed.created_at == case.created_at
    assert changed.updated_at > case.updated_at
    assert await registered.cases.suites() == ("T",)


async def test_a_case_names_a_removed_server_until_it_is_edited_otherwise(
    registered: SqliteStore,
) -> None:
    (case,) = await registered.cases.add([draft(servers=("docs", "web"))])
    web = await registered.servers.find("web")
    await registered.servers.remove([web.id])
    edited = await registered.cases.update(case.id, replace(case.draft, query="Another one"))
    assert edited.draft.servers == ("docs", "web")
    await registered.servers.restore([web.id])
    await registered.cases.update(case.id, replace(case.draft, servers=("docs",)))
    assert (await registered.cases.get(case.id)).draft.servers == ("docs",)


async def test_a_case_that_is_not_there_says_so(registered: SqliteStore) -> None:
    with pytest.raises(NotFoundError):
        await registered.cases.get(CaseId("nobody"))
    with pytest.raises(NotFoundError):
        await registered.cases.update(CaseId("nobody"), draft())
    with pytest.raises(NotFoundError):
        await registered.cases.remove([CaseId("nobody")])


async def test_a_removed_case_and_its_runs_are_hidden_until_it_is_restored(store: SqliteStore) -> None:
    filled = await fill(store, [draft("one", suites=("S",)), draft("two")])
    await run_all(store, filled.runs)
    one, two = filled.cases
    await store.cases.remove([one.id])
    assert await store.cases.all() == (two,)
    assert await store.cases.suites() == ()
    assert [run.case_id for run in await store.runs.runs(RunFilter())] == [two.id]
    assert await store.runs.count(RunFilter()) == 1
    assert (await store.runs.batch(filled.batch.id)).counts == {"TP": 1}
    assert set(await store.cases.recent()) == {two.id}
    await store.cases.restore([one.id])
    assert [case.id for case in await store.cases.all()] == [one.id, two.id]
    assert await store.runs.count(RunFilter()) == 2


async def test_the_next_open_deletes_removed_cases_with_all_that_hung_on_them(workspace: Path) -> None:
    store = await open_store(workspace)
    filled = await fill(store, [draft("one", suites=("S",), tags=("a",))], repeats=300)
    await run_all(store, filled.runs)
    await store.cases.remove([case.id for case in filled.cases])
    await store.close()
    await (await open_store(workspace)).close()
    emptied = (
        "test_cases test_case_mcp_servers test_case_tags suites suite_test_cases test_runs evaluation_results "
        "batches model_settings snapshots snapshot_tools tool_definitions"
    )
    assert {
        table: rows(workspace, f"SELECT count(*) FROM {table}")[0][0] for table in emptied.split()
    } == dict.fromkeys(emptied.split(), 0)


async def test_nothing_is_deleted_while_another_process_could_still_undo(workspace: Path) -> None:
    first = await open_store(workspace)
    await first.servers.add(http("docs"))
    (case,) = await first.cases.add([draft()])
    await first.cases.remove([case.id])
    second = await open_store(workspace)
    await first.cases.restore([case.id])
    assert [found.draft for found in await second.cases.all()] == [case.draft]
    await second.close()
    await first.close()


async def test_the_last_runs_of_a_case_come_newest_last(store: SqliteStore) -> None:
    filled = await fill(store, [draft("one"), draft("two")], repeats=4)
    mine = [run for run in filled.runs if run.case_id == filled.cases[0].id]
    for run in mine[:3]:
        await store.runs.finish([right(run)])
    await store.runs.finish([nothing_picked(mine[3])])
    recent = await store.cases.recent(2)
    assert [run.id for run in recent[filled.cases[0].id]] == [mine[2].id, mine[3].id]
    assert filled.cases[1].id not in recent


async def test_a_suite_gets_another_name_for_its_deleted_cases_too_and_nothing_else_of_them_changes(
    registered: SqliteStore,
) -> None:
    made = await registered.cases.add(
        [draft("one", suites=("S", "T")), draft("two", suites=("T", "S")), draft("three", suites=("S",))]
    )
    await registered.cases.remove([made[2].id])
    await registered.cases.rename_suite("S", "Größe")
    await registered.cases.restore([made[2].id])
    found = await registered.cases.all()
    assert [case.draft.suites for case in found] == [("Größe", "T"), ("T", "Größe"), ("Größe",)]
    assert [replace(case, draft=before.draft) for case, before in zip(found[:2], made, strict=False)] == list(made[:2])


async def test_a_suite_that_no_case_is_in_any_more_keeps_no_name_from_another(registered: SqliteStore) -> None:
    one, _ = await registered.cases.add([draft("one", suites=("S",)), draft("two", suites=("T",))])
    await registered.cases.update(one.id, replace(one.draft, suites=()))
    await registered.cases.rename_suite("T", "S")
    assert await registered.cases.suites() == ("S",)


async def test_a_suite_takes_no_name_that_cases_have_even_deleted_ones(registered: SqliteStore) -> None:
    one, _ = await registered.cases.add([draft("one", suites=("S",)), draft("two", suites=("T",))])
    await registered.cases.remove([one.id])
    with pytest.raises(ConflictError, match="“S”"):
        await registered.cases.rename_suite("T", "S")
    with pytest.raises(NotFoundError, match="“U”"):
        await registered.cases.rename_suite("U", "V")
    assert await registered.cases.suites() == ("T",)


GPT = ModelSettings(provider="openai", model="gpt-4.1-mini")


def false_alarm(run: PlannedRun) -> RunResult:
    """Something was picked where nothing should have been."""
    verdict = Verdict(
        classification=Classification.FP, kind=VerdictKind.UNEXPECTED_CALL, explanation="Selected a tool."
    )
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
