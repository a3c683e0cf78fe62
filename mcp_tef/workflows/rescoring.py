"""How alike a pair would be with another text or name: the changed tool is put through the embedder again."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from mcp_tef.errors import EmbeddingError
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder, Embedders, Lexicon
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.texts import description_text, says_something

MOST_CONTEXT = 200


class Rescorer(Protocol):
    """Scores changed tools against others. `exact`: as the analysis would; else only the direction is known."""

    exact: bool

    async def cosine(self, one: str, other: str, instead_of: str) -> float:
        """How alike two texts are, 0–1; the first stands where `instead_of` stood. Raises EmbeddingError."""
        ...


class ByMeaning:
    """Puts texts through the embedder of the analysis."""

    exact = True

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def cosine(self, one: str, other: str, instead_of: str) -> float:
        """The cosine of two vectors; a text that says nothing is like no other."""
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
        """The overlap of two texts."""
        context = list(self._context)
        for text in (instead_of, other):
            if text in context:
                context.remove(text)
        index = await self._lexicon.index([one, *context, other])
        return float((await asyncio.to_thread(index.scores, other))[0])


class Gauge:
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
) -> Gauge:
    """A gauge with the embedder of an analysis: the one that was chosen, else the best; without it by word overlap."""
    name, tools = analysis.embedder, [compared.tool for compared in analysis.tools]
    if name == EmbedderKind.TFIDF:
        return Gauge(ByWords(lexicon, tools, exact=True))
    found = await _found(embedders, choice, key)
    return Gauge(ByMeaning(found) if found and found.name == name else ByWords(lexicon, tools, exact=False))


async def _found(embedders: Embedders, choice: EmbedderChoice | None, key: Secret | None) -> Embedder | None:
    """Never by a name alone: what has it may be elsewhere, and would be sent the tools."""
    try:
        return await (embedders.find(choice, key) if choice else embedders.best())
    except EmbeddingError:
        return None
