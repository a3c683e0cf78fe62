"""Chooses the best embedder that this machine has already."""

import asyncio
import os
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from mcp_tef.embedding.fetching import home_of
from mcp_tef.embedding.local_model import DEFAULT_MODEL, FastembedEmbedder
from mcp_tef.errors import EmbeddingError

FOLDER_VARIABLE = "MCP_TEF_EMBEDDING_FOLDER"
BUNDLED_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
BUNDLED_FOLDER = Path(str(files("resources"))) / "model"
"""Where an installed app has the weights of `BUNDLED_MODEL`; the source comes without them."""
USUAL_MODELS = (DEFAULT_MODEL, BUNDLED_MODEL)


async def best_local_embedder(
    environment: Mapping[str, str], models: Path, bundled: Path = BUNDLED_FOLDER
) -> FastembedEmbedder | None:
    """The model in the folder that `MCP_TEF_EMBEDDING_FOLDER` names, else fastembed's default, else the bundled one.

    None means that only word overlap (TF-IDF) is at hand. EmbeddingError where the folder that was named is unusable.
    """
    if environment.get(FOLDER_VARIABLE, "").strip():
        return await _tried(FastembedEmbedder(folder=_folder(environment)))
    for name in USUAL_MODELS:
        found = await asyncio.to_thread(kept_model, models, name, bundled)
        try:
            if found:
                return await _tried(found)
        except EmbeddingError:
            continue
    return None


def kept_model(models: Path, name: str, bundled: Path = BUNDLED_FOLDER) -> FastembedEmbedder | None:
    """A model by its name: fetched into `models`, bundled, or may be among what fastembed fetched there; else None."""
    for folder in (home_of(models, name), *([bundled] if name == BUNDLED_MODEL else [])):
        if folder.is_dir():
            return FastembedEmbedder(name, folder=folder)
    return FastembedEmbedder(name, cache=models) if any(models.glob("models--*")) else None


def _folder(environment: Mapping[str, str]) -> Path:
    return Path(os.path.expanduser(environment[FOLDER_VARIABLE].strip()))


async def _tried(embedder: FastembedEmbedder) -> FastembedEmbedder:
    await embedder.embed(["ready"])
    return embedder
