"""Executions of library tools: checked input and output, consent, limits, and the history of each tool."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter
from typing import TYPE_CHECKING, Final

from mcp_tef.errors import InputError, NotFoundError, ReachError, TefError
from mcp_tef.events import LibraryExecuted
from mcp_tef.model.addresses import origin_of
from mcp_tef.model.ids import ExecutionId, new_id
from mcp_tef.model.json import canonical
from mcp_tef.model.library import (
    ABSENT,
    MOST_OUTPUT_BYTES,
    SERVED,
    Execution,
    ExecutionStatus,
    ExecutorKind,
    LibraryTool,
    ToolDesign,
)
from mcp_tef.model.secrets import json_without_keys, without_keys
from mcp_tef.model.servers import Transport
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.scoring.call_pairing import misfit_text
from mcp_tef.trust.bounds import fill_template
from mcp_tef.trust.consents import ConsentError
from mcp_tef.trust.library_checks import require_sound_design
from mcp_tef.trust.plans import ToolPlan, tool_start
from mcp_tef.workflows.library import Library, failure_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcp_tef.events import EventStream
    from mcp_tef.model.json import Json, JsonObject
    from mcp_tef.model.servers import ServerSpec
    from mcp_tef.ports import LibraryStore
    from mcp_tef.ports.calling import ToolCaller, ToolExecutor
    from mcp_tef.trust.consents import ConsentRequest
    from mcp_tef.workflows.consent import Consents
    from mcp_tef.workflows.search_tools import SearchTools
    from mcp_tef.workflows.servers import Servers

AT_ONCE: Final = 5


class AnswerExecutor:
    """Satisfies `ToolExecutor` for a fixed or templated answer, which needs nothing."""

    async def execute(self, plan: ToolPlan, arguments: JsonObject) -> Json:
        """Return the answer with the inputs in their places."""
        answer = fill_template(plan.design.config["answer"], arguments)
        return None if answer is ABSENT else answer


class ServerExecutor:
    """Satisfies `ToolExecutor` for a tool of a registered server."""

    def __init__(self, caller: ToolCaller) -> None:
        self._caller = caller

    async def execute(self, plan: ToolPlan, arguments: JsonObject) -> Json:
        """Return the structured content of the reply, else its text; ReachError where the tool says that it failed."""
        server, design = plan.server, plan.design
        assert server is not None
        if server.transport is Transport.FILE:
            raise ReachError(f"{server.name} is no server, so there is nothing to call.", hint="Name another server.")
        given = fill_template(design.config.get("arguments", dict(arguments)), arguments)
        reply = await self._caller.call_tool(server, design.config["tool"], given, timeout=design.seconds)
        if reply.is_error:
            said = f"{design.config['tool']} of {server.name} failed: {reply.text[:300]}"
            raise ReachError(said, hint="Call it by hand to see why.")
        return reply.text if reply.structured is None else reply.structured


def executors(
    programs: ToolExecutor, requests: ToolExecutor, searches: ToolExecutor, caller: ToolCaller
) -> Mapping[ExecutorKind, ToolExecutor]:
    """Return what carries out each kind of tool."""
    return {
        ExecutorKind.PYTHON: programs,
        ExecutorKind.SHELL: programs,
        ExecutorKind.HTTP: requests,
        ExecutorKind.SEARCH: searches,
        ExecutorKind.MCP: ServerExecutor(caller),
        ExecutorKind.ANSWER: AnswerExecutor(),
    }


class LibraryRuns:
    """Carries out tools of the library, each for a caller who asked for that. Nothing that evaluates knows of this.

    `programs` are the environment that says where programs are, and the Python that runs scripts.
    """

    def __init__(
        self,
        library: Library,
        store: LibraryStore,
        servers: Servers,
        executors: Mapping[ExecutorKind, ToolExecutor],
        consents: Consents,
        events: EventStream,
        programs: tuple[Mapping[str, str], str],
        searches: Callable[[], SearchTools],
    ) -> None:
        self._searches = searches
        self._library = library
        self._store = store
        self._servers = servers
        self._executors = executors
        self._consents = consents
        self._events = events
        self._environment, self._interpreter = programs
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE))
        self._under_way: dict[ExecutionId, Execution] = {}
        self._ended: list[Execution] = []
        self._writing: asyncio.Task[None] | None = None
        self._tasks = set[asyncio.Task[object]]()

    async def run(self, name: str, arguments: JsonObject, *, caller_id: str | None = None) -> Execution:
        """Execute a tool of any status, and keep what came of it; InputError, ConsentError where it did not begin."""
        done = await self.execute(await self._library.find(name), arguments, caller_id=caller_id)
        await self._written()
        return done

    async def execute(
        self, tool: LibraryTool, arguments: JsonObject, *, caller_id: str | None = None, trace_id: str | None = None
    ) -> Execution:
        """Execute a tool that was looked up before, in the same way; it is on disk a moment later."""
        plan = await self._agreed_plan(tool.design)
        _require_fit(tool.design, arguments)
        execution = Execution(
            id=ExecutionId(new_id()),
            tool_id=tool.id,
            tool=tool.name,
            version=tool.version,
            input=json_without_keys(dict(arguments)),
            created_at=datetime.now(UTC),
            caller_id=caller_id,
            trace_id=trace_id,
        )
        task = asyncio.current_task()
        try:
            self._note(execution)
            self._tasks |= {task} if task else set()
            if tool.design.executor is ExecutorKind.ANSWER:
                execution = await self._carried_out(plan, execution, arguments)
            else:
                async with self._slots[tool.id]:
                    execution = await self._carried_out(plan, execution, arguments)
        except asyncio.CancelledError:
            execution = replace(execution, status=ExecutionStatus.CANCELLED, completed_at=datetime.now(UTC))
            raise
        finally:
            self._under_way.pop(execution.id, None)
            self._keep(execution)
            self._tasks -= {task} if task else set()
        return execution

    async def close(self) -> None:
        """Cancel the executions that are under way, and keep them as such."""
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._written()

    async def require_consent(self, *designs: ToolDesign) -> None:
        """Raise ConsentError with every question that is open for tools, and InputError for one that is not sound."""
        plans = [await self._plan(design) for design in designs]
        if missing := self._consents.open_ones(request for plan in plans for request in self._questions(plan)):
            raise ConsentError.of(missing)

    async def allow_calls(self, server: str | None, names: Sequence[str]) -> None:
        """Allow tools that the user has just taken over from a server to call the same tools of it, as they are called.

        A tool that does anything else, as a definition may say by itself, is asked about like any other.
        """
        for name in names if server else ():
            plan = await self._plan((await self._library.find(name)).design)
            if plan.server is not None and plan.design.config == {"server": server, "tool": name}:
                await self._consents.allow(self._consents.tool_question(plan, None), typed=True)

    async def history(
        self, name: str | None = None, *, statuses: Sequence[ExecutionStatus] = (), text: str = ""
    ) -> tuple[Execution, ...]:
        """Return the executions of a tool or of all, newest first, also those under way.

        `text` is looked for in input, output and error.
        """
        await self._written()
        tool_id = None if name is None else (await self._library.find(name)).id
        live = [one for one in self._under_way.values() if tool_id in (None, one.tool_id)]
        found = (*reversed(live), *await self._store.executions(tool_id))
        wanted = text.casefold()
        return tuple(
            one
            for one in found
            if (not statuses or one.status in statuses) and (not wanted or wanted in _searched(one).casefold())
        )

    async def again(self, execution_id: str) -> Execution:
        """Execute the tool of an earlier execution once more, as it is now, with the same input; NotFoundError."""
        for one in await self._store.executions():
            if one.id == execution_id:
                return await self.run(one.tool, one.input, caller_id=one.caller_id)
        raise NotFoundError(f"There is no execution {execution_id}.", hint="See: mcp-tef library history NAME")

    async def _agreed_plan(self, design: ToolDesign) -> ToolPlan:
        plan = await self._plan(design)
        if missing := self._consents.open_ones(self._questions(plan)):
            raise ConsentError.of(missing)
        return plan

    async def _plan(self, design: ToolDesign) -> ToolPlan:
        """Return what an execution does; a stored design passes the checks of the editor again."""
        require_sound_design(design)
        match design.executor:
            case ExecutorKind.PYTHON | ExecutorKind.SHELL:
                return ToolPlan(design=design, start=tool_start(design, self._environment, self._interpreter))
            case ExecutorKind.MCP:
                return ToolPlan(design=design, server=(await self._servers.find(design.config["server"])).spec)
            case ExecutorKind.SEARCH if not design.has_address:
                return ToolPlan(design=design, search=await self._searches().find(design.config["search"]))
            case _:
                address = self._consents.filled(design.request.url or "") if design.has_address else ""
                return ToolPlan(design=design, origin=origin_of(address) or address)

    def _questions(self, plan: ToolPlan) -> Sequence[ConsentRequest]:
        design = plan.design
        if design.executor is ExecutorKind.ANSWER:
            return ()
        if plan.server is not None:
            return (self._consents.tool_question(plan, None), *self._consents.missing([plan.server]))
        if plan.search is not None:
            return (self._consents.tool_question(plan, None), *self._searches().questions(plan.search))
        spec = design.program(self._interpreter) if plan.start else design.request if design.has_address else None
        return (self._consents.tool_question(plan, spec),)

    async def _carried_out(self, plan: ToolPlan, execution: Execution, arguments: JsonObject) -> Execution:
        design = plan.design
        running = replace(execution, status=ExecutionStatus.RUNNING, started_at=datetime.now(UTC))
        self._note(running)
        began = perf_counter()
        try:
            async with asyncio.timeout(design.seconds):
                output = await self._executors[design.executor].execute(plan, arguments)
            _require_output(design, output)
            ended = replace(running, status=ExecutionStatus.SUCCESS, output=json_without_keys(output))
        except TimeoutError:
            said = f"{design.name} did not end within {design.seconds:g} seconds and was stopped."
            ended = replace(running, status=ExecutionStatus.TIMEOUT, error_message=said)
        except TefError as error:
            said = without_keys(failure_text(error))
            ended = replace(running, status=ExecutionStatus.FAILED, error_message=said)
        return replace(ended, completed_at=datetime.now(UTC), duration_ms=round((perf_counter() - began) * 1000))

    def _note(self, execution: Execution) -> None:
        self._under_way[execution.id] = execution

    def _keep(self, execution: Execution) -> None:
        """Have an execution written that ended; those that end while others are written go to disk together."""
        self._ended.append(execution)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def _write(self) -> None:
        while self._ended:
            batch, self._ended = self._ended, []
            await self._store.record(batch)
            for execution in batch:
                self._events.publish(LibraryExecuted(execution))

    async def _written(self) -> None:
        """Wait until every execution that ended is on disk; StoreError."""
        if self._writing is not None:
            await asyncio.shield(self._writing)


def _searched(execution: Execution) -> str:
    return f"{canonical(execution.input)} {canonical(execution.output)} {execution.error_message or ''}"


def _require_fit(design: ToolDesign, arguments: JsonObject) -> None:
    if problems := misfit_text(design.tool, arguments):
        raise InputError(
            f"The arguments do not fit {design.name}. {problems}", hint="Nothing was executed.", code="bad_arguments"
        )


def _require_output(design: ToolDesign, output: Json) -> None:
    try:
        size = len(canonical(output).encode("utf-8", "replace"))
    except RecursionError:
        raise ReachError(f"The output of {design.name} nests too deep.", hint="Return something flatter.") from None
    if size > MOST_OUTPUT_BYTES:
        raise ReachError(f"The output of {design.name} is larger than 1 MB.", hint="Return less.")
    if design.output_schema is None:
        return
    hint = "Correct its output or its output schema."
    if not isinstance(output, dict):
        raise ReachError(f"The output of {design.name} is no object, as its output schema needs.", hint=hint)
    if problems := misfit_text(replace(design.tool, input_schema=design.output_schema), output):
        raise ReachError(f"The output of {design.name} does not fit its output schema. {problems}", hint=hint)


def reply_of(execution: Execution) -> ToolReply:
    """Return an execution as the reply of a server."""
    failed = execution.status is not ExecutionStatus.SUCCESS
    output = execution.error_message if failed else execution.output
    text = output if isinstance(output, str) else canonical(output)
    return ToolReply(
        content=({"type": "text", "text": text},),
        structured=output if isinstance(output, dict) else None,
        is_error=failed,
        execution_time_ms=execution.duration_ms or 0,
    )


class LibraryCaller:
    """Satisfies `ToolCaller`: carries out tools of the library, and leaves all other servers to another caller."""

    def __init__(self, caller: ToolCaller, runs: LibraryRuns) -> None:
        self._caller = caller
        self._runs = runs

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: JsonObject,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """Return the tool's response without keys."""
        if not spec.is_library:
            return await self._caller.call_tool(spec, tool, arguments, timeout=timeout)
        return reply_of(await self._runs.run(tool, arguments, caller_id="user"))


