"""Fields of runs, batches and metrics in requests and answers."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from mcp_tef import (
    CONCURRENCY,
    REPEATS,
    BatchRequest,
    CaseId,
    Metrics,
    RunDetail,
    RunSummary,
    Verdict,
    verdict_to_json,
)
from mcp_tef.rest.errors import without_answer
from mcp_tef.rest.schemas import (
    MOST_ITEMS,
    AnswerFields,
    ModelSettingsAnswer,
    ModelSettingsCreate,
    RequestFields,
    settings_answer,
)


class RunAnswer(AnswerFields):
    """A run; `model_settings` are told of a single run, and of a list only the `model`."""

    id: str
    test_case_id: str
    batch_id: str | None
    model: str
    model_settings: ModelSettingsAnswer | None
    status: str
    confidence_score: float | None
    confidence_category: str | None
    classification: str | None
    mark: str | None
    expected: str
    selected: str | None
    parameters_ok: bool | None
    execution_time_ms: int | None
    tokens: int | None
    cost_usd: float | None
    error: str | None
    error_message: str | None
    error_hint: str | None
    created_at: datetime | None
    completed_at: datetime | None


def run_answer(run: RunSummary, detail: RunDetail | None = None) -> RunAnswer:
    """Return a run."""
    failure = run.failure
    return RunAnswer.of(
        run,
        test_case_id=run.case_id,
        model_settings=settings_answer(detail) if detail else None,
        confidence_score=run.confidence,
        error=failure.code if failure else None,
        error_message=without_answer(failure.message) if failure else None,
        error_hint=failure.hint if failure else None,
    )


class ResultAnswer(BaseModel):
    """The evaluation of a completed run; parameter scores are null where parameters were not judged."""

    id: str
    test_run_id: str
    classification: str
    tool_selection_correct: bool
    parameter_completeness: float | None
    parameter_correctness: float | None
    parameter_type_conformance: bool | None
    hallucinated_parameters: list[str]
    confidence_category: str | None
    reasoning: str
    recommendations: list[str]
    verdict: dict[str, Any]
    created_at: datetime | None


def result_answer(run: RunSummary, verdict: Verdict) -> ResultAnswer:
    """Return the evaluation of a run."""
    return ResultAnswer(
        id=run.id,
        test_run_id=run.id,
        classification=verdict.classification.value,
        tool_selection_correct=verdict.mark.correct_tool,
        parameter_completeness=verdict.completeness,
        parameter_correctness=verdict.correctness,
        parameter_type_conformance=verdict.type_conformance,
        hallucinated_parameters=list(verdict.hallucinated),
        confidence_category=verdict.confidence_category,
        reasoning=verdict.explanation,
        recommendations=[finding.sentence for finding in verdict.findings],
        verdict=verdict_to_json(verdict),
        created_at=run.completed_at,
    )


class BatchCreate(RequestFields):
    """A batch to start: cases × models × repeats; without any selection, every case."""

    test_case_ids: list[str] = Field(default_factory=list, max_length=MOST_ITEMS)
    suites: list[str] = Field(default_factory=list, max_length=1_000)
    tags: list[str] = Field(default_factory=list, max_length=1_000)
    models: list[ModelSettingsCreate] = Field(min_length=1, max_length=20)
    repeats: int = Field(REPEATS.default, ge=REPEATS.low, le=REPEATS.high)
    concurrency: int = Field(CONCURRENCY.default, ge=CONCURRENCY.low, le=CONCURRENCY.high)
    max_cost_usd: float | None = Field(None, gt=0, le=1e6)
    name: str = Field("", max_length=200)

    def request(self) -> BatchRequest:
        """Return the batch as it is started."""
        return BatchRequest(
            cases=tuple(map(CaseId, self.test_case_ids)),
            suites=tuple(self.suites),
            tags=tuple(self.tags),
            models=tuple(one.settings() for one in self.models),
            repeats=self.repeats,
            concurrency=self.concurrency,
            max_cost_usd=self.max_cost_usd,
            name=self.name,
        )


class BatchAnswer(BaseModel):
    """A batch with its counts, as `mcp-tef runs list --json` has it."""

    id: str
    name: str
    status: str
    stopped: str | None
    models: list[str]
    total: int
    counts: dict[str, int]
    correct_calls: int
    correct_tools: int
    unreadable: int
    not_offered: int
    cut_off: int
    interrupted: int
    cost_usd: float | None
    created_at: datetime | None
    completed_at: datetime | None


class MetricsAnswer(AnswerFields):
    """Metrics of judged runs; a rate that is not defined is null, never 0."""

    total_tests: int
    true_positives: int
    false_positives: int
    true_negatives: int
    false_negatives: int
    failed: int
    precision: float | None
    recall: float | None
    f1_score: float | None
    parameter_accuracy: float | None
    average_execution_time_ms: float | None
    confidence_distribution: dict[str, int]
    correct_call: float | None
    correct_tool: float | None
    correct_call_interval: tuple[float | None, float | None]


def metrics_answer(metrics: Metrics) -> MetricsAnswer:
    """Return the metrics of some runs."""
    correct = metrics.correct_call
    return MetricsAnswer.of(
        metrics,
        total_tests=metrics.n,
        true_positives=metrics.tp,
        false_positives=metrics.fp,
        true_negatives=metrics.tn,
        false_negatives=metrics.fn,
        precision=metrics.precision.value,
        recall=metrics.recall.value,
        f1_score=metrics.f1,
        parameter_accuracy=metrics.parameter_accuracy.value,
        average_execution_time_ms=metrics.latency_mean_ms,
        confidence_distribution={name: getattr(metrics, name) for name in ("robust", "needs_clarity", "misleading")},
        correct_call=correct.value,
        correct_tool=metrics.correct_tool.value,
        correct_call_interval=(correct.low, correct.high),
    )
