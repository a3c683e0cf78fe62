"""Chooses the best embedder that this machine has already."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from mcp_tef.embedding.fetching import home_of
from mcp_tef.embedding.local_model import DEFAULT_MODEL, FastembedEmbedder
from mcp_tef.errors import EmbeddingError

FOLDER_VARIABLE = "MCP_TEF_EMBEDDING_FOLDER"


async def best_local_embedder(environment: Mapping[str, str], cache: Path | None = None) -> FastembedEmbedder | None:
    """The model in the folder that `MCP_TEF_EMBEDDING_FOLDER` names, else fastembed's default in `cache`, else None.

    None means that only word overlap (TF-IDF) is at hand. EmbeddingError where the folder that was named is unusable.
    """
    if environment.get(FOLDER_VARIABLE, "").strip():
        return await _tried(FastembedEmbedder(folder=_folder(environment)))
    found = None if cache is None else await asyncio.to_thread(kept_model, cache, DEFAULT_MODEL)
    try:
        return await _tried(found) if found else None
    except EmbeddingError:
        return None


def kept_model(models: Path, name: str) -> FastembedEmbedder | None:
    """A model by its name that was fetched into `models`, or may be among what fastembed fetched there; else None."""
    home = home_of(models, name)
    if home.is_dir():
        return FastembedEmbedder(name, folder=home)
    return FastembedEmbedder(name, cache=models) if any(models.glob("models--*")) else None


def _folder(environment: Mapping[str, str]) -> Path:
    return Path(environment[FOLDER_VARIABLE].strip()).expanduser()


async def _tried(embedder: FastembedEmbedder) -> FastembedEmbedder:
    await embedder.embed(["ready"])
    return embedder
