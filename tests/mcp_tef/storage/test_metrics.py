"""Figures over stored runs: what the narrow rows of the file say is what the runs say."""

from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcp_tef.model.answers import ActualCall, Answer
from mcp_tef.model.cases import CaseDraft, CaseOrigin, Expectation, ExpectedCall
from mcp_tef.model.ids import BatchId, SnapshotId
from mcp_tef.model.metrics import FilterChoices, OriginCounts
from mcp_tef.model.run_filter import RunFilter, RunOrder
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult, RunStatus, RunSummary, shown_together
from mcp_tef.model.tools import INVENTED_TOOL_LABEL, NO_TOOL_LABEL, LabelKind, ToolLabel
from mcp_tef.model.verdicts import Classification, Verdict, VerdictKind
from mcp_tef.scoring.judge import judge
from mcp_tef.statistics.history import History
from mcp_tef.statistics.run_history import history_of
from mcp_tef.storage.store import SqliteStore, open_store
from mcp_tef.workflows.metrics import MetricsService
from tests.support.workspace_files import (
    change,
    draft,
    fill,
    gone_wrong,
    http,
    nothing_picked,
    offered,
    right,
    rows,
    run_all,
    tool,
)

GPT = ModelSettings(provider="openai", model="gpt-4.1-mini")
TOOLS = offered(tool(), tool("read"), tool("search", server="wiki"))
OPEN_SEARCH = Expectation(((ExpectedCall(tool="search"),),))
OPEN_READ = Expectation(((ExpectedCall(tool="read"),),))
DRAFTS = (
    draft("find words", suites=("Everyday",), tags=("smoke",)),
    draft("look it up", tool="read", suites=("Everyday", "Nightly")),
    draft("say hello", tool=None, tags=("smoke", "talk")),
    draft("open question", expectation=OPEN_SEARCH),
)
PICKS = (
    ActualCall(tool="search", server="docs"),
    ActualCall(tool="search", server="wiki"),
    ActualCall(tool="read", server="docs"),
    ActualCall(tool="frobnicate"),
    None,
)


def picked(run: PlannedRun, case: CaseDraft, call: ActualCall | None, snapshot: SnapshotId, place: int) -> RunResult:
    """The run made this call, and was judged by the real judge."""
    calls = (call,) if call else ()
    made = right(run, snapshot).answer
    assert made is not None
    answer = replace(made, calls=calls, confidence=place % 11 / 10, cost_usd=place / 1000)
    verdict = judge(case.expectation, [item.tool for item in TOOLS], calls, answer.confidence)
    done = replace(right(run, snapshot), answer=answer, verdict=verdict)
    return replace(done, execution_time_ms=1 + place * 7, expected_rank=place % 4 or None)


async def many(store: SqliteStore) -> tuple[BatchId, ...]:
    """Two batches of every case, model and pick; some runs failed, some are pending."""
    await store.servers.add(http("wiki"))
    cases = None
    batches = []
    for name in ("First", "Second"):
        if cases is None:
            filled = await fill(store, DRAFTS, models=(ModelSettings(), GPT), repeats=6, name=name)
            cases, batch, runs = filled.cases, filled.batch, filled.runs
        else:
            request = await store.runs.request(batches[0])
            batch, runs = await store.runs.create_batch(replace(request, name=name), cases)
        batches.append(batch.id)
        drafts = {case.id: case.draft for case in cases}
        snapshot = await store.runs.save_snapshot(TOOLS, runs[0].id)
        done = [
            picked(run, drafts[run.case_id], PICKS[place % 5], snapshot, place) for place, run in enumerate(runs[:-8])
        ]
        await store.runs.finish([*done, *(gone_wrong(run) for run in runs[-8:-4])])
    return tuple(batches)


