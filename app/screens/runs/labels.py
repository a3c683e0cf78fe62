"""Texts and marks of the runs screen: outcomes, models and their facts, times, intervals."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from enum import StrEnum

from app.text.formatting import RUN_STATUS_TEXTS, count, duration, matches_all_words, model_name, verdict_outcome_text
from mcp_tef import (
    CUT_OFF_CODE,
    NOT_OFFERED_CODE,
    ConfidenceCategory,
    ConfidenceSource,
    ModelFault,
    ModelInfo,
    RunDetail,
    RunMark,
    RunStatus,
    RunSummary,
    ServerFault,
    is_baseline,
)

DASH = "–"
MAX_MESSAGE_LENGTH = 300


class VerdictMark(StrEnum):
    """The shapes of outcomes."""

    CORRECT = "correct"
    WRONG_ARGUMENTS = "wrong_arguments"
    WRONG = "wrong"
    NOTE = "note"
    FAILED = "failed"
    RUNNING = "running"
    WAITING = "waiting"
    NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A stretch of text in one style: `mono` for names, `marked` where it differs, `dim` for asides."""

    text: str
    mono: bool = False
    marked: bool = False
    dim: bool = False


RUN_MARKS: Mapping[RunMark, VerdictMark] = {
    RunMark.CORRECT_CALL: VerdictMark.CORRECT,
    RunMark.WRONG_ARGUMENTS: VerdictMark.WRONG_ARGUMENTS,
    RunMark.WRONG: VerdictMark.WRONG,
}

STATUS_MARKS: Mapping[RunStatus, VerdictMark] = {
    RunStatus.PENDING: VerdictMark.WAITING,
    RunStatus.RUNNING: VerdictMark.RUNNING,
    RunStatus.FAILED: VerdictMark.FAILED,
    RunStatus.CANCELLED: VerdictMark.FAILED,
    RunStatus.COMPLETED: VerdictMark.FAILED,
}

OUTCOME_HELP: Mapping[RunMark, str] = {
    RunMark.CORRECT_CALL: "Correct call: the expected tools with correct arguments, or no tool if none was expected.",
    RunMark.WRONG_ARGUMENTS: "Correct tool, wrong arguments: a judged argument is wrong, missing or hallucinated.",
    RunMark.WRONG: "Wrong: another tool, no tool, a call too many, or an answer that could not be read.",
}

SOURCE_LABELS: Mapping[ConfidenceSource, str] = {
    ConfidenceSource.SELF_REPORTED: "self-reported",
    ConfidenceSource.AGREEMENT: "agreement of repeats",
    ConfidenceSource.LOGPROB: "token probability",
    ConfidenceSource.MARGIN: "margin of the ranking",
}

CATEGORY_LABELS: Mapping[ConfidenceCategory, str] = {
    ConfidenceCategory.ROBUST: "Sure and a correct call: robust",
    ConfidenceCategory.NEEDS_CLARITY: "A correct call but unsure: the description needs clarity",
    ConfidenceCategory.MISLEADING: "Sure and wrong",
}
CATEGORY_MARKS: Mapping[ConfidenceCategory, VerdictMark] = {
    ConfidenceCategory.ROBUST: VerdictMark.CORRECT,
    ConfidenceCategory.NEEDS_CLARITY: VerdictMark.NOTE,
    ConfidenceCategory.MISLEADING: VerdictMark.WRONG,
}
MISLEADS = "Sure and wrong: the description misleads"
SURE_OF_THE_TOOL = "Confidence in the tool, not in its values"


def sentence_spans(sentence: str) -> tuple[TextSpan, ...]:
    """Return the spans of a sentence of the judge; tool names, in back quotes, are in mono."""
    parts = sentence.split("`")
    return tuple(TextSpan(part, mono=number % 2 == 1) for number, part in enumerate(parts) if part)


def format_time(at: datetime | None) -> str:
    """Format a day with local time to the second; None is a dash."""
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}" if at else DASH


def format_wait(seconds: float) -> str:
    """Format a duration in whole seconds, at least one: `12 s`, `3 min 5 s`."""
    whole = max(1, round(seconds))
    return f"{whole} s" if whole < 60 else duration(whole)


def format_share(value: float) -> str:
    """Format a share with two decimals, rounded down so that it never reaches a threshold: `0.69` for 0.699."""
    return str(Decimal(repr(value)).quantize(Decimal("0.01"), rounding=ROUND_DOWN))


def format_milliseconds(value: int | None) -> str:
    """Format milliseconds: `840 ms`, `2.4 s` from a second on; None is a dash."""
    if value is None:
        return DASH
    return f"{value} ms" if value < 1000 else f"{value / 1000:.1f} s"


def format_models(labels: tuple[str, ...]) -> str:
    """Return the model of a batch, or the number of its models."""
    if len(labels) == 1:
        return model_name(labels[0])
    return count(len(labels), "selector" if any(is_baseline(label) for label in labels) else "model")


def mark_of(run: RunSummary) -> VerdictMark:
    """Return the mark of a run."""
    return RUN_MARKS[run.mark] if run.mark else STATUS_MARKS[run.status]


def outcome_label(run: RunSummary) -> str:
    """Return the outcome as text, for screen readers."""
    if run.kind is None:
        return status_label(run)
    return verdict_outcome_text(run.kind, run.mark, unreadable=run.unreadable)


def failure_label(run: RunSummary) -> str:
    """Return the cause of a failure in a few words; `failed` for one without a name here."""
    return _FAILURE_LABELS.get(run.failure_code, "failed")


