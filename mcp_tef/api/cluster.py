"""Runs and comparisons on the workers of a Dask cluster: this process plans, paces and stores what they do.

What travels is pickled by Dask: settings, cases, tools and results, all plain values of this project, and its own
functions by name. A result that is not one of the run that was sent is refused; still, the owner of the scheduler
or a worker can run code on the others, as with every Dask cluster.
"""

import asyncio
import json
import logging
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from mcp_tef.errors import InputError, ModelError, ModelFault, ReachError
from mcp_tef.model.addresses import Destination
from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import new_id
from mcp_tef.model.installation import how_to_install
from mcp_tef.model.model_catalogue import TARGET_PROVIDERS
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import FlagRule
from mcp_tef.ports import CaseTools, Question, RunExecutor, Selector, Selectors
from mcp_tef.scoring.similarity.analysis import Similarity
from mcp_tef.trust.listeners import worker_environment
from mcp_tef.workflows.evaluate import SelectorExecutor, TargetSelectors, failed

if TYPE_CHECKING:
    from distributed import Future

    from mcp_tef.engine import Engine

LOCAL = "local:"
AT_ONCE = 64
"""Runs that a worker of `local:N` has under way."""
CLOSE_SECONDS = 20
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
        self.targets: RunExecutor | None = None
        """Executor of runs of groups and routers, which choose a model in this process for each call."""
        self._waiting: list[_Waiting] = []
        self._sending: set[asyncio.Task[list[RunResult]]] = set()
        self._tools: dict[int, tuple[CaseTools, Future[CaseTools]]] = {}
        self._plugins: dict[str, asyncio.Task[str]] = {}

    async def execute(
        self, run: PlannedRun, case: TestCase, tools: CaseTools, keys: Mapping[Destination, Secret]
    ) -> RunResult:
        """Return the result of one run; a worker that is lost twice is a failed result."""
        if self.targets and run.settings.provider in TARGET_PROVIDERS:
            return await self.targets.execute(run, case, tools, keys)
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
        found, error = _outcome(task)
        results = found if isinstance(found, list) and len(found) == len(sent) else [None] * len(sent)
        for one, result in zip(sent, results, strict=True):
            if not one.done.done():
                one.done.set_result(_of_run(one, result) or failed(one.run, _lost(error or _STRANGE), one.tools))

    async def _results(self, sent: Sequence[_Waiting], key: Secret | None) -> list[RunResult]:
        from mcp_tef.api.cluster_worker import execute_runs

        runs, tools = [(one.run, one.case) for one in sent], [self._stored(one.tools) for one in sent]
        results = await self._client.submit(execute_runs, await self._plugin(key), runs, tools, pure=False)
        if [getattr(one, "run_id", None) for one in results] != [run.id for run, _ in runs]:
            raise TypeError("a worker answered with other results than those asked for")
        return list(results)

    async def answer(self, question: Question) -> Answer:
        """Return the answer to one question, which a worker asks; ModelError."""
        from mcp_tef.api.cluster_worker import answer

        plain = replace(question, key=None, keys={})
        found, error = await _ended(self._client.submit(answer, await self._plugin(question.key), plain, pure=False))
        if isinstance(found, Answer):
            return found
        raise ModelError(**found) if isinstance(found, dict) else _lost(error or _STRANGE)

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


_STRANGE: Final = TypeError("a worker answered something else")


def _of_run(sent: _Waiting, result: object) -> RunResult | None:
    """Return a result if it is one, and that of the run that was sent."""
    return result if isinstance(result, RunResult) and result.run_id == sent.run.id else None


def _outcome(task: "asyncio.Task[Any]") -> tuple[Any, BaseException | None]:
    """Return what a task has returned, or why it did not."""
    error = asyncio.CancelledError() if task.cancelled() else task.exception()
    return (None, error) if error else (task.result(), None)