async def test_figures_of_all_runs_are_those_of_their_summaries(store: SqliteStore) -> None:
    await many(store)
    found = await MetricsService(store.metrics).overview()
    plain = await MetricsService(Plain(await store.runs.runs(RunFilter()))).overview()
    metrics = found.metrics
    assert (metrics.tp, metrics.fp, metrics.tn, metrics.fn, metrics.failed) == (
        *(getattr(plain.metrics, name) for name in ("tp", "fp", "tn", "fn", "failed")),
    )
    for name in ("latency_p50_ms", "latency_p95_ms", "latency_p99_ms"):
        assert getattr(metrics, name) == pytest.approx(getattr(plain.metrics, name))
    for name in ("parameter_accuracy", "completeness"):
        assert asdict(getattr(metrics, name)) == pytest.approx(asdict(getattr(plain.metrics, name)))
    for name in ("cost_usd", "cost_p50_usd", "cost_p95_usd"):
        assert getattr(metrics, name) == pytest.approx(getattr(plain.metrics, name))
    rates = ("correct_call", "correct_tool", "type_conformance", "hallucination")
    for name in (*rates, "recall_at", "by_model", "tokens"):
        assert getattr(metrics, name) == getattr(plain.metrics, name)
    for name in ("confidence_high", "confidence_low", "robust", "needs_clarity", "misleading"):
        assert getattr(metrics, name) == getattr(plain.metrics, name)
    assert [each.n for each in found.calibration.overall.bins] == [each.n for each in plain.calibration.overall.bins]
    assert found.repeats.pass_power == plain.repeats.pass_power
    assert {case.case_id for case in found.repeats.flaky} == {case.case_id for case in plain.repeats.flaky}


class Plain:
    """Satisfies `MetricsStore` with runs that are given."""

    def __init__(self, runs: tuple[RunSummary, ...]) -> None:
        self._runs = runs

    async def history(self, where: RunFilter) -> History:
        return history_of(self._runs)

    async def choices(self) -> FilterChoices:
        return FilterChoices()


async def test_the_trend_has_a_point_for_each_batch_oldest_first(store: SqliteStore) -> None:
    first, second = await many(store)
    points = await MetricsService(store.metrics).trend()
    assert [(point.batch_id, point.name, point.failed) for point in points] == [
        (first, "First", 4),
        (second, "Second", 4),
    ]
    assert points[0].started < points[1].started


async def test_models_are_compared_and_the_baseline_is_marked(store: SqliteStore) -> None:
    await many(store)
    found = await MetricsService(store.metrics).models()
    assert [(each.model, each.baseline) for each in found] == [
        ("offline/retrieval", True),
        ("openai/gpt-4.1-mini", False),
    ]
    for each in found:
        assert each.metrics == await MetricsService(store.metrics).summary(RunFilter(models=(each.model,)))


FILTERS: dict[str, tuple[RunFilter, Callable[[RunSummary], bool]]] = {
    "model": (RunFilter(models=(GPT.label,)), lambda run: run.model == GPT.label),
    "one model": (RunFilter(model=GPT.label), lambda run: run.model == GPT.label),
    "suite": (RunFilter(suites=("Nightly",)), lambda run: run.case_name == "look it up"),
    "two suites": (
        RunFilter(suites=("Nightly", "Everyday")),
        lambda run: run.case_name in ("look it up", "find words"),
    ),
    "tag": (RunFilter(tags=("smoke",)), lambda run: run.case_name in ("find words", "say hello")),
    "suite and tag": (RunFilter(suites=("Everyday",), tags=("smoke",)), lambda run: run.case_name == "find words"),
    "status": (RunFilter(statuses=(RunStatus.FAILED,)), lambda run: run.status is RunStatus.FAILED),
    "kind": (RunFilter(kinds=(VerdictKind.WRONG_TOOL,)), lambda run: run.kind is VerdictKind.WRONG_TOOL),
    "outcome": (
        RunFilter(classifications=(Classification.TP, Classification.TN)),
        lambda run: run.classification in ("TP", "TN"),
    ),
    "expected tool": (RunFilter(expected=ToolLabel("read")), lambda run: run.expected_tool == "read"),
    "expected nothing": (RunFilter(expected=NO_TOOL_LABEL), lambda run: run.expected_tool is None),
    "selected tool": (RunFilter(selected=ToolLabel("search")), lambda run: run.selected_tool == "search"),
    "selected tool of a server": (
        RunFilter(selected=ToolLabel("search", "wiki")),
        lambda run: (run.selected_tool, run.selected_server) == ("search", "wiki"),
    ),
    "selected server": (RunFilter(selected=ToolLabel(server="docs")), lambda run: run.selected_server == "docs"),
    "invented": (RunFilter(selected=INVENTED_TOOL_LABEL), lambda run: run.selected_tool == "frobnicate"),
    "an invented tool by its name": (
        RunFilter(selected=ToolLabel("frobnicate")),
        lambda run: run.selected_tool == "frobnicate",
    ),
    "any tool": (
        RunFilter(selected=ToolLabel(kind=LabelKind.TOOL)),
        lambda run: run.selected_tool not in (None, "frobnicate"),
    ),
    "offered tool": (RunFilter(offered=ToolLabel("read")), lambda run: run.status is RunStatus.COMPLETED),
    "offered server": (RunFilter(offered=ToolLabel(server="wiki")), lambda run: run.status is RunStatus.COMPLETED),
    "a tool that was never offered": (RunFilter(offered=ToolLabel("frobnicate")), lambda run: False),
    "words": (RunFilter(text="HELLO"), lambda run: run.case_name == "say hello"),
    "a percent sign is no wildcard": (RunFilter(text="%"), lambda run: False),
    "all of several": (
        RunFilter(models=(GPT.label,), suites=("Everyday",), selected=ToolLabel("read"), kinds=(VerdictKind.MATCH,)),
        lambda run: run.model == GPT.label and run.case_name == "look it up" and run.kind is VerdictKind.MATCH,
    ),
}


