"""Test cases: edits, copies, warnings, and the effect of a change on past answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from mcp_tef.errors import ConflictError, InputError
from mcp_tef.events import CasesChanged
from mcp_tef.model.run_filter import RunFilter
from mcp_tef.model.runs import BatchStatus, RunStatus
from mcp_tef.model.search import did_you_mean
from mcp_tef.ports import NOTHING_SEEN
from mcp_tef.scoring.missing_tools import offered_names, why_missing, why_not_asked
from mcp_tef.trust.name_keys import stored_name
from mcp_tef.workflows.name_search import find_case, known_names

if TYPE_CHECKING:
    from mcp_tef.events import EventStream
    from mcp_tef.model.cases import CaseDraft, ExpectedCall, TestCase
    from mcp_tef.model.ids import CaseId
    from mcp_tef.model.json import Json
    from mcp_tef.model.runs import RunSummary
    from mcp_tef.model.servers import ServerSpec
    from mcp_tef.model.tools import Listing, Tool
    from mcp_tef.model.verdicts import Verdict
    from mcp_tef.ports import Store
    from mcp_tef.scoring.missing_tools import ListedServers


class Cases:
    """The test cases of a workspace."""

    def __init__(self, store: Store, events: EventStream) -> None:
        self._store = store
        self._events = events

    async def list(self, *, suites: Sequence[str] = (), tags: Sequence[str] = ()) -> tuple[TestCase, ...]:
        """Return the cases in one of the suites or with one of the tags, oldest first; all where nothing is given."""
        return await self._store.cases.select(suites=suites, tags=tags)

    async def named(self, texts: Sequence[str]) -> tuple[TestCase, ...]:
        """Return the cases with these ids, unique beginnings or names; NotFoundError, InputError for several."""
        cases = await self.list() if texts else ()
        return tuple(find_case(cases, text) for text in texts)

    async def in_groups(self, suites: Sequence[str], tags: Sequence[str]) -> tuple[TestCase, ...]:
        """Return what `list` does; NotFoundError for a suite or tag that no case has."""
        if suites or tags:
            cases = await self.list()
            suites = known_names("suite", suites, chain.from_iterable(case.draft.suites for case in cases))
            tags = known_names("tag", tags, chain.from_iterable(case.draft.tags for case in cases))
        return await self.list(suites=suites, tags=tags)

    async def get(self, case_id: CaseId) -> TestCase:
        """Return one case; NotFoundError."""
        return await self._store.cases.get(case_id)

    async def add(self, drafts: Sequence[CaseDraft], *, by: str = "") -> tuple[TestCase, ...]:
        """Store new cases together; InputError where one cannot be."""
        cases = await self._store.cases.add([checked(draft) for draft in drafts])
        self._touched((case.id for case in cases), by)
        return cases

    async def edit(self, case_id: CaseId, draft: CaseDraft, *, seen: CaseDraft | None = None, by: str = "") -> TestCase:
        """Change the fields of a case that differ from the draft seen; its past runs keep the verdict they had.

        ChangedMeanwhileError where somebody else changed one of them since; nothing is stored then.
        """
        case = await self._store.cases.update(case_id, checked(draft), seen and checked(seen))
        self._touched((case_id,), by)
        return case

    async def edit_all(
        self, drafts: Mapping[CaseId, CaseDraft], *, seen: Mapping[CaseId, CaseDraft] = NOTHING_SEEN, by: str = ""
    ) -> tuple[TestCase, ...]:
        """Change many cases together as `edit` does, or none where one cannot be."""
        if not drafts:
            return ()
        wanted = {case_id: checked(draft) for case_id, draft in drafts.items()}
        before = {case_id: checked(draft) for case_id, draft in seen.items()}
        cases = await self._store.cases.apply([], wanted, seen=before)
        self._touched(drafts, by)
        return cases

    async def duplicate(self, ids: Sequence[CaseId], *, by: str = "") -> tuple[TestCase, ...]:
        """Return copies of cases, named as such."""
        cases = await self._store.cases.select(ids=ids) if ids else ()
        return await self.add([replace(case.draft, name=f"{case.name} (copy)") for case in cases], by=by)

    async def remove(self, ids: Sequence[CaseId], *, by: str = "") -> None:
        """Remove cases with their runs; `restore` undoes it until the workspace is closed."""
        await self._store.cases.remove(ids)
        self._touched(ids, by)

    async def require_idle(self, ids: Sequence[CaseId]) -> None:
        """Raise ConflictError where a batch that is running asks one of these cases."""
        wanted = set(ids)
        for batch in await self._store.runs.batches():
            if batch.status not in (BatchStatus.RUNNING, BatchStatus.PAUSED):
                continue
            if wanted & {run.case_id for run in await self._store.runs.outcomes(batch.id)}:
                raise ConflictError(
                    f"The batch {batch.name or batch.id} is running and asks these cases.",
                    hint="Wait until it has ended, or cancel it.",
                )

    async def restore(self, ids: Sequence[CaseId], *, by: str = "") -> None:
        """Undo a removal."""
        await self._store.cases.restore(ids)
        self._touched(ids, by)

    async def suites(self) -> tuple[str, ...]:
        """Return the names of all suites."""
        return await self._store.cases.suites()

    async def rename_suite(self, name: str, wanted: str, *, by: str = "") -> None:
        """Call a suite otherwise; InputError where the name cannot be had. Batches keep what they recorded."""
        there = await self._store.cases.suites()
        new = free_suite_name(wanted, [other for other in there if other != name])
        await self._store.cases.rename_suite(name, new)
        self._touched((case.id for case in await self._store.cases.select(suites=[new])), by)

    async def recent(self, limit: int = 5) -> Mapping[CaseId, tuple[RunSummary, ...]]:
        """Return the last finished runs of every case, newest last."""
        return await self._store.cases.recent(limit)

    async def warnings(self, draft: CaseDraft) -> tuple[str, ...]:
        """Return warnings about values that look mistyped by the tools as last seen; unseen servers are skipped."""
        return (await self.warnings_of([draft]))[0]

    async def warnings_of(self, drafts: Sequence[CaseDraft]) -> tuple[tuple[str, ...], ...]:
        """Return the same of many cases, with each server looked at once."""
        named = {name for draft in drafts for name in draft.servers}
        servers = [server for server in await self._store.servers.all() if server.name in named]
        listings = [(server.spec, await self._store.servers.listing(server.id)) for server in servers]
        seen = {spec.name: (spec, listing) for spec, listing in listings if listing}
        return tuple(_warnings(draft, seen) for draft in drafts)

    async def try_on_last(
        self, case_id: CaseId, draft: CaseDraft, limit: int = 5
    ) -> tuple[tuple[RunSummary, Verdict], ...]:
        """Judge the last answers to a case by another expectation, newest first."""
        where = RunFilter(case_id=case_id, statuses=(RunStatus.COMPLETED,))
        runs = await self._store.runs.runs(where, limit=limit)
        tried = [(run, await self._tried(run, draft)) for run in runs]
        return tuple((run, verdict) for run, verdict in tried if verdict)

    async def _tried(self, run: RunSummary, draft: CaseDraft) -> Verdict | None:
        from mcp_tef.scoring.judge import judge

        detail = await self._store.runs.detail(run.id)
        if detail.answer is None or detail.snapshot is None:
            return None
        tools = [item.tool for item in detail.snapshot.tools]
        return judge(draft.expectation, tools, detail.answer.calls, detail.answer.confidence)

    def _touched(self, ids: Iterable[CaseId], by: str) -> None:
        self._events.publish(CasesChanged(tuple(ids), by))


def free_suite_name(wanted: str, others: Iterable[str]) -> str:
    """Return the name as a suite can have it; InputError where there is none, or another suite has it in any case."""
    name = " ".join(wanted.split())
    if not name:
        raise InputError("The suite has no name.", hint="Write one.")
    taken = stored_name(name, others)
    if taken is not None:
        raise ConflictError(f"A suite named “{taken}” is here already.", hint="Use another name.")
    return name


def checked(draft: CaseDraft) -> CaseDraft:
    """Return the draft with a name, if it has a query; else InputError."""
    if not draft.query.strip():
        raise InputError("The case has no query.", hint="Write what the user would say.")
    return draft if draft.name.strip() else replace(draft, name=draft.query.strip().splitlines()[0][:80])


def _warnings(draft: CaseDraft, seen: Mapping[str, tuple[ServerSpec, Listing]]) -> tuple[str, ...]:
    """Return the warnings for one case; none where one of its servers is not among those `seen`, by name."""
    if not seen.keys() >= set(draft.servers):
        return ()
    servers = [seen[name] for name in draft.servers]
    calls = list(chain.from_iterable(draft.expectation.alternatives))
    tools = [tool for _, listing in servers for tool in listing.tools]
    missing = [_missing_warning(call, servers) for call in calls]
    effect = "Runs of this case fail, and no model is asked." if why_not_asked(draft.expectation, servers) else ""
    values = chain.from_iterable(_value_warnings(call, tools) for call in calls)
    return tuple(dict.fromkeys(filter(None, (*missing, effect, *values))))


def _missing_warning(call: ExpectedCall, servers: ListedServers) -> str:
    reason = why_missing(call, servers)
    if reason is None:
        return ""
    names = [spec.name for spec, _ in servers]
    if call.server and call.server not in names:
        return f"{reason} {did_you_mean(call.server, names, 'Select it among the servers of the case.')}"
    return f"{reason} {did_you_mean(call.tool, offered_names(call, servers), 'Check the tools of the server.')}"


def _value_warnings(call: ExpectedCall, tools: Sequence[Tool]) -> Iterator[str]:
    """Yield a warning for each value without a matcher that the tool's schema refuses."""
    named = [tool for tool in tools if tool.name == call.tool and call.server in (None, tool.server)]
    if len(named) == 1:
        yield from _warnings_by_schema(call, named[0])


def _warnings_by_schema(call: ExpectedCall, tool: Tool) -> Iterator[str]:
    from mcp_tef.scoring.call_pairing import argument_problems, unknown_parameters

    expected = call.parameters or {}
    unknown = unknown_parameters(tool, expected)
    for name, close in unknown.items():
        yield f"The tool {call.tool} has no parameter {name}." + (f" Did you mean {close}?" if close else "")
    exact = {name: value for name, value in expected.items() if name not in unknown and not _holds_matcher(value)}
    for problem in argument_problems(tool, exact):
        if problem.parameter.partition(".")[0] in exact:
            yield f"An expected value does not fit the schema of {call.tool}: {problem.sentence.replace('`', '')}"


def _holds_matcher(value: Json) -> bool:
    from mcp_tef.scoring.matchers import is_matcher

    if isinstance(value, Mapping):
        return is_matcher(value) or any(map(_holds_matcher, value.values()))
    return isinstance(value, list) and any(map(_holds_matcher, value))
