"""Foreign text is shown as text, all of it visible, and never endless."""

import pytest

from app.widgets import one_line, plain, tip
from app.widgets.plain import units


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b", "\ud800", "\U000e0041", "\ufeff"])
def test_hidden_characters_are_named(hidden: str) -> None:
    assert plain(f"safe{hidden}evil") == f"safe⟨U+{ord(hidden):04X}⟩evil"


def test_lines_tabs_and_joined_emoji_stay() -> None:
    text = "one\n\ttwo 👩\u200d💻"
    assert plain(text) == text


def test_a_long_text_says_how_much_is_missing() -> None:
    assert plain("x" * 1_000_000, 100) == "x" * 100 + " … (999,900 more characters)"


def test_one_line_joins_spaces_and_cuts() -> None:
    assert one_line("a\n\n  b\tc") == "a b c"
    assert one_line("x" * 500, 10) == "x" * 10 + "…"


def test_a_tooltip_never_reads_markup() -> None:
    assert tip("<img src='file:///etc/passwd'>") == "<qt>&lt;img src=&#x27;file:///etc/passwd&#x27;&gt;</qt>"
    assert tip("") == ""


def test_length_is_counted_as_qt_counts() -> None:
    assert units("a😀b") == 4