async def test_each_filter_names_the_same_runs_for_lists_counts_and_figures(store: SqliteStore) -> None:
    await many(store)
    every, figures = await store.runs.runs(RunFilter()), MetricsService(store.metrics)
    for name, (where, passes) in FILTERS.items():
        wanted = [run for run in every if passes(run)]
        assert list(await store.runs.runs(where)) == wanted, name
        assert await store.runs.count(where) == len(wanted), name
        ended = [run for run in wanted if run.status in (RunStatus.COMPLETED, RunStatus.FAILED)]
        together = shown_together(run.model for run in ended)
        metrics = await figures.summary(where)
        assert metrics.n + metrics.failed == len([run for run in ended if run.model in together]), name
        for order in RunOrder:
            assert set(await store.runs.runs(replace(where, order=order))) == set(wanted), name


async def test_runs_of_some_batches_cases_and_dates(store: SqliteStore) -> None:
    first, second = await many(store)
    case = (await store.cases.all())[0].id
    (earlier, later) = sorted({run.created_at for run in await store.runs.runs(RunFilter()) if run.created_at})
    assert earlier < later <= datetime.now(UTC)
    for where, number in (
        (RunFilter(batch_ids=(first,)), 48),
        (RunFilter(batch_ids=(first, second)), 96),
        (RunFilter(batch_ids=(BatchId("gone"),)), 0),
        (RunFilter(case_ids=(case,)), 24),
        (RunFilter(since=later), 48),
        (RunFilter(until=later), 48),
        (RunFilter(since=earlier, until=later + timedelta(microseconds=1)), 96),
    ):
        assert await store.runs.count(where) == number


async def test_every_cell_of_the_matrix_leads_to_exactly_its_runs(store: SqliteStore) -> None:
    await many(store)
    where = RunFilter(models=(GPT.label,))
    matrix = await MetricsService(store.metrics).confusions(where)
    assert {label.text for label in matrix.columns} == {"read", "search", "no tool", "invented tool"}
    assert matrix.n == sum(matrix.cells.values())
    for row in range(len(matrix.rows)):
        for column in range(len(matrix.columns)):
            assert await store.runs.count(matrix.runs_of(where, row, column)) == matrix.count(row, column)


async def test_a_server_that_an_expectation_leaves_open_is_the_only_one_that_offered_the_tool(
    store: SqliteStore,
) -> None:
    await store.servers.add(http("wiki"))
    filled = await fill(store, [draft(expectation=OPEN_READ)], repeats=2)
    snapshot = await store.runs.save_snapshot(TOOLS, filled.runs[0].id)
    wrong = [picked(run, filled.cases[0].draft, None, snapshot, 1) for run in filled.runs]
    await store.runs.finish(wrong)
    matrix = await MetricsService(store.metrics).confusions()
    assert matrix.rows[0] == ToolLabel("read", "docs", LabelKind.TOOL)


async def test_an_acceptable_alternative_counts_for_the_tool_that_was_picked(store: SqliteStore) -> None:
    await store.servers.add(http("wiki"))
    filled = await fill(store)
    snapshot = await store.runs.save_snapshot(TOOLS, filled.runs[0].id)
    outcome = right(filled.runs[0], snapshot)
    assert outcome.answer is not None
    other = replace(outcome.answer, calls=(ActualCall(tool="read", server="docs"),))
    await store.runs.finish([replace(outcome, answer=other)])
    matrix = await MetricsService(store.metrics).confusions()
    assert [(figures.name, figures.tp) for figures in matrix.tools] == [("read", 1)]


