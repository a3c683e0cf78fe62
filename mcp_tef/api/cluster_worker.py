"""Execution of runs in a worker of a Dask cluster, which holds their key in memory.

Importing this module needs Dask.
"""

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from distributed import WorkerPlugin, get_worker

from mcp_tef.engine_adapters import ModelAdapters
from mcp_tef.model.cases import TestCase
from mcp_tef.model.config import Config, CurrentConfig
from mcp_tef.model.runs import PlannedRun, RunResult
from mcp_tef.model.secrets import Secret
from mcp_tef.ports import CaseTools
from mcp_tef.storage.workspace_file import data_folder

if TYPE_CHECKING:
    from mcp_tef.ports import RunExecutor


class RunWorker(WorkerPlugin):
    """Executes runs in a worker. As a plugin it is sent to each worker once, with the key."""

    def __init__(self, key: str = "") -> None:
        self._key = key
        self._executor: RunExecutor | None = None

    def setup(self, worker: object) -> None:  # noqa: ARG002 - given by Dask
        """Build what asks models, from the environment of the worker; Dask calls this in it."""
        environment = dict(os.environ)
        current = CurrentConfig(Config.from_environment(environment))
        self._executor = ModelAdapters(environment, current, data_folder()).run_executor()

    async def execute(self, run: PlannedRun, case: TestCase, tools: CaseTools) -> RunResult:
        """Return the result of a run; see `RunExecutor`."""
        assert self._executor is not None, "Dask calls setup first"
        keys = {run.settings.destination: Secret(self._key)} if self._key else {}
        return await self._executor.execute(run, case, tools, keys)


async def execute_runs(
    plugin: str, runs: Sequence[tuple[PlannedRun, TestCase]], tools: Sequence[CaseTools]
) -> list[RunResult]:
    """Execute some runs side by side; the results in order."""
    worker = get_worker().plugins[plugin]
    assert isinstance(worker, RunWorker), "the name is that of a plugin of ours"
    pairs = zip(runs, tools, strict=True)
    return list(await asyncio.gather(*(worker.execute(run, case, offered) for (run, case), offered in pairs)))


def kept(tools: CaseTools) -> CaseTools:
    """Return the tools; as a task of its own, they are sent to a worker once and made again where they are lost."""
    return tools
