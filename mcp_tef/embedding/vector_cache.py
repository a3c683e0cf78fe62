"""Disk cache of vectors, keyed by embedder and text, so that no text is embedded twice.

A shard is one file that never changes: a header, the keys of its texts, then their vectors. Each writer creates its own
shards, so several processes need no lock. When the folder grows too large, the least recently used shards are deleted.
"""

import asyncio
import contextlib
import hashlib
import os
import shutil
import struct
import threading
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.files import create_private, make_private_folder
from mcp_tef.ports import Embedder

Vector = NDArray[np.float32]
LIMIT_BYTES = 256 * 1024 * 1024
OPEN_BYTES = 64 * 1024 * 1024
SMALL_BYTES = 4 * 1024 * 1024
MOST_SMALL = 16
CHUNK = 256

_HEADER = struct.Struct("<8sIIII")
_MAGIC = b"TEFVEC\x00\x01"
_KEY_BYTES = 32


class VectorCache:
    """Vectors of one folder, at most `limit` bytes. Whatever goes wrong with a file, it is only a text not found."""

    def __init__(self, folder: Path, *, limit: int = LIMIT_BYTES) -> None:
        self._folder = folder
        self._limit = limit
        self._open: dict[Path, _Shard] = {}
        self._busy = threading.Lock()

    def load(self, identity: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of those texts that this embedder has embedded before."""
        wanted = {_key(identity, text): text for text in texts}
        found: dict[str, Vector] = {}
        with self._busy:
            for file, shard in self._shards(self._shelf(identity)):
                here = {text: shard.vectors[shard.places[key]] for key, text in wanted.items() if key in shard.places}
                found |= here
                if here:
                    _mark_used(file)
                if len(found) == len(wanted):
                    break
            self._close_some()
        return found

    def clear(self) -> None:
        """Forget all of them; what cannot be removed now goes when room is needed."""
        with self._busy:
            self._open.clear()
            shutil.rmtree(self._folder, ignore_errors=True)

    def store(self, identity: str, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of at least one text, all of one length; where the disk refuses, nothing is kept."""
        keyed = {_key(identity, text): vector for text, vector in vectors.items()}
        with self._busy, contextlib.suppress(OSError):
            shelf = self._shelf(identity)
            _write(shelf, keyed)
            self._merge_small(shelf)
            self._forget_oldest()

    def _shelf(self, identity: str) -> Path:
        return self._folder / hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _shards(self, shelf: Path) -> Iterator[tuple[Path, "_Shard"]]:
        """Yield every whole shard, latest used first; they never change, so some stay open in memory."""
        for file in sorted(shelf.glob("*.vectors"), key=lambda file: -_status(file).used):
            shard = self._open.pop(file, None) or _read(file)
            if shard is not None:
                self._open[file] = shard
                yield file, shard

    def _close_some(self) -> None:
        while sum(shard.vectors.nbytes for shard in self._open.values()) > OPEN_BYTES:
            self._open.pop(next(iter(self._open)))

    def _merge_small(self, shelf: Path) -> None:
        """Make one shard of many small ones, so that texts embedded one by one do not become one file each."""
        small = [(file, shard) for file, shard in self._shards(shelf) if shard.vectors.nbytes < SMALL_BYTES]
        if len(small) <= MOST_SMALL:
            return
        merged: dict[int, dict[bytes, Vector]] = {}
        for _, shard in small:
            rows = merged.setdefault(shard.vectors.shape[1], {})
            rows |= {key: shard.vectors[place] for key, place in shard.places.items()}
        for rows in merged.values():
            _write(shelf, rows)
        for file, _ in small:
            self._open.pop(file, None)
            file.unlink(missing_ok=True)

    def _forget_oldest(self) -> None:
        files = sorted(((_status(file), file) for file in self._folder.rglob("*.*")), key=lambda one: -one[0].used)
        kept = 0
        for status, file in files:
            kept += status.size
            if kept > self._limit:
                self._open.pop(file, None)
                file.unlink(missing_ok=True)


class CachedEmbedder:
    """An embedder that asks another one only for texts that are not known yet."""

    def __init__(self, inner: Embedder, cache: VectorCache, identity: str) -> None:
        self._inner = inner
        self._cache = cache
        self._identity = identity

    @property
    def name(self) -> str:
        """The name of the embedder behind it."""
        return self._inner.name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text, shape (len(texts), dimensions); what was embedded stays known if the rest fails."""
        known = await asyncio.to_thread(self._cache.load, self._identity, texts)
        await self._learn(known, [text for text in dict.fromkeys(texts) if text not in known])
        if len({len(vector) for vector in known.values()}) > 1:
            await self._learn(known, list(dict.fromkeys(texts)))
        rows = [known[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)

    async def _learn(self, known: dict[str, Vector], missing: Sequence[str]) -> None:
        """Embed the missing texts, those of like length together, and keep each part as soon as it is there."""
        ordered = sorted(missing, key=len)
        for start in range(0, len(ordered), CHUNK):
            part = ordered[start : start + CHUNK]
            fresh = dict(zip(part, await self._inner.embed(part), strict=True))
            await asyncio.to_thread(self._cache.store, self._identity, fresh)
            known.update(fresh)


@dataclass(frozen=True, slots=True)
class _Status:
    size: int
    used: float


@dataclass(frozen=True, slots=True)
class _Shard:
    places: Mapping[bytes, int]
    vectors: Vector


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _status(file: Path) -> _Status:
    """Nothing and never for a file that another process has taken away."""
    try:
        found = file.stat()
    except OSError:
        return _Status(0, 0.0)
    return _Status(found.st_size, found.st_mtime)


def _mark_used(file: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(file)


def _read(file: Path) -> _Shard | None:
    """Return the shard; None where it is gone or damaged. A damaged one is set aside under another name."""
    try:
        shard = _decoded(file.read_bytes())
        if shard is None:
            file.replace(file.with_suffix(".damaged"))
    except OSError:
        return None
    return shard


def _decoded(data: bytes) -> _Shard | None:
    if len(data) < _HEADER.size:
        return None
    magic, count, width, key_bytes, checksum = _HEADER.unpack_from(data)
    body = memoryview(data)[_HEADER.size :]
    whole = magic == _MAGIC and key_bytes == count * _KEY_BYTES and len(body) == key_bytes + 4 * count * width
    if not whole or zlib.crc32(body) != checksum:
        return None
    keys = (bytes(body[at : at + _KEY_BYTES]) for at in range(0, key_bytes, _KEY_BYTES))
    vectors = np.frombuffer(body[key_bytes:], dtype="<f4").reshape(count, width)
    return _Shard({key: place for place, key in enumerate(keys)}, vectors)


def _write(shelf: Path, keyed: Mapping[bytes, Vector]) -> None:
    rows = np.stack([np.asarray(vector, dtype="<f4") for vector in keyed.values()])
    body = b"".join(keyed) + rows.tobytes()
    header = _HEADER.pack(_MAGIC, *rows.shape, len(keyed) * _KEY_BYTES, zlib.crc32(body))
    make_private_folder(shelf)
    unfinished = shelf / f"{uuid.uuid4().hex}.unfinished"
    create_private(unfinished)
    unfinished.write_bytes(header + body)
    unfinished.replace(unfinished.with_suffix(".vectors"))