async def _ended(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """Wait for work of Dask, which raises whatever the work did."""

    async def waited() -> Any:
        return await work

    task = asyncio.create_task(waited())
    try:
        await asyncio.wait([task])
    finally:
        task.cancel()
    return _outcome(task)


def _lost(error: BaseException) -> ModelError:
    return ModelError(
        ModelFault.DOWN,
        f"The cluster did not execute the run: {_reason(error)}.",
        hint="Look at the log of its workers, and run the failed runs again.",
    )


def _reason(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


class _WorkerSelector:
    """Satisfies `Selector` for models: a worker asks."""

    def __init__(self, executor: ClusterExecutor) -> None:
        self._executor = executor

    async def prepare(self, question: Question) -> None:
        """Wait for nothing: the worker prepares."""

    async def select(self, question: Question) -> Answer:
        """Return the answer that a worker got; ModelError."""
        return await self._executor.answer(question)

    async def close(self) -> None:
        """Give back nothing."""


class _WorkerSelectors:
    """Satisfies `Selectors`: baselines answer here, models are asked by workers."""

    def __init__(self, inner: Selectors, executor: ClusterExecutor) -> None:
        self._inner = inner
        self._executor = executor

    async def resolve(self, settings: ModelSettings) -> ModelSettings:
        """Return the settings that will run."""
        return await self._inner.resolve(settings)

    def selector_for(self, settings: ModelSettings) -> Selector:
        """Return the baseline, or what sends the question to a worker."""
        return self._inner.selector_for(settings) if settings.offline else _WorkerSelector(self._executor)

    async def close(self) -> None:
        """Give back nothing: the selectors belong to the engine."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster in use, and its number of workers."""

    workers: int
    _client: Any

    async def find_flagged(self, similarity: Similarity, rule: FlagRule) -> None:
        """Let the workers find the pairs that a rule flags; the similarity keeps them."""
        from mcp_tef.api.cluster_worker import flagged_in

        scan = similarity.scan(rule)
        sent = await self._client.scatter(scan, broadcast=True, hash=False)
        tasks = [self._client.submit(flagged_in, sent, *block, pure=False) for block in scan.blocks()]
        found, error = await _ended(self._client.gather(tasks))
        if error:
            raise ReachError(f"The cluster did not compare the tools: {_reason(error)}.") from error
        similarity.hold(rule, scan.joined(found))


@asynccontextmanager
async def cluster_for(engine: "Engine", address: str, *, insecure: bool = False) -> AsyncIterator[Cluster]:
    """Let the runs of an engine be executed on a cluster while the context is open.

    `address` is `local:N` for N processes of this machine, or that of a scheduler, `tls://HOST:PORT` or
    `tcp://HOST:PORT`; without TLS, `insecure` allows another machine. InputError, ReachError.
    """
    _require_safe(address, insecure=insecure)
    async with AsyncExitStack() as stack:
        client = await _connected(address, stack)
        workers = (await client.scheduler.identity(n_workers=-1))["workers"]
        threads = sum(worker["nthreads"] for worker in workers.values())
        executor = ClusterExecutor(client, max(1, ceil(AT_ONCE / max(1, threads))))
        chosen = TargetSelectors(_WorkerSelectors(engine.selectors, executor), lambda: engine.targets)
        executor.targets = SelectorExecutor(chosen)
        stack.push_async_callback(executor.close)
        engine.runs.execute_by(executor)
        stack.callback(engine.runs.execute_by, None)
        yield Cluster(len(workers), client)


async def _connected(address: str, stack: AsyncExitStack) -> Any:
    """Return a client of Dask; it, and a cluster of this machine, are closed with the stack."""
    try:
        from dask import config, utils
        from distributed import Client
    except ImportError:
        raise InputError("Runs on a cluster need Dask.", hint=how_to_install("distributed")) from None
    logging.getLogger("distributed").setLevel(logging.ERROR)  # it tells of every connection
    place, security = address, None
    if address.startswith("tls:") and not config.get("distributed.comm.tls.ca-file", None):
        hint = "Name its files in Dask's configuration: distributed.comm.tls.ca-file, client.cert and client.key."
        raise InputError(f"There is no certificate for {address}.", hint=hint, code="cluster_without_tls")
    if address.startswith(LOCAL):
        place, security = await stack.enter_async_context(_local(int(address.removeprefix(LOCAL))))
    own: float = utils.parse_timedelta(config.get("distributed.comm.timeouts.connect"))
    options = {"asynchronous": True, "timeout": min(own, CONNECT_SECONDS), "set_as_default": False}
    client: Any = Client(place, security=security, **options)  # type: ignore[no-untyped-call]
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
    if scheme == "tcp" and not insecure:
        raise InputError(
            f"{address} has no TLS: others could read the keys, or answer in its place and run code as you.",
            hint="Use tls://, or add --insecure-cluster.",
            code="cluster_without_tls",
        )


@asynccontextmanager
async def _local(number: int) -> AsyncIterator[tuple[str, Any]]:
    """Run a cluster on this machine while the context is open: its address, and what its peers accept."""
    from distributed.security import Security

    words = (sys.executable, "-I", "-m", "mcp_tef.api.cluster_host", str(number))
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=worker_environment(os.environ),
        cwd=sys.prefix,
        start_new_session=True,  # Ctrl+C is for this process, which ends the cluster in order
    )
    assert process.stdin, "a pipe"
    assert process.stdout, "a pipe"
    try:
        told = json.loads(await process.stdout.readline() or "{}")
        if not told:
            raise ReachError(f"No cluster of {number} could be started on this machine.", hint="Ask for fewer workers.")
        certificate, key = told["certificate"], told["key"]
        yield (
            told["address"],
            Security(  # type: ignore[no-untyped-call]
                require_encryption=True, tls_ca_file=certificate, tls_client_cert=certificate, tls_client_key=key
            ),
        )
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), CLOSE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
