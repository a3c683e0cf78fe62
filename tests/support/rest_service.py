"""The REST service in a test: over an engine in this process, at a real port of loopback, asked by curl or by httpx."""

import asyncio
import json
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from mcp_tef import Engine, RestOptions, Secret, serve_rest
from mcp_tef.servers.library_server import LibraryServer
from mcp_tef.servers.sample_server import BikeShop
from mcp_tef.servers.serving import listen

PATIENCE_SECONDS = 60.0
TOKEN = "0123456789abcdef0123456789abcdef"
BEARER = {"authorization": f"Bearer {TOKEN}"}


@dataclass(frozen=True)
class RestAnswer:
    """The status of an answer with its text."""

    status: int
    text: str

    @property
    def json(self) -> Any:
        """The JSON of the answer."""
        return json.loads(self.text)


@asynccontextmanager
async def rest_service(
    engine: Engine, options: RestOptions | None = None, allowed: Sequence[str] = ()
) -> AsyncIterator[tuple[str, list[str]]]:
    """The address of the service, and all that it told; callers may have the `allowed` origins contacted."""
    told: list[str] = []
    ready = asyncio.Event()

    def hear(text: str) -> None:
        told.append(text)
        if text.startswith("http"):
            ready.set()

    usual = RestOptions(port=0, token=Secret(TOKEN), origins=tuple(allowed))
    serving = asyncio.create_task(serve_rest(engine, options or usual, hear))
    waiting = asyncio.create_task(ready.wait())
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.wait({serving, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.is_set():
            await serving
        yield told[-1], told
    finally:
        waiting.cancel()
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def curl(line: str, places: Mapping[str, str]) -> RestAnswer:
    """Run a curl line as somebody would paste it, with `$NAME` for what differs from run to run."""
    for name, text in places.items():
        line = line.replace(f"${name}", text)
    words = [
        *shlex.split(line.replace("\\\n", " ")),
        "-H",
        f"Authorization: Bearer {TOKEN}",
        "-s",
        "-m",
        "60",
        "-w",
        "\n%{http_code}",
    ]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    text, _, status = out.decode().rpartition("\n")
    return RestAnswer(int(status), text)


@asynccontextmanager
async def http_sample_server() -> AsyncIterator[str]:
    """The address of the bundled bike shop over streamable HTTP, as a server of somebody who asks for no token."""
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    shop = LibraryServer(BikeShop(), "Bike shop")
    serving = asyncio.create_task(listen(shop.streamable_http_app(host="127.0.0.1"), 0, told.set_result))
    try:
        yield await asyncio.wait_for(told, 30)
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving
