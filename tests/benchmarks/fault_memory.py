"""How much memory a server that floods us can cost: each fault in a process of its own, asked once by the adapter.

Limit: the process's peak grows by less than 300 MB, counted from when the mcp library is loaded.
Run as `python -m tests.benchmarks.fault_memory [FAULT…]`.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from mcp_tef.errors import ServerError
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.tool_lister import McpToolLister
from tests.support.faults.stdio_faults import command

LIMIT_MB = 300
SECONDS = 30.0
STDIO = "stderr-flood long-line junk-flood chatter-flood many small-values worst-values worse-tools deep-json"
HTTP = "big-body gzip-bomb flood endless-events endless-pings oversize-event many small-values worst-values"
OLDER = "endless-events oversize-event gzip-bomb"
ROWS = (
    *((Transport.STDIO, fault) for fault in STDIO.split()),
    *((Transport.STREAMABLE_HTTP, fault) for fault in HTTP.split()),
    *((Transport.SSE, fault) for fault in OLDER.split()),
)


def growth(transport: Transport, fault: str) -> tuple[float, str]:
    """By how many MB one visit makes a fresh process grow at most, and what the user reads of it."""
    server = None if transport is Transport.STDIO else _served(fault)
    address = str(server.stdout.readline()).strip() if server and server.stdout else ""
    try:
        visit = [sys.executable, __file__, "--visit", transport, fault, address]
        done = subprocess.run(visit, capture_output=True, text=True, check=True, env=_environment())
    finally:
        if server:
            server.kill()
            server.communicate()
    grown, _, words = done.stdout.strip().partition(" ")
    return float(grown), words


def _served(fault: str) -> "subprocess.Popen[str]":
    command = [sys.executable, __file__, "--serve", fault]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment())


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def serve(fault: str) -> None:
    """Be an HTTP server with a fault, until killed."""
    from tests.support.faults.http_faults import serving

    with serving(fault) as server:
        print(server.url, flush=True)
        server.closing.wait()


async def visit(transport: Transport, fault: str, address: str) -> None:
    """Ask a server once, and print by how much that made this process grow."""
    program, *args = command(fault)
    over_http = ServerSpec(name="Bench", transport=transport, url=address)
    stdio = ServerSpec(name="Bench", transport=transport, command=program, args=tuple(args))
    gateway = McpToolLister({})
    await words(gateway, ServerSpec(name="Warm", transport=Transport.STDIO, command=program, args=(*args[:-1], "none")))
    reset_peak()
    before = peak_mb()
    told = await words(gateway, over_http if address else stdio)
    print(f"{peak_mb() - before:.0f} {told[:90]}")
    await gateway.close()


async def words(gateway: McpToolLister, spec: ServerSpec) -> str:
    """What the user reads."""
    try:
        listing = await gateway.list_tools(spec, timeout=SECONDS)
    except ServerError as error:
        return error.message
    return f"{len(listing.tools)} tools, {len(listing.problems)} set aside"


def reset_peak() -> None:
    """Forget the highest mark so far."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    """The highest mark of this process's memory."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> int:
    """Print the table; 1 where a fault costs more than the limit."""
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
        return 0
    if sys.argv[1:2] == ["--visit"]:
        asyncio.run(visit(Transport(sys.argv[2]), sys.argv[3], sys.argv[4]))
        return 0
    missed = False
    print(f"{'over':16} {'fault':16} {'peak growth':>12}  what the user reads")
    for transport, fault in ROWS:
        if fault in sys.argv[1:] or not sys.argv[1:]:
            grown, told = growth(transport, fault)
            missed |= grown >= LIMIT_MB
            print(f"{transport:16} {fault:16} {grown:9.0f} MB  {told}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
