"""Vectors that were worked out before."""

import asyncio
import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mcp_tef.embedding.vector_cache import STALE_SECONDS, CachedEmbedder, VectorCache
from mcp_tef.errors import EmbeddingError
from tests.support.model_replies import vector


class Counting:
    """An embedder that remembers what it was asked, and breaks at one text."""

    name = "counting"

    def __init__(self, *, breaks_at: str | None = None, width: int = 8) -> None:
        self.asked: list[str] = []
        self._breaks_at = breaks_at
        self._width = width

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._breaks_at in texts:
            raise EmbeddingError("It broke.")
        self.asked += texts
        return np.asarray([vector(text)[: self._width] for text in texts], dtype=np.float32)


async def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    inner = Counting()
    texts = ["get user", "", "delete user", "get user"]
    first = await CachedEmbedder(inner, VectorCache(tmp_path), "model").embed(texts)
    again = await CachedEmbedder(inner, VectorCache(tmp_path), "model").embed([*texts[::-1], "new"])
    assert sorted(inner.asked) == ["", "delete user", "get user", "new"]
    assert np.array_equal(again[:4], first[::-1])
    assert first.dtype == np.float32
    assert np.array_equal(first, np.asarray([vector(text) for text in texts], dtype=np.float32))


async def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    one, other = Counting(), Counting()
    await CachedEmbedder(one, VectorCache(tmp_path), "one").embed(["text"])
    await CachedEmbedder(other, VectorCache(tmp_path), "other").embed(["text"])
    assert other.asked == ["text"]


async def test_a_model_that_now_gives_vectors_of_another_length_is_asked_anew(tmp_path: Path) -> None:
    await CachedEmbedder(Counting(width=4), VectorCache(tmp_path), "model").embed(["old"])
    found = await CachedEmbedder(Counting(), VectorCache(tmp_path), "model").embed(["old", "new"])
    assert found.tolist() == [vector("old"), vector("new")]


async def test_no_texts_need_no_model(tmp_path: Path) -> None:
    inner = Counting()
    assert len(await CachedEmbedder(inner, VectorCache(tmp_path), "model").embed([])) == 0
    assert inner.asked == []


async def test_what_was_embedded_before_a_failure_is_kept(tmp_path: Path) -> None:
    texts = [f"text {number:04}" for number in range(400)]
    with pytest.raises(EmbeddingError):
        await CachedEmbedder(Counting(breaks_at=texts[-1]), VectorCache(tmp_path), "model").embed(texts)
    inner = Counting()
    await CachedEmbedder(inner, VectorCache(tmp_path), "model").embed(texts)
    assert 0 < len(inner.asked) < len(texts)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"not a database " * 100,
        lambda data: data[:4096],
        lambda data: data[:100] + b"\xff" * 8 + data[108:],
    ],
)
async def test_texts_of_a_damaged_file_are_embedded_again(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    await CachedEmbedder(Counting(), VectorCache(tmp_path), "model").embed(["text"])
    file = tmp_path / "vectors.sqlite3"
    file.write_bytes(damage(file.read_bytes()))
    inner = Counting()
    for _ in range(3):
        found = await CachedEmbedder(inner, VectorCache(tmp_path), "model").embed(["text"])
        assert found[0].tolist() == vector("text")
    assert 1 <= len(inner.asked) <= 2


def test_the_cache_stays_within_its_bytes_and_forgets_what_was_used_longest_ago(tmp_path: Path) -> None:
    now = [0.0]
    cache = VectorCache(tmp_path, limit=500_000, clock=lambda: now[0])
    for place, text in enumerate("abcdef"):
        now[0] += 2 * STALE_SECONDS
        cache.store(f"model {place}", {text: np.ones(25_000, dtype=np.float32)})
        cache.load("model 0", ["a"])
    kept = [text for place, text in enumerate("abcdef") if cache.load(f"model {place}", [text])]
    assert kept[0] == "a"
    assert "f" in kept
    assert 2 <= len(kept) < 6
    assert (tmp_path / "vectors.sqlite3").stat().st_size <= 700_000


def test_a_cache_that_was_cleared_starts_anew(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path)
    cache.store("model", {"text": np.ones(3, dtype=np.float32)})
    cache.clear()
    assert cache.load("model", ["text"]) == {}
    cache.store("model", {"text": np.ones(3, dtype=np.float32)})
    assert list(cache.load("model", ["text"])) == ["text"]


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    cache = VectorCache(tmp_path / "taken")
    cache.store("model", {"text": np.ones(3, dtype=np.float32)})
    assert cache.load("model", ["text"]) == {}


def _fill(folder: str, first: int) -> None:
    cache = VectorCache(Path(folder), limit=100_000)
    for number in range(first, first + 40):
        cache.store("model", {f"text {number}": np.full(100, number + 1, dtype=np.float32)})
        for row in cache.load("model", [f"text {other}" for other in range(80)]).values():
            assert len(set(row.tolist())) == 1


async def test_two_processes_share_it_unharmed(tmp_path: Path) -> None:
    forking = multiprocessing.get_context("spawn")
    processes = [forking.Process(target=_fill, args=(str(tmp_path), first)) for first in (0, 40)]
    for process in processes:
        process.start()
    await asyncio.gather(*(asyncio.to_thread(process.join) for process in processes))
    assert [process.exitcode for process in processes] == [0, 0]
    found = VectorCache(tmp_path).load("model", [f"text {number}" for number in range(80)])
    assert all(row.tolist() == [int(text[5:]) + 1] * 100 for text, row in found.items())
