"""Content of every report (runs under a title, their metrics and conditions), and the same as CSV and JSON tables."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mcp_tef.api.serializers.metrics import overview_to_json
from mcp_tef.api.serializers.runs import run_to_json
from mcp_tef.formats.csv_tables import csv_text
from mcp_tef.model.ids import BatchId
from mcp_tef.model.installation import VERSION
from mcp_tef.model.json import Json, fields_to_json
from mcp_tef.model.metrics import MetricsOverview, ThresholdCheck
from mcp_tef.model.runs import ModelSettings, RunStatus, RunSummary, is_baseline
from mcp_tef.trust.outputs import document_text

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Results:
    """Runs in their order with all figures over them; `batch_id` where they are those of one batch.

    `settings` are those of each model by its label, `checks` the thresholds, which then decide instead of single runs.
    `case_file` is the file that the cases come from, where it is known.
    """

    title: str
    runs: tuple[RunSummary, ...]
    overview: MetricsOverview
    batch_id: BatchId | None = None
    settings: Mapping[str, ModelSettings] = field(default_factory=dict)
    checks: tuple[ThresholdCheck, ...] = ()
    case_file: Path | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The labels of the models, in the order in which they first occur."""
        return tuple(dict.fromkeys(run.model for run in self.runs))

    def conditions(self, model: str) -> dict[str, str]:
        """Return batch, model, settings, address, version and date of the runs of a model; unknown ones are absent."""
        settings = self.settings.get(model)
        moments = [run.created_at for run in self.runs if run.created_at]
        found = {"batch": self.batch_id or "", "model": model_name(model)}
        if settings and not settings.offline:
            found |= {"settings": settings_text(settings), "address": settings.base_url or "the provider's own"}
        found |= {"mcp-tef": VERSION, "date": min(moments).isoformat(timespec="seconds") if moments else ""}
        return {name: text for name, text in found.items() if text}

    @property
    def condition_lines(self) -> tuple[str, ...]:
        """One line for each model with all its conditions."""
        each = (self.conditions(model).items() for model in self.models)
        return tuple(" · ".join(f"{name} {text}" for name, text in items) for items in each)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The two shares in one sentence, or one for each model where there are several, the baseline last."""
        models = sorted(self.overview.models, key=lambda one: one.baseline)
        if len(models) < 2:
            return (f"{self.overview.metrics.sentence}.",)
        return tuple(f"{model_name(one.model)}: {one.metrics.sentence}." for one in models)

    @property
    def unfinished_sentence(self) -> str:
        """Count of cancelled or interrupted runs, as one sentence; empty where every run has finished."""
        unfinished = sum(run.status not in (RunStatus.COMPLETED, RunStatus.FAILED) for run in self.runs)
        if not unfinished:
            return ""
        were = "was" if unfinished == 1 else "were"
        return f"{unfinished:,} of {len(self.runs):,} runs {were} not finished, and count in no rate."


def settings_text(settings: ModelSettings) -> str:
    """Return the settings that can change an answer, in one line; a system prompt by its length only."""
    parts = [f"temperature {settings.temperature:g}", f"mode {settings.mode}", f"tool choice {settings.tool_choice}"]
    parts += [f"seed {settings.seed}"] if settings.seed is not None else []
    parts += [f"at most {settings.max_tokens:,} tokens"] if settings.max_tokens else []
    parts += [f"a system prompt of {len(settings.system_prompt):,} characters"] if settings.system_prompt else []
    return ", ".join([*parts, f"timeout {settings.timeout} s", f"{settings.max_retries} retries"])


def reason(run: RunSummary) -> str:
    """Return why a run did not pass, with what was given and expected for each wrong parameter."""
    if run.failure:
        return f"{run.failure.message} {run.failure.hint}".strip()
    return " ".join([run.explanation or "", *(one.sentence for one in run.findings)]).strip()


def model_name(label: str) -> str:
    """Return a model's label; a baseline is named as one."""
    return f"{label} (a baseline, not a model)" if is_baseline(label) else label


def legal(text: str) -> str:
    """Return the text with a mark for each character that XML and HTML do not allow; it comes from strangers."""
    return _ILLEGAL.sub("\ufffd", text)


def to_json(results: Results) -> str:
    """Return the batch, its runs and its metrics as `run --json` does; runs of several batches name theirs."""
    document = {
        "batch": results.batch_id,
        "runs": [run_to_json(run) | {"batch": run.batch_id} for run in results.runs],
        "metrics": overview_to_json(results.overview),
        "conditions": [results.conditions(model) for model in results.models],
        "thresholds": [asdict(check) for check in results.checks],
    }
    return document_text(document)


def to_csv(results: Results) -> str:
    """Return a head and a line for each run; a cell that could be a formula begins with an apostrophe."""
    conditions = {model: results.conditions(model) for model in results.models}
    return csv_text(COLUMNS, (_cells(run, conditions[run.model]) for run in results.runs))


def _cells(run: RunSummary, conditions: Mapping[str, str]) -> list[Json]:
    values: dict[str, Json] = run_to_json(run)
    error = values.pop("error") or {}
    values |= {"batch": run.batch_id, "repeat": run.repeat, "hallucinated": ", ".join(run.hallucinated)}
    values |= {"error_code": error.get("code"), "error": error.get("message")}
    values |= fields_to_json(run, "created_at completed_at")
    values |= {"findings": " ".join(one.sentence for one in run.findings)}
    values |= {"version": conditions["mcp-tef"], **{name: conditions.get(name) for name in ("settings", "address")}}
    return [values[column] for column in COLUMNS]


COLUMNS = (
    *("id", "batch", "case", "query", "model", "repeat", "status", "classification", "mark", "unreadable", "kind"),
    *("expected", "selected", "parameters_ok", "completeness", "correctness", "type_conformance", "hallucinated"),
    *("confidence", "confidence_source", "confidence_category", "explanation", "execution_time_ms", "tokens"),
    *("cost_usd", "error_code", "error", "created_at", "completed_at", "findings", "settings", "address", "version"),
)
