"""Recommendations that tell two tools apart, each checked by estimating the similarity after the change."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from mcp_tef.errors import EmbeddingError, InputError
from mcp_tef.model.runs import Estimate, ModelInfo, ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind, PairAdvice, Recommendation
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder, Embedders, Lexicon, Writer
from mcp_tef.prompts.rewrite_prompt import REWRITE_PROMPT, rewrite_request
from mcp_tef.scoring.differentiation.issues import issues
from mcp_tef.scoring.differentiation.patches import ProposalOutcome, RecommendationWriter
from mcp_tef.scoring.differentiation.proposals import Proposal, copies, proposals
from mcp_tef.scoring.differentiation.tool_pair import PairedTool, PairedTools, sides
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.tool_texts import description_text, says_something
from mcp_tef.workflows.estimate import CHARACTERS_PER_TOKEN
from mcp_tef.workflows.evaluate import Sleep
from mcp_tef.workflows.model_writing import DescriptionAuthor, RewriteAttempt, check_can_write
from mcp_tef.workflows.models import Models

MOST_CONTEXT = 200


class Rescorer(Protocol):
    """Scores changed tools against others. `exact`: as the analysis would; else only the direction is known."""

    exact: bool

    async def cosine(self, one: str, other: str, instead_of: str) -> float:
        """Return the similarity of two texts, 0–1; the first replaces `instead_of`. Raises EmbeddingError."""
        ...


class ByMeaning:
    """Puts texts through the embedder of the analysis."""

    exact = True

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def cosine(self, one: str, other: str, instead_of: str) -> float:
        """Return the cosine of two vectors; a text that says nothing is like no other."""
        del instead_of  # only counts of words depend on the text that is replaced
        if not (says_something(one) and says_something(other)):
            return 0.0
        vectors = await self._embedder.embed([one, other])
        return float(np.clip(vectors[0] @ vectors[1], 0.0, 1.0))


class ByWords:
    """Weighs words again, among the texts of at most 200 other tools: how many have a word is what it weighs."""

    def __init__(self, lexicon: Lexicon, tools: Sequence[Tool], *, exact: bool) -> None:
        self.exact = exact
        self._lexicon = lexicon
        texts = sorted(description_text(tool) for tool in tools)
        self._context = texts[:: max(1, -(-len(texts) // MOST_CONTEXT))]

    async def cosine(self, one: str, other: str, instead_of: str) -> float:
        """Return the overlap of two texts."""
        context = list(self._context)
        for text in (instead_of, other):
            if text in context:
                context.remove(text)
        index = await self._lexicon.index([one, *context, other])
        return float((await asyncio.to_thread(index.scores, other))[0])


class SimilarityEstimator:
    """Tells by how much a change would make a pair more or less alike; the same change is worked out once."""

    def __init__(self, scores: Rescorer) -> None:
        self._scores = scores
        self._known: dict[tuple[str, str, str], float] = {}
        self.exact = scores.exact

    async def change(
        self, tool: Tool, other: Tool, *, description: str | None = None, name: str | None = None
    ) -> float | None:
        """By how much the similarity would rise; below 0 where it falls, None where nobody can tell."""
        text, rival = description_text(tool), description_text(other)
        described = tool.description if description is None else description
        changed = description_text(replace(tool, description=described, name=name or tool.name))
        try:
            return await self._cosine(changed, rival, text) - await self._cosine(text, rival, text)
        except EmbeddingError:
            return None

    async def _cosine(self, one: str, other: str, instead_of: str) -> float:
        place = (one, other, instead_of)
        if place not in self._known:
            self._known[place] = await self._scores.cosine(*place)
        return self._known[place]


async def gauge(
    analysis: Similarity, embedders: Embedders, lexicon: Lexicon, choice: EmbedderChoice | None, key: Secret | None
) -> SimilarityEstimator:
    """Return an estimator with the embedder of an analysis: the chosen one, else the best; else by word overlap."""
    name, tools = analysis.embedder, [compared.tool for compared in analysis.tools]
    if name == EmbedderKind.TFIDF:
        return SimilarityEstimator(ByWords(lexicon, tools, exact=True))
    found = await _found(embedders, choice, key)
    return SimilarityEstimator(
        ByMeaning(found) if found and found.name == name else ByWords(lexicon, tools, exact=False)
    )


async def _found(embedders: Embedders, choice: EmbedderChoice | None, key: Secret | None) -> Embedder | None:
    """Never by a name alone: what has it may be elsewhere, and would be sent the tools."""
    try:
        return await (embedders.find(choice, key) if choice else embedders.best())
    except EmbeddingError:
        return None


AT_ONCE = 4
ANSWER_TOKENS = 300
WORTH_WHILE = 0.005
_NO_KEYS: Mapping[str, Secret] = {}

Heard: TypeAlias = Callable[[PairAdvice], None]


class Recommendations:
    """Finds what is wrong between tools and what to do about it. Nothing of this is stored."""

    def __init__(
        self,
        embedders: Embedders,
        lexicon: Lexicon,
        writer: Writer,
        models: Models,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._embedders = embedders
        self._lexicon = lexicon
        self._writer = writer
        self._models = models
        self._sleep = sleep

    async def pairs(
        self,
        similarity: Similarity,
        pairs: Sequence[tuple[int, int]],
        *,
        model: ModelSettings | None = None,
        keys: Mapping[str, Secret] = _NO_KEYS,
        embedder: EmbedderChoice | None = None,
        embedder_key: Secret | None = None,
        heard: Heard | None = None,
    ) -> tuple[PairAdvice, ...]:
        """Return advice on each pair, in the order asked for, four at a time; `heard` gets each as it is done.

        With a model, each tool of a pair gets a description that it wrote, beside the drafts; what the model fails
        at is the advice's `failure`. `embedder` is the choice of the analysis, None where it took the best at hand.
        Raises InputError for places that are none and for the built-in baseline, ModelError where a key is missing.
        """
        _check(pairs, len(similarity))
        author = self._author(model, keys) if model else None
        measure = await gauge(similarity, self._embedders, self._lexicon, embedder, embedder_key)
        job = _Job(similarity, await asyncio.to_thread(RecommendationWriter, similarity.tools), measure, author)
        return await _told(job, pairs, heard or _nobody)

    async def estimate(
        self, similarity: Similarity, pairs: Sequence[tuple[int, int]], model: ModelSettings
    ) -> Estimate:
        """Estimate asking a model about these pairs: one request per tool; the cost is None if the price is unknown."""
        _check(pairs, len(similarity))
        tokens_in, requests = await asyncio.to_thread(_asked, similarity, pairs)
        tokens_out = ANSWER_TOKENS * requests
        cost = _cost(await self._models.info(model), tokens_in, tokens_out)
        return Estimate(runs=requests, tokens=tokens_in + tokens_out, cost_usd=cost, seconds=None)

    def _author(self, model: ModelSettings, keys: Mapping[str, Secret]) -> DescriptionAuthor:
        check_can_write(model)
        key = self._models.keys_for([model], keys).get(model.destination)
        return DescriptionAuthor(self._writer, model, key, self._sleep)


def _check(pairs: Sequence[tuple[int, int]], count: int) -> None:
    for a, b in pairs:
        if a == b or not (0 <= a < count and 0 <= b < count):
            raise InputError(
                f"There is no pair of the tools {a} and {b} in this analysis.",
                hint=f"Name two different places from 0 to {count - 1}.",
            )


def _cost(info: ModelInfo | None, tokens_in: int, tokens_out: int) -> float | None:
    if info is None or info.input_price is None or info.output_price is None:
        return None
    return tokens_in * info.input_price + tokens_out * info.output_price


def _sides(similarity: Similarity, a: int, b: int) -> PairedTools:
    scores = similarity.pair(a, b)
    return sides(similarity.tools[a], similarity.tools[b], scores.similarity, scores.confusability)


def _asked(similarity: Similarity, pairs: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the approximate tokens and the number of the requests for these pairs."""
    wanting = [pair for pair in (_sides(similarity, a, b) for a, b in pairs) if issues(pair) and not copies(pair)]
    texts = [
        REWRITE_PROMPT.system + rewrite_request(side.tool, other.tool) for p in wanting for side, other in p.both()
    ]
    return sum(len(text) for text in texts) // CHARACTERS_PER_TOKEN, len(texts)


