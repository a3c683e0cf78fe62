"""The chance of confusion: each score speaks for it, none against, and cosines count from an embedder's own nothing."""

import json
from dataclasses import asdict
from importlib.resources import files

import numpy as np
import pytest

from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.confusability import COEFFICIENTS, above, coefficients_for
from mcp_tef.scoring.similarity.signals import Meaning, Square
from tests.support.similarity_factories import a_tool, tool_set


def chance(cosine: float, *, level: float = 0.0, embedder: str = "folder:x") -> float:
    scores = np.array([[1, cosine], [cosine, 1]], dtype=np.float32)
    meaning = Meaning(embedder=embedder, described=Square(scores), level=level)
    return (
        Similarity(tool_set(a_tool("ping", "Answers"), a_tool("sunset", "Daylight")), meaning).pair(0, 1).confusability
    )


@pytest.mark.parametrize("kind", ["tfidf", "model"])
def test_no_score_speaks_against_confusion(kind: str) -> None:
    weights = asdict(COEFFICIENTS[kind])
    assert weights.pop("intercept") < 0
    assert min(weights.values()) > 0


def test_the_chance_is_the_logistic_of_what_is_stored() -> None:
    weights = COEFFICIENTS["model"]
    assert chance(0.5) == pytest.approx(1 / (1 + np.exp(-weights.intercept - 0.5 * weights.semantic)), abs=1e-6)


def test_the_nearer_in_meaning_the_likelier() -> None:
    assert chance(0.1) < chance(0.5) < chance(0.9)


def test_a_cosine_that_the_embedder_gives_to_unrelated_tools_counts_for_nothing() -> None:
    assert chance(0.6, level=0.6) == pytest.approx(chance(0.0))
    assert chance(0.3, level=0.6) == pytest.approx(chance(0.0))
    assert above(0.6, np.array([0.2, 0.6, 0.8, 1.0], dtype=np.float32)).tolist() == pytest.approx([0, 0, 0.5, 1])


def test_words_have_coefficients_of_their_own_and_every_model_shares_the_others() -> None:
    assert coefficients_for("tfidf") == COEFFICIENTS["tfidf"] != COEFFICIENTS["model"]
    assert coefficients_for("litellm:openai/x") == COEFFICIENTS["model"]


def test_the_coefficients_say_where_they_come_from() -> None:
    stored = json.loads(files("resources").joinpath("confusability.json").read_text("utf-8"))
    assert sum(stored["pairs"].values()) == 151
    assert {"data", "fitted_on", "fitted_by"} <= set(stored)
    assert 0.5 < stored["model"]["cross_validated_auroc"]["all"] < 1
