"""Shares as text: the one place that rounds them, and the sentence that stands over every set of runs."""

from math import ceil, floor


def percent_text(value: float | None) -> str:
    """Return a share as `83 %`, or a dash; only 0 and 1 are “0 %” and “100 %”, a share next to them gets a decimal."""
    if value is None:
        return "–"
    number = value * 100
    if 0 < number < 0.5:
        return f"{ceil(number * 10) / 10:.1f} %"
    return f"{floor(number * 10) / 10:.1f} %" if 99.5 <= number < 100 else f"{number:.0f} %"


def decimal_text(value: float | None) -> str:
    """Return a share as `0.83`, or a dash; only 0 and 1 are “0.00” and “1.00”."""
    if value is None:
        return "–"
    if 0 < value < 0.005:
        return f"{ceil(value * 1000) / 1000:.3f}"
    return f"{floor(value * 1000) / 1000:.3f}" if 0.995 <= value < 1 else f"{value:.2f}"


def interval_text(low: float | None, high: float | None) -> str:
    """Return the bounds of an interval in percent, `73–86`, rounded as `percent_text` does; "" where not defined."""
    if low is None or high is None:
        return ""
    return "–".join(percent_text(bound).removesuffix(" %") for bound in (low, high))


def share_text(value: float | None, low: float | None, high: float | None) -> str:
    """Return a share with its interval, as in “57 % (39 % to 73 %)”, or a dash where it is not defined."""
    return "–" if value is None else f"{percent_text(value)} ({percent_text(low)} to {percent_text(high)})"


def priced_text(amount: str, priced: int, unpriced: int) -> str:
    """Return an amount with the runs that it stands for, as in “$0.001 for 3 of 6 runs; 3 without a price”."""
    if not unpriced:
        return amount
    return f"{amount} for {priced:,} of {priced + unpriced:,} runs; {unpriced:,} without a price"


def outcome_text(correct_calls: int, correct_tools: int, judged: int, failed: int, unreadable: int) -> str:
    """Return the two shares and what stands beside them.

    “Correct call 21/80 (26 %), correct tool 38/80 (48 %), 10 failed, 10 unreadable”.
    """
    if not judged:
        return f"No run was judged, {failed:,} failed"
    shares = (("Correct call", correct_calls), ("correct tool", correct_tools))
    told = [f"{name} {number:,}/{judged:,} ({percent_text(number / judged)})" for name, number in shares]
    beside = ((failed, "failed"), (unreadable, "unreadable"))
    return ", ".join([*told, *(f"{number:,} {name}" for number, name in beside if number)])
