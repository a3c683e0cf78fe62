"""Content of every report: runs under a title, their metrics, and the conditions under which they were made."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from mcp_tef.model.ids import BatchId
from mcp_tef.model.installation import VERSION
from mcp_tef.model.metrics import MetricsOverview, ThresholdCheck
from mcp_tef.model.runs import ModelSettings, RunStatus, RunSummary, is_baseline

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
