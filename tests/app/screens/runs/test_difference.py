"""Where two names or two descriptions differ."""

from app.screens.runs.call_comparison import name_difference, text_difference
from app.screens.runs.labels import Span
from tests.support.made_runs import SEARCH_CODE, SEARCH_FILES


def marked(spans: tuple[Span, ...]) -> list[str]:
    return [span.text for span in spans if span.marked]


def test_names_differ_by_their_parts() -> None:
    left, right = name_difference("search_code", "search_files")
    assert (marked(left), marked(right)) == (["code"], ["files"])
    assert all(span.mono for span in left + right)


def test_camel_case_is_split_too() -> None:
    left, right = name_difference("getUserName", "getUserMail")
    assert (marked(left), marked(right)) == (["Name"], ["Mail"])


def test_words_that_only_one_description_has_are_marked_as_stretches() -> None:
    left, right = text_difference(SEARCH_CODE, SEARCH_FILES)
    assert marked(left) == ["source code", "lines with their file and line number."]
    assert marked(right) == ["files in the workspace", "paths, best match first."]


def test_all_text_is_kept_as_it_was() -> None:
    left, right = text_difference(SEARCH_CODE, SEARCH_FILES)
    assert "".join(span.text for span in left) == SEARCH_CODE
    assert "".join(span.text for span in right) == SEARCH_FILES


def test_equal_and_empty_texts_have_no_marks() -> None:
    assert marked(text_difference("Read a file.", "read a file")[0]) == []
    assert text_difference("", "Read a file.") == ((), (Span("Read a file."),))


def test_an_endless_description_is_cut() -> None:
    left, _ = text_difference("word " * 5000, "other")
    assert "".join(span.text for span in left).endswith("…")


def test_texts_with_little_in_common_are_left_unmarked() -> None:
    left, right = text_difference("Find spare parts by name or purpose.", "Book a new repair on a day.")
    assert marked(left) == marked(right) == []
    assert marked(name_difference("find_parts", "book_repair")[0]) == []
