"""Steering of a crowd test's batch: its tools by size, its runs pass by pass, without sizes that are decided."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mcp_tef.errors import InputError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.ids import BatchId, CaseId, RunId, new_id
from mcp_tef.model.json import canonical
from mcp_tef.model.runs import ModelSettings, PlannedRun, RunResult
from mcp_tef.ports import CaseTools, RunStore
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.scoring.crowds import crowd_of, rotated
from mcp_tef.workflows.cost_budget import BYTES_PER_TOKEN, byte_count
from mcp_tef.workflows.crowd_plan import ORDER_PASS, CrowdCell, CrowdPlan
from mcp_tef.workflows.crowd_record import CrowdRecord, CrowdRun

if TYPE_CHECKING:
    from mcp_tef.model.cases import TestCase
    from mcp_tef.model.ids import CaseId
    from mcp_tef.model.tools import Listing, Tool
    from mcp_tef.ports import RunStore
    from mcp_tef.workflows.trial_steering import ListedServer


ServerTool: TypeAlias = tuple[str, str]


def key_of(tool: Tool) -> ServerTool:
    """Return server and name of a tool."""
    return tool.server, tool.name


@dataclass(frozen=True)
class CrowdPool:
    """Own servers by name, and all strangers in the order in which they join, one order for each crowd.

    `scores` holds by case what a search makes of each tool; empty without a search in front.
    """

    own: Mapping[str, ListedServer]
    crowds: tuple[tuple[Tool, ...], ...]
    scores: Mapping[CaseId, Mapping[ServerTool, float]] = field(default_factory=dict)
    _kept: dict[tuple[CrowdCell, tuple[str, ...]], tuple[Tool, ...]] = field(default_factory=dict)

    def servers(self, plan: CrowdPlan, case: TestCase) -> tuple[str, ...]:
        """Return the names of a case's own servers; those of all cases for a case without any."""
        return plan.among or case.draft.servers or tuple(self.own)

    def own_tools(self, names: Iterable[str]) -> list[Tool]:
        """Return the tools of own servers."""
        return [tool for name in names if name in self.own for tool in self.own[name][1].tools]

    def all_tools(self, plan: CrowdPlan, cell: CrowdCell, names: tuple[str, ...]) -> tuple[Tool, ...]:
        """Return all tools of a cell in their order, without a search in front."""
        key = (replace(cell, search=0), names)
        if key not in self._kept:
            first = cell.turn % ORDER_PASS
            crowd = self.crowds[first % len(self.crowds)]
            strangers = crowd_of(plan.kind, crowd, plan.sizes[cell.size])
            share = float(np.random.default_rng([plan.seed, first]).random()) + (0.5 if cell.turn == ORDER_PASS else 0)
            self._kept[key] = rotated((*self.own_tools(names), *strangers), share % 1)
        return self._kept[key]

    def tools(self, plan: CrowdPlan, cell: CrowdCell, case: TestCase) -> tuple[Tool, ...]:
        """Return the tools that a case is offered in a cell."""
        tools = self.all_tools(plan, cell, self.servers(plan, case))
        most = plan.searches[cell.search]
        if most is None:
            return tools
        scores = self.scores[case.id]
        return tuple(sorted(tools, key=lambda tool: -scores[key_of(tool)])[:most])


class CrowdTools:
    """Offers each run the tools of its cell, and never asks a server; satisfies `SteeredTools`."""

    def __init__(self, plan: CrowdPlan, pool: CrowdPool, runs: RunStore, *, separator: str) -> None:
        self._plan = plan
        self._pool = pool
        self._runs = runs
        self._separator = separator
        self._cells: dict[RunId, CrowdCell] = {}
        self._case_tools: dict[tuple[CrowdCell, tuple[str, ...] | CaseId], asyncio.Task[CaseTools]] = {}

    def expect(self, runs: Iterable[PlannedRun]) -> None:
        """Note the cells of runs that will ask for their tools."""
        self._cells |= {run.id: self._plan.cell(run.repeat) for run in runs}

    def listings(self) -> dict[str, Listing]:
        """Return nothing: the sizes of prompts are those of the cells."""
        return {}

    def added_tokens(self) -> dict[int, int]:
        """Return at least as many tokens as the tools of each cell have, by the number of the cell."""
        names = tuple(self._pool.own)
        found = {}
        for cell in self._plan.cells():
            sizes = sorted(
                (byte_count(canonical(tool.raw)) for tool in self._pool.all_tools(self._plan, cell, names)),
                reverse=True,
            )
            found[self._plan.number(cell)] = sum(sizes[: self._plan.searches[cell.search]]) // BYTES_PER_TOKEN
        return found

    async def tools_for(self, case: TestCase, run_id: RunId) -> CaseTools:
        """Return the tools of a case in the cell of a run."""
        cell = self._cells[run_id]
        key = (cell, case.id if cell.search else self._pool.servers(self._plan, case))
        if key not in self._case_tools:
            self._case_tools[key] = asyncio.create_task(self._assemble(cell, case, run_id))
        return await asyncio.shield(self._case_tools[key])

    async def close(self) -> None:
        """Stop what is still being stored."""
        for task in self._case_tools.values():
            task.cancel()
        await asyncio.gather(*self._case_tools.values(), return_exceptions=True)

    async def _assemble(self, cell: CrowdCell, case: TestCase, run_id: RunId) -> CaseTools:
        tools = self._pool.tools(self._plan, cell, case)
        if not tools:
            raise InputError("No tool is known of the case's servers.", hint="Check the servers, then start again.")
        servers = [self._pool.own[name] for name in self._pool.servers(self._plan, case) if name in self._pool.own]
        aliases = {spec.name: spec.alias for spec, _ in servers if spec.alias}
        offered = offer(tools, self._separator, aliases=aliases)
        found = {key_of(tool) for tool in tools}
        listed = [(spec, _only(listing, found)) for spec, listing in servers]
        strangers = {tool.server for tool in tools} - self._pool.own.keys() - set(self._plan.servers)
        snapshot_id = await self._runs.save_snapshot(offered, run_id, strangers)
        return CaseTools(offered, tools, snapshot_id, tuple(listed))


