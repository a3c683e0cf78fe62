"""Formatting of numbers with units, times, counts, outcomes and errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from mcp_tef import (
    Baseline,
    ModelFault,
    RunMark,
    RunStatus,
    TefError,
    VerdictKind,
    is_baseline,
    percent_text,
)

MARK_TEXTS: Mapping[RunMark, str] = {
    RunMark.CORRECT_CALL: "correct call",
    RunMark.WRONG_ARGUMENTS: "correct tool, wrong arguments",
    RunMark.WRONG: "wrong",
}
UNREADABLE_TEXT = "unreadable answer"

VERDICT_KIND_TEXTS: Mapping[VerdictKind, str] = {
    VerdictKind.MATCH: "expected tool",
    VerdictKind.WRONG_TOOL: "wrong tool",
    VerdictKind.NO_TOOL: "no tool selected",
    VerdictKind.INVENTED_TOOL: "invented tool",
    VerdictKind.EXTRA_CALL: "extra call",
    VerdictKind.UNEXPECTED_CALL: "call where none was expected",
    VerdictKind.NO_CALL_EXPECTED: "correctly no tool",
}

RUN_STATUS_TEXTS: Mapping[RunStatus, str] = {
    RunStatus.PENDING: "waiting",
    RunStatus.RUNNING: "running",
    RunStatus.COMPLETED: "judged",
    RunStatus.FAILED: "failed",
    RunStatus.CANCELLED: "cancelled",
}


def verdict_outcome_text(kind: VerdictKind, mark: RunMark | None, *, unreadable: bool) -> str:
    """Return the outcome of a judged run: its mark where the tool was correct, otherwise what was wrong."""
    if unreadable:
        return UNREADABLE_TEXT
    return MARK_TEXTS[mark] if mark and kind is VerdictKind.MATCH else VERDICT_KIND_TEXTS[kind]


@dataclass(frozen=True, slots=True)
class ErrorText:
    """Text of an error: message, hint, and details for diagnosis."""

    message: str
    hint: str = ""
    details: str = ""


def error_text(error: BaseException) -> ErrorText:
    """Return the text of an error; an unexpected one gets a general text, its own is in the log."""
    if isinstance(error, TefError):
        return ErrorText(error.message, _hint(error), _details(error))
    return ErrorText("An unexpected error occurred.", "Your data is safe. See the log for details.")


def _hint(error: TefError) -> str:
    """Return the hint of an error; for a missing key it names the field."""
    if error.code != ModelFault.KEY_MISSING:
        return error.hint
    return f"Type it in the field “Key”, or set {error.context.get('variable')} before you start the app."


def _details(error: TefError) -> str:
    lines = [f"{name}: {value}" for name, value in error.context.items() if value not in (None, "", ())]
    return "\n".join(lines)


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 case", "24 cases"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def rounded(number: int) -> int:
    """Round to two significant digits."""
    return int(float(f"{number:.1e}"))


def clock(moment: datetime, now: datetime | None = None) -> str:
    """Return a moment as "14:02" today, then "Yesterday", "18 Nov", "18 Nov 2025"."""
    local, today = _local(moment), _local(now or datetime.now(UTC))
    days = (today.date() - local.date()).days
    if days == 0:
        return f"{local:%H:%M}"
    if days == 1:
        return "Yesterday"
    return f"{local.day} {local:%b}" if local.year == today.year else f"{local.day} {local:%b %Y}"


def ago(moment: datetime, now: datetime | None = None) -> str:
    """Return the time since a moment: "just now", "2 min ago", "3 h ago", then as `clock` does."""
    seconds = ((now or datetime.now(UTC)) - _aware(moment)).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 12 * 3600:
        return f"{int(seconds // 3600)} h ago"
    return clock(moment, now)


def duration(seconds: float) -> str:
    """Return a duration: "0.31 s", "12 s", "3 min 20 s", "2 h 5 min"."""
    if seconds < 10:
        return f"{max(0.01, seconds):.2f} s" if seconds < 1 else f"{seconds:.1f} s"
    if seconds < 60:
        return f"{round(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def money(dollars: float | None) -> str:
    """Return an amount in US dollars: "$0.04", "$0.0004", "unknown"."""
    if dollars is None:
        return "unknown"
    return f"${dollars:.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.2g}"


percent = percent_text
"""Return a share of 0–1 as "81 %"; "–" for None. The core rounds it, so that every place shows the same text."""


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _local(moment: datetime) -> datetime:
    return _aware(moment).astimezone()


def model_name(label: str) -> str:
    """Return the name of a model without its provider, or `offline baseline (words)`."""
    name = label.split("/", 1)[-1]
    if not is_baseline(label):
        return name
    return "offline baseline" if name == Baseline.DEFAULT else f"offline baseline ({name})"


def matches_all_words(text: str, query: str) -> bool:
    """Return True if each word of the query occurs in the text, in any order and case; an empty query matches."""
    folded = text.casefold()
    return all(word in folded for word in query.casefold().split())
