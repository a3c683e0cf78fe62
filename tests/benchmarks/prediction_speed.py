"""Time from an edit of a draft to all figures of its prediction, for sets of tools and cases of growing size.

`python -m tests.benchmarks.prediction_speed`. Each edit gives one tool another description; vectors and tokens of the
other tools are known from the edit before. Limit: 100 ms for 500 tools and 500 cases. Beside it stand the processor
time of an edit, which a busy machine changes less, the memory at its highest, and a bare numpy product of that many
vectors.
"""

import asyncio
import json
import resource
import tempfile
import time
from pathlib import Path
from random import Random

import numpy as np

from mcp_tef.engine import Engine
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.servers import ServerSpec, Transport

SIZES = (100, 500, 2_000)
EDITS = 15
WORDS = ("find", "send", "list", "create", "mail", "file", "issue", "room", "song", "price", "order", "day", "user")


def text(random: Random, words: int) -> str:
    """A description of some words."""
    return " ".join(random.choice(WORDS) + str(random.randrange(40)) for _ in range(words))


async def opened(folder: Path, size: int) -> Engine:
    """A workspace with so many tools and cases."""
    random = Random(size)
    tools = [
        {"name": f"tool_{place}", "description": text(random, 20), "inputSchema": {"type": "object", "properties": {}}}
        for place in range(size)
    ]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    engine = await Engine.open(folder / "work.db", environment={"HOME": str(folder), "XDG_DATA_HOME": str(folder)})
    await engine.servers.add(ServerSpec(name="many", transport=Transport.FILE, path=str(folder / "tools.json")))
    cases = [
        CaseDraft(
            name=f"case {place}",
            query=text(random, 8),
            servers=("many",),
            expectation=Expectation(((ExpectedCall(tool=f"tool_{place}"),),)),
        )
        for place in range(size)
    ]
    await engine.cases.add(cases)
    return engine


def bare(size: int) -> float:
    """Milliseconds of one product of that many vectors of 384 numbers."""
    vectors = np.random.default_rng(1).random((size, 384), dtype=np.float32)
    start = time.perf_counter()
    _ = vectors @ vectors.T
    return 1_000 * (time.perf_counter() - start)


async def measure(size: int) -> None:
    """Print one row."""
    with tempfile.TemporaryDirectory() as folder:
        async with await opened(Path(folder), size) as engine:
            draft = await engine.drafts.new("edited", server="many")
            took, used = [], []
            for number in range(EDITS + 1):
                change = ToolEdit(description=text(Random(-number), 20))
                draft = await engine.drafts.edit(draft.id, "tool_7", change)
                start, before = time.perf_counter(), time.process_time()
                await engine.predictions.predict(draft)
                took.append(1_000 * (time.perf_counter() - start))
                used.append(1_000 * (time.process_time() - before))
    p50, p95 = np.percentile(took[1:], [50, 95])
    processor, most = np.percentile(used[1:], [50, 95])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    row = f"{size:>6} {took[0]:>10.0f} {p50:>8.0f} {p95:>8.0f} {processor:>14.0f} {most:>8.0f} {memory:>10.0f}"
    print(f"{row} {bare(size):>12.1f}", flush=True)


if __name__ == "__main__":
    times = f"{'first, ms':>10} {'p50':>8} {'p95':>8} {'processor, p50':>14} {'p95':>8}"
    print(f"{'tools':>6} {times} {'MB':>10} {'product, ms':>12}")
    for size in SIZES:
        asyncio.run(measure(size))
