"""Scores of every pair of some tools, by kind, worked out when they are first asked for."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.similarity import MatrixKind
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.confusability import Coefficients, Confusability, Parts, coefficients_for
from mcp_tef.scoring.similarity.signals import (
    Matrix,
    Meaning,
    Places,
    Scores,
    Shares,
    Signal,
    Square,
    WeighedWords,
)
from mcp_tef.scoring.similarity.tool_texts import (
    FlatParameter,
    description_text,
    name_words,
    parameters,
    tokens,
)

KEPT_UP_TO = 5_000
MOST_IN_SQUARE = 20_000


class ScoreKinds:
    """Scores by kind. Safe between threads.

    Above 5,000 tools only the similarity square is kept: each other one takes hundreds of megabytes, and is worked
    out anew when it is asked for again. Above 20,000 tools not even that one is.
    """

    def __init__(self, tools: Sequence[Tool], meaning: Meaning, most_in_square: int = MOST_IN_SQUARE) -> None:
        """Take the tools without their boilerplate."""
        self.has_squares = len(tools) <= most_in_square
        self.tools = tools
        self.embedder = meaning.embedder
        self.level = meaning.level
        self.meaning = meaning
        self._preparing = RLock()
        self._prepared: dict[MatrixKind, Scores] = {}

    def __len__(self) -> int:
        return len(self.tools)

    def __reduce__(self) -> tuple[type["ScoreKinds"], tuple[Sequence[Tool], Meaning]]:
        """Return what a worker needs: none of what was worked out here."""
        return ScoreKinds, (self.tools, self.meaning)

    @property
    def all(self) -> tuple[MatrixKind, ...]:
        """Every kind that there is: `full` only where it was asked for."""
        return tuple(kind for kind in MatrixKind if kind is not MatrixKind.FULL or self.meaning.full is not None)

    def of(self, kind: MatrixKind) -> Scores:
        """Return the scores of a kind; KeyError for `full` where it was not asked for."""
        if kind not in self.all:
            raise KeyError(kind)
        with self._preparing:
            if kind not in self._prepared:
                self._prepared[kind] = self._prepare(kind)
            return self._prepared[kind]

    def similar(self, start: int, stop: int) -> Matrix:
        """Return the similarities of some tools to all from the first of them on, not yet exact."""
        return self.of(MatrixKind.SIMILARITY).raw_rows(start, stop)

    def among(self, places: Places) -> "ScoreKinds":
        """Return the scores of a few tools with one another, without `full`; nothing is worked out for the others."""
        count = len(places)
        scores = self.of(MatrixKind.SIMILARITY).at(np.repeat(places, count), np.tile(places, count))
        meaning = replace(self.meaning, described=Square(scores.reshape(count, count)), full=None)
        return ScoreKinds([self.tools[place] for place in places.tolist()], meaning)

    @cached_property
    def without_parameters(self) -> NDArray[np.bool_]:
        """Mask of the tools without parameters, shape (n,)."""
        return np.array([not each for each in self._parameters], dtype=np.bool_)

    def _prepare(self, kind: MatrixKind) -> Scores:
        signal, same = self._signal(kind)
        kept = kind is MatrixKind.SIMILARITY or len(self) <= KEPT_UP_TO
        return Scores(signal, same, keep=kept and self.has_squares)

    def _signal(self, kind: MatrixKind) -> tuple[Signal, Sequence[Hashable]]:
        """Return the signal of a matrix, and a value per tool, equal for tools that it cannot tell apart."""
        match kind:
            case MatrixKind.SIMILARITY:
                return self.meaning.described, self._described
            case MatrixKind.FULL:
                return self.meaning.full or self.meaning.described, self._whole
            case MatrixKind.LEXICAL:
                return WeighedWords(self._described), self._described
            case MatrixKind.NAMES:
                names = list(map(attrgetter("name"), self.tools))
                return Shares(list(map(name_words, names))), names
            case MatrixKind.PARAMETERS:
                return self._shared_parameters()
            case MatrixKind.CONFUSABILITY:
                return self.confusability(coefficients_for(self.meaning.embedder)), self._told

    def _shared_parameters(self) -> tuple[Signal, Sequence[Hashable]]:
        bags = [tokens(each) for each in self._parameters]
        return Shares(bags), [bag or text for bag, text in zip(bags, self._described, strict=True)]

    def confusability(self, coefficients: Coefficients) -> Confusability:
        """Return the signal by these coefficients."""
        parts = Parts(
            tools=self.tools,
            similarity=self.of(MatrixKind.SIMILARITY),
            names=self.of(MatrixKind.NAMES),
            parameters=self.of(MatrixKind.PARAMETERS),
            level=self.meaning.level,
        )
        return Confusability(parts, coefficients)

    @cached_property
    def _described(self) -> list[str]:
        return [description_text(tool) for tool in self.tools]

    @cached_property
    def _whole(self) -> list[tuple[str, tuple[tuple[str, FlatParameter], ...]]]:
        """All that `full` is about: equal where the texts of two tools are."""
        return [(text, tuple(each.items())) for text, each in zip(self._described, self._parameters, strict=True)]

    @cached_property
    def _told(self) -> list[Hashable]:
        """Description and parameters: tools with the same are confusable by any name. Without a description, all."""
        return [
            (tool.description, whole[1]) if tool.description.strip() else whole
            for tool, whole in zip(self.tools, self._whole, strict=True)
        ]

    @cached_property
    def _parameters(self) -> list[Mapping[str, FlatParameter]]:
        return [parameters(tool) for tool in self.tools]
