"""Runs on the workers of a Dask cluster: this process plans, paces and stores them, and the workers ask the models.

What travels is pickled by Dask: settings, cases, tools and results, all plain values of this project, and its own
functions by name. Whoever controls the scheduler or a worker can run code on the others, as with every Dask cluster.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp_tef.errors import InputError, ModelError, ModelFault, ReachError
from mcp_tef.model.addresses import Destination, is_loopback
from mcp_tef.model.cases import TestCase
from mcp_tef.model.extras import how_to_install
from mcp_tef.model.ids import new_id
from mcp_tef.model.model_catalogue import TARGET_PROVIDERS
from mcp_tef.model.runs import PlannedRun, RunResult
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import CaseTools
from mcp_tef.workflows.evaluate import failed

if TYPE_CHECKING:
    from distributed import Future

    from mcp_tef.engine import Engine

LOCAL = "local:"
AT_ONCE = 64
"""Runs that a worker of `local:N` has under way."""
MOST_WORKERS = 64
CONNECT_SECONDS = 10
GATHERING_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class _Waiting:
    run: PlannedRun
    case: TestCase
    tools: CaseTools
    key: Secret | None
    done: "asyncio.Future[RunResult]"


class ClusterExecutor:
    """Executes runs on the workers of a cluster, several in one task where a worker has few threads.

    Satisfies `RunExecutor`. A task whose worker died is given to another one by the scheduler.
    """

    def __init__(self, client: Any, together: int) -> None:
        self._client = client
        self._together = together
        self._waiting: list[_Waiting] = []
        self._sending: set[asyncio.Task[list[RunResult]]] = set()
        self._tools: dict[int, tuple[CaseTools, Future[CaseTools]]] = {}
        self._plugins: dict[str, asyncio.Task[str]] = {}

    async def execute(
        self, run: PlannedRun, case: TestCase, tools: CaseTools, keys: Mapping[Destination, Secret]
    ) -> RunResult:
        """Return the result of one run; a worker that is lost twice is a failed result.

        Workers know no workspace, so a run with a group or router fails.
        """
        if run.settings.provider in TARGET_PROVIDERS:
            message = f"A cluster cannot ask {run.settings.label}."
            return failed(run, InputError(message, hint="Leave out --cluster, or name a model."), tools)
        loop = asyncio.get_running_loop()
        waiting = _Waiting(run, case, tools, keys.get(run.settings.destination), loop.create_future())
        self._waiting.append(waiting)
        if len(self._waiting) >= self._together:
            self._send()
        elif len(self._waiting) == 1:
            loop.call_later(GATHERING_SECONDS, self._send)
        return await waiting.done

    def _send(self) -> None:
        sent, self._waiting = self._waiting, []
        for key in dict.fromkeys(one.key for one in sent):
            together = [one for one in sent if one.key == key]
            task = asyncio.create_task(self._results(together, key))
            self._sending.add(task)
            task.add_done_callback(partial(self._settle, together))

    def _settle(self, sent: Sequence[_Waiting], task: "asyncio.Task[list[RunResult]]") -> None:
        """Give each run its result; whatever Dask raised makes them failed."""
        self._sending.discard(task)
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        results = [failed(one.run, _lost(error), one.tools) for one in sent] if error else task.result()
        for one, result in zip(sent, results, strict=True):
            if not one.done.done():
                one.done.set_result(result)

    async def _results(self, sent: Sequence[_Waiting], key: Secret | None) -> list[RunResult]:
        from mcp_tef.api.cluster_worker import execute_runs

        runs, tools = [(one.run, one.case) for one in sent], [self._stored(one.tools) for one in sent]
        results = await self._client.submit(execute_runs, await self._plugin(key), runs, tools, pure=False)
        if [getattr(one, "run_id", None) for one in results] != [run.id for run, _ in runs]:
            raise TypeError("a worker answered with other results than those asked for")
        return list(results)

    def _stored(self, tools: CaseTools) -> "Future[CaseTools]":
        """Return the tools as they are kept on the workers; a task, so that the scheduler can make them again."""
        from mcp_tef.api.cluster_worker import kept

        if id(tools) not in self._tools:
            self._tools[id(tools)] = tools, self._client.submit(kept, tools, pure=False)
        return self._tools[id(tools)][1]

    async def _plugin(self, key: Secret | None) -> str:
        text = key.reveal() if key else ""
        if text not in self._plugins:
            self._plugins[text] = asyncio.create_task(self._registered(text))
        return await asyncio.shield(self._plugins[text])

    async def _registered(self, key: str) -> str:
        from mcp_tef.api.cluster_worker import RunWorker

        name = f"mcp-tef-{new_id()}"
        await self._client.register_plugin(RunWorker(key), name=name)
        return name

    async def close(self) -> None:
        """Take the keys from the workers."""
        names = [await task for task in self._plugins.values() if task.done() and not task.exception()]
        await asyncio.gather(*(self._client.unregister_worker_plugin(name) for name in names), return_exceptions=True)


def _lost(error: BaseException) -> ModelError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return ModelError(
        ModelFault.DOWN,
        f"The cluster did not execute the run: {reason}.",
        hint="Look at the log of its workers, and run the failed runs again.",
    )


@asynccontextmanager
async def cluster_for(engine: "Engine", address: str, *, insecure: bool = False) -> AsyncIterator[int]:
    """Let the runs of an engine be executed on a cluster while the context is open; gives its number of workers.

    `address` is `local:N` for N processes of this machine, or that of a scheduler, `tls://HOST:PORT` or
    `tcp://HOST:PORT`; without TLS, `insecure` allows another machine. InputError, ReachError.
    """
    _require_safe(address, insecure=insecure)
    async with AsyncExitStack() as stack:
        client = await _connected(address, stack)
        workers = client.scheduler_info(n_workers=-1)["workers"]
        threads = sum(worker["nthreads"] for worker in workers.values())
        executor = ClusterExecutor(client, max(1, ceil(AT_ONCE / max(1, threads))))
        stack.push_async_callback(executor.close)
        engine.runs.execute_by(executor)
        stack.callback(engine.runs.execute_by, None)
        yield len(workers)


async def _connected(address: str, stack: AsyncExitStack) -> Any:
    """Return a client of Dask; it, and a cluster of this machine, are closed with the stack."""
    try:
        from distributed import Client
    except ImportError:
        raise InputError("Runs on a cluster need Dask.", hint=how_to_install("distributed")) from None
    logging.getLogger("distributed").setLevel(logging.ERROR)  # it tells of every connection
    place: Any = address
    if address.startswith(LOCAL):
        place = await stack.enter_async_context(_local_cluster(int(address.removeprefix(LOCAL))))
    options = {"asynchronous": True, "timeout": CONNECT_SECONDS, "set_as_default": False}
    client: Any = Client(place, **options)  # type: ignore[no-untyped-call]
    try:
        await stack.enter_async_context(client)
    except (OSError, TimeoutError, ValueError) as error:
        raise ReachError(f"No Dask scheduler answers at {address}.", hint="Check its address.") from error
    return client


def _require_safe(address: str, *, insecure: bool) -> None:
    if address.startswith(LOCAL):
        number = address.removeprefix(LOCAL)
        if not (number.isdecimal() and 1 <= int(number) <= MOST_WORKERS):
            raise InputError(f"{address} names no number of workers.", hint=f"Write local:1 to local:{MOST_WORKERS}.")
        return
    if (scheme := urlsplit(address).scheme) not in ("tcp", "tls"):
        raise InputError(f"{address} is not a cluster.", hint="Write local:3, tls://HOST:PORT or tcp://HOST:PORT.")
    if scheme == "tcp" and not insecure and not is_loopback(address.replace("tcp://", "http://", 1)):
        raise InputError(
            f"{address} is another machine and has no TLS, so keys would be sent in the clear.",
            hint="Use tls://, or add --insecure-cluster.",
            code="cluster_without_tls",
        )


def _local_cluster(number: int) -> Any:
    import dask
    from distributed import LocalCluster

    # A run is asked again at most once where its worker died.
    dask.config.set({"distributed.scheduler.allowed-failures": 1})
    workers = {"n_workers": number, "threads_per_worker": AT_ONCE, "processes": True, "host": "127.0.0.1"}
    return LocalCluster(  # type: ignore[no-untyped-call]
        **workers, dashboard_address=None, asynchronous=True, silence_logs=logging.CRITICAL
    )
