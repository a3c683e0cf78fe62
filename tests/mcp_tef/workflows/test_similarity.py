"""Comparing tools: by the embedder asked for, or at once by words, and what runs say of the outcome."""

import numpy as np
import pytest

from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfLexicon
from mcp_tef.errors import EmbeddingError, InputError
from mcp_tef.model.ids import BatchId
from mcp_tef.model.runs import Batch, BatchStatus
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import FlagRule, MatrixKind, OverlapWeights, PairStatus, parse_embedder
from mcp_tef.scoring.similarity.tool_texts import UNRELATED
from mcp_tef.workflows.similarity import PORTION, SimilarityAnalyses
from tests.support.memory_servers import NOW
from tests.support.memory_store import MemoryStore
from tests.support.run_histories import judged_run
from tests.support.similarity_factories import FakeEmbedders, HashedWords, a_tool, tool_set

FIND = a_tool("find_files", "Find files by name", "docs", path="string")
SEARCH = a_tool("search_files", "Find files by content", "docs", path="string")
UNLOCK = a_tool("unlock", "Open a door", "home")
DESK = tool_set(FIND, SEARCH, UNLOCK)


def analyses(embedder: HashedWords | None = None, store: MemoryStore | None = None) -> SimilarityAnalyses:
    embedders = FakeEmbedders(TfidfEmbedder(), folder=embedder) if embedder else FakeEmbedders(TfidfEmbedder())
    return SimilarityAnalyses(embedders, TfidfLexicon(), (store or MemoryStore()).metrics)


async def test_without_a_model_tools_are_compared_by_words_and_that_is_said() -> None:
    similarity = await analyses().analyse(DESK)
    assert similarity.embedder == "tfidf"
    assert similarity.notice is not None
    assert "by their words (TF-IDF), not by meaning" in similarity.notice
    assert similarity.pair(0, 1).similarity > similarity.pair(0, 2).similarity


async def test_words_that_were_asked_for_need_no_notice() -> None:
    assert (await analyses().analyse(DESK, embedder=parse_embedder("tfidf"))).notice is None


async def test_a_model_that_is_at_hand_is_used_without_being_asked_for() -> None:
    similarity = await analyses(HashedWords()).analyse(DESK)
    assert (similarity.embedder, similarity.notice) == ("folder:hashed", None)


async def test_a_model_that_cannot_be_had_is_stood_in_for_with_a_word() -> None:
    similarity = await analyses().analyse(DESK, embedder=parse_embedder("fastembed"))
    assert similarity.embedder == "tfidf"
    assert similarity.notice is not None
    assert similarity.notice.startswith("The embedder fastembed is not on this machine.")


async def test_a_model_that_fails_in_the_midst_is_stood_in_for_too() -> None:
    broken = HashedWords(fault=EmbeddingError("The endpoint answered 500."))
    similarity = await analyses(broken).analyse(DESK, embedder=parse_embedder("folder:x"))
    assert similarity.embedder == "tfidf"
    assert similarity.notice is not None
    assert similarity.notice.startswith("The endpoint answered 500.")


async def test_who_insists_on_a_model_is_told_that_it_cannot_be_had() -> None:
    with pytest.raises(EmbeddingError, match="fastembed is not on this machine"):
        await analyses().analyse(DESK, embedder=parse_embedder("fastembed"), strict=True)


async def test_the_key_goes_to_the_embedder_that_was_asked_for() -> None:
    embedders = FakeEmbedders(TfidfEmbedder(), litellm=HashedWords())
    made = SimilarityAnalyses(embedders, TfidfLexicon(), MemoryStore().metrics)
    await made.analyse(DESK, embedder=parse_embedder("litellm:openai/x"), key=Secret("k"))
    assert [key.reveal() for key in embedders.keys if key] == ["k"]


async def test_the_score_with_parameters_is_left_out_where_it_is_not_wanted() -> None:
    embedder = HashedWords()
    similarity = await analyses(embedder).analyse(DESK, full=False)
    assert not similarity.has_full
    assert sum(map(len, embedder.asked)) == 3 + len(UNRELATED)


