"""Registry of embedders: local ones, loaded once, and remote ones with their key."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from mcp_tef.embedding.local_embedder import (
    BUNDLED_FOLDER,
    BUNDLED_MODEL,
    DEFAULT_MODEL,
    FOLDER_VARIABLE,
    HOW_TO_HAVE_ONE,
    FastembedEmbedder,
    home_of,
    kept_model,
    require_fastembed,
)
from mcp_tef.embedding.model_download import HUB_VARIABLE, PINNED, USUAL_HUB, ModelDownload, PinnedModel, known_model
from mcp_tef.embedding.remote_embedders import HttpEmbedder, LitellmConnection, LitellmEmbedder
from mcp_tef.embedding.tfidf import TfidfEmbedder
from mcp_tef.embedding.vector_cache import CachedEmbedder, VectorCache
from mcp_tef.errors import EmbeddingError
from mcp_tef.model.addresses import environment_address
from mcp_tef.model.limits import USUAL, LimitsSource
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import EmbedderChoice, EmbedderKind
from mcp_tef.ports import Embedder, Progress

_USUAL = (EmbedderChoice(EmbedderKind.FASTEMBED), EmbedderChoice(EmbedderKind.FASTEMBED, BUNDLED_MODEL))
_PROBE = ["Lists the files in a folder."]


class EmbedderRegistry:
    """Every embedder of one engine, each loaded once and seen through the cache of vectors.

    `folder` holds the `models` that were fetched and the `vectors` of texts that were embedded before.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        folder: Path,
        bundled: Path = BUNDLED_FOLDER,
        *,
        limits: LimitsSource = USUAL,
        pins: Mapping[str, PinnedModel] = PINNED,
    ) -> None:
        self._pins = pins
        self._environment = environment
        self._limits = limits
        self._bundled = bundled
        self._models = folder / "models"
        self._cache = VectorCache(folder / "vectors")
        self._litellm = LitellmConnection()
        self._loaded: dict[tuple[EmbedderKind, str], Embedder] = {}
        self._loading = asyncio.Lock()

    async def best(self) -> Embedder:
        """Return the best that is on this machine; this never waits for a network.

        That is the model in the folder that `MCP_TEF_EMBEDDING_FOLDER` names, else fastembed's default, else the
        bundled one, else TF-IDF.
        """
        named = self._environment.get(FOLDER_VARIABLE, "").strip()
        for choice in (*([EmbedderChoice(EmbedderKind.FOLDER, named)] if named else []), *_USUAL):
            try:
                return await self._local(choice)
            except EmbeddingError:
                continue
        return TfidfEmbedder()

    async def find(self, choice: EmbedderChoice, key: Secret | None = None) -> Embedder:
        """Return the embedder asked for, ready to use; EmbeddingError at once where it is not."""
        match choice.kind:
            case EmbedderKind.TFIDF:
                return TfidfEmbedder()
            case EmbedderKind.LITELLM:
                return self._provider(choice, key)
            case EmbedderKind.HTTP:
                return await self._endpoint(choice, key)
            case _:
                return await self._local(choice)

    def can_download(self, model: str) -> bool:
        """Return True for a model whose files are pinned, which is what `download` needs."""
        return (model or DEFAULT_MODEL).lower() in map(str.lower, self._pins)

    async def download(self, model: str, progress: Progress) -> None:
        """Fetch a fastembed model, telling how much is done (0–1); EmbeddingError. Cancelling leaves nothing behind."""
        known = await asyncio.to_thread(known_model, model or DEFAULT_MODEL)
        hub = self._environment.get(HUB_VARIABLE, "").strip() or USUAL_HUB
        await ModelDownload(hub, known, progress, pins=self._pins).into(home_of(self._models, known.name))

    async def forget_vectors(self) -> None:
        """Throw away the vectors of texts that were embedded before; they are made again when they are needed."""
        await asyncio.to_thread(self._cache.clear)

    async def close(self) -> None:
        """Give back models and connections."""
        self._loaded.clear()
        await self._litellm.close()

    async def _local(self, choice: EmbedderChoice) -> Embedder:
        """Return a model of this machine, looked for once; EmbeddingError where it is not here."""
        place = (choice.kind, choice.target)
        async with self._loading:
            if place not in self._loaded:
                embedder = await asyncio.to_thread(self._kept, choice)
                self._loaded[place] = CachedEmbedder(embedder, self._cache, await embedder.ready())
            return self._loaded[place]

    def _kept(self, choice: EmbedderChoice) -> FastembedEmbedder:
        require_fastembed()
        if choice.kind is EmbedderKind.FOLDER:
            return FastembedEmbedder(folder=Path(os.path.expanduser(choice.target)))
        name = choice.target or DEFAULT_MODEL
        found = kept_model(self._models, name, self._bundled)
        if found is None:
            raise EmbeddingError(
                f"The embedding model {name} is not on this machine.",
                hint=f"Download it in the window. {HOW_TO_HAVE_ONE}" if self.can_download(name) else HOW_TO_HAVE_ONE,
                context={"model": name},
            )
        return found

    def _provider(self, choice: EmbedderChoice, key: Secret | None) -> Embedder:
        address = choice.base_url or environment_address(choice.target.partition("/")[0], self._environment)
        embedder = LitellmEmbedder(self._litellm, choice.target, base_url=address, key=key, limits=self._limits.limits)
        return CachedEmbedder(embedder, self._cache, f"{choice.label} {address}")

    async def _endpoint(self, choice: EmbedderChoice, key: Secret | None) -> Embedder:
        """Asked for one vector, by which another model behind the same address is told apart."""
        embedder = HttpEmbedder(choice.target, key, limits=self._limits.limits)
        (vector,) = await embedder.embed(_PROBE)
        return CachedEmbedder(embedder, self._cache, f"{choice.label} {len(vector)} {abs(vector).argmax()}")
