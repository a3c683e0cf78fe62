"""Metrics over many runs."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
import scipy  # type: ignore[import-untyped]  # scipy ships no types; its parts are loaded where they are used
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.api.serializers.metrics import metrics_to_json
from mcp_tef.model.answers import AnsweringModel
from mcp_tef.model.ids import BatchId, CaseId, RunId
from mcp_tef.model.metrics import GroupMetrics, Metrics, Rate
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.model.verdicts import Classification, ConfidenceCategory, RunMark
from mcp_tef.statistics.history import History
from mcp_tef.statistics.intervals import percentiles, wilson
from mcp_tef.statistics.metrics import models, trend
from mcp_tef.statistics.metrics import summarise as summarise_history
from mcp_tef.statistics.run_history import history_of
from tests.support.run_factories import batch
from tests.support.run_histories import alike, any_runs, one_each, rate_over

TP, FP, TN, FN = Classification.TP, Classification.FP, Classification.TN, Classification.FN
DAY = datetime(2026, 11, 1, tzinfo=UTC)
UNDEFINED = Rate(None, None, None, 0)


def run(classification: Classification | None = None, **more: Any) -> RunSummary:
    made = RunSummary(
        id=RunId("run"),
        batch_id=BatchId("batch"),
        case_id=CaseId("case"),
        case_name="Case",
        query="?",
        model="openai/small",
        repeat=0,
        status=RunStatus.COMPLETED if classification else RunStatus.FAILED,
        classification=classification,
    )
    return replace(made, **more)


def picked(expected: str | None, selected: str | None, **more: Any) -> RunSummary:
    """A judged run that expected and picked these tools, written `server/tool` or `tool`."""
    if expected is None:
        classification = TN if selected is None else FP
    else:
        classification = TP if selected and selected.endswith(expected) else FN
    sides: dict[str, str | None] = {}
    for side, name in (("expected", expected), ("selected", selected)):
        server, _, tool = (name or "").rpartition("/")
        sides |= {f"{side}_tool": tool or None, f"{side}_server": server or None}
    return run(classification, **sides, **more)


def summarise(runs: Sequence[RunSummary]) -> Metrics:
    """Metrics of runs, each of a case of its own."""
    return summarise_history(history_of([replace(run, case_id=CaseId(f"case-{n}")) for n, run in enumerate(runs)]))


def group(groups: tuple[GroupMetrics, ...], name: str) -> GroupMetrics:
    return next(each for each in groups if each.name == name)


@given(st.integers(0, 500), st.integers(1, 500))
def test_the_interval_of_a_rate_is_wilsons_as_scipy_has_it(successes: int, n: int) -> None:
    successes = min(successes, n)
    rate = wilson(successes, n)
    independent = scipy.stats.binomtest(successes, n).proportion_ci(0.95, method="wilson")
    assert (rate.low, rate.high) == pytest.approx((independent.low, independent.high), abs=1e-12)
    assert rate.value == successes / n
    assert rate.n == n


def test_a_rate_of_nothing_is_not_defined() -> None:
    assert wilson(0, 0) == UNDEFINED


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_percentiles_are_interpolated_as_scipy_does(values: list[float], share: float) -> None:
    (found,) = percentiles(np.array(values), share)
    assert found == pytest.approx(float(scipy.stats.scoreatpercentile(values, share * 100)))


def test_precision_recall_f1_and_accuracy_follow_from_the_counts() -> None:
    metrics = summarise([run(each) for each in [TP] * 6 + [FP] * 2 + [TN] * 3 + [FN] * 4])
    assert (metrics.tp, metrics.fp, metrics.tn, metrics.fn, metrics.failed, metrics.n) == (6, 2, 3, 4, 0, 15)
    assert alike(metrics.precision, one_each(6, 8))
    assert alike(metrics.recall, one_each(6, 10))
    assert alike(metrics.accuracy, one_each(9, 15))
    assert metrics.f1 == pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))
    assert metrics.f1_text == "0.67 (0.36 to 0.88)"


def test_failed_runs_are_counted_and_count_in_no_rate() -> None:
    metrics = summarise([run(TP, execution_time_ms=100), run(None, execution_time_ms=9_000), run(None)])
    assert (metrics.n, metrics.failed) == (1, 2)
    assert metrics.precision == metrics.recall == metrics.accuracy == one_each(1, 1)
    assert metrics.latency_p95_ms == 100
    assert metrics.confidence_none == 1


def test_runs_that_are_not_done_are_left_out() -> None:
    waiting = [run(None, status=status) for status in (RunStatus.PENDING, RunStatus.RUNNING, RunStatus.CANCELLED)]
    assert summarise(waiting) == summarise([])


def test_nothing_at_all_is_not_defined_rather_than_zero() -> None:
    shape = metrics_to_json(summarise([]))
    undefined = {"value": None, "low": None, "high": None, "n": 0}
    assert shape == {
        **dict.fromkeys(("n", "cases", "repeats", "tp", "fp", "tn", "fn", "failed", "priced"), 0),
        **dict.fromkeys(("unreadable", "not_offered", "cut_off"), 0),
        **dict.fromkeys(
            ("correct_call", "correct_tool", "precision", "recall", "accuracy", "type_conformance", "hallucination"),
            undefined,
        ),
        **dict.fromkeys(("f1", "parameter_accuracy", "completeness", "cost_usd", "tokens")),
        "confidence": dict.fromkeys(("high", "low", "none", "robust", "needs_clarity", "misleading"), 0),
        "latency_ms": {"p50": None, "p95": None, "p99": None},
        "cost_per_run_usd": {"p50": None, "p95": None},
        "f1_interval": {"low": None, "high": None},
        "recall_at": {"1": undefined, "3": undefined, "5": undefined},
        "by_origin": dict.fromkeys(("written", "generated"), dict.fromkeys(("cases", "runs", "correct_calls"), 0)),
        "by_tool": [],
        "by_server": [],
        "by_model": [],
    }


def test_parameter_figures_are_over_true_positives_where_they_were_judged() -> None:
    metrics = summarise(
        [
            run(TP, correctness=1.0, completeness=1.0, type_conformance=True),
            run(TP, correctness=0.5, completeness=0.5, type_conformance=False, hallucinated=("x",)),
            run(TP),
            run(FP, correctness=0.0, completeness=0.0, type_conformance=False, hallucinated=("y",)),
        ]
    )
    assert alike(metrics.parameter_accuracy, one_each(1.5, 2))
    assert alike(metrics.completeness, one_each(1.5, 2))
    assert metrics.type_conformance == one_each(1, 2)
    assert metrics.hallucination == one_each(1, 3)


def test_confidence_is_counted_by_level_and_by_category() -> None:
    metrics = summarise(
        [
            run(TP, confidence=0.7, confidence_category=ConfidenceCategory.ROBUST),
            run(TP, confidence=0.69, confidence_category=ConfidenceCategory.NEEDS_CLARITY),
            run(FN, confidence=0.9, confidence_category=ConfidenceCategory.MISLEADING),
            run(FN),
        ]
    )
    assert (metrics.confidence_high, metrics.confidence_low, metrics.confidence_none) == (2, 1, 1)
    assert (metrics.robust, metrics.needs_clarity, metrics.misleading) == (1, 1, 1)


def test_latency_is_interpolated_and_cost_is_what_is_known() -> None:
    metrics = summarise(
        [run(TP, execution_time_ms=ms, cost_usd=cost) for ms, cost in ((10, 0.1), (20, 0.2), (30, None))]
    )
    assert metrics.latency_p50_ms == 20
    assert metrics.latency_mean_ms == pytest.approx(20)
    assert metrics.latency_p95_ms == pytest.approx(29)
    assert metrics.cost_usd == pytest.approx(0.3)
    assert summarise([run(TP)]).cost_usd is None


def test_each_tool_is_judged_against_the_rest() -> None:
    runs = [
        picked("search", "search"),
        picked("search", "search"),
        picked("search", "find"),
        picked("find", "search"),
        picked("find", None),
        picked(None, "find"),
        picked(None, None),
        run(None, expected_tool="find"),
    ]
    metrics = summarise(runs)
    search, find = group(metrics.by_tool, "search"), group(metrics.by_tool, "find")
    assert (search.tp, search.fp, search.fn, search.tn, search.failed) == (2, 1, 1, 3, 0)
    assert (find.tp, find.fp, find.fn, find.tn, find.failed) == (0, 2, 2, 3, 1)
    assert search.precision == search.recall == one_each(2, 3)
    assert (find.n, find.f1) == (7, 0.0)


def test_a_right_run_counts_for_the_tool_that_was_picked() -> None:
    """An acceptable alternative, or the second of several calls made first."""
    metrics = summarise([replace(picked("search", "find"), classification=TP)])
    assert [(each.name, each.tp, each.fn) for each in metrics.by_tool] == [("find", 1, 0)]


def test_tools_of_one_name_are_told_apart_by_server_and_only_those() -> None:
    runs = [picked("docs/read", "docs/read"), picked("docs/read", "wiki/read"), picked("find", "wiki/find")]
    assert [each.name for each in summarise(runs).by_tool] == ["find", "docs / read", "wiki / read"]
    assert group(summarise(runs).by_tool, "find").tp == 1


def test_servers_and_models_are_counted_apart() -> None:
    runs = [
        picked("docs/read", "docs/read", model="a/x"),
        picked("docs/read", "wiki/read", model="b/y"),
        picked(None, "wiki/read", model="b/y"),
        picked(None, None, model="b/y"),
        run(None, expected_tool="read", expected_server="docs", model="b/y"),
    ]
    metrics = summarise(runs)
    docs, wiki = metrics.by_server
    assert (docs.name, docs.tp, docs.fn, docs.failed) == ("docs", 1, 1, 1)
    assert (wiki.name, wiki.fp) == ("wiki", 1)
    first, second = metrics.by_model
    assert (first.name, first.n, first.tp) == ("a/x", 1, 1)
    assert (second.name, second.n, second.fn, second.fp, second.tn, second.failed) == ("b/y", 3, 1, 1, 1, 1)


@given(any_runs())
def test_every_rate_is_that_of_its_runs_by_case(runs: Sequence[RunSummary]) -> None:
    found = summarise_history(history_of(runs))
    groups: list[tuple[Metrics | GroupMetrics, Sequence[RunSummary]]] = [(found, runs)]
    groups += [(each, [run for run in runs if run.model == each.name]) for each in found.by_model]
    for metrics, own in groups:
        right = [run for run in own if run.classification in (TP, FP)]
        wanted = [run for run in own if run.classification in (TP, FN)]
        assert alike(metrics.precision, rate_over(right, lambda run: run.classification is TP))
        assert alike(metrics.recall, rate_over(wanted, lambda run: run.classification is TP))
        assert alike(metrics.accuracy, rate_over(own, lambda run: run.classification in (TP, TN)))
        assert alike(metrics.correct_call, rate_over(own, lambda run: run.mark is RunMark.CORRECT_CALL))
        assert alike(metrics.correct_tool, rate_over(own, lambda run: run.mark is not RunMark.WRONG))


@given(any_runs())
def test_a_tool_against_the_rest_is_right_where_nothing_is_wrong_about_it(runs: Sequence[RunSummary]) -> None:
    metrics = summarise_history(history_of(runs))
    for figures in metrics.by_tool:
        assert figures.accuracy.n == len(runs)
        assert figures.accuracy.value == pytest.approx((figures.tp + figures.tn) / len(runs))
        missed = [id(run) for run in runs if run.expected_tool == figures.name and run.classification is FN]
        if figures.fp == 0 and len(missed) == figures.fn:
            assert alike(figures.accuracy, rate_over(runs, lambda run, missed=missed: id(run) not in missed))  # type: ignore[misc]  # bound now


def test_repeats_are_counted_as_one_case_in_every_interval() -> None:
    cases = [picked("a", "a" if number % 3 else "b", case_id=CaseId(str(number))) for number in range(12)]
    once, often = (summarise_history(history_of(cases * times)) for times in (1, 5))
    assert (once.cases, once.repeats, once.n) == (12, 1, 12)
    assert (often.cases, often.repeats, often.n) == (12, 5, 60)
    for share in ("correct_call", "correct_tool", "accuracy", "recall", "precision"):
        one, many = getattr(once, share), getattr(often, share)
        assert (many.low, many.high) == pytest.approx((one.low, one.high)), share
    for one, many in zip((*once.by_tool, *once.by_model), (*often.by_tool, *often.by_model), strict=True):
        assert (many.recall.low, many.accuracy.low) == pytest.approx((one.recall.low, one.accuracy.low))


def test_recall_at_a_depth_is_over_ranked_runs_that_expected_a_tool() -> None:
    offline = {"model": "offline/retrieval"}
    ranks = [picked("a", "a", expected_rank=rank, **offline) for rank in (1, 1, 3, 5, 9)]
    unranked = [picked("a", "b", **offline), picked(None, None, **offline), picked("a", "a")]
    metrics = summarise([*ranks, *unranked])
    assert metrics.recall_at == {1: one_each(2, 6), 3: one_each(3, 6), 5: one_each(4, 6)}


def at_addresses(*addresses: str) -> History:
    """One right run in each of some batches, whose models were asked at these addresses."""
    batches = [batch(number, created_at=DAY + timedelta(days=number)) for number in range(len(addresses))]
    history = history_of([replace(run(TP), batch_id=one.id) for one in batches], batches)
    answered = [frozenset({AnsweringModel(run(TP).model, "x", None, address)}) for address in addresses]
    placed = {key: replace(one, answered=answered[int(one.id[-1])]) for key, one in history.batches.items()}
    return replace(history, batches=placed)


def test_a_model_asked_at_two_addresses_stands_apart_and_the_trend_says_so() -> None:
    label, two = run(TP).model, at_addresses("", "gpu:8000", "gpu:8000")
    assert [(one.model, one.metrics.n) for one in models(two)] == [(label, 1), (f"{label} @ gpu:8000", 2)]
    assert [(one.name, one.n) for one in summarise_history(two).by_model] == [(label, 1), (f"{label} @ gpu:8000", 2)]
    assert [bool(point.note) for point in trend(two)] == [False, True, False]
    (alone,) = models(at_addresses("gpu:8000", "gpu:8000"))
    assert alone.model == label


def test_the_trend_notes_where_the_provider_answers_as_another_model() -> None:
    named = [("x-01", "a"), ("x-01", "b"), ("x-02", "b"), (None, None), ("x-03", "b")]
    batches = [batch(number, created_at=DAY + timedelta(days=number)) for number in range(len(named))]
    history = history_of([replace(run(TP), batch_id=one.id) for one in batches], batches)
    answered = [frozenset({AnsweringModel("openai/small", name, mark)} if name else ()) for name, mark in named]
    with_names = {key: replace(one, answered=answered[int(one.id[-1])]) for key, one in history.batches.items()}
    assert [point.note for point in trend(replace(history, batches=with_names))] == [
        "",
        "The provider of openai/small answered with fingerprint a before, b after.",
        "The provider of openai/small answered as x-01 before, x-02 after.",
        "",
        "The provider of openai/small answered as x-02 before, x-03 after.",
    ]
