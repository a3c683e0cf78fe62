"""Ports for embedding and indexing texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mcp_tef.model.secrets import Secret
    from mcp_tef.model.similarity import EmbedderChoice


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

    async def download(self, model: str, progress: Progress) -> None:
        """Fetch a fastembed model, telling how much is done (0–1); EmbeddingError. Cancelling leaves nothing behind."""
        ...

    async def close(self) -> None:
        """Give back models and connections."""
        ...