def _only(listing: Listing, found: set[ServerTool]) -> Listing:
    """Return a listing with the tools that are offered, so that an expected one that is not can be told."""
    return replace(listing, tools=tuple(tool for tool in listing.tools if key_of(tool) in found))


def mean_tokens(plan: CrowdPlan, pool: CrowdPool, cases: Sequence[TestCase], characters: int) -> dict[str, int]:
    """Return the mean tokens of the tools in each cell, at so many characters a token, by the number of the cell."""
    sizes: dict[ServerTool, int] = {}

    def size(tool: Tool) -> int:
        if key_of(tool) not in sizes:
            sizes[key_of(tool)] = len(canonical(tool.raw))
        return sizes[key_of(tool)]

    return {
        str(plan.number(cell)): int(
            np.mean([sum(map(size, pool.tools(plan, cell, case))) for case in cases]) / characters
        )
        for cell in plan.cells()
    }


def expected_fifths(
    plan: CrowdPlan, pool: CrowdPool, cases: Sequence[TestCase], expected: Mapping[CaseId, ServerTool]
) -> dict[str, str]:
    """Return for each cell without a search the fifth of the list (0 to 4) in which each case's tool stands."""
    found = {}
    for cell in plan.cells():
        if cell.search:
            continue
        places: dict[tuple[str, ...], dict[ServerTool, int]] = {}
        digits = []
        for case in cases:
            names = pool.servers(plan, case)
            if names not in places:
                tools = pool.all_tools(plan, cell, names)
                places[names] = {key_of(tool): 5 * place // len(tools) for place, tool in enumerate(tools)}
            digits.append(str(places[names].get(expected[case.id], "-")))
        found[str(plan.number(cell))] = "".join(digits)
    return found


class CrowdSteering:
    """Plans the passes of a test from its record; satisfies `RunSteering`."""

    def __init__(
        self,
        plan: CrowdPlan,
        families: Sequence[int],
        tools: CrowdTools,
        cases: Mapping[CaseId, TestCase],
        store: RunStore,
    ) -> None:
        self.plan = plan
        self.tools = tools
        self.cases = cases
        self.batch_id: BatchId | None = None
        self._families = families
        self._settings: dict[str, ModelSettings] = {}
        self._store = store
        self.record = CrowdRecord(plan, families, ())

    def begin(self, batch_id: BatchId, models: Sequence[ModelSettings]) -> None:
        """Note the batch that the test is, and the settings that its runs are done with."""
        self.batch_id = batch_id
        self._settings = {one.label: one for one in models}
        self.record = CrowdRecord(self.plan, self._families, list(self._settings))

    def left(self, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
        """Return the runs without a verdict, and note what they will be offered."""
        self.tools.expect(runs)
        return tuple(runs)

    @property
    def is_over(self) -> bool:
        """True if no further run is to be planned."""
        self.record.advance()
        return not self.record.due()

    def hear(self, run: PlannedRun, result: RunResult) -> bool:
        """Take in a result; a pass is always asked to its end."""
        del run
        self.record.end(result)
        return False

    async def next_runs(self) -> Sequence[PlannedRun]:
        """Store and return the runs of the next pass in a seeded order; none at the end."""
        self.record.advance()
        due = self.record.due()
        random = np.random.default_rng([self.plan.seed, len(self.record.runs)])
        planned = []
        for place, number in enumerate(random.permutation(len(due)).tolist()):
            model, cell, case_id = due[number]
            planned.append(
                PlannedRun(
                    id=RunId(new_id()),
                    case_id=case_id,
                    settings=self._settings[model],
                    repeat=self.plan.number(cell),
                    batch_id=self.batch_id,
                    place=place,
                )
            )
            self.record.put(CrowdRun(planned[-1].id, model, case_id, cell))
        if planned and self.batch_id:
            await self._store.add_runs(self.batch_id, planned)
        self.tools.expect(planned)
        return planned