def _nobody(_advice: PairAdvice) -> None:
    """Ignore the progress."""


async def _told(job: "_Job", pairs: Sequence[tuple[int, int]], heard: Heard) -> tuple[PairAdvice, ...]:
    slots = asyncio.Semaphore(AT_ONCE)

    async def tell(a: int, b: int) -> PairAdvice:
        async with slots:
            advice = await job.advise(a, b)
        heard(advice)
        return advice

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(tell(a, b)) for a, b in pairs]
    return tuple(task.result() for task in tasks)


@dataclass(frozen=True, slots=True)
class _Job:
    """One request for advice: the analysis, and what is needed to advise on its pairs."""

    similarity: Similarity
    desk: RecommendationWriter
    gauge: SimilarityEstimator
    author: DescriptionAuthor | None

    async def advise(self, a: int, b: int) -> PairAdvice:
        """Return issues, recommendations, and what the model made of them."""
        pair = await asyncio.to_thread(_sides, self.similarity, a, b)
        found = await asyncio.to_thread(issues, pair)
        wishes = await asyncio.to_thread(proposals, pair, found, self.desk.names)
        drafted = [self.desk.drafted(wish, await self._settled(wish, pair)) for wish in wishes]
        advice = PairAdvice(
            a=pair.a.id, b=pair.b.id, similarity=pair.similarity, issues=found, recommendations=tuple(drafted)
        )
        return await self._with_model(advice, pair) if self.author and found and not copies(pair) else advice

    async def _settled(self, wish: Proposal, pair: PairedTools) -> ProposalOutcome:
        """Return the first draft or name that makes the pair less alike; nothing where none does."""
        for draft in wish.drafts:
            rise = await self._change(wish.side, pair, description=draft.text)
            if rise is None or rise <= -WORTH_WHILE:
                return ProposalOutcome(description=draft.text, note=draft.note, similarity=self._after(pair, rise))
        if wish.name is not None:
            rise = await self._change(wish.side, pair, name=wish.name)
            if rise is None or rise < 0:
                return ProposalOutcome(name=wish.name, similarity=self._after(pair, rise))
        return ProposalOutcome()

    async def _with_model(self, advice: PairAdvice, pair: PairedTools) -> PairAdvice:
        assert self.author is not None
        attempts = [attempt async for attempt in self._rewrites(pair)]
        written = [each.written for _, each in attempts if each.written]
        recommended = [await self._written(side, pair, advice, each.settled) for side, each in attempts if each.settled]
        return replace(
            advice,
            recommendations=(*recommended, *advice.recommendations),
            failure=next((each.failure for _, each in attempts if each.failure), None),
            tokens=_sum([count for each in written for count in (each.tokens_in, each.tokens_out)]),
            cost_usd=_total([each.cost_usd for each in written]),
        )

    async def _rewrites(self, pair: PairedTools) -> AsyncIterator[tuple[PairedTool, RewriteAttempt]]:
        """Yield the model's attempt for each side, up to the first that failed: the next would fail alike."""
        assert self.author is not None
        for side, other in pair.both():
            attempt = await self.author.rewrite(side, other)
            yield side, attempt
            if attempt.written is None:
                return

    async def _written(
        self, side: PairedTool, pair: PairedTools, advice: PairAdvice, settled: ProposalOutcome
    ) -> Recommendation:
        assert self.author is not None
        rise = await self._change(side, pair, description=settled.description)
        measured = replace(settled, similarity=self._after(pair, rise))
        return self.desk.written(side, pair, advice.issues, self.author.label, measured)

    async def _change(
        self, side: PairedTool, pair: PairedTools, *, description: str | None = None, name: str | None = None
    ) -> float | None:
        other = pair.b if side is pair.a else pair.a
        return await self.gauge.change(side.tool, other.tool, description=description, name=name)

    def _after(self, pair: PairedTools, rise: float | None) -> float | None:
        if rise is None or not self.gauge.exact:
            return None
        return round(min(1.0, max(0.0, pair.similarity + rise)), 6)


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _total(costs: Sequence[float | None]) -> float | None:
    """Return the sum; None where any is unknown, since a part of a cost is no cost."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known and len(known) == len(costs) else None
