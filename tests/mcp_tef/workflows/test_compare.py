"""Two batches and two runs beside each other, over a real store."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.model.comparison import ComparisonConclusion, DefinitionChange, PairChange, PairedBy
from mcp_tef.model.ids import BatchId
from mcp_tef.model.runs import Batch, ModelSettings
from mcp_tef.ports import Question, Store
from mcp_tef.storage.store import open_store
from mcp_tef.workflows.compare import Compare
from tests.support.fake_ports import Reply, picks, tool
from tests.support.workflow_bench import Bench, bench, draft, request, write

DESK = {"desk": [tool("find"), tool("book")]}
QUERIES = tuple(f"query {number}" for number in range(12))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_store(tmp_path / "workspace.db")
    yield opened
    await opened.close()


class Learner:
    """Picks the right tool for the queries that it knows."""

    def __init__(self) -> None:
        self.known: set[str] = set()

    def __call__(self, question: Question) -> Reply:
        return picks("find" if question.query in self.known else "book")


async def desk(store: Store, learner: Learner, *queries: str) -> Bench:
    made = bench(store, DESK, learner)
    await made.register("desk")
    await write(made, *(draft(query) for query in queries))
    return made


async def run(made: Bench, **changes: object) -> Batch:
    batch = await made.runs.start(request(**changes))
    return await made.runs.wait(batch.id)


async def test_what_was_learned_is_fixed_and_reads_as_better(store: Store) -> None:
    learner = Learner()
    made = await desk(store, learner, *QUERIES)
    before = await run(made)
    learner.known = set(QUERIES)
    after = await run(made)
    found = await Compare(store.runs).batches(before.id, after.id)
    assert (found.selection.reading, found.counts[PairChange.FIXED], found.worse) == (
        ComparisonConclusion.BETTER,
        12,
        False,
    )
    assert found.selection.difference.value == 1.0
    turned = await Compare(store.runs).batches(after.id, before.id)
    assert (turned.selection.reading, turned.worse) == (ComparisonConclusion.WORSE, True)
    assert found.notes == ()


async def test_a_few_runs_are_not_enough_to_tell(store: Store) -> None:
    learner = Learner()
    made = await desk(store, learner, *QUERIES[:3])
    before = await run(made)
    learner.known = set(QUERIES)
    found = await Compare(store.runs).batches(before.id, (await run(made)).id)
    assert found.selection.reading is ComparisonConclusion.UNDECIDED
    assert found.selection.more_pairs is not None


async def test_pairs_come_with_both_runs(store: Store) -> None:
    made = await desk(store, Learner(), "one")
    before = await run(made)
    await write(made, draft("two"))
    after = await run(made)
    compare = Compare(store.runs)
    found = await compare.batches(before.id, after.id)
    rows = await compare.pairs(found.pairs)
    assert [(row.pair.change, row.before and row.before.query, row.after and row.after.query) for row in rows] == [
        (PairChange.UNCHANGED_WRONG, "one", "one"),
        (PairChange.NEW, None, "two"),
    ]


async def test_other_models_are_compared_by_case_and_the_comparison_says_so(store: Store) -> None:
    made = await desk(store, Learner(), "one", "two")
    before, after = await run(made), await run(made, models=(ModelSettings(provider="local", model="small"),))
    found = await Compare(store.runs).batches(before.id, after.id)
    assert (found.paired_by, found.counts[PairChange.UNCHANGED_WRONG]) == (PairedBy.CASE, 2)
    assert "different models" in found.notes[0]


async def test_an_edited_case_is_said_until_both_batches_are_judged_again(store: Store) -> None:
    made = await desk(store, Learner(), "one")
    before = await run(made)
    (case,) = await made.cases.list()
    await made.cases.edit(case.id, replace(case.draft, expectation=draft("one", "book").expectation))
    after = await run(made)
    compare = Compare(store.runs)
    found = await compare.batches(before.id, after.id)
    assert (found.posed_otherwise, found.counts[PairChange.FIXED]) == (1, 1)
    assert "Judge both batches again" in found.notes[0]
    await made.runs.rejudge(batch_id=before.id)
    found = await compare.batches(before.id, after.id)
    assert (found.posed_otherwise, found.counts[PairChange.UNCHANGED_RIGHT], found.notes) == (0, 1, ())


async def test_repeats_are_said_to_be_about_these_cases(store: Store) -> None:
    made = await desk(store, Learner(), "one")
    before, after = await run(made, repeats=2), await run(made, repeats=2)
    found = await Compare(store.runs).batches(before.id, after.id)
    assert found.selection.n == 2
    assert "these cases" in found.notes[0]


async def test_a_batch_is_not_compared_with_itself_or_with_nothing(store: Store) -> None:
    made = await desk(store, Learner(), "one")
    batch = await run(made)
    with pytest.raises(InputError, match="with itself"):
        await Compare(store.runs).batches(batch.id, batch.id)
    with pytest.raises(NotFoundError):
        await Compare(store.runs).batches(batch.id, BatchId("nowhere"))


async def test_two_runs_are_told_apart_down_to_the_tools_they_saw(store: Store) -> None:
    learner = Learner()
    made = await desk(store, learner, "one")
    before = await run(made)
    made.gateway.servers = {"desk": [tool("find", limit={"type": "integer"}), tool("book")]}
    learner.known = {"one"}
    after = await run(made, models=(ModelSettings(temperature=0.0),))
    compare = Compare(store.runs)
    ((pair),) = (await compare.batches(before.id, after.id)).pairs
    assert pair.before is not None
    assert pair.after is not None
    found = await compare.runs(pair.before, pair.after)
    assert found.same_case
    assert [(change.name, change.before, change.after) for change in found.settings] == [("Temperature", "0.4", "0")]
    assert [(change.tool, change.change) for change in found.tools] == [("find", DefinitionChange.CHANGED)]
    assert found.tools_alike == 1
    assert ("Outcome", "FN", "TP") in [(change.name, change.before, change.after) for change in found.verdict]
    assert [change.name for change in found.answer] == ["Calls"]
