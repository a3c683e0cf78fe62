"""Calls of a library tool that answers from a template, beside a bare server of the SDK in the same run.

32 clients call at once, in rounds that take turns with each server. Limit: the p50 of the library is at most 1.5 × that
of the bare server.

    python -m tests.benchmarks.served_calls [--rounds 6] [--calls 20]
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

from tests.support.command_line import command, run
from tests.support.library_designs import CITY
from tests.support.workspace_files import written

AT_ONCE, LIMIT = 32, 1.5
TOKEN = "a-token-for-the-benchmark"
TOOL = {"name": "weather", "description": "Tell the weather in a city.", "inputSchema": CITY}


def bare() -> None:
    """Serve the same tool by the SDK alone; the address is the first line of standard error."""
    import uvicorn

    async def listed(_context: Any, _params: Any) -> mcp_types.ListToolsResult:
        return mcp_types.ListToolsResult(tools=[mcp_types.Tool.model_validate(TOOL)])

    async def called(_context: Any, params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        text = f"It rains in {(params.arguments or {})['city']}."
        return mcp_types.CallToolResult(content=[mcp_types.TextContent(type="text", text=text)])

    server: Server[Any] = Server("bare", on_list_tools=listed, on_call_tool=called)
    config = uvicorn.Config(server.streamable_http_app(host="127.0.0.1"), port=0, log_level="info", access_log=False)
    uvicorn.Server(config).run()


@contextmanager
def serving(words: Sequence[str]) -> Iterator[str]:
    """The address of a server in a process of its own."""
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stderr is not None
        try:
            found = (word for line in process.stderr for word in line.split() if word.startswith("http://"))
            address = next(found)
            yield address if address.endswith("/mcp") else f"{address}/mcp"
        finally:
            process.terminate()
            process.communicate()


async def clients(address: str, stack: AsyncExitStack) -> list[ClientSession]:
    """So many connected clients."""
    made = []
    for _ in range(AT_ONCE):
        headers = {"Authorization": f"Bearer {TOKEN}"}
        web = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=60))
        streams = await stack.enter_async_context(streamable_http_client(address, http_client=web))
        session = await stack.enter_async_context(ClientSession(*streams))
        await session.initialize()
        made.append(session)
    return made


async def times(sessions: Sequence[ClientSession], calls: int) -> list[float]:
    """The milliseconds of every call, all clients calling at once."""

    async def ask(session: ClientSession) -> list[float]:
        taken = []
        for _ in range(calls):
            began = time.perf_counter()
            reply = await session.call_tool("weather", {"city": "Rome"})
            taken.append((time.perf_counter() - began) * 1000)
            assert not reply.is_error
        return taken

    return [one for each in await asyncio.gather(*map(ask, sessions)) for one in each]


async def measure(addresses: Sequence[str], rounds: int, calls: int) -> list[list[float]]:
    """The times of each server, in rounds that take turns."""
    found: list[list[float]] = [[] for _ in addresses]
    async with AsyncExitStack() as stack:
        crowds = [await clients(address, stack) for address in addresses]
        for number in range(rounds + 1):
            for place, crowd in enumerate(crowds):
                taken = await times(crowd, calls)
                found[place] += taken if number else []
    return found


def main() -> int:
    """Print both p50; 1 where the limit is passed."""
    parser = argparse.ArgumentParser(description="Calls of a served library tool.")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--bare", action="store_true", help="be the bare server")
    chosen = parser.parse_args()
    if chosen.bare:
        bare()
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        at = ("--workspace", folder / "work.db")
        config = written(folder / "answer.json", {"answer": "It rains in {city}."})
        run("library", "add", written(folder / "tool.json", TOOL), "--config", config, *at)
        run("library", "activate", "weather", *at)
        (token := folder / "token").write_text(TOKEN, "utf-8")
        ours = command("library", "serve", "--http", "0", "--token-file", token, *at)
        alone = [sys.executable, "-m", "tests.benchmarks.served_calls", "--bare"]
        with serving(alone) as first, serving(ours) as second:
            found = asyncio.run(measure([first, second], chosen.rounds, chosen.calls))
    p50 = [statistics.median(one) for one in found]
    for name, middle, every in zip(("bare SDK", "library"), p50, found, strict=True):
        print(f"{name:<9} p50 {middle:.1f} ms, {len(every):,} calls, {AT_ONCE} at once")
    ratio = p50[1] / p50[0]
    print(f"the library takes {ratio:.2f} × the bare server; load {os.getloadavg()[0]:.1f}")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
