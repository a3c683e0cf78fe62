"""Foreign text is shown as text, all of it visible, and never endless."""

import re
from collections.abc import Callable

import pytest

from app.widgets import one_line, plain, tip, visible
from app.widgets.safe_text import markdown_table, meant, spreadsheet_table, units


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\x00", "\x1b", "\ud800", "\U000e0041", "\ufeff"])
def test_hidden_characters_are_named(hidden: str) -> None:
    assert plain(f"safe{hidden}evil") == f"safe⟨U+{ord(hidden):04X}⟩evil"


@pytest.mark.parametrize(
    ("text", "limits", "shown"),
    [
        ("one\n\ttwo 👩\u200d💻", {}, "one\n\ttwo 👩\u200d💻"),
        ("pay\u200dpal", {}, "pay⟨U+200D⟩pal"),
        ("x" * 1_000_000, {"limit": 100}, "x" * 100 + " … (999,900 more characters)"),
        ("a\n" * 1_000, {"lines": 2}, "a\na … (1,997 more characters)"),
        ("a\r\nb", {"lines": 2}, "a\nb"),
        (f"see {'x' * 5_000} there", {}, f"see {'x' * 4_000} … (1,000 more characters) there"),
    ],
    ids=["joined emoji", "a joiner that joins nothing", "too long", "too many lines", "line ends", "endless word"],
)
def test_a_paragraph_keeps_its_lines_and_says_how_much_is_missing(
    text: str, limits: dict[str, int], shown: str
) -> None:
    assert plain(text, **limits) == shown


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


@pytest.mark.parametrize("table", [markdown_table, spreadsheet_table])
@pytest.mark.parametrize(
    "text", ["=1+1", "\uff1d1+1", "\t@x", "a\n::error::x", "##vso[x]y", "\x1b[2K", "| x |\n| - |", "<b>"]
)
def test_no_cell_of_a_copied_table_acts_where_it_is_pasted(table: Callable[..., str], text: str) -> None:
    copied = table(["name", "more"], [[text, "end"]])
    assert "\x1b" not in copied
    assert not re.search(r"(?m)^\s*::|##[a-z]*\[", copied)
    if table is spreadsheet_table:
        assert not re.search(r"(?m)(?:^|,)[\"\s]*[=@+\uff1d]", copied)
    else:
        assert len(copied.splitlines()) == 3
        assert not re.search(r"(?<!\\)[<>]", copied)
