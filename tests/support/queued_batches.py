"""A process with three batches: one under way, two that wait behind it. It ends when it is killed."""

import argparse
import asyncio
from pathlib import Path

from mcp_tef import BatchRequest, ModelSettings
from mcp_tef.engine import Engine

NAMES = ("First", "Second", "Third")


async def hold(workspace: Path, address: str) -> None:
    """Start the batches, and stay."""
    engine = await Engine.open(workspace)
    model = ModelSettings(provider="openai", model="gpt-4", base_url=address, timeout=300, max_retries=0)
    for name in NAMES:
        await engine.runs.start(BatchRequest(models=(model,), concurrency=1, name=name))
    assert len(engine.runs.waiting()) == len(NAMES) - 1
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("address")
    given = parser.parse_args()
    asyncio.run(hold(given.workspace, given.address))
