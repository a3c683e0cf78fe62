"""Servers of the bundled samples: the bicycle shop, and the reading room with a local embedding model, if any."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mcp_tef.model.json import loads_bounded
from mcp_tef.model.runs import ModelSettings
from mcp_tef.ports import Writer, WritingTask
from mcp_tef.workflows.sample_program import READING_ROOM, SAMPLE_SERVER, SampleName

if TYPE_CHECKING:
    from mcp_tef.scoring.retrieval import Embed, Vectors
    from mcp_tef.servers.bundled_tools import BundledTools
    from mcp_tef.servers.reading_room import WriteAnswer

ANSWERING = 'Answer the question in at most three sentences, from the passages alone. Write JSON: {"answer": "…"}.'


def run_sample(sample: SampleName, http: tuple[int, str] | None, model: ModelSettings | None = None) -> None:
    """Serve a sample until told to stop: over stdio, or on a port of loopback with a token; stderr tells its url.

    A model, which needs no key, writes the answers of the reading room.
    """
    serving = _serve_bike_shop(http) if sample is SampleName.BIKE_SHOP else _serve_reading_room(http, model)
    with suppress(KeyboardInterrupt):
        asyncio.run(serving)


async def _serve_bike_shop(http: tuple[int, str] | None) -> None:
    from mcp_tef.servers.sample_server import BikeShop

    await _serve(BikeShop(), SAMPLE_SERVER, http)


async def _serve_reading_room(http: tuple[int, str] | None, model: ModelSettings | None) -> None:
    from mcp_tef.servers.reading_room import ReadingRoom

    embed = await _local_embedding()
    if model is None:
        await _serve(ReadingRoom(embed), READING_ROOM, http)
        return
    from mcp_tef.llm.client import LitellmWriter

    writer = LitellmWriter()
    try:
        await _serve(ReadingRoom(embed, write=_writing(writer, model)), READING_ROOM, http)
    finally:
        await writer.close()


async def _serve(tools: "BundledTools", name: str, http: tuple[int, str] | None) -> None:
    if http is None:
        from mcp_tef.servers.bundled_tools import serve_over_stdio

        await serve_over_stdio(tools, name)
    else:
        from mcp_tef.servers.library_server import serve_over_http

        await serve_over_http(tools, *http, _tell, name)


def _writing(writer: "Writer", model: ModelSettings) -> "WriteAnswer":
    """Return answers that a model writes from passages, for other threads than the loop's."""
    loop = asyncio.get_running_loop()

    def write(query: str, passages: Sequence[str]) -> tuple[str, int]:
        task = WritingTask(model, ANSWERING, "\n\n".join((f"Question: {query}", "Passages:", *passages)))
        written = asyncio.run_coroutine_threadsafe(writer.write(task), loop).result()
        try:
            answer = str(loads_bounded(written.text)["answer"])
        except (ValueError, KeyError, TypeError):
            answer = written.text
        return answer, written.tokens_out or 0

    return write


def _tell(url: str) -> None:
    sys.stderr.write(f"{url}\n")
    sys.stderr.flush()


async def _local_embedding() -> "Embed | None":
    """Return vectors of the best model on this machine, for other threads than the loop's; None where there is none."""
    from mcp_tef.embedding.local_embedder import best_local_embedder
    from mcp_tef.model.installation import data_folder

    embedder = await best_local_embedder(os.environ, data_folder() / "models")
    if embedder is None:
        return None
    loop, found = asyncio.get_running_loop(), embedder

    def embed(texts: Sequence[str]) -> "Vectors":
        return asyncio.run_coroutine_threadsafe(found.embed(texts), loop).result()

    return embed
