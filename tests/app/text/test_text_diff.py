"""Differences of two texts, word by word."""

from time import thread_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.text.text_diff import Stretch, difference, differing


def test_what_went_and_what_came_is_marked_in_stretches() -> None:
    old, new = difference("Search files in the workspace.", "Search for files by name in the workspace.")
    assert [one.text.strip() for one in new if one.changed] == ["for", "by name"]
    assert not any(one.changed for one in old)


def test_differing_words_are_marked_on_both_sides() -> None:
    left, right = difference("Find bikes for sale by type.", "Find used bikes for hire by type.")
    assert left == (Stretch("Find bikes for "), Stretch("sale", True), Stretch(" by type."))
    assert [one.text for one in right if one.changed] == ["used", "hire"]


def test_texts_with_little_in_common_are_not_marked_all_over() -> None:
    assert difference("Send a message.", "Reads one file and returns its text") == (
        (Stretch("Send a message."),),
        (Stretch("Reads one file and returns its text"),),
    )


def test_an_empty_text_has_nothing_to_mark() -> None:
    assert difference("alpha beta", "") == ((Stretch("alpha beta"),), ())


def test_a_very_long_text_is_left_unmarked_rather_than_waited_for() -> None:
    long = "word " * 5_000
    assert difference(long, f"{long}more") == ((Stretch(long),), (Stretch(f"{long}more"),))


@pytest.mark.parametrize("after", ["a b " * 200, " ".join(f"a {number}" for number in range(200))])
def test_texts_that_repeat_themselves_are_left_unmarked_rather_than_waited_for(after: str) -> None:
    before = "a " * 400
    began = thread_time()
    assert difference(before, after) == ((Stretch(before),), (Stretch(after),))
    assert thread_time() - began < 0.1


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_no_character_is_ever_lost(before: str, after: str) -> None:
    old, new = difference(before, after)
    assert ("".join(one.text for one in old), "".join(one.text for one in new)) == (before, after)


def test_equal_texts_have_no_changes() -> None:
    assert difference("Read a file.", "Read a file.") == ((Stretch("Read a file."),),) * 2


def test_what_counts_as_equal_can_be_said() -> None:
    assert differing(["Get", "_", "User"], ["get", "_", "mail"], str.casefold)[1] == (
        Stretch("get_"),
        Stretch("mail", True),
    )
