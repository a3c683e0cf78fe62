"""Fastembed models on this machine, and the best of them; fastembed loads lazily and never downloads anything here."""

import asyncio
import os
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import EmbeddingError
from mcp_tef.model.installation import how_to_install, missing_library

if TYPE_CHECKING:
    from fastembed import TextEmbedding


def require_fastembed() -> None:
    """Raise EmbeddingError where the libraries behind local models are not installed."""
    if library := missing_library("fastembed", "onnxruntime"):
        raise EmbeddingError(
            f"Local embedding models need {library}, which is not installed.", hint=how_to_install(library)
        )


def load_fastembed() -> "type[TextEmbedding]":
    """Load the class of fastembed, without the telemetry of its runtime (ONNX), which has an id for this machine.

    Raises EmbeddingError where it is not installed.
    """
    require_fastembed()
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from fastembed import TextEmbedding
    from loguru import logger
    from onnxruntime import disable_telemetry_events  # type: ignore[import-untyped]  # it ships no types

    disable_telemetry_events()
    logger.disable("fastembed")
    return TextEmbedding


Result = TypeVar("Result")
DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"
FOLDER_VARIABLE = "MCP_TEF_EMBEDDING_FOLDER"
BUNDLED_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
BUNDLED_FOLDER = Path(str(files("resources"))) / "model"
"""Folder with the weights of `BUNDLED_MODEL` in an installed app; the source comes without them."""
BASELINE_MODELS = (BUNDLED_MODEL, DEFAULT_MODEL)
"""Models for `offline/meaning`, first the one that its thresholds are fitted to."""
BATCH_SIZE = 16

_MODEL_BY_FILE = {"model_optimized.onnx": DEFAULT_MODEL, "model.onnx": "sentence-transformers/all-MiniLM-L6-v2"}
HOW_TO_HAVE_ONE = (
    "Put model.onnx, tokenizer.json and the other files of a model that you trust into a folder and give it "
    "(folder:DIR), or compare by words (tfidf), which needs none."
)


class FastembedEmbedder:
    """A fastembed model from a folder of its own, or by name from fastembed's cache. Loaded when first used."""

    def __init__(self, model: str = "", *, folder: Path | None = None, cache: Path | None = None) -> None:
        self._model_name = model
        self._folder = folder
        self._cache = cache
        self._model: TextEmbedding | None = None
        self._busy = asyncio.Lock()

    @property
    def name(self) -> str:
        """`fastembed:MODEL`, or `folder:NAME` for a folder that may hold any."""
        unnamed = self._folder if not self._model_name else None
        return f"folder:{unnamed.name}" if unnamed else f"fastembed:{self._model_name or DEFAULT_MODEL}"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (len(texts), dimensions); EmbeddingError at once where there is no model."""
        async with self._busy:
            model = await self._loaded()
            return await _in_thread(self.name, lambda: _vectors(model, texts))

    async def ready(self) -> str:
        """Return a text that changes with its vectors: its name and the files of its folder; raises EmbeddingError.

        A model in a folder is not loaded for that, so that texts in the cache need no model in memory.
        """
        if self._folder is not None:
            return await _in_thread(self.name, self._fingerprint)
        async with self._busy:
            await self._loaded()
        return self.name

    def _fingerprint(self) -> str:
        folder = self._folder or Path()
        if not self._model_name:
            _model_of(folder)
        found = ((file, file.stat()) for file in sorted(folder.rglob("*")) if file.is_file())
        return "\n".join((self.name, *(f"{file} {status.st_size} {status.st_mtime_ns}" for file, status in found)))

    async def _loaded(self) -> "TextEmbedding":
        if self._model is None:
            self._model = await _in_thread(self.name, self._load)
        return self._model

    def _load(self) -> "TextEmbedding":
        model = self._model_name or (DEFAULT_MODEL if self._folder is None else _model_of(self._folder))
        place = None if self._folder is None else str(self._folder)
        cache = None if self._cache is None else str(self._cache)
        return load_fastembed()(model, cache_dir=cache, specific_model_path=place, local_files_only=True)


def _model_of(folder: Path) -> str:
    for file, model in _MODEL_BY_FILE.items():
        if (folder / file).is_file():
            return model
    raise FileNotFoundError(f"no model.onnx in {folder}")


def _vectors(model: "TextEmbedding", texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed texts of like length together, which is several times faster than in the order given."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    found = list(model.embed([texts[place] or " " for place in order], batch_size=BATCH_SIZE))
    rows = np.zeros((len(texts), len(found[0]) if found else 0), dtype=np.float32)
    rows[order] = np.asarray(found, dtype=np.float32).reshape(rows.shape)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


async def _in_thread(name: str, work: Callable[[], Result]) -> Result:
    """Do the work in a thread. onnxruntime and tokenizers raise classes of no common kind: any means no model."""
    (outcome,) = await asyncio.gather(asyncio.to_thread(work), return_exceptions=True)
    if isinstance(outcome, EmbeddingError):
        raise outcome
    if isinstance(outcome, BaseException):
        raise EmbeddingError(
            f"The embedding model {name} cannot be used: {_first_line(outcome)}.",
            hint=HOW_TO_HAVE_ONE,
            context={"model": name},
        )
    return outcome


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:200]


async def best_local_embedder(
    environment: Mapping[str, str], models: Path, bundled: Path = BUNDLED_FOLDER
) -> FastembedEmbedder | None:
    """Return the model in the folder `MCP_TEF_EMBEDDING_FOLDER`, else the bundled one, else fastembed's default.

    None means that only word overlap (TF-IDF) is at hand. EmbeddingError where the folder that was named is unusable.
    """
    if environment.get(FOLDER_VARIABLE, "").strip():
        return await _tried(FastembedEmbedder(folder=_folder(environment)))
    for name in BASELINE_MODELS:
        found = await asyncio.to_thread(kept_model, models, name, bundled)
        try:
            if found:
                return await _tried(found)
        except EmbeddingError:
            continue
    return None


def home_of(models: Path, name: str) -> Path:
    """Return the folder of a fetched model below `models`."""
    return models / "fetched" / re.sub(r"[^\w.\-]+", "--", name.lower())


def kept_model(models: Path, name: str, bundled: Path = BUNDLED_FOLDER) -> FastembedEmbedder | None:
    """Return a model by its name: fetched into `models`, bundled, or perhaps fetched there by fastembed; else None."""
    for folder in (home_of(models, name), *([bundled] if name == BUNDLED_MODEL else [])):
        if folder.is_dir():
            return FastembedEmbedder(name, folder=folder)
    return FastembedEmbedder(name, cache=models) if any(models.glob("models--*")) else None


def _folder(environment: Mapping[str, str]) -> Path:
    return Path(os.path.expanduser(environment[FOLDER_VARIABLE].strip()))


async def _tried(embedder: FastembedEmbedder) -> FastembedEmbedder:
    await embedder.embed(["ready"])
    return embedder
