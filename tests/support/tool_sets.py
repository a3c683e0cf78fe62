"""Sets of tools to compare, and an embedder that needs no model."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import EmbeddingError
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import ComparedTool, EmbedderChoice, EmbedderKind, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Embedder, Progress
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.scoring.similarity.signals import Meaning, Vectors
from mcp_tef.scoring.similarity.tool_texts import description_text, full_text, says_something
from mcp_tef.scoring.tokenize import stems

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
    described = [description_text(tool) for tool in tools]
    whole = [full_text(tool) for tool in tools]
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

    async def download(self, model: str, progress: Progress) -> None:
        """Done at once."""
        progress(1.0)

    async def close(self) -> None:
        """Nothing is held."""