async def test_equal_texts_are_embedded_once_and_texts_that_say_nothing_never() -> None:
    embedder = HashedWords()
    await analyses(embedder).analyse(tool_set(UNLOCK, UNLOCK, a_tool("of", "the")), full=False)
    assert sum(map(len, embedder.asked)) == 1 + len(UNRELATED)


async def test_embedding_many_texts_tells_how_far_it_is() -> None:
    heard: list[float] = []
    tools = [a_tool(f"tool{n}", f"Reads thing{n}") for n in range(2 * PORTION)]
    await analyses(HashedWords()).analyse(tool_set(*tools), full=False, progress=heard.append)
    assert heard == sorted(heard)
    assert len(heard) == 3
    assert heard[-1] == 1.0


async def test_scores_do_not_depend_on_the_order_in_which_texts_are_embedded() -> None:
    forth = await analyses(HashedWords()).analyse(DESK)
    back = await analyses(HashedWords()).analyse(tool_set(UNLOCK, SEARCH, FIND))
    for kind in (MatrixKind.SIMILARITY, MatrixKind.FULL):
        assert forth.matrix(kind)[0, 1] == pytest.approx(back.matrix(kind)[2, 1])


@pytest.mark.parametrize("model", [True, False], ids=["model", "words"])
async def test_given_pairs_are_scored_as_in_an_analysis_without_a_percentile(model: bool) -> None:
    made = analyses(HashedWords() if model else None)
    pairs = (await made.score_pairs([(FIND, SEARCH), (UNLOCK, FIND), (FIND, FIND)])).pairs
    similarity = await made.analyse(DESK)
    assert [(pair.a, pair.b, pair.percentile) for pair in pairs] == [(0, 1, 0.0)] * 3
    assert pairs[0].similarity == pytest.approx(similarity.pair(0, 1).similarity, abs=1e-5)
    assert pairs[1].full == pytest.approx(similarity.pair(0, 2).full, abs=1e-5)
    assert (pairs[2].similarity, pairs[2].full, pairs[2].confusability) == (1.0, 1.0, 1.0)


async def test_no_pairs_have_no_scores() -> None:
    assert (await analyses().score_pairs([])).pairs == ()


async def test_pairs_that_are_scored_by_words_since_a_model_fails_are_said_to_be() -> None:
    made = analyses(HashedWords(fault=EmbeddingError("The embedding model is damaged.")))
    scores = await made.score_pairs([(FIND, SEARCH)])
    assert scores.notice is not None
    assert scores.notice.startswith("The embedding model is damaged. Tools are compared by their words")


async def test_squares_groups_and_overlap_can_be_waited_for() -> None:
    made = analyses(HashedWords())
    similarity = await made.analyse(DESK)
    assert (await made.matrix(similarity, MatrixKind.NAMES))[0, 1] == pytest.approx(1 / 3)
    assert sorted((await made.clusters(similarity)).order) == [0, 1, 2]
    overlap = await made.overlap(similarity, OverlapWeights(0, 1, 0))
    assert overlap.matrix[0, 1] == 1.0
    with pytest.raises(InputError):
        await made.overlap(similarity, OverlapWeights(0, 0, 0))


async def test_runs_of_the_workspace_stand_beside_the_prediction() -> None:
    store = MemoryStore()
    batch = Batch(
        id=BatchId("batch-0"), name="All", status=BatchStatus.COMPLETED, models=("a/x",), total=1, created_at=NOW
    )
    store.runs.put(batch, [judged_run(("docs", "find_files"), ("docs", "search_files"))])
    made = analyses(HashedWords(), store)
    similarity = await made.analyse(DESK)
    (item,) = await made.observed(similarity, FlagRule(0.99))
    assert (item.pair.a, item.pair.b, item.standing) == (0, 1, PairStatus.CONFUSED_NOT_SIMILAR)
    assert item.observation is not None
    assert (item.observation.confused, item.observation.runs) == (1, 1)
    square = await made.observed_matrix(similarity)
    assert square[0, 1] == 1.0


async def test_a_workspace_without_runs_has_nothing_observed() -> None:
    made = analyses(HashedWords())
    similarity = await made.analyse(DESK)
    assert {item.standing for item in await made.observed(similarity, FlagRule(0.1))} == {PairStatus.SIMILAR_UNTESTED}
    assert np.all(np.isnan(await made.observed_matrix(similarity)))
