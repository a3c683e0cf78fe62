"""The page about overlap as a reader gets it."""

from mcp_tef.reports.overlap_html import overlap_html
from mcp_tef.scoring.similarity.overlap import Overlap
from tests.support import report_factories
from tests.support.report_factories import Reader


def test_the_most_overlapping_pairs_come_first_each_with_its_dimensions_and_the_reason() -> None:
    similarity = report_factories.similarity()
    text = overlap_html(similarity, Overlap(similarity), 2)
    words = " ".join(Reader(text).words)
    assert (
        "4 tools on 2 servers, compared by made. What counts how much: meaning 0.50, parameters 0.30, wording 0.20."
        in words
    )
    assert words.count(" is meaning ") == 2
    assert words.index("Overlap of every pair") < words.index("The pairs that overlap most")


def test_words_of_strangers_are_shown_as_words_and_nothing_runs() -> None:
    similarity = report_factories.similarity()
    seen = Reader(overlap_html(similarity, Overlap(similarity), 20))
    assert any("<script>alert(1)</script>" in words for words in seen.words)
    assert not {"script", "link", "iframe", "object", "embed", "form", "a"} & set(seen.elements)
