"""Validation of embedding responses: one finite vector per text, scaled to length 1, or an `EmbeddingError`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_tef.errors import EmbeddingError
from mcp_tef.scoring.phrases import counted

MOST_DIMENSIONS = 16_384
HINT = "Check that the address and the model are those of an embedding service."


def rows_of(answer: Any) -> Any:
    """Return the vectors in an answer: OpenAI's `data`, `embeddings`, or text-embeddings-inference's bare list."""
    if not isinstance(answer, Mapping):
        return answer
    data = answer.get("data")
    if isinstance(data, list) and all(isinstance(one, Mapping) for one in data):
        return [one.get("embedding") for one in sorted(data, key=_place)]
    return answer.get("embeddings")


def _place(row: Mapping[str, Any]) -> int:
    place = row.get("index")
    return place if isinstance(place, int) else 0


def unit_rows(name: str, rows: Any, count: int) -> NDArray[np.float32]:
    """Return the vectors at length 1, shape (count, dimensions); EmbeddingError that says what is wrong with them."""
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise refused(name, "its answer holds no list of vectors")
    if len(rows) != count:
        raise refused(name, f"it gave {counted(len(rows), 'vector', 'vectors')} for {counted(count, 'text', 'texts')}")
    widths = {len(row) for row in rows}
    if len(widths) != 1 or not 0 < max(widths) <= MOST_DIMENSIONS:
        raise refused(name, f"its vectors have {_lengths(widths)} numbers")
    return _at_length_one(name, _numbers(name, rows))


def joined(name: str, parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the vectors of several answers below one another; EmbeddingError where their lengths differ."""
    widths = {part.shape[1] for part in parts}
    if len(widths) > 1:
        raise refused(name, f"its vectors have {_lengths(widths)} numbers")
    return np.vstack(parts) if parts else np.zeros((0, 0), dtype=np.float32)


def refused(name: str, reason: str, hint: str = HINT) -> EmbeddingError:
    """Return the error for an answer that cannot be used."""
    return EmbeddingError(f"The embedding model {name} cannot be used: {reason}.", hint=hint, context={"model": name})


def _lengths(widths: set[int]) -> str:
    return " and ".join(str(width) for width in sorted(widths)[:3])


def _numbers(name: str, rows: Sequence[Sequence[Any]]) -> NDArray[np.float64]:
    if not all(type(value) in (int, float) for row in rows for value in row):
        raise refused(name, "its vectors hold something that is no number")
    try:
        found = np.asarray(rows, dtype=np.float64)
    except OverflowError:
        raise refused(name, "its vectors hold numbers that are too large") from None
    if not np.isfinite(found).all():
        raise refused(name, "its vectors hold something that is no finite number")
    return found


def _at_length_one(name: str, rows: NDArray[np.float64]) -> NDArray[np.float32]:
    scaled = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    if not lengths.all():
        raise refused(name, "one of its vectors is all zeros")
    return np.asarray(scaled / lengths, dtype=np.float32)
