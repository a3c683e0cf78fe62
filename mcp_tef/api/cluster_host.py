"""The cluster of `local:N`: scheduler and workers in a process of their own, where nobody else can reach them.

Loopback is shared by all users of a machine, and Dask reads pickles, so that whoever is answered runs code. Every
connection therefore needs the certificate of this one cluster, which exists in memory only; nothing serves HTTP; and
the process is started with a short list of variables, so that no worker holds keys that were not sent to it.

Importing this module needs Dask.
"""

import asyncio
import json
import logging
import sys
from typing import Any

import dask
from distributed import LocalCluster, Nanny, Scheduler, Worker
from distributed.security import Security

from mcp_tef.api.cluster import AT_ONCE


class _QuietScheduler(Scheduler):
    """A scheduler without an HTTP server, which Dask starts even where the dashboard is off."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Listen nowhere."""


class _QuietWorker(Worker):
    """A worker without an HTTP server."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Listen nowhere."""


class _QuietNanny(Nanny):
    """Starts such workers."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.Worker = _QuietWorker


def local_cluster(number: int, security: Security) -> Any:
    """Return a cluster of so many processes of this machine, to be entered."""
    # A run is asked again at most once where its worker died.
    dask.config.set({"distributed.scheduler.allowed-failures": 1})
    options = {"n_workers": number, "threads_per_worker": AT_ONCE, "worker_class": _QuietNanny, "host": "127.0.0.1"}
    cluster = LocalCluster(  # type: ignore[no-untyped-call]
        **options, dashboard_address=None, security=security, asynchronous=True, silence_logs=logging.CRITICAL
    )
    cluster.scheduler_spec["cls"] = _QuietScheduler
    return cluster


async def serve(number: int) -> None:
    """Run a cluster until standard input ends; address, workers and certificate go to standard output, a pipe."""
    security = Security.temporary()  # type: ignore[no-untyped-call]
    async with local_cluster(number, security) as cluster:
        told = {
            "address": cluster.scheduler_address,
            "workers": [nanny.pid for nanny in cluster.workers.values()],
            "certificate": security.tls_client_cert,
            "key": security.tls_client_key,
        }
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
