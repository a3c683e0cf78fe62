"""Steering of a trial's batch: its tools by arm, its runs round by round, and its end when the decision has come."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mcp_tef.errors import InputError
from mcp_tef.model.cases import TestCase, case_renamed
from mcp_tef.model.ids import BatchId, CaseId, RunId, new_id
from mcp_tef.model.runs import Arm, ModelSettings, PlannedRun, RunResult
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.tools import Listing, Tool
from mcp_tef.ports import CaseTools, RunStore
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.workflows.trial_record import FRESH_ROUND, TrialRecord, TrialRun

ListedServer = tuple[ServerSpec, Listing]


class TrialTools:
    """Offers each run the listings of its arm, and never asks a server; satisfies `ToolOffering`.

    `arms` holds the servers of each arm by name. Where a draft stands over a tools file, `alone` is True: its tools
    are then offered in the place of all servers of a case. With `hints`, the draft's arm offers the tools that a case
    expects with its own query as an example. `renames` holds the new names of tools of `server`, or any, by arm.
    """

    def __init__(
        self,
        arms: Mapping[Arm, Mapping[str, ListedServer]],
        runs: RunStore,
        *,
        separator: str,
        alone: bool = False,
        hints: bool = False,
        renames: Mapping[Arm, Mapping[str, str]] | None = None,
        server: str | None = None,
    ) -> None:
        self._arms = arms
        self._renames = renames or {}
        self._server = server
        self._runs = runs
        self._separator = separator
        self._alone = alone
        self._hints = hints
        self._planned: dict[RunId, tuple[Arm, int]] = {}
        self._case_tools: dict[tuple[Arm, int, tuple[str, ...], str], asyncio.Task[CaseTools]] = {}

    def expect(self, runs: Iterable[PlannedRun]) -> None:
        """Note the arms and rounds of runs that will ask for their tools."""
        self._planned |= {run.id: (run.arm or Arm.ORIGINAL, run.repeat) for run in runs}

    def listings(self) -> dict[str, Listing]:
        """Return the listings of the draft's arm by server, for estimates of the prompts' sizes."""
        return {name: listing for name, (_, listing) in self._arms[Arm.DRAFT].items()}

    def added_tokens(self) -> dict[int, int]:
        """Return nothing: both arms have about the tools of the listings."""
        return {}

    async def tools_for(self, case: TestCase, run_id: RunId) -> CaseTools:
        """Return the tools of a case in the arm and rotation of a run."""
        arm, round_ = self._planned[run_id]
        asked, case = case, self._by_new_names(case, arm)
        hinted = case if self._hints and arm is Arm.DRAFT else None
        key = (arm, round_, case.draft.servers, hinted.id if hinted else "")
        if key not in self._case_tools:
            self._case_tools[key] = asyncio.create_task(self._assemble(arm, round_, case.draft.servers, run_id, hinted))
        case_tools = await asyncio.shield(self._case_tools[key])
        return case_tools if case is asked else replace(case_tools, expectation=case.draft.expectation)

    def _by_new_names(self, case: TestCase, arm: Arm) -> TestCase:
        """Return a case that expects renamed tools by their names in an arm; the same where none is renamed."""
        names = self._renames.get(arm)
        return case_renamed(case, names, self._server) if names else case

    async def close(self) -> None:
        """Stop what is still being stored."""
        for task in self._case_tools.values():
            task.cancel()
        await asyncio.gather(*self._case_tools.values(), return_exceptions=True)

    async def _assemble(
        self, arm: Arm, round_: int, names: Sequence[str], run_id: RunId, hinted: TestCase | None
    ) -> CaseTools:
        servers = self._servers(arm, names)
        if hinted:
            servers = [(spec, _with_hint(listing, hinted)) for spec, listing in servers]
        tools = [tool for _, listing in servers for tool in listing.tools]
        if not tools:
            raise InputError("No tool is known of the case's servers.", hint="Check the servers, then start again.")
        aliases = {spec.name: spec.alias for spec, _ in servers if spec.alias}
        offered = offer(tools, self._separator, aliases=aliases)
        start = round_ % len(offered)
        offered = (*offered[start:], *offered[:start])
        snapshot_id = await self._runs.save_snapshot(offered, run_id)
        return CaseTools(offered, tuple(item.tool for item in offered), snapshot_id, tuple(servers))

    def _servers(self, arm: Arm, names: Sequence[str]) -> list[ListedServer]:
        listed = self._arms[arm]
        if self._alone:
            return [_as_server(name, *one) for one in listed.values() for name in names[:1] or (one[0].name,)]
        return [listed[name] for name in names if name in listed]


def _with_hint(listing: Listing, case: TestCase) -> Listing:
    """Return a listing with the query of a case as an example in each tool that it expects."""
    calls = {(call.tool, call.server) for calls in case.draft.expectation.alternatives for call in calls}
    hint = f"Use this for requests such as: {case.draft.query}"

    def hinted(tool: Tool) -> Tool:
        if calls.isdisjoint({(tool.name, listing.server), (tool.name, None)}):
            return tool
        text = f"{tool.description} {hint}".strip()
        return replace(tool, description=text, raw={**tool.raw, "description": text})

    return replace(listing, tools=tuple(map(hinted, listing.tools)))


def _as_server(name: str, spec: ServerSpec, listing: Listing) -> ListedServer:
    """Return a tools file under the name of the server that the case expects."""
    tools = tuple(replace(tool, server=name) for tool in listing.tools)
    return replace(spec, name=name), replace(listing, server=name, tools=tools)


class TrialSteering:
    """Plans the passes of a trial from its record; satisfies `RunSteering`."""

    def __init__(
        self,
        record: TrialRecord,
        tools: TrialTools,
        cases: Mapping[CaseId, TestCase],
        settings: Mapping[Arm, ModelSettings],
        store: RunStore,
        batch_id: BatchId | None = None,
    ) -> None:
        self.record = record
        self.tools = tools
        self.cases = cases
        self.batch_id = batch_id
        self.settings = settings
        self._store = store

    def begin(self, batch_id: BatchId, models: Sequence[ModelSettings]) -> None:
        """Note the batch that the trial is, and the settings that its runs are done with."""
        self.batch_id, self.settings = batch_id, self.record.plan.arms(models)

    def left(self, runs: Sequence[PlannedRun]) -> tuple[PlannedRun, ...]:
        """Return those of the runs without a verdict that are still needed, and note what they will be offered."""
        kept = tuple(run for run in runs if not self.record.stopped or run.repeat >= FRESH_ROUND)
        self.tools.expect(kept)
        return kept

    @property
    def is_over(self) -> bool:
        """True if no further run is to be planned."""
        return not self.record.due()

    def hear(self, run: PlannedRun, result: RunResult) -> bool:
        """Take in a result; return True if the rest of the pass is not needed."""
        mark = result.verdict.mark if result.verdict else None
        self.record.end(run.id, mark, result.failure.code if result.failure else "")
        return run.repeat < FRESH_ROUND and self.record.rest_is_idle

    async def next_runs(self) -> Sequence[PlannedRun]:
        """Store and return the runs of the next pass; none at the end."""
        planned = [
            PlannedRun(
                id=RunId(new_id()),
                case_id=case_id,
                settings=self.settings[arm],
                repeat=round_,
                batch_id=self.batch_id,
                arm=arm,
                place=place,
            )
            for case_id, arm, round_, place in self.record.planned_runs(self.record.due())
        ]
        if planned and self.batch_id:
            await self._store.add_runs(self.batch_id, planned)
        for run in planned:
            if run.arm is not None and run.place is not None:
                self.record.put(TrialRun(run.id, run.case_id, run.arm, run.repeat, run.place))
        self.tools.expect(planned)
        return planned
