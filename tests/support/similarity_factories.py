"""Sets and pairs of tools to compare, an embedder that needs no model, and advice on pairs."""

import asyncio
import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import jsonpatch  # type: ignore[import-untyped]  # it has no types
import numpy as np
from numpy.typing import NDArray

from mcp_tef.embedding.tfidf import TfidfEmbedder, TfidfLexicon
from mcp_tef.errors import EmbeddingError
from mcp_tef.llm.retrieval_baseline import WordsSelector
from mcp_tef.model.config import Config
from mcp_tef.model.model_catalogue import ModelInfo
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import ComparedTool, EmbedderChoice, EmbedderKind, PairAdvice, Recommendation, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder, Progress, Selector, Writer, WritingTask, Written
from mcp_tef.scoring.differentiation.tool_pair import PairedTool, PairedTools, sides
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Meaning, Vectors
from mcp_tef.scoring.similarity.tool_texts import description_text, full_text, says_something, without_boilerplate
from mcp_tef.scoring.tfidf_weights import stems
from mcp_tef.workflows.models import Models
from mcp_tef.workflows.recommend import Recommendations
from mcp_tef.workflows.similarity import SimilarityAnalyses
from tests.support.fake_ports import FakeCatalogue, FakeKeys, FakeWriter, Writes, loopback_consents
from tests.support.memory_store import MemoryStore

DIMENSIONS = 64


def a_tool(name: str, description: str = "", server: str = "desk", **parameters: Mapping[str, object] | str) -> Tool:
    """A tool; a parameter is given by its schema, or just its type."""
    properties = {key: {"type": value} if isinstance(value, str) else value for key, value in parameters.items()}
    schema = {"type": "object", "properties": properties}
    raw = {"name": name, "description": description, "inputSchema": schema}
    return Tool(server=server, name=name, description=description, input_schema=schema, raw=raw)


def tool_set(*tools: Tool) -> ToolSet:
    """The tools under the ids that gathering gives."""
    return ToolSet(tools=tuple(ComparedTool(f"{tool.server}/{tool.name}", tool) for tool in tools))


def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors by hashed stems, the same for the same text wherever it is embedded; zeros without stems."""
    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for stem in stems(text):
            row[sum(stem.encode("utf-8", "replace")) % DIMENSIONS] += 1
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def compared(*tools: Tool, full: bool = True) -> Similarity:
    """An analysis of the tools by hashed words."""
    telling = without_boilerplate(tools)
    described, whole = list(map(description_text, telling)), list(map(full_text, telling))
    meaning = Meaning(
        embedder="hashed words",
        described=Vectors(vectors([text if says_something(text) else "" for text in described])),
        full=Vectors(vectors(whole)) if full else None,
    )
    return Similarity(tool_set(*tools), meaning)


class HashedWords:
    """An embedder that is always at hand; `asked` holds the texts of every call."""

    def __init__(self, name: str = "folder:hashed", fault: EmbeddingError | None = None) -> None:
        self.name = name
        self.fault = fault
        self.asked: list[tuple[str, ...]] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Hashed stems, or the fault."""
        self.asked.append(tuple(texts))
        if self.fault:
            raise self.fault
        return vectors(texts)


class FakeEmbedders:
    """Embedders by kind; those that are not there cannot be had. `words` is the one that always is."""

    def __init__(self, words: Embedder, **kinds: Embedder) -> None:
        self._kinds = {EmbedderKind.TFIDF.value: words, **kinds}
        self.keys: list[Secret | None] = []

    async def best(self) -> Embedder:
        """The last that was given."""
        return list(self._kinds.values())[-1]

    async def find(self, choice: EmbedderChoice, key: Secret | None = None) -> Embedder:
        """By kind."""
        self.keys.append(key)
        if choice.kind not in self._kinds:
            raise EmbeddingError(f"The embedder {choice.label} is not on this machine.", hint="Download it.")
        return self._kinds[choice.kind]

    def can_download(self, model: str) -> bool:
        """That of this name."""
        return model != "unpinned"

    async def download(self, model: str, progress: Progress) -> None:
        """Done at once."""
        progress(1.0)

    async def close(self) -> None:
        """Nothing is held."""


