"""Disk cache of vectors, keyed by embedder and text, so that no text is embedded twice."""

import asyncio
import contextlib
import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcp_tef.ports import Embedder
from mcp_tef.trust.files import create_private, make_private_folder, unlink

Vector = NDArray[np.float32]
LIMIT_BYTES = 256 * 1024 * 1024
CHUNK = 256
STALE_SECONDS = 3600.0
"""A use is noted once an hour, because each note rewrites the whole vector."""

_WAIT_SECONDS = 5.0
_KEYS_AT_ONCE = 10_000
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, used_at REAL NOT NULL, vector BLOB NOT NULL)
"""


class VectorCache:
    """Vectors in one SQLite file of a folder, about `limit` bytes at most. Several processes may share it.

    No error of the file is raised: its texts are not found then, and a damaged file is deleted.
    """

    def __init__(self, folder: Path, *, limit: int = LIMIT_BYTES, clock: Callable[[], float] = time.time) -> None:
        self._file = folder / "vectors.sqlite3"
        self._limit = limit
        self._clock = clock

    def load(self, identity: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of those texts that this embedder has embedded before."""
        wanted = {_key(identity, text): text for text in texts}
        found: dict[str, Vector] = {}
        now = self._clock()
        if self._file.is_file():
            with self._errors_handled(), self._connection() as connection:
                stale = list[bytes]()
                for keys in _parts(list(wanted)):
                    marks = ",".join("?" * len(keys))
                    select = f"SELECT key, used_at, vector FROM vectors WHERE key IN ({marks})"  # noqa: S608
                    for key, used_at, data in connection.execute(select, keys):
                        found[wanted[key]] = np.frombuffer(data, dtype="<f4")
                        stale += [key] if used_at < now - STALE_SECONDS else []
                if stale:
                    connection.executemany(
                        "UPDATE vectors SET used_at = ? WHERE key = ?", [(now, key) for key in stale]
                    )
        return found

    def store(self, identity: str, vectors: Mapping[str, Vector]) -> None:
        """Keep the vectors of some texts; where the disk refuses, nothing is kept."""
        now = self._clock()
        rows = [(_key(identity, text), now, np.asarray(row, dtype="<f4").tobytes()) for text, row in vectors.items()]
        with self._errors_handled(), self._connection() as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            self._forget_oldest(connection)

    def clear(self) -> None:
        """Forget all of them."""
        with contextlib.suppress(OSError):
            for file in self._file.parent.glob(f"{self._file.name}*"):
                unlink(file)

    def _forget_oldest(self, connection: sqlite3.Connection) -> None:
        """Delete an eighth of the vectors, the least recently used, as often as the file has too many used pages."""
        while _used_bytes(connection) > self._limit:
            (count,) = connection.execute("SELECT COUNT(*) FROM vectors").fetchone()
            oldest = "SELECT key FROM vectors ORDER BY used_at LIMIT ?"
            connection.execute(f"DELETE FROM vectors WHERE key IN ({oldest})", [count // 8 + 1])  # noqa: S608
            if not count:
                return

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection of this thread, for one transaction."""
        make_private_folder(self._file.parent)
        if not self._file.exists():
            create_private(self._file)
        with contextlib.closing(sqlite3.connect(self._file, timeout=_WAIT_SECONDS)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            # A power failure may cost the cache, and never more: no write has to wait for the disk.
            connection.execute("PRAGMA synchronous = OFF")
            with connection:
                connection.execute(_SCHEMA)
                yield connection

    @contextlib.contextmanager
    def _errors_handled(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.OperationalError):
            return  # Locked, full or not to be opened: as if nothing were known.
        except sqlite3.DatabaseError:
            self.clear()


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


def _key(identity: str, text: str) -> bytes:
    return hashlib.sha256(f"{identity}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _parts(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Yield the keys in parts that SQLite takes as parameters of one statement."""
    return (keys[start : start + _KEYS_AT_ONCE] for start in range(0, len(keys), _KEYS_AT_ONCE))


def _used_bytes(connection: sqlite3.Connection) -> int:
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
    return (pages - free) * size