_FAILURE_LABELS: Mapping[str, str] = {
    NOT_OFFERED_CODE: "tool not offered",
    CUT_OFF_CODE: "answer cut off",
    ModelFault.KEY_MISSING: "no key",
    ModelFault.KEY_WRONG: "key refused",
    ModelFault.FORBIDDEN: "access denied",
    ModelFault.QUOTA: "quota used up",
    ModelFault.RATE: "rate limit",
    ModelFault.TIMEOUT: "timed out",
    ModelFault.CONTEXT: "too long for the model",
    ModelFault.NOT_FOUND: "model not found",
    ModelFault.DOWN: "server not reachable",
    ModelFault.NOT_AN_API: "not a model server",
    ModelFault.PROVIDER: "provider error",
    ModelFault.REJECTED: "request rejected",
    ModelFault.NO_TOOLS: "tools not supported",
    ModelFault.ADDRESS_UNKNOWN: "unknown address",
    ModelFault.ADDRESS_REFUSED: "address refused",
    ModelFault.ANSWER_TOO_LARGE: "answer too large",
    **dict.fromkeys(ServerFault, "tools not listed"),
}


def status_label(run: RunSummary) -> str:
    """Return the status; interrupted runs are distinguished from failed ones."""
    return "interrupted" if run.interrupted else RUN_STATUS_TEXTS[run.status]


# ---------------------------------------------------------------- models of the catalogue

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """A model of the catalogue as the table shows it; `searched` is the text that a search matches.

    `recent` models ran before; those that are `ready` have their provider's key at hand.
    """

    label: str
    context: str
    price: str
    tools: str
    searched: str
    recent: bool = False
    ready: bool = False

    @property
    def provider(self) -> str:
        """The provider in its label."""
        return self.label.partition("/")[0]


def model_rows(catalogue: Sequence[ModelInfo]) -> tuple[ModelRow, ...]:
    """Return a row for each model, and for each baseline."""
    return tuple(map(model_row, catalogue))


def model_row(info: ModelInfo) -> ModelRow:
    """Return the row of a model; unknown facts say "unknown", never "no" or "free"."""
    return ModelRow(
        label=info.label,
        context=format_tokens(info.context_tokens),
        price=format_price(info),
        tools=_ability(info.tool_calling),
        searched=info.label.casefold(),
    )


def usual_order(catalogue: Sequence[ModelInfo], recent: Sequence[str], ready: Collection[str]) -> tuple[ModelRow, ...]:
    """Return rows: recent models, then providers whose key is at hand, then makers of models; baselines at the end."""
    first = {label: place for place, label in enumerate(recent)}
    rows = [replace(row, recent=row.label in first, ready=row.provider in ready) for row in model_rows(catalogue)]
    return tuple(sorted(rows, key=lambda row: (first.get(row.label, len(first)), *_usual(row))))


def _usual(row: ModelRow) -> tuple[bool, ...]:
    return not row.ready, is_baseline(row.label), row.provider not in MAKERS


def format_tokens(number: int | None) -> str:
    """Format a number of tokens: `128 k`, `1 M`, `unknown`."""
    if not number:
        return UNKNOWN
    if number >= 1_000_000:
        return f"{number / 1_000_000:.3g} M"
    return f"{number / 1000:.3g} k" if number >= 1000 else str(number)


def format_price(info: ModelInfo) -> str:
    """Format US dollars per million tokens in and out: `$0.40 / $1.60`; `unknown` if the catalogue has none."""
    if info.input_price is None or info.output_price is None:
        return UNKNOWN
    return f"${_million(info.input_price)} / ${_million(info.output_price)}"


def _million(per_token: float) -> str:
    amount = per_token * 1_000_000
    return f"{amount:.2f}" if amount >= 0.01 or not amount else f"{amount:.4f}"


def _ability(known: bool | None) -> str:
    return UNKNOWN if known is None else "yes" if known else "no"


def search_models(rows: Sequence[ModelRow], text: str) -> tuple[ModelRow, ...]:
    """Return the models whose label has every word: exact names first, then recent ones and those with a key."""
    words = text.casefold().split()
    if not words:
        return tuple(rows)
    found = [row for row in rows if matches_all_words(row.searched, text)]
    return tuple(sorted(found, key=lambda row: (*_rank(row, words[0]), row.searched.count("/"), row.searched)))


MAKERS = ("openai", "anthropic", "gemini", "mistral", "deepseek", "xai")


def _rank(row: ModelRow, word: str) -> tuple[int | bool, ...]:
    """Return a lower rank for an exact name, a recent model, a key at hand, a start, and the maker before resellers."""
    name = row.searched.rsplit("/", 1)[-1]
    start = 1 if name.startswith(word) else 2 if row.searched.startswith(word) else 3
    return word not in (name, row.searched), not row.recent, not row.ready, start, row.provider not in MAKERS


def model_summary(info: ModelInfo | None) -> str:
    """Return the line below the model field: context, price and abilities as far as the catalogue knows them."""
    if info is None:
        return "Not in the catalogue: context, price and abilities are unknown."
    if is_baseline(info.label):
        return "This offline baseline ranks tools by the query. It needs no key and no network."
    calls = {None: "tool calling unknown", True: "calls tools natively", False: "no native tool calling"}
    cost = format_price(info)
    paid = f"{cost} per million tokens in / out" if cost != UNKNOWN else "price unknown"
    context = (
        "context unknown" if not info.context_tokens else f"{format_tokens(info.context_tokens)} tokens of context"
    )
    return " · ".join((context, paid, calls[info.tool_calling]))


def asked_text(detail: RunDetail) -> str:
    """Return the query, below earlier messages of the conversation; long messages are cut."""
    earlier = (f"{one.role.value.capitalize()}: “{_beginning(one.content)}”" for one in detail.before)
    return "\n".join([*earlier, f"“{detail.summary.query}”"])


def _beginning(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[:MAX_MESSAGE_LENGTH]}…"
