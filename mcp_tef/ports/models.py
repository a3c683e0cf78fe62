"""Ports for language models with their catalogue and keys, and for embedding and indexing texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mcp_tef.model.addresses import Destination
    from mcp_tef.model.answers import Answer, CallingMode
    from mcp_tef.model.cases import EarlierMessage
    from mcp_tef.model.ids import BatchId
    from mcp_tef.model.model_catalogue import ModelInfo
    from mcp_tef.model.runs import ModelSettings
    from mcp_tef.model.secrets import Secret
    from mcp_tef.model.similarity import EmbedderChoice
    from mcp_tef.model.tools import OfferedTool
    from mcp_tef.prompts.selection_prompt import SelectionPrompt


@dataclass(frozen=True, slots=True)
class Question:
    """Request to a selector: choose among `tools` for `query`, after the messages `before` it and under `instructions`.

    `key` is for this call only, and so are the `keys` of the models that a group or router may ask instead. What a
    selector learns about a server, as that it refuses tools, holds for one `batch`.
    """

    query: str
    tools: tuple[OfferedTool, ...]
    settings: ModelSettings
    key: Secret | None = None
    batch: BatchId | None = None
    before: tuple[EarlierMessage, ...] = ()
    keys: Mapping[Destination, Secret] = field(default_factory=dict)
    instructions: str = ""


class SelectionPrompts(Protocol):
    """The prompts that selectors send."""

    def prompt_for(self, mode: CallingMode) -> SelectionPrompt:
        """Return the prompt for a way of calling; its name and version are recorded with each run."""
        ...


class Selector(Protocol):
    """Chooses tools for a query; never runs them."""

    async def prepare(self, question: Question) -> None:
        """Load what the first answer would wait for, so that no run's time counts it."""
        ...

    async def select(self, question: Question) -> Answer:
        """Return one attempt, no retries; raises ModelError."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class Selectors(Protocol):
    """Finds the selector for a model."""

    async def resolve(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings with the baseline that the default one stands for; InputError, EmbeddingError."""
        ...

    def selector_for(self, settings: ModelSettings) -> Selector:
        """Return the offline baseline, or the one that asks a model."""
        ...

    async def close(self) -> None:
        """Close every selector that was handed out."""
        ...


@dataclass(frozen=True, slots=True)
class BaselineScores:
    """Scores of a baseline: `scores` has the shape (queries, tools), `picked` (queries,) tells if the best is selected.

    Without a tool, nothing is selected.
    """

    queries: tuple[str, ...]
    scores: NDArray[np.float32]
    picked: NDArray[np.bool_]


class BaselineScorer(Protocol):
    """Scores tools for many queries at once, as the default baseline of this machine does for one."""

    async def scores(self, queries: Sequence[str], tools: Sequence[OfferedTool]) -> BaselineScores:
        """Return the scores of all tools, at least one, for every query; raises EmbeddingError."""
        ...


class ModelCatalogue(Protocol):
    """Catalogue of models that is available offline."""

    async def models(self) -> tuple[ModelInfo, ...]:
        """Return every known model, by label."""
        ...

    async def find(self, settings: ModelSettings) -> ModelInfo | None:
        """Return the catalogue entry of a model, or None."""
        ...

    def providers(self) -> frozenset[str]:
        """Return the names of all providers that can be asked without a base URL."""
        ...

    def asks_for_key(self, settings: ModelSettings) -> bool:
        """Return True if the model needs a key: a cloud provider without a custom base URL."""
        ...

    def key_variable(self, provider: str) -> str:
        """Return the environment variable that holds the provider's key by convention."""
        ...

    async def served(self, address: str, key: Secret | None) -> tuple[str, ...]:
        """Return the names of the models that the server at an address lists. Raises ModelError."""
        ...

    def own_origins(self, provider: str) -> frozenset[str]:
        """Return the origins at which a provider itself is reached; empty where they are not known."""
        ...


@dataclass(frozen=True, slots=True)
class WritingTask:
    """Request to a model to write text. `key` is for this call only."""

    settings: ModelSettings
    system: str
    prompt: str
    key: Secret | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """Text that a model wrote, with its tokens and cost (US dollars; None if unknown); `cut_off` by its limit."""

    text: str
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    cut_off: bool = False


class Writer(Protocol):
    """Has a model write a text."""

    async def write(self, task: WritingTask) -> Written:
        """Return one attempt, no retries, JSON asked for where the provider can force it; raises ModelError."""
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


class TokenCounter(Protocol):
    """Counts what texts cost a model."""

    @property
    def name(self) -> str:
        """Name of the token counter, for display."""
        ...

    def count(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return tokens of each text."""
        ...


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key with where it comes from: `OPENAI_API_KEY`, or `keychain:openai`."""

    secret: Secret
    source: str


class KeySource(Protocol):
    """Source of the keys and addresses of providers."""

    def typed(self, provider: str, origin: str) -> Secret | None:
        """Return the key that was typed in this session for a provider at an origin (empty: the provider's own)."""
        ...

    def stored(self, provider: str) -> StoredKey | None:
        """Return the key of the environment, else that of the keychain, or None."""
        ...

    def is_at_hand(self, provider: str) -> bool:
        """Return True for a key of the environment or a typed one; the keychain is not asked."""
        ...

    def address(self, provider: str) -> str:
        """Return the address that the environment sets for a provider; empty where it sets none."""
        ...


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Name for display and for cache keys."""
        ...

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text: shape (len(texts), dimensions). Raises EmbeddingError."""
        ...


class TextIndex(Protocol):
    """Texts weighed against one another by the words that they share."""

    def scores(self, query: str) -> NDArray[np.float32]:
        """Return the overlap of a query with each text, 0–1, in text order; comparable within one index only."""
        ...

    def scores_of(self, queries: Sequence[str]) -> NDArray[np.float32]:
        """Return the same for many queries: shape (len(queries), number of texts)."""
        ...

    def pairs(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return the overlaps of the texts a[i] and b[i], 0–1: shape (len(a),)."""
        ...

    def overlaps(self) -> NDArray[np.float32]:
        """Return the overlaps of all texts, 0–1: a symmetric square matrix in text order."""
        ...


class Lexicon(Protocol):
    """Makes indexes over texts."""

    async def index(self, texts: Sequence[str]) -> TextIndex:
        """Weigh these texts, at least one, against one another."""
        ...


Progress = Callable[[float], None]


class Embedders(Protocol):
    """Finds and fetches embedders."""

    async def best(self) -> Embedder:
        """Return the best that is on this machine already: a local model, else TF-IDF. Never waits for a network."""
        ...

    async def find(self, choice: EmbedderChoice, key: Secret | None = None) -> Embedder:
        """Return the embedder asked for, if it is ready to use; EmbeddingError at once where it is not."""
        ...

    def can_download(self, model: str) -> bool:
        """Return True for a model that `download` can fetch."""
        ...

    async def download(self, model: str, progress: Progress) -> None:
        """Fetch a fastembed model, telling how much is done (0–1); EmbeddingError. Cancelling leaves nothing behind."""
        ...

    async def close(self) -> None:
        """Give back models and connections."""
        ...
