"""Runs the bundled sample servers: the bicycle shop, and the reading room with a local embedding model where one is."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mcp_tef.workflows.sample_program import SampleName

if TYPE_CHECKING:
    from mcp_tef.scoring.retrieval import Embed, Vectors


def run_sample(sample: SampleName, http_port: int | None) -> None:
    """Serve a sample until told to stop: over stdio, or on a port of loopback; its url is written to stderr then."""
    if sample is SampleName.BIKE_SHOP:
        from mcp_tef.servers.sample_server import run_sample_server

        run_sample_server(http_port)
        return
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve_reading_room(http_port))


async def _serve_reading_room(port: int | None) -> None:
    from mcp_tef.servers.library_server import serve_over_http, serve_over_stdio
    from mcp_tef.servers.reading_room import ReadingRoom

    room = ReadingRoom(await _local_embedding())
    if port is None:
        await serve_over_stdio(room)
    else:
        await serve_over_http(room, port, None, _tell)


def _tell(url: str) -> None:
    sys.stderr.write(f"{url}\n")
    sys.stderr.flush()


async def _local_embedding() -> "Embed | None":
    """Return vectors of the best model on this machine, for other threads than the loop's; None where there is none."""
    from mcp_tef.embedding.local_embedder import best_local_embedder
    from mcp_tef.storage.workspace_file import data_folder

    embedder = await best_local_embedder(os.environ, data_folder() / "models")
    if embedder is None:
        return None
    loop, found = asyncio.get_running_loop(), embedder

    def embed(texts: Sequence[str]) -> "Vectors":
        return asyncio.run_coroutine_threadsafe(found.embed(texts), loop).result()

    return embed
