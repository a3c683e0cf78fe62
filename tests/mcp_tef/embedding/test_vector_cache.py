"""Vectors that were worked out before."""

import asyncio
import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mcp_tef.embedding.vector_cache import MOST_SMALL, CachedEmbedder, VectorCache
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
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
        lambda data: b"NOTVECTS" + data[8:],
        lambda data: data[:8] + b"\xff" * 16 + data[24:],
    ],
)
async def test_a_damaged_file_is_set_aside_and_its_texts_are_embedded_again(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    await CachedEmbedder(Counting(), VectorCache(tmp_path), "model").embed(["text"])
    (file,) = _files(tmp_path, "*.vectors")
    file.write_bytes(damage(file.read_bytes()))
    inner = Counting()
    found = await CachedEmbedder(inner, VectorCache(tmp_path), "model").embed(["text"])
    assert inner.asked == ["text"]
    assert found[0].tolist() == vector("text")
    assert len(_files(tmp_path, "*.damaged")) == 1
    assert len(_files(tmp_path, "*.vectors")) == 1


def test_the_cache_stays_within_its_bytes_and_forgets_what_was_used_longest_ago(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, limit=5_000)
    for place, text in enumerate("abcdef"):
        cache.store(f"model {place}", {text: np.ones(250, dtype=np.float32)})
        cache.load("model 0", ["a"])
    kept = [text for place, text in enumerate("abcdef") if VectorCache(tmp_path).load(f"model {place}", [text])]
    assert kept[0] == "a"
    assert "f" in kept
    assert 2 <= len(kept) < 6
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) <= 5_000


def test_texts_embedded_one_by_one_do_not_become_one_file_each(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path)
    texts = [f"text {number}" for number in range(3 * MOST_SMALL)]
    for text in texts:
        cache.store("model", {text: np.asarray(vector(text), dtype=np.float32)})
    assert len(_files(tmp_path, "*.vectors")) <= MOST_SMALL
    found = VectorCache(tmp_path).load("model", texts)
    assert {text: row.tolist() for text, row in found.items()} == {text: vector(text) for text in texts}


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", "utf-8")
    cache = VectorCache(tmp_path / "taken")
    cache.store("model", {"text": np.ones(3, dtype=np.float32)})
    assert cache.load("model", ["text"]) == {}


def _fill(folder: str, first: int) -> None:
    cache = VectorCache(Path(folder), limit=40_000)
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
    assert _files(tmp_path, "*.damaged") == []


def _files(folder: Path, pattern: str) -> list[Path]:
    return list(folder.rglob(pattern))
