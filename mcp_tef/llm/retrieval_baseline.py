"""Built-in baselines `offline/words` and `offline/meaning`: rank tools without key or network."""

import asyncio
import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import EmbeddingError
from mcp_tef.llm.argument_filling import fill
from mcp_tef.model.answers import ActualCall, Answer, CallingMode, ConfidenceSource, RankedTool
from mcp_tef.model.installation import how_to_install, missing_library
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.ports import BaselineScores, Embedder, Lexicon, Question, TextIndex
from mcp_tef.prompts.selection_prompt import resolve
from mcp_tef.scoring.tfidf_weights import spaced_name

WORDS_SHARE = 0.4
KEPT_INDEXES = 64
KEPT_TEXTS = 20_000
KEPT_VECTORS = 10_000
LONGEST_MEANING = 500
LONGEST_WORDING = 2_000
Scores = NDArray[np.float32]
ThresholdSource = Callable[[], float | None]
EmbedderFinder = Callable[[], Awaitable[Embedder | None]]
NO_MODEL = "Download one on the Similarity screen, set MCP_TEF_EMBEDDING_FOLDER, or run offline/words."


@dataclass(frozen=True, slots=True)
class _Index:
    words: TextIndex
    vectors: Scores | None


class Ranker:
    """Scores tools for queries; tools that were seen together are prepared once.

    Without an embedder a score is the word overlap, 0–1. With one it is 0.4 × word overlap + 0.6 × cosine of
    meaning, each 0–1, which on real sets of queries is ahead of both parts on their own.
    """

    def __init__(self, lexicon: Lexicon, embedder: Embedder | None = None) -> None:
        self._lexicon = lexicon
        self._embedder = embedder
        self._indexes: OrderedDict[tuple[str, ...], _Index] = OrderedDict()
        self._vectors: dict[str, Scores] = {}
        self._recent: OrderedDict[int, tuple[Sequence[OfferedTool], _Index]] = OrderedDict()
        self._preparing = asyncio.Lock()

    async def scores(self, query: str, offered: Sequence[OfferedTool]) -> Scores:
        """Return the score of every offered tool, at least one, in their order. Raises EmbeddingError."""
        index = await self._index(offered)
        words = index.words.scores(query)
        if index.vectors is None or self._embedder is None:
            return words
        (asked,) = await self._embedder.embed([query])
        meaning = np.clip(index.vectors @ asked, 0.0, 1.0)
        return np.asarray(WORDS_SHARE * words + (1 - WORDS_SHARE) * meaning, dtype=np.float32)

    async def scores_of(self, queries: Sequence[str], offered: Sequence[OfferedTool]) -> Scores:
        """Return the scores of every offered tool for many queries: shape (queries, tools). Raises EmbeddingError."""
        index = await self._index(offered)
        words = await asyncio.to_thread(index.words.scores_of, queries)
        if index.vectors is None or self._embedder is None:
            return words
        asked = await self._embedded(self._embedder, queries)
        meaning = np.clip(asked @ index.vectors.T, 0.0, 1.0)
        return np.asarray(WORDS_SHARE * words + (1 - WORDS_SHARE) * meaning, dtype=np.float32)

    async def prepare(self, offered: Sequence[OfferedTool]) -> None:
        """Read the tools, so that ranking them is quick. Raises EmbeddingError."""
        await self._index(offered)

    async def _index(self, offered: Sequence[OfferedTool]) -> _Index:
        recent = self._recent.get(id(offered))
        if recent is not None and recent[0] is offered:
            return recent[1]
        texts = tuple(wording(item.tool) for item in offered)
        async with self._preparing:
            if texts not in self._indexes:
                self._indexes[texts] = await self._prepare(texts, offered)
            self._indexes.move_to_end(texts)
            while len(self._indexes) > KEPT_INDEXES or sum(map(len, self._indexes)) > max(KEPT_TEXTS, len(texts)):
                self._indexes.popitem(last=False)
                self._recent.clear()
            index = self._indexes[texts]
        self._recent[id(offered)] = (offered, index)
        if len(self._recent) > KEPT_INDEXES:
            self._recent.popitem(last=False)
        return index

    async def _prepare(self, texts: Sequence[str], offered: Sequence[OfferedTool]) -> _Index:
        words = await self._lexicon.index(texts)
        if self._embedder is None:
            return _Index(words, None)
        return _Index(words, await self._embedded(self._embedder, [meaning_text(item.tool) for item in offered]))

    async def _embedded(self, embedder: Embedder, texts: Sequence[str]) -> Scores:
        """Return the vectors of texts; the last ones are known, so that one changed text does not read the others."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if len(self._vectors) + len(new) > KEPT_VECTORS:
            self._vectors.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._vectors |= dict(zip(new, await embedder.embed(new), strict=True))
        known = self._vectors
        return np.stack([known[text] for text in texts])


def wording(tool: Tool) -> str:
    """Return the text for word overlap: name (twice), description, parameter names and their descriptions."""
    name = spaced_name(tool.name)
    parameters = _parameters(tool)
    told = (str(schema.get("description", "")) for schema in parameters.values() if isinstance(schema, dict))
    return ". ".join((name, name, tool.description[:LONGEST_WORDING], _names(parameters), *told))[: 2 * LONGEST_WORDING]


def meaning_text(tool: Tool) -> str:
    """Return the text for embeddings: name, the start of the description, parameter names."""
    return ". ".join((spaced_name(tool.name), tool.description[:LONGEST_MEANING], _names(_parameters(tool))))


def _parameters(tool: Tool) -> dict[str, object]:
    properties = tool.input_schema.get("properties")
    return dict(properties) if isinstance(properties, dict) else {}


def _names(parameters: dict[str, object]) -> str:
    return " ".join(spaced_name(name) for name in parameters)


BEST_KEPT = 10
Line = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision between the best tool and none, with the margin to the next best choice and a confidence (0–1)."""

    picked: bool
    threshold: float
    margin: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Threshold and confidence of one method's scores, as functions of ln n for n offered tools.

    The best tool is picked from a score of `threshold` = a + b ln n on. The confidence is
    1 / (1 + e^-(slope × margin + offset + size × ln n)) (Platt 1999), with one line for a pick and one for none;
    the margin is the distance to the next best choice, where no tool counts as a choice that scores the threshold.
    `tests/benchmarks/baseline_calibration.py` fits them to real cases among 0 to 300 other tools. The threshold gives
    up 1.5 points of recall@1: below 2 on cases that it was not fitted to. Silence where no tool fits is what is left.
    """

    threshold: tuple[float, float]
    picked: Line
    none: Line

    def least(self, tools: int) -> float:
        """Return the score from which on the best of a number of tools is picked."""
        return self.threshold[0] + self.threshold[1] * math.log(tools)

    def decide(self, top: float, second: float, tools: int, threshold: float | None = None) -> Decision:
        """Decide by the two best scores among a number of tools; `second` is 0 for a single tool."""
        size = math.log(tools)
        threshold = self.least(tools) if threshold is None else threshold
        picked = top >= threshold
        margin = top - max(second, threshold) if picked else threshold - top
        slope, offset, by_size = self.picked if picked else self.none
        confidence = 1 / (1 + math.exp(-(slope * margin + offset + by_size * size)))
        return Decision(picked, round(threshold, 4), round(margin, 4), round(confidence, 3))


WORDS = Calibration(threshold=(0.099, 0.0149), picked=(9.4, -0.89, 0.08), none=(6.4, 2.04, -0.23))
MEANING = Calibration(threshold=(0.143, 0.0134), picked=(9.7, -0.55, 0.04), none=(15.3, 1.54, -0.17))


class WordsSelector:
    """Picks the tool whose words overlap most with the query, or none; fills parameters by plain rules."""

    def __init__(self, lexicon: Lexicon, threshold: ThresholdSource = lambda: None) -> None:
        self._ranker = Ranker(lexicon)
        self._threshold = threshold

    async def prepare(self, question: Question) -> None:
        """Read the tools once."""
        if question.tools:
            await self._ranker.prepare(question.tools)

    async def select(self, question: Question) -> Answer:
        """Rank the tools for the query; never fails."""
        decide = partial(WORDS.decide, threshold=self._threshold())
        return await _select(question, self._ranker, decide, {"method": "word overlap"})

    async def scores(self, queries: Sequence[str], tools: Sequence[OfferedTool]) -> BaselineScores:
        """Score the tools for many queries, deciding as `select` does."""
        return _decided(queries, await self._ranker.scores_of(queries, tools), WORDS, self._threshold())

    async def close(self) -> None:
        """Nothing is held open."""


class MeaningSelector:
    """Picks by words and meaning together; every step raises EmbeddingError where no model works on this machine."""

    def __init__(
        self, lexicon: Lexicon, find_embedder: EmbedderFinder, threshold: ThresholdSource = lambda: None
    ) -> None:
        self._lexicon = lexicon
        self._threshold = threshold
        self._find_embedder = find_embedder
        self._found: tuple[Ranker, str] | None = None
        self._finding = asyncio.Lock()

    async def prepare(self, question: Question) -> None:
        """Load the embedder and read the tools once."""
        ranker, _ = await self.ranker()
        if question.tools:
            await ranker.prepare(question.tools)

    async def select(self, question: Question) -> Answer:
        """Rank the tools for the query."""
        ranker, embedder = await self.ranker()
        decide = partial(MEANING.decide, threshold=self._threshold())
        return await _select(question, ranker, decide, {"method": "word overlap and meaning", "embedder": embedder})

    async def scores(self, queries: Sequence[str], tools: Sequence[OfferedTool]) -> BaselineScores:
        """Score the tools for many queries, deciding as `select` does."""
        ranker, _ = await self.ranker()
        return _decided(queries, await ranker.scores_of(queries, tools), MEANING, self._threshold())

    async def ranker(self) -> tuple[Ranker, str]:
        """Return the ranker and the name of its embedder, which is looked for until one is found."""
        found = await self._find()
        if found is None:
            library = missing_library("fastembed", "onnxruntime")
            hint = how_to_install(library) if library else NO_MODEL
            raise EmbeddingError("There is no embedding model on this machine.", hint=hint)
        return found

    async def works_here(self) -> bool:
        """Return True if an embedding model of this machine can be used."""
        try:
            return await self._find() is not None
        except EmbeddingError:
            return False

    async def _find(self) -> tuple[Ranker, str] | None:
        async with self._finding:
            if self._found is None and (embedder := await self._find_embedder()):
                self._found = (Ranker(self._lexicon, embedder), embedder.name)
            return self._found

    async def close(self) -> None:
        """Nothing is held open."""


def _decided(queries: Sequence[str], scores: Scores, calibration: Calibration, wanted: float | None) -> BaselineScores:
    threshold = calibration.least(scores.shape[1]) if wanted is None else wanted
    return BaselineScores(tuple(queries), scores, scores.max(axis=1).astype(np.float64) >= threshold)


async def _select(
    question: Question, ranker: Ranker, decide: Callable[[float, float, int], Decision], how: Mapping[str, str]
) -> Answer:
    if not question.tools:
        return Answer(calls=(), words="No tool was offered.", mode=CallingMode.NATIVE, cost_usd=0.0)
    scores = await ranker.scores(question.query, question.tools)
    order = np.argsort(-scores, kind="stable")
    best = tuple(
        RankedTool(question.tools[place].offered_name, round(float(scores[place]), 4)) for place in order[:BEST_KEPT]
    )
    top, second = float(scores[order[0]]), float(scores[order[1]]) if len(order) > 1 else 0.0
    decision = decide(top, second, len(order))
    return Answer(
        calls=(_call(question, best[0].offered_name),) if decision.picked else (),
        words=_words(best, decision, " ".join(how.values())),
        confidence=decision.confidence,
        confidence_source=ConfidenceSource.MARGIN,
        raw_request={"query": question.query, **how, "threshold": decision.threshold},
        raw_response={"score": round(top, 4), "margin": decision.margin},
        cost_usd=0.0,
        ranking=best,
    )


def _call(question: Question, name: str) -> ActualCall:
    call = resolve(name, question.tools)
    tool = next(item.tool for item in question.tools if item.offered_name == name)
    return ActualCall(tool=call.tool, server=call.server, arguments=fill(question.query, tool.input_schema))


def _words(best: tuple[RankedTool, ...], decision: Decision, method: str) -> str:
    first = best[0]
    if not decision.picked:
        return (
            f"Baseline by {method}: the nearest tool, {first.offered_name}, scores {first.score:.2f}, "
            f"below the {decision.threshold:.2f} that a selection needs."
        )
    ahead = f", {first.score - best[1].score:.2f} ahead of {best[1].offered_name}" if len(best) > 1 else ""
    return f"Baseline by {method}: {first.offered_name} scores {first.score:.2f}{ahead}."
