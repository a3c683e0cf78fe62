"""Word overlap."""

import itertools
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfIndex, TfidfLexicon
from mcp_tef.scoring.tfidf_weights import STOP_WORDS, spaced, stems

TEXTS = ["get user by id", "list the open invoices of a customer", "delete a user"]


async def test_vectors_are_unit_vectors_one_a_text() -> None:
    vectors = await TfidfEmbedder().embed(TEXTS)
    assert vectors.shape[0] == 3
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0)


async def test_texts_that_share_words_are_nearer() -> None:
    vectors = await TfidfEmbedder().embed(TEXTS)
    assert vectors[0] @ vectors[2] > vectors[0] @ vectors[1]


@pytest.mark.parametrize("name", ["getUserById", "get_user_by_id", "get-user-by-id", "get.user.by.id"])
async def test_names_are_the_same_however_they_are_joined(name: str) -> None:
    vectors = await TfidfEmbedder().embed(["get user by id", name, "something else"])
    assert vectors[0] @ vectors[1] == pytest.approx(1.0, abs=1e-3)


async def test_a_query_scores_each_text_between_nothing_and_one() -> None:
    index = await TfidfLexicon().index(TEXTS)
    scores = index.scores("Which invoices are open?")
    assert scores.shape == (3,)
    assert scores.argmax() == 1
    assert all(0 <= score <= 1 for score in scores)
    assert index.scores("zzz qqq").tolist() == [0, 0, 0]


@pytest.mark.parametrize("texts", [[""], ["", "  "], ["…", "!!!"], ["the of and"]])
async def test_texts_without_words_are_no_error(texts: list[str]) -> None:
    assert (await TfidfEmbedder().embed(texts)).shape[0] == len(texts)
    assert (await TfidfLexicon().index(texts)).scores("user").tolist() == [0] * len(texts)


async def test_no_texts_give_no_vectors() -> None:
    assert (await TfidfEmbedder().embed([])).shape[0] == 0


def test_overlaps_of_equal_texts_are_exactly_one_and_of_strangers_nothing() -> None:
    overlaps = TfidfIndex(["get user", "get user", "kumquat", "", "", "the of and", "of the"]).overlaps()
    assert overlaps[0, 1] == 1
    assert overlaps[3, 4] == 1
    assert overlaps.diagonal().tolist() == [1] * 7
    strangers = overlaps.copy()
    strangers[[0, 1, 3, 4], [1, 0, 4, 3]] = 0
    np.fill_diagonal(strangers, 0)
    assert not strangers.any()


def test_words_of_a_single_letter_count_as_much_as_others() -> None:
    assert TfidfIndex(["x y", "X, Y", "other"]).overlaps()[0].tolist() == pytest.approx([1, 1, 0])


def test_overlaps_are_those_of_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]  # it has no types

    texts = [*TEXTS, "getUser by ID; get user", "Deletes all users of invoices", "customer", "ein Straßenname"]
    stemmed = TfidfVectorizer(analyzer=_stems_and_pairs, sublinear_tf=True).fit_transform(texts)
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 4), preprocessor=_content, sublinear_tf=True)
    lettered = letters.fit_transform(texts)
    expected = ((stemmed @ stemmed.T + lettered @ lettered.T) / 2).toarray()
    assert np.allclose(TfidfIndex(texts).overlaps(), expected, atol=1e-5)


@given(
    st.lists(st.text() | st.sampled_from([*TEXTS, "", "the", "getUser", "İ", "ΟΔΟΣ", "\ud800", "a\u2028b"]), min_size=1)
)
def test_overlaps_are_symmetric_within_zero_and_one_and_one_with_oneself(texts: list[str]) -> None:
    overlaps = TfidfIndex(texts).overlaps()
    assert overlaps.dtype == np.float32
    assert overlaps.shape == (len(texts), len(texts))
    assert np.array_equal(overlaps, overlaps.T)
    assert (overlaps.diagonal() == 1).all()
    assert ((overlaps >= 0) & (overlaps <= 1)).all()
    assert all(overlaps[a, b] == 1 for a, one in enumerate(texts) for b, two in enumerate(texts) if one == two)


async def test_vectors_keep_the_overlaps_about_as_they_are() -> None:
    texts = [f"{verb} {thing} of a customer" for verb in ("get", "delete", "list") for thing in ("user", "invoice")]
    vectors = await TfidfEmbedder().embed(texts)
    assert np.allclose(vectors @ vectors.T, TfidfIndex(texts).overlaps(), atol=0.1)


def _stems_and_pairs(text: str) -> list[str]:
    single = stems(text)
    return [*single, *(f"{one} {two}" for one, two in itertools.pairwise(single))]


def _content(text: str) -> str:
    words = re.findall(r"[^\W_]+", spaced(text).lower())
    return " ".join(word for word in words if word not in STOP_WORDS)


@given(st.lists(st.text(max_size=40), max_size=6))
def test_many_queries_score_as_each_of_them_alone(queries: list[str]) -> None:
    index = TfidfIndex(["Send a letter by mail", "book_room: a meeting room", "Stop the music", ""])
    alone = np.array([index.scores(query) for query in queries]).reshape(len(queries), 4)
    assert np.allclose(index.scores_of(queries), alone, atol=1e-6)


_TEXT = st.lists(st.sampled_from(["mail", "mails", "room", "rooms", "find", "getUser", "x", "the"]), max_size=8)
_SOME = st.lists(_TEXT.map(" ".join), min_size=4, max_size=6)


@settings(max_examples=40)
@given(_SOME, _SOME, st.lists(st.tuples(st.integers(0, 3), _TEXT.map(" ".join)), min_size=1, max_size=4))
async def test_an_index_after_edits_scores_exactly_as_one_made_anew(
    texts: list[str], queries: list[str], edits: list[tuple[int, str]]
) -> None:
    lexicon = TfidfLexicon()
    (await lexicon.index(texts)).scores_of(queries)
    for number, (place, text) in enumerate(edits):
        texts = [*texts[:place], text, *texts[place + 1 :]]
        index, anew = await lexicon.index(texts), TfidfIndex(texts)
        if number % 2:
            assert np.array_equal(index.scores_of(queries), anew.scores_of(queries))
        pairs = np.zeros(len(texts), dtype=np.intp), np.arange(len(texts))
        assert np.array_equal(index.pairs(*pairs), anew.pairs(*pairs))
        assert np.allclose(index.pairs(*pairs), anew.overlaps()[0], atol=1e-6)
    assert np.array_equal(index.scores_of(queries), anew.scores_of(queries))
    assert np.array_equal(index.scores_of(queries), [anew.scores(query) for query in queries])