async def test_figures_follow_when_a_run_is_judged_anew_reopened_or_removed(store: SqliteStore) -> None:
    filled = await fill(store)
    figures, (run,) = MetricsService(store.metrics), filled.runs
    await store.runs.finish([right(run)])
    assert (await figures.summary()).tp == 1
    await store.runs.finish([nothing_picked(run)])
    assert ((await figures.summary()).tp, (await figures.summary()).fn) == (0, 1)
    await store.runs.reopen(filled.batch.id, filled.runs, None)
    assert (await figures.summary()).n == 0
    await store.runs.mark_running([run.id])
    assert await store.runs.count(RunFilter(statuses=(RunStatus.RUNNING,))) == 1
    await store.runs.remove_batches([filled.batch.id])
    assert await store.runs.count(RunFilter()) == 0


async def test_runs_of_removed_cases_count_no_more_until_they_are_restored(store: SqliteStore) -> None:
    filled = await fill(store)
    await store.runs.finish([right(filled.runs[0])])
    ids = [case.id for case in filled.cases]
    await store.cases.remove(ids)
    assert (await MetricsService(store.metrics).summary()).n == 0
    await store.cases.restore(ids)
    assert (await MetricsService(store.metrics).summary()).n == 1


async def test_the_facts_of_a_run_go_with_it(store: SqliteStore, workspace: Path) -> None:
    filled = await fill(store, repeats=2)
    change(workspace, f"DELETE FROM test_runs WHERE id = '{filled.runs[0].id}'")
    assert rows(workspace, "SELECT run_id FROM run_facts") == [(filled.runs[1].id,)]


async def test_very_large_and_missing_measures_are_kept(store: SqliteStore) -> None:
    filled = await fill(store, repeats=2)
    answer = Answer(calls=(), tokens_in=2**40, cost_usd=123456.789012)
    verdict = Verdict(classification=Classification.FN, kind=VerdictKind.NO_TOOL, explanation="Selected no tool.")
    large, missing = filled.runs
    done = RunResult(run_id=missing.id, status=RunStatus.COMPLETED, answer=Answer(calls=()), verdict=verdict)
    await store.runs.finish([replace(done, run_id=large.id, answer=answer, execution_time_ms=2**40), done])
    metrics = await MetricsService(store.metrics).summary()
    assert metrics.cost_usd == pytest.approx(123456.789012)
    assert metrics.latency_p50_ms == metrics.latency_p99_ms == 2**32 - 2
    assert metrics.tokens == 2**32 - 2


async def test_names_for_filters_are_those_that_occur(store: SqliteStore) -> None:
    await many(store)
    choices = await MetricsService(store.metrics).choices()
    assert choices.models == ("offline/retrieval", "openai/gpt-4.1-mini")
    assert choices.tools == ("frobnicate", "read", "search")
    assert choices.servers == ("docs", "wiki")
    assert (choices.suites, choices.tags) == (("Everyday", "Nightly"), ("smoke", "talk"))


async def test_an_empty_workspace_has_figures_that_are_not_defined(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "empty.db")
    overview = await MetricsService(store.metrics).overview()
    assert (overview.metrics.n, overview.metrics.accuracy.value) == (0, None)
    assert (overview.trend, overview.models, overview.repeats.groups, overview.confusions.n) == ((), (), 0, 0)
    await store.close()


async def test_correct_calls_of_generated_cases_are_counted_apart(store: SqliteStore) -> None:
    """Rates over both are never shown without the two counts."""
    written, generated = draft("find words"), replace(draft("look it up"), origin=CaseOrigin.GENERATED)
    filled = await fill(store, [written, replace(written, name="again"), generated])
    await run_all(store, filled.runs)
    overview = await MetricsService(store.metrics).overview()
    assert overview.metrics.by_origin == {
        CaseOrigin.WRITTEN: OriginCounts(cases=2, runs=2, correct_calls=2),
        CaseOrigin.GENERATED: OriginCounts(cases=1, runs=1, correct_calls=1),
    }
    assert "1 of 3 cases was generated" in overview.metrics.sentence
    assert "2/2 written" in overview.metrics.sentence
