"""The built-in baseline `offline/retrieval`: what a tool-search layer would surface, without key or network."""

import math
from dataclasses import dataclass

import numpy as np

from mcp_tef.llm.filling import fill
from mcp_tef.llm.ranking import EmbedderFinder, Ranker, Ranking
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, RankedTool
from mcp_tef.ports import Lexicon, Question
from mcp_tef.prompts.offering import resolve

BEST_KEPT = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """How scores of one method are read: no tool below `threshold`.

    The confidence is 1 / (1 + e^-(slope × margin + offset)), with one line for a picked tool and one for none;
    the margin is the distance to the next best choice, where no tool counts as a choice that scores `threshold`.
    Fitted on real sets of queries, so that about seven in ten answers with a confidence of 0.7 are right.
    """

    threshold: float
    picked: tuple[float, float]
    none: tuple[float, float]


WORDS = Calibration(threshold=0.18, picked=(10.0, -0.5), none=(30.0, -3.2))
BLEND = Calibration(threshold=0.22, picked=(10.5, -0.1), none=(25.0, -3.0))


class OfflineSelector:
    """Picks the tool that ranks best, or none where even that one is far off; fills parameters by plain rules."""

    def __init__(self, lexicon: Lexicon, find_embedder: EmbedderFinder) -> None:
        self._ranker = Ranker(lexicon, find_embedder)

    async def prepare(self, question: Question) -> None:
        """Rank-ready tools: load the embedder and read the tools once. Raises EmbeddingError."""
        if question.tools:
            await self._ranker.prepare(question.tools)

    async def select(self, question: Question) -> Answer:
        """Rank the tools for the query; never fails: without an embedding model that works, words alone count."""
        if not question.tools:
            return Answer(calls=(), words="No tool was offered.", mode=CallingMode.NATIVE, cost_usd=0.0)
        ranking = await self._ranker.rank(question.query, question.tools)
        return _answer(question, ranking, BLEND if ranking.blended else WORDS)

    async def close(self) -> None:
        """Nothing is held open."""


def _answer(question: Question, ranking: Ranking, calibration: Calibration) -> Answer:
    order = np.argsort(-ranking.scores, kind="stable")
    best = tuple(
        RankedTool(question.tools[place].offered_name, round(float(ranking.scores[place]), 4))
        for place in order[:BEST_KEPT]
    )
    top = float(ranking.scores[order[0]])
    second = float(ranking.scores[order[1]]) if len(order) > 1 else 0.0
    picked = top >= calibration.threshold
    margin = top - max(second, calibration.threshold) if picked else calibration.threshold - top
    return Answer(
        calls=(_call(question, best[0].offered_name),) if picked else (),
        words=_words(best, picked, calibration, ranking.method),
        confidence=_confidence(margin, calibration.picked if picked else calibration.none),
        confidence_source=ConfidenceSource.MARGIN,
        raw_request={"query": question.query, "method": ranking.method, "threshold": calibration.threshold},
        raw_response={"score": round(top, 4), "margin": round(margin, 4)},
        cost_usd=0.0,
        ranking=best,
    )


def _call(question: Question, name: str) -> ActualCall:
    call = resolve(name, question.tools)
    tool = next(item.tool for item in question.tools if item.offered_name == name)
    return ActualCall(tool=call.tool, server=call.server, arguments=fill(question.query, tool.input_schema))


def _confidence(margin: float, line: tuple[float, float]) -> float:
    slope, offset = line
    return round(1 / (1 + math.exp(-(slope * margin + offset))), 3)


def _words(best: tuple[RankedTool, ...], picked: bool, calibration: Calibration, method: str) -> str:
    first = best[0]
    if not picked:
        return (
            f"Baseline by {method}: the nearest tool, {first.offered_name}, scores {first.score:.2f}, "
            f"below the {calibration.threshold:.2f} that a pick needs."
        )
    ahead = f", {first.score - best[1].score:.2f} ahead of {best[1].offered_name}" if len(best) > 1 else ""
    return f"Baseline by {method}: {first.offered_name} scores {first.score:.2f}{ahead}."
