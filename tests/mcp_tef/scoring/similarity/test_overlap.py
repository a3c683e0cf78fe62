"""The overlap of tools: three dimensions by weights that can be changed."""

import math

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.similarity import OverlapWeights
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.overlap import Overlap
from tests.support.similarity_factories import a_tool, compared


def three() -> Similarity:
    return compared(
        a_tool("search_files", "Find files by name", query="string", path="string"),
        a_tool("find_files", "Search files by words", query="string", limit="integer"),
        a_tool("list_files", "Show all files"),
    )


def test_the_overlap_is_the_weighed_mean_of_its_dimensions() -> None:
    overlap = Overlap(three())
    expected = 0.5 * overlap.semantic[0, 1] + 0.3 * overlap.parameters[0, 1] + 0.2 * overlap.description[0, 1]
    assert overlap.matrix[0, 1] == pytest.approx(expected)
    assert overlap.parameters[0, 1] == pytest.approx(1 / 3)


def test_parameters_on_one_side_only_count_against_a_pair() -> None:
    overlap = Overlap(three())
    expected = 0.5 * overlap.semantic[0, 2] + 0.2 * overlap.description[0, 2]
    assert overlap.matrix[0, 2] == pytest.approx(expected)


def test_where_neither_has_parameters_their_weight_goes_to_the_others() -> None:
    overlap = Overlap(compared(a_tool("list_files", "Show all files"), a_tool("show_files", "List files")))
    expected = (0.5 * overlap.semantic[0, 1] + 0.2 * overlap.description[0, 1]) / 0.7
    assert overlap.matrix[0, 1] == pytest.approx(expected)
    assert "neither has parameters" in overlap.explain(0, 1)


def test_only_the_proportions_of_weights_matter() -> None:
    one, other = Overlap(three(), OverlapWeights(5, 3, 2)), Overlap(three(), OverlapWeights())
    assert one.weights == other.weights
    assert one.matrix[0, 1] == pytest.approx(other.matrix[0, 1])


def test_one_dimension_alone_is_that_dimension() -> None:
    overlap = Overlap(three(), OverlapWeights(0, 1, 0))
    assert overlap.matrix.tolist() == overlap.parameters.tolist()


@pytest.mark.parametrize("weights", [(0, 0, 0), (-1, 1, 1), (math.nan, 1, 1), (math.inf, 1, 1)])
def test_weights_that_weigh_nothing_are_refused(weights: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="cannot be used"):
        Overlap(three(), OverlapWeights(*weights))


def test_meaning_counts_from_what_unrelated_tools_have() -> None:
    similarity = three()
    similarity.level = 0.4
    overlap = Overlap(similarity)
    raw = similarity.pair(0, 1).similarity
    assert overlap.semantic[0, 1] == pytest.approx((raw - 0.4) / 0.6, abs=1e-6)


def test_a_cell_is_explained_by_its_parts() -> None:
    overlap = Overlap(three())
    assert overlap.explain(0, 1) == (
        f"{overlap.matrix[0, 1]:.2f} is similarity {overlap.semantic[0, 1]:.2f} × 0.50"
        f" + parameters 0.33 × 0.30 + wording {overlap.description[0, 1]:.2f} × 0.20"
    )
