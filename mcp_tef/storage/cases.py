"""Test cases with their servers, suites and tags on disk."""

from collections.abc import Mapping, Sequence

from sqlmodel import Session

from mcp_tef.model.cases import CaseDraft, TestCase
from mcp_tef.model.ids import CaseId
from mcp_tef.model.runs import RunSummary
from mcp_tef.model.servers import ServerSpec
from mcp_tef.ports import ProgressStep, ignore_progress
from mcp_tef.storage import case_rows
from mcp_tef.storage.case_rows import Selection
from mcp_tef.storage.database import Database, chunks
from mcp_tef.storage.run_queries import recent
from mcp_tef.storage.servers import add_server


class SqliteCases:
    """Satisfies `CaseStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, drafts: Sequence[CaseDraft]) -> tuple[TestCase, ...]:
        """Store new cases. NotFoundError, and nothing stored, where one names a server that is not registered."""
        await self._database.read(lambda session: case_rows.require_servers(session, drafts))
        stored: list[TestCase] = []
        for piece in chunks(drafts):
            stored += await self._add(piece)
        return tuple(stored)

    async def _add(self, drafts: Sequence[CaseDraft]) -> tuple[TestCase, ...]:
        return await self._database.write(lambda session: case_rows.add(session, drafts))

    async def apply(
        self,
        added: Sequence[CaseDraft],
        changed: Mapping[CaseId, CaseDraft],
        servers: Sequence[ServerSpec] = (),
        *,
        step: ProgressStep = ignore_progress,
    ) -> tuple[TestCase, ...]:
        """Register servers, add and change cases, all in one transaction; the added cases, then the changed ones.

        NotFoundError or ConflictError, and nothing stored, where any of it cannot be. `step` is called on the store
        thread between the pieces; what it raises takes all of it back.
        """
        whole = len(servers) + len(changed) + len(added)

        def work(session: Session) -> tuple[TestCase, ...]:
            done = 0
            step(done, whole)
            for spec in servers:
                add_server(session, spec)
                step(done := done + 1, whole)
            after = []
            for case_id, draft in changed.items():
                after.append(case_rows.update(session, case_id, draft))
                step(done := done + 1, whole)
            before: list[TestCase] = []
            for piece in chunks(added):
                before += case_rows.add(session, piece)
                step(done := done + len(piece), whole)
            return (*before, *after)

        return await self._database.write(work)

    async def update(self, case_id: CaseId, draft: CaseDraft) -> TestCase:
        """Change a case; its past runs keep the query and the expectation that they were judged by."""
        return await self._database.write(lambda session: case_rows.update(session, case_id, draft))

    async def get(self, case_id: CaseId) -> TestCase:
        """One case. NotFoundError."""
        return await self._database.read(lambda session: case_rows.get(session, case_id))

    async def all(self) -> tuple[TestCase, ...]:
        """Every case, in the order they were added."""
        return await self.select()

    async def select(
        self, *, ids: Sequence[CaseId] = (), suites: Sequence[str] = (), tags: Sequence[str] = ()
    ) -> tuple[TestCase, ...]:
        """Cases with one of the ids, in one of the suites, or with one of the tags; all where nothing is given."""
        selection = Selection(tuple(ids), tuple(suites), tuple(tags))
        return await self._database.read(lambda session: case_rows.select_cases(session, selection))

    async def remove(self, ids: Sequence[CaseId]) -> None:
        """Hide cases and their runs until the next open, which deletes them; `restore` undoes it."""
        for piece in chunks(ids):
            await self._set_removed(piece, removed=True)

    async def restore(self, ids: Sequence[CaseId]) -> None:
        """Show removed cases and their runs again."""
        for piece in chunks(ids):
            await self._set_removed(piece, removed=False)

    async def _set_removed(self, ids: Sequence[CaseId], *, removed: bool) -> None:
        def work(session: Session) -> None:
            case_rows.set_removed(session, ids, removed=removed)

        await self._database.write(work)

    async def suites(self) -> tuple[str, ...]:
        """The names of suites that have a case, in order."""
        return await self._database.read(case_rows.suites)

    async def rename_suite(self, name: str, wanted: str) -> None:
        """Give a suite another name; its cases stay as they are. NotFoundError; ConflictError where it is taken."""
        await self._database.write(lambda session: case_rows.rename_suite(session, name, wanted))

    async def recent(self, limit: int = 5) -> Mapping[CaseId, tuple[RunSummary, ...]]:
        """The last finished runs of every case, newest last."""
        return await self._database.read(lambda session: recent(session, limit))