def told(
    name: str, description: str = "", *, server: str = "desk", required: Sequence[str] = (), **parameters: Any
) -> Tool:
    """A tool; a parameter is its schema, or the text that describes it."""
    properties = {
        key: value if isinstance(value, Mapping) else {"type": "string", "description": value}
        for key, value in parameters.items()
    }
    schema = {"type": "object", "properties": properties, "required": list(required)}
    raw = {"name": name, "description": description, "inputSchema": schema}
    return Tool(server=server, name=name, description=description, input_schema=schema, raw=raw)


def compared_as(tool: Tool, suffix: str = "") -> ComparedTool:
    """The tool under the id that gathering gives."""
    return ComparedTool(f"{tool.server}/{tool.name}{suffix}", tool)


def pair_of(one: Tool, other: Tool, similarity: float = 0.9, confusability: float = 0.9) -> PairedTools:
    """The two, side by side."""
    return sides(PairedTool(compared_as(one)), PairedTool(compared_as(other)), similarity, confusability)


COMMENT = told(
    "jira_add_comment",
    "Add a comment to a Jira issue.",
    required=("issue_key", "body"),
    issue_key="Jira issue key (e.g., 'PROJ-123')",
    body="Comment text in Markdown",
)
PAGE_COMMENT = told(
    "confluence_add_comment",
    "Add a comment to a Confluence page.",
    required=("page_id", "body"),
    page_id="The ID of the page to comment on",
    body="Comment text in Markdown",
)
WEATHER = told("get_weather", "Tell the forecast for a city.", city="Name of the city, e.g. 'Paris'")
BOOKING = told("book_flight", "Reserve seats on an airline.", seat="Which seat, such as '12C window'")


MODEL = ModelSettings(provider="local", model="writer", max_retries=1)
KEY = "sk-very-secret-key-0123456789"
TOOLS = (COMMENT, PAGE_COMMENT, WEATHER, BOOKING)
GOOD = "Comment on one issue of Jira, not on a page of Confluence."


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

    def __init__(
        self,
        writer: Writer | None = None,
        embedder: Embedder | None = None,
        baseline: Selector | None = None,
        **infos: ModelInfo,
    ) -> None:
        self.writer = writer or FakeWriter(lambda _task: "")
        self.slept: list[float] = []
        self.embedders = FakeEmbedders(TfidfEmbedder(), **({"folder": embedder} if embedder else {}))
        catalogue = FakeCatalogue({info.label: info for info in infos.values()})
        self.consents = loopback_consents()
        models = Models(catalogue, FakeKeys(known=KEY), self.consents, Config())
        self.store = MemoryStore()
        chooses = baseline or WordsSelector(TfidfLexicon())
        self.analyses = SimilarityAnalyses(self.embedders, TfidfLexicon(), self.store.metrics)
        confused = self.analyses.confused
        self.recommend = Recommendations(self.writer, models, self.store.cases, chooses, confused, self._sleep)

    async def similarity(self, tools: Sequence[Tool] = TOOLS) -> Similarity:
        """An analysis of tools by the best embedder."""
        return await self.similarity_of(tool_set(*tools))

    async def similarity_of(self, tools: ToolSet) -> Similarity:
        """The same, of a set."""
        return await self.analyses.analyse(tools)

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


def changed(patch: Iterable[Mapping[str, Any]], tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools of the server after the patch was applied by the library itself."""
    document = {"tools": [copy.deepcopy(dict(tool.raw)) for tool in tools]}
    after: list[dict[str, Any]] = jsonpatch.JsonPatch([dict(each) for each in patch]).apply(document)["tools"]
    return after
