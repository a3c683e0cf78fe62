"""The scores of each kind over some tools, prepared when a kind is first asked for."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.similarity import MatrixKind
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.similarity.confusability import Confusability, Parts, coefficients_for
from mcp_tef.scoring.similarity.exact import Scores
from mcp_tef.scoring.similarity.meaning import Meaning
from mcp_tef.scoring.similarity.parameters import Parameter, parameters, tokens
from mcp_tef.scoring.similarity.signals import Shares, Signal, WeighedWords
from mcp_tef.scoring.similarity.texts import description_text, name_words

KEPT_UP_TO = 5_000


class Kinds:
    """Scores by kind. Safe between threads.

    Above 5,000 tools only the similarity square is kept: each other one takes hundreds of megabytes, and is worked
    out anew when it is asked for again.
    """

    def __init__(self, tools: Sequence[Tool], meaning: Meaning) -> None:
        self._tools = tools
        self._meaning = meaning
        self._preparing = RLock()
        self._prepared: dict[MatrixKind, Scores] = {}

    @property
    def all(self) -> tuple[MatrixKind, ...]:
        """Every kind that there is: `full` only where it was asked for."""
        return tuple(kind for kind in MatrixKind if kind is not MatrixKind.FULL or self._meaning.full is not None)

    def of(self, kind: MatrixKind) -> Scores:
        """The scores of a kind; KeyError for `full` where it was not asked for."""
        if kind not in self.all:
            raise KeyError(kind)
        with self._preparing:
            if kind not in self._prepared:
                self._prepared[kind] = self._prepare(kind)
            return self._prepared[kind]

    @cached_property
    def without_parameters(self) -> NDArray[np.bool_]:
        """Which tools have no parameters, shape (n,)."""
        return np.array([not each for each in self._parameters], dtype=np.bool_)

    def _prepare(self, kind: MatrixKind) -> Scores:
        keep = kind is MatrixKind.SIMILARITY or len(self._tools) <= KEPT_UP_TO
        match kind:
            case MatrixKind.SIMILARITY:
                return Scores(self._meaning.described, self._described, keep=keep)
            case MatrixKind.FULL:
                return Scores(self._meaning.full or self._meaning.described, self._whole, keep=keep)
            case MatrixKind.LEXICAL:
                return Scores(WeighedWords(self._described), self._described, keep=keep)
            case MatrixKind.NAMES:
                names = [tool.name for tool in self._tools]
                return Scores(Shares([name_words(name) for name in names]), names, keep=keep)
            case MatrixKind.PARAMETERS:
                bags = [tokens(each) for each in self._parameters]
                same = [bag or text for bag, text in zip(bags, self._described, strict=True)]
                return Scores(Shares(bags), same, keep=keep)
            case MatrixKind.CONFUSABILITY:
                return Scores(self._confusability(), self._whole, keep=keep)

    def _confusability(self) -> Signal:
        parts = Parts(
            similarity=self.of(MatrixKind.SIMILARITY),
            lexical=self.of(MatrixKind.LEXICAL),
            names=self.of(MatrixKind.NAMES),
            parameters=self.of(MatrixKind.PARAMETERS),
            level=self._meaning.level,
        )
        return Confusability(parts, coefficients_for(self._meaning.embedder))

    @cached_property
    def _described(self) -> list[str]:
        return [description_text(tool) for tool in self._tools]

    @cached_property
    def _whole(self) -> list[tuple[str, tuple[tuple[str, Parameter], ...]]]:
        """All that `full` is about: equal where the texts of two tools are."""
        return [(text, tuple(each.items())) for text, each in zip(self._described, self._parameters, strict=True)]

    @cached_property
    def _parameters(self) -> list[Mapping[str, Parameter]]:
        return [parameters(tool) for tool in self._tools]
