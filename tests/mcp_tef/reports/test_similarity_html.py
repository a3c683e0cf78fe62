"""Similarity and overlap as HTML pages."""

import re
import struct
import zlib
from base64 import b64decode

import numpy as np
import pytest

from mcp_tef.model.metrics import Rate
from mcp_tef.model.similarity import Clusters, FlagRule, PairObservation, PairStatus, ToolGroup, ToolSet, WorkItem
from mcp_tef.model.tools import LabelKind, ToolLabel
from mcp_tef.reports.similarity_html import (
    LARGEST_DRAWN,
    LARGEST_IMAGE,
    LARGEST_NAMED,
    SimilarityResults,
    data_uri,
    overlap_html,
    shrunk,
    similarity_html,
)
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap
from mcp_tef.scoring.similarity.signals import Meaning, Square
from tests.support import report_factories
from tests.support.report_factories import Reader


def page(**changes: object) -> str:
    similarity = report_factories.similarity(full=True)
    label = ToolLabel(tool="x", kind=LabelKind.TOOL)
    observation = PairObservation(
        confused=3,
        runs=12,
        a_taken_for_b=1,
        b_taken_for_a=2,
        rate=Rate(0.25, 0.1, 0.5, 12),
        label_a=label,
        label_b=label,
    )
    work = WorkItem(
        pair=similarity.pair(0, 1), observation=observation, standing=PairStatus.SIMILAR_AND_CONFUSED, harm=3.0
    )
    clusters = Clusters(
        order=(3, 0, 1, 2),
        merges=(),
        groups=(ToolGroup("file, name", (0, 1)),),
        near_duplicates=(similarity.pair(0, 1),),
    )
    made = {"similarity": similarity, "rule": FlagRule(0.4), "clusters": clusters, "work": (work,)} | changes
    return similarity_html(SimilarityResults(**made))  # type: ignore[arg-type]


def test_nothing_in_it_runs_or_comes_from_elsewhere() -> None:
    text = page()
    seen = Reader(text)
    assert not {"script", "link", "iframe", "object", "embed", "form", "a"} & set(seen.elements)
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("href", "style", "srcset")]
    assert all(value and value.startswith("data:image/png;") for name, value in seen.attributes if name == "src")
    assert set(re.findall(r"https?://[^\"]+", text)) <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in text
    assert "url(" not in text


def test_words_of_strangers_are_shown_as_words() -> None:
    assert any("<script>alert(1)</script>" in words for words in Reader(page()).words)


def test_it_tells_what_was_compared_what_is_flagged_and_what_was_not_read() -> None:
    words = "".join(Reader(page()).words)
    assert "1 of 6 pairs is flagged: confusability from 0.4 on." in words
    assert "4 tools on 2 servers, compared by made." in words
    assert "A made notice." in words
    assert "It did not answer." in words
    assert "It has no inputSchema." in words


def test_the_work_list_says_how_often_a_pair_was_confused() -> None:
    words = " ".join(Reader(page()).words)
    assert "alike, and confused in runs 3 of 12 runs 0.91 " in words


def test_groups_and_copies_are_named() -> None:
    words = " ".join(Reader(page()).words)
    assert "file, name shop/find_file, shop/look_up_file" in words
    assert "Copies on other servers" in words


def test_a_copy_shows_the_score_that_makes_it_one() -> None:
    tools = report_factories.some_tools()[:2]
    meaning = Meaning(
        embedder="made",
        described=Square(np.array([[1, 0.8], [0.8, 1]], dtype=np.float32)),
        full=Square(np.array([[1, 0.97], [0.97, 1]], dtype=np.float32)),
    )
    found = Similarity(ToolSet(tools=tools), meaning)
    copies = Clusters(order=(0, 1), merges=(), groups=(), near_duplicates=(found.pair(0, 1),))
    words = " ".join(
        Reader(similarity_html(SimilarityResults(similarity=found, rule=FlagRule(0.9), clusters=copies))).words
    )
    assert "Similarity Full shop/find_file shop/look_up_file 0.80 0.97" in words.partition("Copies on other")[2]


def test_the_best_of_very_many_pairs_is_not_said_to_be_closer_than_all_of_them() -> None:
    words = Reader(similarity_html(SimilarityResults(similarity=report_factories.many(70), rule=FlagRule(0.0)))).words
    assert "99.9 %" in words
    assert "100.0 %" not in words


def test_without_a_flagged_pair_the_closest_are_shown() -> None:
    words = "".join(Reader(page(rule=FlagRule(0.95))).words)
    assert "The closest pairs, none of them flagged" in words
    assert "Why they look alike" not in words


