"""Embedding through our embedder beside bare fastembed at its best batch size, the cache of vectors, and TF-IDF.

Ours may take 1.2 × as long as bare fastembed, of which the middle ratio of three rounds is taken. The model is in the
folder that `MCP_TEF_EMBEDDING_FOLDER` names; without one only TF-IDF is measured.
"""

import asyncio
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mcp_tef.embedding.local_embedder import FOLDER_VARIABLE, FastembedEmbedder
from mcp_tef.embedding.tfidf import TfidfIndex
from mcp_tef.embedding.vector_cache import CachedEmbedder, VectorCache

LIMIT_RATIO = 1.2
CACHED_SECONDS = 0.3
MOST_MB = 3072
TEXTS = 150
BATCHES = (8, 16, 32)
SIZES = (1_000, 10_000)
VERBS = ("get", "list", "create", "update", "delete", "search", "send", "read", "write", "move", "copy", "merge")
LETTERS = "bcdfghjklmnprstvz"


def words(draw: random.Random, count: int) -> list[str]:
    """Made-up words that can be spoken."""
    return [
        "".join(draw.choice(LETTERS) + draw.choice("aeiou") for _ in range(draw.randint(2, 4))) for _ in range(count)
    ]


def texts(count: int) -> list[str]:
    """Descriptions of tools, about 300 characters each; common words come often, others hardly ever."""
    draw = random.Random(7)
    known = words(draw, 4_000)
    weights = [1 / (place + 2) for place in range(len(known))]
    rows = (draw.choices(known, weights, k=draw.randint(15, 70)) for _ in range(count))
    return [
        f"{draw.choice(VERBS)} {' '.join(row[:2])}. {draw.choice(VERBS).title()}s the {' '.join(row)}." for row in rows
    ]


def seconds(work: Callable[[], object]) -> float:
    """How long it takes, once."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def tfidf() -> bool:
    """Print what TF-IDF takes; whether the memory stays within its limit."""
    TfidfIndex(["warm up"]).overlaps()
    for size in SIZES:
        rows = texts(size)
        built = statistics.median(seconds(lambda rows=rows: TfidfIndex(rows)) for _ in range(3))  # type: ignore[misc]
        index = TfidfIndex(rows)
        compared = min(seconds(index.overlaps) for _ in range(3 if size < 5_000 else 1))
        print(f"TF-IDF, {size:,} tools: reading {built:.3f} s, all overlaps {compared:.3f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  most memory {peak:.0f} MB (limit {MOST_MB} MB)")
    return peak <= MOST_MB


async def model(folder: Path) -> bool:
    """Print what the model takes through our embedder and bare; whether ours keeps its limits."""
    rows = texts(TEXTS)
    ours = FastembedEmbedder(folder=folder)
    await ours.embed(rows[:8])
    bare = await ours._loaded()  # the very same model, so that only the way to it differs
    best = min(BATCHES, key=lambda size: seconds(lambda: list(bare.embed(rows[:64], batch_size=size))))
    ratios = []
    for _ in range(3):
        plain = seconds(lambda: list(bare.embed(rows, batch_size=best)))
        started = time.perf_counter()
        await ours.embed(rows)
        ratios.append((time.perf_counter() - started) / plain)
    ratio = statistics.median(ratios)
    print(f"{ours.name}: {ratio:.2f} × bare fastembed at its best batch size, {best} (limit {LIMIT_RATIO} ×)")
    return await cached(ours, rows) and ratio <= LIMIT_RATIO


async def cached(ours: FastembedEmbedder, rows: Sequence[str]) -> bool:
    """Print what the same texts take the second time; whether that is quick enough for 1,000 of them."""
    with tempfile.TemporaryDirectory() as folder:
        identity = await ours.ready()
        await CachedEmbedder(ours, VectorCache(Path(folder)), identity).embed(rows)
        fresh = CachedEmbedder(ours, VectorCache(Path(folder)), identity)
        started = time.perf_counter()
        await fresh.embed(rows)
        taken = (time.perf_counter() - started) * 1_000 / len(rows)
    print(f"  from the cache: {taken:.3f} s for 1,000 texts (limit {CACHED_SECONDS} s)")
    return taken <= CACHED_SECONDS


def main() -> int:
    """Measure, print, and fail where a limit is not kept."""
    kept = tfidf()
    folder = os.environ.get(FOLDER_VARIABLE, "").strip()
    if not folder:
        print(f"no model measured: {FOLDER_VARIABLE} names no folder")
        return 0 if kept else 1
    return 0 if asyncio.run(model(Path(folder))) and kept else 1


if __name__ == "__main__":
    sys.exit(main())
