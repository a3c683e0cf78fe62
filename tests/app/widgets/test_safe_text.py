"""Foreign text is shown as text, all of it visible, and never endless."""

import pytest

from app.widgets import one_line, plain, tip, visible
from app.widgets.safe_text import markdown_table, meant, units


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b", "\ud800", "\U000e0041", "\ufeff"])
def test_hidden_characters_are_named(hidden: str) -> None:
    assert plain(f"safe{hidden}evil") == f"safe⟨U+{ord(hidden):04X}⟩evil"


def test_lines_tabs_and_joined_emoji_stay() -> None:
    text = "one\n\ttwo 👩\u200d💻"
    assert plain(text) == text


def test_a_long_text_says_how_much_is_missing() -> None:
    assert plain("x" * 1_000_000, 100) == "x" * 100 + " … (999,900 more characters)"


def test_a_joiner_that_joins_nothing_is_named() -> None:
    assert plain("pay\u200dpal") == "pay⟨U+200D⟩pal"


def test_a_text_of_many_lines_says_how_much_is_missing() -> None:
    assert plain("a\n" * 1_000, lines=2) == "a\na … (1,997 more characters)"
    assert plain("a\r\nb", lines=2) == "a\nb"


def test_a_word_without_an_end_is_cut_where_it_stands() -> None:
    assert plain(f"see {'x' * 5_000} there") == f"see {'x' * 4_000} … (1,000 more characters) there"


def test_what_is_edited_shows_hidden_characters_and_means_them() -> None:
    text = "safe\u202egnp.exe\x00\U000e0041"
    assert visible(text) == "safe⟨U+202E⟩gnp.exe⟨U+0000⟩⟨U+E0041⟩"
    assert meant(visible(text)) == text
    assert visible("x" * 5, 3) == "xxx…"


def test_one_line_joins_spaces_and_cuts() -> None:
    assert one_line("a\n\n  b\tc") == "a b c"
    assert one_line("x" * 500, 10) == "x" * 10 + "…"


def test_a_tooltip_never_reads_markup() -> None:
    assert tip("<img src='file:///etc/passwd'>") == "<qt>&lt;img src=&#x27;file:///etc/passwd&#x27;&gt;</qt>"
    assert tip("") == ""


def test_length_is_counted_as_qt_counts() -> None:
    assert units("a😀b") == 4


def test_a_table_to_paste_holds_words_and_no_markdown() -> None:
    table = markdown_table(("Query", "Tool"), [("a | b\nc", "[x](y) `z` @me")])
    assert table.splitlines() == [
        "| Query | Tool |",
        "| --- | --- |",
        "| a \\| b c | \\[x\\](y) \\`z\\` \\@me |",
    ]
