"""Adapters to models and embedders of one workspace, each loaded when it is first named."""

from collections.abc import Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_tef.model.config import CurrentConfig

if TYPE_CHECKING:
    from mcp_tef.embedding.embedder_registry import EmbedderRegistry
    from mcp_tef.llm.catalogue import LitellmCatalogue
    from mcp_tef.llm.keys import KeyRing
    from mcp_tef.llm.model_selector import ModelSelectors
    from mcp_tef.llm.retrieval_baseline import WordsSelector
    from mcp_tef.llm.writer import LitellmWriter
    from mcp_tef.workflows.clients import Clients


class ModelAdapters:
    """All that asks models or embeds texts for an engine; `data` is the folder for downloaded models."""

    def __init__(self, environment: Mapping[str, str], current: CurrentConfig, data: Path) -> None:
        self._environment = environment
        self._current = current
        self._data = data

    @cached_property
    def keys(self) -> "KeyRing":
        """Keys of model providers."""
        from mcp_tef.llm.keys import KeyRing

        return KeyRing(self._environment)

    @cached_property
    def _catalogue(self) -> "LitellmCatalogue":
        from mcp_tef.llm.catalogue import LitellmCatalogue

        return LitellmCatalogue()

    @cached_property
    def _selectors(self) -> "ModelSelectors":
        from mcp_tef.embedding.local_embedder import best_local_embedder
        from mcp_tef.embedding.tfidf import TfidfLexicon
        from mcp_tef.llm.model_selector import ModelSelectors
        from mcp_tef.llm.retrieval_baseline import MeaningSelector, WordsSelector

        current, environment = self._current, self._environment
        words = WordsSelector(TfidfLexicon(), lambda: current.config.words_threshold)
        local = partial(best_local_embedder, environment, self._data / "models")
        meaning = MeaningSelector(TfidfLexicon(), local, lambda: current.config.meaning_threshold)
        return ModelSelectors(words, meaning, self._catalogue, environment, current, lambda: current.config.through)

    @cached_property
    def _by_words(self) -> "WordsSelector":
        """The baseline by words with its own threshold, which ranks alike on every machine."""
        from mcp_tef.embedding.tfidf import TfidfLexicon
        from mcp_tef.llm.retrieval_baseline import WordsSelector

        return WordsSelector(TfidfLexicon())

    @cached_property
    def embedders(self) -> "EmbedderRegistry":
        """Embedders, which turn texts into vectors."""
        from mcp_tef.embedding.embedder_registry import EmbedderRegistry

        return EmbedderRegistry(self._environment, self._data, limits=self._current)

    @cached_property
    def clients(self) -> "Clients":
        """Client profiles: how programs between a server and a model show tools."""
        from mcp_tef.workflows.clients import Clients

        return Clients(self._data / "clients", self.embedders)

    @cached_property
    def _writer(self) -> "LitellmWriter":
        from mcp_tef.llm.writer import LitellmWriter

        return LitellmWriter(self._environment, self._current, lambda: self._current.config.through)
