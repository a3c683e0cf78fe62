"""Formatting of numbers, times, counts and errors."""

from datetime import UTC, datetime, timedelta

import pytest

from app.text.formatting import ago, clock, count, duration, error_text, money, percent
from mcp_tef import ModelError, ModelFault, ServerError, ServerFault

NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.001, "0.01 s"), (0.31, "0.31 s"), (3.25, "3.2 s"), (12.4, "12 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")],
)
def test_durations_have_units(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=2), "2 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=3), "18 Nov"),
        (timedelta(days=400), "17 Oct 2025"),
    ],
)
def test_times_are_told_as_people_tell_them(before: timedelta, words: str) -> None:
    assert ago(NOW - before, NOW) == words


def test_yesterday_has_its_word() -> None:
    assert clock(NOW - timedelta(days=1), NOW) == "Yesterday"


def test_counts_shares_and_money() -> None:
    assert (count(1, "case"), count(1200, "case"), count(2, "batch", "batches")) == (
        "1 case",
        "1,200 cases",
        "2 batches",
    )
    assert (percent(0.814), percent(None)) == ("81 %", "–")
    assert (money(0.04), money(0.00042), money(0), money(None)) == ("$0.04", "$0.00042", "$0.00", "unknown")


def test_a_missing_key_names_the_field_and_no_option_of_the_command_line() -> None:
    missing = ModelError(
        ModelFault.KEY_MISSING, "There is no key for x.", hint="Give it.", context={"variable": "X_API_KEY"}
    )
    assert error_text(missing).hint == "Type it in the field “Key”, or set X_API_KEY before you start the app."


def test_our_errors_keep_their_words_and_others_get_plain_ones() -> None:
    error = ServerError(
        ServerFault.EXITED, "files ended.", hint="Look at its log.", context={"exit_code": 1, "x": None}
    )
    words = error_text(error)
    assert (words.message, words.hint, words.details) == ("files ended.", "Look at its log.", "exit_code: 1")
    assert "KeyError" not in error_text(KeyError("x")).message