def test_few_tools_are_drawn_with_their_names_in_the_order_of_their_clusters() -> None:
    seen = Reader(page())
    assert seen.elements["rect"] == 16 + 2
    assert [value for name, value in seen.attributes if value == "flag"] == ["flag"] * 2
    assert "".join(seen.words).count("Framed: confusability from 0.4 on") == 1
    assert page().count('text-anchor="middle">0.91</text>') == 2
    assert any("shop/find_file and shop/look_up_file: 0.91" in words for words in seen.words)
    assert seen.words.index("shop/look_up_file") < seen.words.index("shop/pay")


def test_it_is_light_or_dark_as_the_reader_is_and_prints() -> None:
    assert "prefers-color-scheme: dark" in page()
    assert "@media print" in page()


def test_some_tools_become_a_picture_beside_their_names() -> None:
    found = report_factories.many(LARGEST_DRAWN + 1)
    seen = Reader(similarity_html(SimilarityResults(similarity=found, rule=FlagRule(0.85))))
    assert (seen.elements["rect"], seen.elements["image"]) == (0, 1)
    assert "shop/tool_40" in seen.words
    (address,) = [value for name, value in seen.attributes if name == "href"]
    assert address
    assert picture(address)[:2] == (LARGEST_DRAWN + 1, LARGEST_DRAWN + 1)


def test_many_tools_become_one_picture() -> None:
    found = report_factories.many(LARGEST_NAMED + 1)
    seen = Reader(similarity_html(SimilarityResults(similarity=found, rule=FlagRule(0.85))))
    assert (seen.elements["rect"], seen.elements["image"], seen.elements["img"]) == (0, 0, 2)


def test_the_work_on_many_pairs_is_cut_and_says_so() -> None:
    text = similarity_html(SimilarityResults(similarity=report_factories.many(60), rule=FlagRule(0.0)))
    assert "The first 200 of 1,770; the JSON file holds all." in text
    assert text.count("<h3>") == 20


def test_a_page_about_no_tool_is_a_page() -> None:
    found = report_factories.similarity([], np.zeros((0, 0)))
    assert "<h1>" in similarity_html(SimilarityResults(similarity=found, rule=FlagRule(0.85)))


def picture(uri: str) -> tuple[int, int, list[bytes]]:
    """Width, height and lines of a PNG, whose checksums must be right."""
    data = b64decode(uri.partition(",")[2])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        chunks[kind], at = body, at + 12 + length
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    raw = zlib.decompress(chunks[b"IDAT"])
    return width, height, [raw[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height)]


def test_a_picture_has_a_pixel_for_each_score_the_darkest_for_the_lowest() -> None:
    width, height, lines = picture(data_uri(np.array([[0.0, 0.1, 0.55], [1.0, 0.9999, 0.5]], dtype=np.float32)))
    assert (width, height) == (3, 2)
    assert list(lines[0]) == [0, 0, 127]
    assert lines[1][0] == 255


@pytest.mark.parametrize("count", [LARGEST_IMAGE, LARGEST_IMAGE + 1, 2 * LARGEST_IMAGE + 7])
def test_a_large_square_shrinks_and_keeps_what_is_high(count: int) -> None:
    scores = np.zeros((count, count), dtype=np.float32)
    scores[count - 1, 0] = 0.9
    small = shrunk(scores, LARGEST_IMAGE)
    assert small.shape == (LARGEST_IMAGE, LARGEST_IMAGE)
    assert small[-1, 0] == np.float32(0.9)


def test_the_most_overlapping_pairs_come_first_each_with_its_dimensions_and_the_reason() -> None:
    similarity = report_factories.similarity()
    text = overlap_html(similarity, Overlap(similarity), 2)
    words = " ".join(Reader(text).words)
    assert (
        "4 tools on 2 servers, compared by made. What counts how much: similarity 0.50, parameters 0.30, wording 0.20."
        in words
    )
    assert words.count(" is similarity ") == 2
    assert words.index("Overlap of every pair") < words.index("The pairs that overlap most")


def test_words_of_strangers_are_shown_as_words_and_nothing_runs() -> None:
    similarity = report_factories.similarity()
    seen = Reader(overlap_html(similarity, Overlap(similarity), 20))
    assert any("<script>alert(1)</script>" in words for words in seen.words)
    assert not {"script", "link", "iframe", "object", "embed", "form", "a"} & set(seen.elements)
