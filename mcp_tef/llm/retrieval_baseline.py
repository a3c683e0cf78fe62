"""Built-in baseline `offline/retrieval`: ranks tools by words and embeddings, without key or network."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import EmbeddingError
from mcp_tef.llm.argument_filling import fill
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, RankedTool
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.ports import Embedder, Lexicon, Question, TextIndex
from mcp_tef.prompts.tool_aliases import resolve
from mcp_tef.scoring.tfidf_weights import spaced

WORDS_SHARE = 0.4
KEPT_INDEXES = 64
LONGEST_MEANING = 500
LONGEST_WORDING = 2_000
Scores = NDArray[np.float32]
EmbedderFinder = Callable[[], Awaitable[Embedder | None]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Scores in the order in which the tools were offered; `blended` where meaning counts beside words."""

    scores: Scores
    blended: bool
    method: str


@dataclass(frozen=True, slots=True)
class _Index:
    words: TextIndex
    vectors: Scores | None


class Ranker:
    """Scores tools for queries; tools that were seen together are prepared once.

    With an embedder a score is 0.4 × word overlap + 0.6 × cosine of meaning, each 0–1, which on real sets of
    queries is ahead of both parts on their own; without one it is the word overlap.
    """

    def __init__(self, lexicon: Lexicon, find_embedder: EmbedderFinder) -> None:
        self._lexicon = lexicon
        self._find_embedder = find_embedder
        self._embedder: Embedder | None = None
        self._sought = False
        self._excuse = ""
        self._indexes: OrderedDict[tuple[str, ...], _Index] = OrderedDict()
        self._last: tuple[Sequence[OfferedTool], _Index] | None = None
        self._preparing = asyncio.Lock()

    async def rank(self, query: str, offered: Sequence[OfferedTool]) -> Ranking:
        """Score every offered tool, at least one."""
        index = await self._index(offered)
        words = index.words.scores(query)
        asked = await self._embed([query]) if index.vectors is not None else None
        if index.vectors is None or asked is None or self._embedder is None:
            return Ranking(words, blended=False, method=f"word overlap{self._excuse}")
        meaning = np.clip(index.vectors @ asked[0], 0.0, 1.0)
        scores = np.asarray(WORDS_SHARE * words + (1 - WORDS_SHARE) * meaning, dtype=np.float32)
        return Ranking(scores, blended=True, method=f"word overlap and meaning ({self._embedder.name})")

    async def prepare(self, offered: Sequence[OfferedTool]) -> None:
        """Read the tools, so that ranking them is quick; raises EmbeddingError."""
        await self._index(offered)

    async def _index(self, offered: Sequence[OfferedTool]) -> _Index:
        if self._last is not None and self._last[0] is offered:
            return self._last[1]
        texts = tuple(wording(item.tool) for item in offered)
        async with self._preparing:
            if texts not in self._indexes:
                self._indexes[texts] = await self._prepare(texts, offered)
            self._indexes.move_to_end(texts)
            while len(self._indexes) > KEPT_INDEXES:
                self._indexes.popitem(last=False)
            index = self._indexes[texts]
        self._last = (offered, index)
        return index

    async def _prepare(self, texts: Sequence[str], offered: Sequence[OfferedTool]) -> _Index:
        words = await self._lexicon.index(texts)
        return _Index(words, await self._embed([meaning_text(item.tool) for item in offered]))

    async def _embed(self, texts: Sequence[str]) -> Scores | None:
        """Return vectors by the embedder; None, from then on, where there is none or it fails."""
        try:
            if not self._sought:
                self._sought = True
                self._embedder = await self._find_embedder()
            return await self._embedder.embed(texts) if self._embedder else None
        except EmbeddingError as error:
            self._embedder = None
            self._excuse = f" alone, because: {error.message}"
            return None


def wording(tool: Tool) -> str:
    """Return the text for word overlap: name (twice), description, parameter names and their descriptions."""
    name = spaced(tool.name)
    parameters = _parameters(tool)
    told = (str(schema.get("description", "")) for schema in parameters.values() if isinstance(schema, dict))
    return ". ".join((name, name, tool.description[:LONGEST_WORDING], _names(parameters), *told))[: 2 * LONGEST_WORDING]


def meaning_text(tool: Tool) -> str:
    """Return the text for embeddings: name, the start of the description, parameter names."""
    return ". ".join((spaced(tool.name), tool.description[:LONGEST_MEANING], _names(_parameters(tool))))


def _parameters(tool: Tool) -> dict[str, object]:
    properties = tool.input_schema.get("properties")
    return dict(properties) if isinstance(properties, dict) else {}


def _names(parameters: dict[str, object]) -> str:
    return " ".join(spaced(name) for name in parameters)


BEST_KEPT = 10


@dataclass(frozen=True, slots=True)
class Calibration:
    """Thresholds and calibration of one method's scores: no tool is picked below `threshold`.

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
