"""Formatting of numbers with units, times, counts, outcomes and errors."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from mcp_tef import Classification, RunStatus, TefError, VerdictKind

OUTCOME_TEXTS: Mapping[Classification, str] = {
    Classification.TP: "correct tool",
    Classification.TN: "correctly no tool",
    Classification.FN: "missed the expected tool",
    Classification.FP: "unexpected call",
}

VERDICT_KIND_TEXTS: Mapping[VerdictKind, str] = {
    VerdictKind.MATCH: "as expected",
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


@dataclass(frozen=True, slots=True)
class ErrorText:
    """Text of an error: message, hint, and details for diagnosis."""

    message: str
    hint: str = ""
    details: str = ""


def error_text(error: BaseException) -> ErrorText:
    """Return the text of an error; an unexpected one gets a general text, its own is in the log."""
    if isinstance(error, TefError):
        return ErrorText(error.message, error.hint, _details(error))
    return ErrorText("An unexpected error occurred.", "Your data is safe. See the log for details.")


def _details(error: TefError) -> str:
    lines = [f"{name}: {value}" for name, value in error.context.items() if value not in (None, "", ())]
    return "\n".join(lines)


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 case", "24 cases"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


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


def percent(share: float | None) -> str:
    """Return a share of 0–1 as "81 %"; "–" for None."""
    return "–" if share is None else f"{share * 100:.0f} %"


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _local(moment: datetime) -> datetime:
    return _aware(moment).astimezone()
