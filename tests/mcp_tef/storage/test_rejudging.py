"""Verdicts that were replaced, as the file keeps them."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.cases import Expectation, ExpectedCall
from mcp_tef.model.comparison import Judgement
from mcp_tef.model.ids import RunId
from mcp_tef.model.runs import PlannedRun
from mcp_tef.model.verdicts import (
    CallMatch,
    Classification,
    ConfidenceCategory,
    FindingReason,
    ParameterFinding,
    PastVerdict,
    RejudgeReason,
    RunMark,
    Verdict,
    VerdictKind,
)
from mcp_tef.storage.store import SqliteStore
from mcp_tef.storage.verdict_rows import document_of, verdict_from
from tests.support.workspace_files import change, draft, fill, gone_wrong, nothing_picked, right, rows, run_all

MOMENT = datetime(2026, 11, 21, 23, 50, 12, 345000, tzinfo=UTC)
READ = Expectation(((ExpectedCall(tool="read", server="docs", parameters={"path": {"$any": True}}),),))
MISSED = Verdict(
    classification=Classification.FN,
    kind=VerdictKind.WRONG_TOOL,
    explanation="Selected `search` on docs, expected `read`: a wrong tool.",
    matches=(CallMatch(expected=0, actual=None), CallMatch(expected=None, actual=0)),
)


def judgement(run: PlannedRun, verdict: Verdict = MISSED) -> Judgement:
    given_before = right(run).verdict
    assert given_before is not None
    return Judgement(
        run_id=run.id,
        verdict=verdict,
        expectation=READ,
        expected_rank=2,
        past=PastVerdict(
            verdict=given_before,
            expectation=draft().expectation,
            replaced_at=MOMENT,
            reason=RejudgeReason.EXPECTATION_CHANGED,
        ),
    )


async def test_a_new_verdict_takes_the_place_of_the_old_one_which_is_kept_whole(store: SqliteStore) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    run = filled.runs[0]
    (row,) = await store.runs.rejudge([judgement(run)])
    assert (row.classification, row.expected, row.expected_tool, row.expected_rank) == (
        Classification.FN,
        "docs / read",
        "read",
        2,
    )
    detail = await store.runs.detail(run.id)
    assert (detail.verdict, detail.expectation) == (MISSED, READ)
    assert detail.past_verdicts == (judgement(run).past,)
    assert detail.answer == right(run).answer


async def test_a_run_that_lost_its_verdict_meanwhile_is_not_given_one(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    change(workspace, "DELETE FROM evaluation_results")
    assert await store.runs.rejudge([judgement(filled.runs[0])]) == ()


async def test_past_verdicts_are_read_newest_first_and_go_with_their_run(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    run = filled.runs[0]
    first = judgement(run)
    await store.runs.rejudge([first])
    assert first.past is not None
    await store.runs.rejudge([replace(first, past=replace(first.past, verdict=MISSED, expectation=Expectation()))])
    past = (await store.runs.detail(run.id)).past_verdicts
    assert [item.verdict.classification for item in past] == [Classification.FN, Classification.TP]
    assert past[0].expectation == Expectation()
    change(workspace, f"DELETE FROM batches WHERE id = '{filled.batch.id}'")
    assert rows(workspace, "SELECT count(*) FROM past_verdicts") == [(0,)]


async def test_a_run_that_was_removed_meanwhile_is_passed_over(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store)
    await run_all(store, filled.runs)
    gone = replace(judgement(filled.runs[0]), run_id=RunId("gone"))
    assert await store.runs.rejudge([gone]) == ()
    assert rows(workspace, "SELECT count(*) FROM past_verdicts") == [(0,)]


async def test_only_runs_with_an_answer_and_known_tools_can_be_judged_again(store: SqliteStore) -> None:
    filled = await fill(store, [draft("one"), draft("two"), draft("three"), draft("four")])
    one, two, three, _ = filled.runs
    await run_all(store, [one])
    await store.runs.finish([gone_wrong(two), nothing_picked(three)])
    (found,) = await store.runs.answered([run.id for run in filled.runs])
    assert (found.id, found.case_id, found.batch_id) == (one.id, one.case_id, filled.batch.id)
    assert [item.offered_name for item in found.snapshot.tools] == ["search"]
    answer = right(one).answer
    assert answer is not None
    assert (found.answer.calls, found.answer.confidence) == (answer.calls, answer.confidence)
    assert found.answer.ranking == answer.ranking
    assert found.verdict == right(one).verdict


async def test_outcomes_hold_what_pairing_needs_in_the_order_planned(store: SqliteStore) -> None:
    filled = await fill(store, [draft("one"), draft("two")], repeats=2)
    await run_all(store, filled.runs[:1])
    found = await store.runs.outcomes(filled.batch.id)
    assert [item.id for item in found] == [run.id for run in filled.runs]
    assert [item.repeat for item in found] == [0, 0, 1, 1]
    assert (found[0].mark, found[0].model) == (RunMark.CORRECT_CALL, "offline/retrieval")
    assert found[1].mark is None
    assert found[0].posed == found[2].posed != found[1].posed


TEXT = st.text(max_size=8)
SHARES = st.none() | st.floats(0, 1)
JSON = st.none() | st.booleans() | st.integers(-9, 9) | TEXT | st.lists(st.integers(0, 3), max_size=2)
FINDINGS = st.builds(
    ParameterFinding, parameter=TEXT, reason=st.sampled_from(FindingReason), sentence=TEXT, expected=JSON, actual=JSON
)
MATCHES = st.builds(
    CallMatch,
    expected=st.none() | st.integers(0, 3),
    actual=st.none() | st.integers(0, 3),
    completeness=SHARES,
    correctness=SHARES,
    type_conformance=st.none() | st.booleans(),
    hallucinated=st.lists(TEXT, max_size=2).map(tuple),
    findings=st.lists(FINDINGS, max_size=2).map(tuple),
)
VERDICTS = st.builds(
    Verdict,
    classification=st.sampled_from(Classification),
    kind=st.sampled_from(VerdictKind),
    explanation=TEXT,
    matches=st.lists(MATCHES, max_size=2).map(tuple),
    alternative=st.integers(0, 4),
    completeness=SHARES,
    correctness=SHARES,
    type_conformance=st.none() | st.booleans(),
    hallucinated=st.lists(TEXT, max_size=2).map(tuple),
    parameters_ok=st.none() | st.booleans(),
    confidence_category=st.none() | st.sampled_from(ConfidenceCategory),
)


@given(VERDICTS)
def test_any_verdict_comes_back_from_one_cell_as_it_was(verdict: Verdict) -> None:
    assert verdict_from(document_of(verdict)) == verdict
