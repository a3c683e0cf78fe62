"""Work in a worker of a Dask cluster: runs, single questions, and blocks of pairs. It holds the key in memory.

Importing this module needs Dask.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

from distributed import WorkerPlugin, get_worker

from mcp_tef.engine_adapters import ModelAdapters
from mcp_tef.errors import ModelError
from mcp_tef.model.answers import Answer
from mcp_tef.model.cases import TestCase
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.installation import data_folder
from mcp_tef.model.runs import PlannedRun, RunResult
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import CaseTools, Question, RunExecutor
from mcp_tef.scoring.similarity.score_kinds import BlockOfPairs, PairScan
from mcp_tef.trust.connections import NAMES
from mcp_tef.workflows.evaluate import SelectorExecutor

_AT_A_BLOCK = Lock()
"""Held while a block is compared: one takes tens of megabytes, and the processors are busy with its products."""


class RunWorker(WorkerPlugin):
    """Executes runs in a worker. As a plugin it is sent to each worker once, with the key."""

    def __init__(self, key: str = "") -> None:
        self._key = key
        self._executor: RunExecutor | None = None

    def setup(self, worker: object) -> None:  # noqa: ARG002 - given by Dask
        """Build what asks models, from the environment of the worker; Dask calls this in it."""
        environment = dict(os.environ)
        current = CurrentConfig(Config.from_environment(environment))
        NAMES.trusted = current.trusted_networks
        self._selectors = ModelAdapters(environment, current, data_folder()).selectors
        self._executor = SelectorExecutor(self._selectors)

    async def execute(self, run: PlannedRun, case: TestCase, tools: CaseTools) -> RunResult:
        """Return the result of a run; see `RunExecutor`."""
        assert self._executor is not None, "Dask calls setup first"
        keys = {run.settings.destination: Secret(self._key)} if self._key else {}
        return await self._executor.execute(run, case, tools, keys)

    async def answer(self, question: Question) -> Answer:
        """Return the answer of one model to a question; ModelError."""
        asked = replace(question, key=Secret(self._key) if self._key else None)
        selector = self._selectors.selector_for(asked.settings)
        await selector.prepare(asked)
        return await selector.select(asked)


def _plugin(name: str) -> RunWorker:
    worker = get_worker().plugins[name]
    assert isinstance(worker, RunWorker), "the name is that of a plugin of ours"
    return worker


async def execute_runs(
    plugin: str, runs: Sequence[tuple[PlannedRun, TestCase]], tools: Sequence[CaseTools]
) -> list[RunResult]:
    """Execute some runs side by side; the results in order."""
    worker = _plugin(plugin)
    pairs = zip(runs, tools, strict=True)
    return list(await asyncio.gather(*(worker.execute(run, case, offered) for (run, case), offered in pairs)))


async def answer(plugin: str, question: Question) -> Answer | dict[str, Any]:
    """Return the answer to a question, or the arguments of its ModelError: exceptions would lose some on their way."""
    try:
        return await _plugin(plugin).answer(question)
    except ModelError as error:
        told: dict[str, Any] = {name: getattr(error, name) for name in ("hint", "retry_after", "context")}
        return {"fault": error.fault, "message": error.message, **told}


def flagged_in(scan: PairScan, start: int, stop: int) -> BlockOfPairs:
    """Return the flagged pairs of a block."""
    with _AT_A_BLOCK:
        return scan.found(start, stop)


def kept(tools: CaseTools) -> CaseTools:
    """Return the tools; as a task of its own, they are sent to a worker once and made again where they are lost."""
    return tools
