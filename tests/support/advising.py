"""Advice on made pairs, with an embedder, a writer and prices that a test chooses."""

import asyncio
import copy
import json
from collections.abc import Sequence
from typing import Any

import jsonpatch  # type: ignore[import-untyped]  # it has no types

from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfLexicon
from mcp_tef.model.config import Config
from mcp_tef.model.runs import ModelInfo, ModelSettings
from mcp_tef.model.similarity import PairAdvice, Recommendation, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder, Writer, WritingTask, Written
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.recommend import Recommendations
from mcp_tef.workflows.similarity import SimilarityAnalyses
from tests.support.consents import loopback_consents
from tests.support.fake_writer import FakeWriter, Writes
from tests.support.made_pairs import BOOKING, COMMENT, PAGE_COMMENT, WEATHER
from tests.support.memory_store import MemoryStore
from tests.support.ports import FakeCatalogue, FakeKeys
from tests.support.tool_sets import FakeEmbedders, tool_set

MODEL = ModelSettings(provider="local", model="writer", max_retries=1)
KEY = "sk-very-secret-key-0123456789"
TOOLS = (COMMENT, PAGE_COMMENT, WEATHER, BOOKING)
GOOD = "Comment on one issue of the tracker."


class SlowWriter(FakeWriter):
    """Tells when so many texts are being written at once."""

    def __init__(self, writes: Writes) -> None:
        super().__init__(writes)
        self.reached = asyncio.Event()
        self.wanted = 0

    async def write(self, task: WritingTask) -> Written:
        """The scripted text."""
        if self.under_way + 1 == self.wanted:
            self.reached.set()
        return await super().write(task)


class Advisor:
    """Recommendations over an embedder, a writer and prices that a test chooses; no wait is really slept."""

    def __init__(self, writer: Writer | None = None, embedder: Embedder | None = None, **infos: ModelInfo) -> None:
        self.writer = writer or FakeWriter(lambda _task: "")
        self.slept: list[float] = []
        self.embedders = FakeEmbedders(TfidfEmbedder(), **({"folder": embedder} if embedder else {}))
        catalogue = FakeCatalogue({info.label: info for info in infos.values()})
        self.consents = loopback_consents()
        models = Models(catalogue, FakeKeys(known=KEY), self.consents, Config())
        self.recommend = Recommendations(self.embedders, TfidfLexicon(), self.writer, models, self._sleep)

    async def similarity(self, tools: Sequence[Tool] = TOOLS) -> Similarity:
        """An analysis of tools by the best embedder."""
        return await self.similarity_of(tool_set(*tools))

    async def similarity_of(self, tools: ToolSet) -> Similarity:
        """The same, of a set."""
        return await SimilarityAnalyses(self.embedders, TfidfLexicon(), MemoryStore().metrics).analyse(tools)

    async def advice(self, tools: Sequence[Tool] = TOOLS, model: ModelSettings | None = None) -> PairAdvice:
        """Advice on the first two tools."""
        (advice,) = await self.recommend.pairs(await self.similarity(tools), [(0, 1)], model=model)
        return advice

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def answer(description: str = GOOD, rationale: str = "It names the place.") -> str:
    return json.dumps({"description": description, "rationale": rationale})


def by_model(advice: PairAdvice) -> list[Recommendation]:
    return [each for each in advice.recommendations if each.author != "draft"]


def drafts(advice: PairAdvice) -> list[Recommendation]:
    return [each for each in advice.recommendations if each.author == "draft"]


def changed(advice: Recommendation, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools of the server after the patch was applied by the library itself."""
    document = {"tools": [copy.deepcopy(dict(tool.raw)) for tool in tools]}
    after: list[dict[str, Any]] = jsonpatch.JsonPatch([dict(each) for each in advice.patch]).apply(document)["tools"]
    return after
