"""A Dask cluster of somebody, without TLS, in a process of its own: `python -m tests.support.dask_cluster WORKERS`.

It prints its address and the process ids of its workers as JSON, and ends when its standard input does.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mcp_tef.api.cluster import AT_ONCE
from tests.support.command_line import ROOT


@dataclass(frozen=True)
class RunningCluster:
    """Its scheduler's address, and the processes of its workers."""

    address: str
    workers: tuple[int, ...]


@contextmanager
def running_cluster(workers: int) -> Iterator[RunningCluster]:
    """Start a cluster, and end it with the context."""
    words = [sys.executable, "-m", "tests.support.dask_cluster", str(workers)]
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=surroundings, text=True, cwd=ROOT
    ) as process:
        assert process.stdin, "a pipe"
        assert process.stdout, "a pipe"
        try:
            told = json.loads(process.stdout.readline())
            yield RunningCluster(told["address"], tuple(told["workers"]))
        finally:
            process.stdin.close()
            process.wait(60)


async def serve(workers: int) -> None:
    """Run a cluster of this machine until the end of standard input."""
    from distributed import LocalCluster

    options = {"n_workers": workers, "threads_per_worker": AT_ONCE, "host": "127.0.0.1", "dashboard_address": None}
    async with LocalCluster(**options, asynchronous=True) as cluster:  # type: ignore[no-untyped-call]
        pids = [nanny.pid for nanny in cluster.workers.values()]
        print(json.dumps({"address": cluster.scheduler_address, "workers": pids}), flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
