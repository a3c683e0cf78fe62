"""Servers, cases and manual calls in memory, behaving as the store on disk does."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from mcp_tef import FailureInfo
from mcp_tef.errors import ConflictError, NotFoundError, TefError
from mcp_tef.model.cancellation import StoppedError
from mcp_tef.model.cases import CaseDraft, TestCase
from mcp_tef.model.ids import CaseId, ServerId, ToolCallId, new_id
from mcp_tef.model.json import JsonObject
from mcp_tef.model.runs import RunSummary
from mcp_tef.model.servers import Server, ServerSpec, ServerStatus
from mcp_tef.model.tool_calls import ToolCall, ToolCallStatus, ToolReply
from mcp_tef.model.tools import Listing
from mcp_tef.ports import NOTHING_SEEN, CheckResult, ProgressStep, ignore_progress
from mcp_tef.trust.field_changes import merged_fields

NOW = datetime(2026, 11, 21, 14, 2, tzinfo=UTC)


async def _half_way(gate: asyncio.Event | None, step: ProgressStep) -> None:
    step(1, 2)
    if gate is not None:
        await gate.wait()
        step(1, 2)


class MemoryServers:
    """Satisfies `ServerStore`."""

    def __init__(self) -> None:
        self._servers: dict[ServerId, Server] = {}
        self._removed: dict[ServerId, Server] = {}
        self._listings: dict[ServerId, Listing] = {}
        self._accepted: dict[ServerId, Listing] = {}
        self.gate: asyncio.Event | None = None

    async def add(self, spec: ServerSpec) -> Server:
        """Keep it under a fresh id."""
        self._require_free(spec.name, None)
        server = Server(id=ServerId(new_id()), spec=spec, created_at=NOW, updated_at=NOW)
        self._servers[server.id] = server
        return server

    async def update(self, server_id: ServerId, spec: ServerSpec, seen: ServerSpec | None = None) -> Server:
        """Change its spec."""
        server = await self.get(server_id)
        spec = merged_fields(seen or server.spec, spec, server.spec, "the server")
        self._require_free(spec.name, server_id)
        self._servers[server_id] = replace(server, spec=spec, updated_at=NOW, imported=False)
        return self._servers[server_id]

    async def apply(
        self,
        added: Sequence[ServerSpec],
        changed: Mapping[ServerId, ServerSpec],
        *,
        seen: Mapping[ServerId, ServerSpec] = NOTHING_SEEN,
        step: ProgressStep = ignore_progress,
    ) -> tuple[Server, ...]:
        """Several at once; waits half way for the gate, if a test has closed one."""
        before = dict(self._servers)
        try:
            edited = [await self.update(server_id, spec, seen.get(server_id)) for server_id, spec in changed.items()]
            fresh = [await self.add(spec) for spec in added]
            self._servers |= {one.id: replace(one, imported=True) for one in (*fresh, *edited)}
            await _half_way(self.gate, step)
        except (ConflictError, NotFoundError, StoppedError):
            self._servers = before
            raise
        return tuple(self._servers[one.id] for one in (*fresh, *edited))

    async def get(self, server_id: ServerId) -> Server:
        """One server."""
        if server_id not in self._servers:
            raise NotFoundError("This server is not there any more.")
        return self._servers[server_id]

    async def find(self, name: str) -> Server:
        """The server of a name."""
        for server in self._servers.values():
            if server.name == name:
                return server
        raise NotFoundError(f"There is no server named {name}.")

    async def all(self) -> tuple[Server, ...]:
        """By name."""
        return tuple(sorted(self._servers.values(), key=lambda server: server.name))

    async def remove(self, ids: Sequence[ServerId]) -> None:
        """Set aside."""
        self._removed.update((server_id, self._servers.pop(server_id)) for server_id in ids)

    async def restore(self, ids: Sequence[ServerId]) -> None:
        """Bring back."""
        self._servers.update((server_id, self._removed.pop(server_id)) for server_id in ids)

    async def record_check(self, server_id: ServerId, result: CheckResult) -> Server:
        """Keep what a check found."""
        listing = result.listing
        server = replace(
            await self.get(server_id),
            status=ServerStatus.ACTIVE if listing else ServerStatus.FAILED,
            reason=result.reason,
            hint=result.hint,
            exit_code=result.exit_code,
            stderr_tail=result.stderr_tail,
        )
        if listing:
            seen = self._accepted.pop(server_id, self._listings.get(server_id, listing))
            if {tool.fingerprint for tool in seen.tools} != {tool.fingerprint for tool in listing.tools}:
                self._accepted[server_id] = seen
            self._listings[server_id] = listing
            server = replace(
                server,
                latency_ms=listing.latency_ms,
                protocol=listing.protocol,
                tool_count=len(listing.tools),
                problem_count=len(listing.problems),
                last_connected_at=NOW,
            )
        self._servers[server_id] = server
        return server

    async def listing(self, server_id: ServerId) -> Listing | None:
        """The last listing."""
        await self.get(server_id)
        return self._listings.get(server_id)

    async def accepted_listing(self, server_id: ServerId) -> Listing | None:
        """The one before, where it was another."""
        await self.get(server_id)
        return self._accepted.get(server_id)

    async def accept_listing(self, server_id: ServerId, listing: Listing) -> bool:
        """Take it as seen, if it is the last one."""
        if self._listings.get(server_id) != listing:
            return False
        self._accepted.pop(server_id, None)
        return True

    def _require_free(self, name: str, own: ServerId | None) -> None:
        if any(server.name == name and server.id != own for server in self._servers.values()):
            raise ConflictError(f"There is a server named {name} already.", hint="Use another name.")


class MemoryCases:
    """Satisfies `CaseStore`; `runs` gives the finished runs of a case, newest last."""

    def __init__(self) -> None:
        self._cases: dict[CaseId, TestCase] = {}
        self._removed: dict[CaseId, TestCase] = {}
        self._added: list[CaseId] = []
        self.finished: dict[CaseId, list[RunSummary]] = {}
        self.gate: asyncio.Event | None = None

    async def add(self, drafts: Sequence[CaseDraft]) -> tuple[TestCase, ...]:
        """Keep them under fresh ids."""
        made = tuple(TestCase(id=CaseId(new_id()), draft=draft, created_at=NOW, updated_at=NOW) for draft in drafts)
        self._cases.update((case.id, case) for case in made)
        self._added += [case.id for case in made]
        return made

    async def apply(
        self,
        added: Sequence[CaseDraft],
        changed: Mapping[CaseId, CaseDraft],
        servers: Sequence[ServerSpec] = (),
        *,
        seen: Mapping[CaseId, CaseDraft] = NOTHING_SEEN,
        ids: Sequence[CaseId | None] = (),
        imported: bool = False,
        step: ProgressStep = ignore_progress,
    ) -> tuple[TestCase, ...]:
        """Change and add; servers are no part of this. Waits half way for the gate, if a test has closed one."""
        assert not servers
        before = dict(self._cases)
        try:
            after = [await self.update(case_id, draft, seen.get(case_id)) for case_id, draft in changed.items()]
            made = await self.add(added)
            self._cases |= {one.id: replace(one, imported=imported) for one in (*made, *after)}
            await _half_way(self.gate, step)
        except (ConflictError, NotFoundError, StoppedError):
            self._cases = before
            raise
        return tuple(self._cases[one.id] for one in (*made, *after))

    async def update(self, case_id: CaseId, draft: CaseDraft, seen: CaseDraft | None = None) -> TestCase:
        """Change its draft."""
        stored = await self.get(case_id)
        draft = merged_fields(seen or stored.draft, draft, stored.draft, "the case")
        self._cases[case_id] = replace(stored, draft=draft, updated_at=NOW, imported=False)
        return self._cases[case_id]

    async def get(self, case_id: CaseId) -> TestCase:
        """One case."""
        if case_id not in self._cases:
            raise NotFoundError("This case is not there any more.")
        return self._cases[case_id]

    async def all(self) -> tuple[TestCase, ...]:
        """Oldest first."""
        return tuple(self._cases.values())

    async def select(
        self, *, ids: Sequence[CaseId] = (), suites: Sequence[str] = (), tags: Sequence[str] = ()
    ) -> tuple[TestCase, ...]:
        """Those that one of the selections names; all where there is none."""
        if not (ids or suites or tags):
            return await self.all()
        return tuple(
            case
            for case in self._cases.values()
            if case.id in ids or set(case.draft.suites) & set(suites) or set(case.draft.tags) & set(tags)
        )

    async def remove(self, ids: Sequence[CaseId]) -> None:
        """Set aside."""
        self._removed.update((case_id, self._cases.pop(case_id)) for case_id in ids)

    async def restore(self, ids: Sequence[CaseId]) -> None:
        """Bring back, each to its place."""
        every = self._cases | {case_id: self._removed.pop(case_id) for case_id in ids}
        self._cases = {case_id: every[case_id] for case_id in self._added if case_id in every}

    async def count_openings(self, ids: Sequence[CaseId]) -> None:
        """One more of those held back."""
        for case in [self._cases[case_id] for case_id in ids if case_id in self._cases]:
            if case.draft.held_back:
                self._cases[case.id] = replace(case, openings=case.openings + 1)

    async def suites(self) -> tuple[str, ...]:
        """All names in use."""
        return tuple(sorted({suite for case in self._cases.values() for suite in case.draft.suites}))

    async def rename_suite(self, name: str, wanted: str) -> None:
        """Of all cases, also those set aside."""
        taken = {suite for case in (*self._cases.values(), *self._removed.values()) for suite in case.draft.suites}
        if name not in taken:
            raise NotFoundError(f"There is no suite named “{name}” any more.")
        if wanted in taken - {name}:
            raise ConflictError(f"Cases are in a suite named “{wanted}”.")
        for cases in (self._cases, self._removed):
            for case in list(cases.values()):
                suites = tuple(wanted if suite == name else suite for suite in case.draft.suites)
                cases[case.id] = replace(case, draft=replace(case.draft, suites=suites))

    async def recent(self, limit: int = 5) -> Mapping[CaseId, tuple[RunSummary, ...]]:
        """The last finished runs of every case."""
        return {case_id: tuple(runs[-limit:]) for case_id, runs in self.finished.items()}


class MemoryToolCalls:
    """Satisfies `ToolCallStore`, without a limit."""

    def __init__(self) -> None:
        self.kept: dict[ToolCallId, ToolCall] = {}

    async def begin(self, call: ToolCall) -> None:
        """Keep it."""
        self.kept[call.id] = call

    async def end(self, call: ToolCall) -> None:
        """Replace it."""
        if call.id in self.kept:
            self.kept[call.id] = call

    async def of_server(self, server_id: ServerId, tool: str | None = None) -> tuple[ToolCall, ...]:
        """Newest first."""
        found = [call for call in self.kept.values() if call.server_id == server_id and tool in (None, call.tool)]
        return tuple(reversed(found))

    async def remove(self, ids: Sequence[ToolCallId]) -> None:
        """Delete them."""
        self.kept = {call_id: call for call_id, call in self.kept.items() if call_id not in ids}

    async def restore(self, calls: Sequence[ToolCall]) -> None:
        """Keep them where they were."""
        every = sorted((*self.kept.values(), *calls), key=lambda call: call.asked_at)
        self.kept = {call.id: call for call in every}


Reply = ToolReply | TefError


def says(text: str, **fields: object) -> ToolReply:
    """A reply with one text."""
    made: Callable[..., ToolReply] = ToolReply
    return made(content=({"type": "text", "text": text},), execution_time_ms=7, **fields)


def ended_call(number: int, word: str, *, tool: str = "find", seconds: int = 1, failed: str = "") -> ToolCall:
    """Return a call with a word as its argument; answered, or failed with a sentence."""
    return ToolCall(
        id=ToolCallId(str(number)),
        server_id=ServerId("1"),
        server="desk",
        tool=tool,
        arguments={"text": word},
        asked_at=datetime(2026, 11, 22, 6, second=number, tzinfo=UTC),
        duration_ms=seconds * 1_000,
        status=ToolCallStatus.FAILED if failed else ToolCallStatus.ANSWERED,
        reply=None if failed else says(f"{word} found"),
        failure=FailureInfo("server_silent", failed, "Wait.") if failed else None,
    )


@dataclass
class FakeCaller:
    """Answers each call with `reply` once `gate` is open; `asked` holds what reached it, and `reached` that it did."""

    reply: Reply = field(default_factory=lambda: says("done"))
    asked: list[tuple[str, str, JsonObject]] = field(default_factory=list)
    gate: asyncio.Event | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def call_tool(
        self,
        spec: ServerSpec,
        tool: str,
        arguments: JsonObject,
        *,
        timeout: float,  # noqa: ASYNC109
    ) -> ToolReply:
        """What the test said."""
        self.asked.append((spec.name, tool, arguments))
        self.reached.set()
        if self.gate is not None:
            await self.gate.wait()
        if isinstance(self.reply, TefError):
            raise self.reply
        return self.reply
