"""Why two tools look alike, in sentences that a designer can check."""

import numpy as np

from mcp_tef.model.similarity import MatrixKind, PairExplanation
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Meaning, Square
from tests.support.similarity_factories import a_tool, compared, tool_set

FILES = a_tool(
    "search_files",
    "Search files in the workspace by text or pattern and return matching paths, best match first.",
    query="string",
    path="string",
    limit="integer",
    glob="string",
)
CODE = a_tool(
    "search_code",
    "Search source code by text or pattern and return matching lines with their file and line number.",
    query="string",
    path="string",
    limit="integer",
    language="string",
    context="integer",
)


def explained(a: Tool, b: Tool) -> PairExplanation:
    return compared(a, b).explain(0, 1)


def sentence(explanation: PairExplanation, kind: MatrixKind) -> str:
    return next(score.sentence for score in explanation.scores if score.kind is kind)


def test_parameters_are_counted_out() -> None:
    explanation = explained(FILES, CODE)
    assert sentence(explanation, MatrixKind.PARAMETERS) == "3 of 6 parameter names and types are the same"
    assert [one.name for one in explanation.parameters if one.in_both] == ["query", "path", "limit"]


def test_shared_words_are_given_as_they_are_written() -> None:
    assert explained(FILES, CODE).shared_words == (
        *("Search", "files", "text", "pattern", "return", "matching", "match", "file"),
    )


def test_wording_is_told_by_how_many_words_occur_in_both() -> None:
    assert sentence(explained(FILES, CODE), MatrixKind.LEXICAL) == "Most content words occur in both"
    assert sentence(explained(FILES, a_tool("x", "Open doors")), MatrixKind.LEXICAL) == "No content words occur in both"
    assert sentence(explained(FILES, a_tool("x")), MatrixKind.LEXICAL) == "One description has no content words"


def test_names_are_told_by_their_words() -> None:
    assert sentence(explained(FILES, CODE), MatrixKind.NAMES) == "1 of 3 words of the names is the same"
    same = explained(FILES, a_tool("filesSearch", "Else"))
    assert sentence(same, MatrixKind.NAMES) == "The names have the same words"


def test_no_parameters_on_either_side_is_said() -> None:
    assert sentence(explained(a_tool("a"), a_tool("b")), MatrixKind.PARAMETERS) == "Neither has parameters"


def test_every_score_of_the_pair_has_its_sentence() -> None:
    explanation = explained(FILES, CODE)
    assert {score.kind for score in explanation.scores} == set(MatrixKind)
    pair = compared(FILES, CODE).pair(0, 1)
    assert {score.kind.value: score.score for score in explanation.scores} == {
        kind.value: getattr(pair, kind.value) for kind in MatrixKind
    }


def test_without_the_full_score_nothing_is_said_of_it() -> None:
    explanation = compared(FILES, CODE, full=False).explain(0, 1)
    assert MatrixKind.FULL not in {score.kind for score in explanation.scores}


def test_the_rank_among_all_pairs_is_told_and_is_never_rounded_up_to_all() -> None:
    scores = np.eye(70, dtype=np.float32)
    scores[0, 1] = scores[1, 0] = 0.9
    similarity = Similarity(
        tool_set(*[a_tool(f"t{n}") for n in range(70)]), Meaning(embedder="given", described=Square(scores))
    )
    assert sentence(similarity.explain(0, 1), MatrixKind.SIMILARITY) == "closer than 99.9 % of all pairs"
    assert sentence(similarity.explain(2, 3), MatrixKind.SIMILARITY) == "closer than 0.0 % of all pairs"


def test_the_same_definition_twice_is_called_the_same() -> None:
    twin = a_tool("search_files", FILES.description, "other", **FILES.input_schema["properties"])
    assert "the same on both servers" in explained(FILES, twin).summary
    assert explained(FILES, FILES).summary == "search_files is there twice: nothing else tells them apart."


def test_the_summary_names_both_tools_and_how_alike_they_are() -> None:
    summary = explained(FILES, a_tool("open_door", "Unlock")).summary
    assert summary.startswith("search_files and open_door: low confusability")