class ServedLibrary:
    """Satisfies `ServedTools`: the active and deprecated tools of the library."""

    def __init__(self, library: Library, runs: LibraryRuns) -> None:
        self._library = library
        self._runs = runs
        self._tools: dict[str, LibraryTool] = {}

    @property
    def designs(self) -> tuple[ToolDesign, ...]:
        """The designs of the tools as they were at the last refresh."""
        return tuple(tool.design for tool in self._tools.values())

    @property
    def definitions(self) -> Sequence[JsonObject]:
        """The definitions that clients list, as they were at the last refresh."""
        return [tool.design.listed_as("", tool.status).raw for tool in self._tools.values()]

    async def refresh(self) -> bool:
        """Read the tools again; True where clients have to list them anew."""
        before = self.definitions
        self._tools = {tool.name: tool for tool in await self._library.list() if tool.status in SERVED}
        return self.definitions != before

    async def call(self, name: str, arguments: JsonObject, *, caller_id: str, trace_id: str | None) -> ToolReply:
        """Carry out a tool; NotFoundError where it is not served. Every other failure is a reply that is an error."""
        if name not in self._tools:
            raise NotFoundError(f"There is no tool named {name[:100]}.", hint="List the tools again.")
        try:
            done = await self._runs.execute(self._tools[name], arguments, caller_id=caller_id, trace_id=trace_id)
        except InputError as error:
            return ToolReply(content=({"type": "text", "text": failure_text(error)},), is_error=True)
        return reply_of(done)
