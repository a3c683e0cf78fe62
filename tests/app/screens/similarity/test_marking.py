"""Before and after, word by word."""

from hypothesis import given, settings
from hypothesis import strategies as st

from app.screens.similarity.marking import Piece, changes


def test_what_went_and_what_came_is_marked_in_stretches() -> None:
    old, new = changes("Search files in the workspace.", "Search for files by name in the workspace.")
    assert [piece.text.strip() for piece in new if piece.changed] == ["for", "by name"]
    assert not any(piece.changed for piece in old)


def test_texts_with_little_in_common_are_not_marked_all_over() -> None:
    assert changes("Send a message.", "Reads one file and returns its text") == (
        (Piece("Send a message."),),
        (Piece("Reads one file and returns its text"),),
    )


def test_a_very_long_text_is_left_unmarked_rather_than_waited_for() -> None:
    long = "word " * 5_000
    assert changes(long, f"{long}more") == ((Piece(long),), (Piece(f"{long}more"),))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_no_character_is_ever_lost(before: str, after: str) -> None:
    old, new = changes(before, after)
    assert ("".join(piece.text for piece in old), "".join(piece.text for piece in new)) == (before, after)


def test_equal_texts_have_no_changes() -> None:
    old, new = changes("Read a file.", "Read a file.")
    assert old == new == (Piece("Read a file."),)
