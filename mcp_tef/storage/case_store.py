"""Test cases with their servers, suites and tags, in the workspace file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, product, zip_longest
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, delete, insert, or_, select, text
from sqlalchemy import update as update_rows
from sqlalchemy.sql.elements import ColumnElement
from sqlmodel import Session

from mcp_tef.errors import ConflictError, NotFoundError
from mcp_tef.model.cases import CaseDraft, CaseOrigin, TestCase, expectation_to_json, messages_to_json
from mcp_tef.model.ids import CaseId, new_id
from mcp_tef.ports import NOTHING_SEEN, ignore_progress
from mcp_tef.storage.columns import expectation_of, messages_of, now, one_of, row_of, storable
from mcp_tef.storage.database import chunks
from mcp_tef.storage.server_store import add_server, named
from mcp_tef.storage.tables import CASE_SERVERS, CASE_TAGS, CASES, SERVERS, SUITE_CASES, SUITES
from mcp_tef.trust.field_changes import changed_fields, merged_fields, same
from mcp_tef.trust.name_keys import name_key

if TYPE_CHECKING:
    from mcp_tef.model.runs import RunSummary
    from mcp_tef.model.servers import ServerSpec
    from mcp_tef.ports import ProgressStep
    from mcp_tef.storage.database import Database

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_VISIBLE = CASES.c.removed_at.is_(None)
_ADDED = text("test_cases.rowid")
_TIED = {"servers": CASE_SERVERS, "suites": SUITE_CASES, "tags": CASE_TAGS}
"""Fields of a case with a table of their own."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Cases with any of these; all cases if it is empty."""

    ids: tuple[CaseId, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Ties:
    servers: Mapping[str, list[str]]
    suites: Mapping[str, list[str]]
    tags: Mapping[str, list[str]]


def require_servers(session: Session, drafts: Sequence[CaseDraft]) -> dict[str, str]:
    """The ids of all servers by name, removed ones that cases still name included. NotFoundError for another name."""
    rows = session.execute(select(SERVERS.c.name, SERVERS.c.id).order_by(SERVERS.c.removed_at.desc().nulls_last()))
    ids = {row.name: row.id for row in rows}
    for draft in drafts:
        for name in draft.servers:
            if name not in ids:
                ids[name] = named(session, name).id
    return ids


def add(
    session: Session, drafts: Sequence[CaseDraft], wanted: Sequence[CaseId | None] = (), *, imported: bool = False
) -> tuple[TestCase, ...]:
    """Store new cases in the order given, under the ids that are wanted where these are ids and free."""
    moment, free = now(), _free_ids(session, wanted)
    rows = [
        {
            "id": case_id or new_id(),
            "created_at": moment,
            "updated_at": moment,
            "imported": int(imported),
            **_cells(draft),
        }
        for draft, case_id in zip_longest(drafts, free)
    ]
    if not rows:
        return ()
    session.execute(insert(CASES), rows)
    ids = [row["id"] for row in rows]
    _tie(session, dict(zip(ids, drafts, strict=True)))
    return select_cases(session, Selection(ids=tuple(CaseId(item) for item in ids)))


def _free_ids(session: Session, wanted: Sequence[CaseId | None]) -> list[CaseId | None]:
    """Return the ids with None in the place of those that a case has, also a deleted one, or that are not of ours."""
    asked = [case_id for case_id in wanted if case_id]
    taken = set(session.execute(select(CASES.c.id).where(CASES.c.id.in_(one_of(asked)))).scalars()) if asked else set()
    return [case_id if case_id and _ID.fullmatch(case_id) and case_id not in taken else None for case_id in wanted]


def update(
    session: Session, case_id: CaseId, draft: CaseDraft, seen: CaseDraft | None = None, *, imported: bool = False
) -> TestCase:
    """Change the fields of one case in which a draft differs from the one seen. ChangedMeanwhileError."""
    stored = get(session, case_id).draft
    draft = merged_fields(seen or stored, draft, stored, f"the case “{stored.name}”")
    changed = changed_fields(stored, draft)
    if not changed:
        return get(session, case_id)
    before = _cells(stored)
    cells = {name: value for name, value in _cells(draft).items() if not same(value, before[name])}
    cells["imported"] = int(imported)
    session.execute(update_rows(CASES).where(CASES.c.id == case_id).values(updated_at=now(), **cells))
    for table in (table for field, table in _TIED.items() if field in changed):
        session.execute(delete(table).where(table.c.test_case_id == case_id))
    _tie(session, {case_id: draft}, changed)
    return get(session, case_id)


def get(session: Session, case_id: CaseId) -> TestCase:
    """One case. NotFoundError."""
    found = select_cases(session, Selection(ids=(case_id,)))
    if not found:
        raise NotFoundError("That test case is not here any more.", hint="It may have been removed.")
    return found[0]


def select_cases(session: Session, selection: Selection) -> tuple[TestCase, ...]:
    """The cases that a selection names, in the order they were added."""
    rows = session.execute(select(CASES).where(_VISIBLE, *_conditions(selection)).order_by(_ADDED)).all()
    ties = _ties(session, [row.id for row in rows])
    return tuple(_case(row, ties) for row in rows)


def set_removed(session: Session, ids: Sequence[CaseId], *, removed: bool) -> None:
    """Hide or show cases. NotFoundError where one is not here."""
    moment: datetime | None = now() if removed else None
    statement = update_rows(CASES).where(CASES.c.id.in_(one_of(ids))).values(removed_at=moment).returning(CASES.c.id)
    if len(session.execute(statement).all()) < len(set(ids)):
        raise NotFoundError("That test case is not here any more.", hint="It was deleted for good.")


def count_openings(session: Session, ids: Sequence[CaseId]) -> None:
    """Count one more opening of those cases that are held back."""
    held_back = CASES.c.id.in_(one_of(ids)) & (CASES.c.held_back == 1)
    # The case itself does not change.
    counted = {"openings": CASES.c.openings + 1, "updated_at": CASES.c.updated_at}
    session.execute(update_rows(CASES).where(held_back).values(counted))


def suites(session: Session) -> tuple[str, ...]:
    """The names of suites that have a case to show."""
    cases = select(SUITE_CASES.c.suite_id).join(CASES, CASES.c.id == SUITE_CASES.c.test_case_id).where(_VISIBLE)
    names = session.execute(select(SUITES.c.name).where(SUITES.c.id.in_(cases)).order_by(SUITES.c.name))
    return tuple(names.scalars())


def rename_suite(session: Session, name: str, wanted: str) -> None:
    """Give a suite another name, for hidden cases as well. NotFoundError; ConflictError where another has the name."""
    ids = {row.name: row.id for row in session.execute(select(SUITES.c.name, SUITES.c.id))}
    suite, other = ids.get(storable(name)), ids.get(storable(wanted))
    if suite is None:
        raise NotFoundError(f"There is no suite named “{name}” any more.", hint="Its cases may have been deleted.")
    if other not in (None, suite):
        _clear_away(session, other, wanted)
    session.execute(update_rows(SUITES).where(SUITES.c.id == suite).values(name=storable(wanted)))


def _clear_away(session: Session, suite: str | None, name: str) -> None:
    """Take out a suite that no case is in, not even a deleted one."""
    if session.execute(select(SUITE_CASES.c.suite_id).where(SUITE_CASES.c.suite_id == suite).limit(1)).first():
        raise ConflictError(
            f"Cases, or cases deleted since the start, are in a suite named “{name}”.", hint="Use another name."
        )
    session.execute(delete(SUITES).where(SUITES.c.id == suite))


def _cells(draft: CaseDraft) -> dict[str, Any]:
    first = draft.expectation.first_call
    return {
        "name": draft.name,
        "query": draft.query,
        "expected_mcp_server_name": first.server if first else None,
        "expected_tool_name": first.tool if first else None,
        "expected_parameters": first.parameters if first else None,
        "expectation": expectation_to_json(draft.expectation),
        "family": draft.family or None,
        "before": messages_to_json(draft.before),
        "origin": draft.origin.value,
        "held_back": int(draft.held_back),
    }


def _tie(session: Session, drafts: Mapping[str, CaseDraft], wanted: Collection[str] = _TIED.keys()) -> None:
    """Store the servers, suites and tags of cases, or those of them that are wanted."""
    servers = require_servers(session, tuple(drafts.values()))
    in_suites = _suite_ids(session, {storable(name) for draft in drafts.values() for name in draft.suites})
    ties: dict[str, tuple[str, Callable[[CaseDraft], Iterable[str]]]] = {
        "servers": ("mcp_server_id", lambda draft: map(servers.__getitem__, draft.servers)),
        "suites": ("suite_id", lambda draft: (in_suites[storable(name)] for name in draft.suites)),
        "tags": ("tag", lambda draft: draft.tags),
    }
    for field in ties.keys() & wanted:
        column, values = ties[field]
        pairs = chain.from_iterable(product([key], dict.fromkeys(values(draft))) for key, draft in drafts.items())
        if rows := [{"test_case_id": case_id, column: value} for case_id, value in pairs]:
            session.execute(insert(_TIED[field]), rows)


def _unknown_suites(names: set[str], known: Mapping[str, str]) -> dict[str, str]:
    return {name_key(name): name for name in sorted(names, reverse=True) if name_key(name) not in known}


def _suite_ids(session: Session, names: set[str]) -> dict[str, str]:
    ids = {row.name: row.id for row in session.execute(select(SUITES.c.name, SUITES.c.id))}
    known = {name_key(name): suite for name, suite in ids.items()}
    missing = _unknown_suites(names, known)
    rows = {key: {"id": new_id(), "name": name, "created_at": now()} for key, name in missing.items()}
    if rows:
        session.execute(insert(SUITES), [*rows.values()])
    known |= {key: str(row["id"]) for key, row in rows.items()}
    return {name: ids.get(name) or known[name_key(name)] for name in names}


def _conditions(selection: Selection) -> list[ColumnElement[bool]]:
    any_of: list[ColumnElement[bool]] = []
    if selection.ids:
        any_of.append(CASES.c.id.in_(one_of(selection.ids)))
    if selection.suites:
        members = select(SUITE_CASES.c.test_case_id).join(SUITES, SUITES.c.id == SUITE_CASES.c.suite_id)
        any_of.append(CASES.c.id.in_(members.where(SUITES.c.name.in_(selection.suites))))
    if selection.tags:
        tagged = select(CASE_TAGS.c.test_case_id).where(CASE_TAGS.c.tag.in_(selection.tags))
        any_of.append(CASES.c.id.in_(tagged))
    return [or_(*any_of)] if any_of else []


def _ties(session: Session, ids: Sequence[str]) -> _Ties:
    servers = select(CASE_SERVERS.c.test_case_id, SERVERS.c.name).select_from(CASE_SERVERS.join(SERVERS))
    in_suites = select(SUITE_CASES.c.test_case_id, SUITES.c.name).select_from(SUITE_CASES.join(SUITES))
    tags = select(CASE_TAGS.c.test_case_id, CASE_TAGS.c.tag)
    return _Ties(
        _grouped(session, servers.order_by(text("test_case_mcp_servers.rowid")), ids),
        _grouped(session, in_suites.order_by(text("suite_test_cases.rowid")), ids),
        _grouped(session, tags.order_by(text("test_case_tags.rowid")), ids),
    )


def _grouped(session: Session, statement: Select[Any], ids: Sequence[str]) -> dict[str, list[str]]:
    key, _ = statement.selected_columns
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for case_id, name in session.execute(statement.where(key.in_(one_of(ids)))):
        groups[case_id].append(name)
    return dict(groups)


@row_of("test_cases")
def _case(row: Any, ties: _Ties) -> TestCase:
    return TestCase(
        id=CaseId(row.id),
        draft=CaseDraft(
            name=row.name,
            query=row.query,
            expectation=expectation_of(row.expectation),
            servers=tuple(ties.servers.get(row.id, ())),
            suites=tuple(ties.suites.get(row.id, ())),
            tags=tuple(ties.tags.get(row.id, ())),
            family=row.family or "",
            before=messages_of(row.before),
            origin=CaseOrigin(row.origin),
            held_back=bool(row.held_back),
        ),
        created_at=row.created_at,
        updated_at=row.updated_at,
        openings=row.openings,
        imported=bool(row.imported),
    )


class SqliteCases:
    """Satisfies `CaseStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, drafts: Sequence[CaseDraft]) -> tuple[TestCase, ...]:
        """Store new cases. NotFoundError, and nothing stored, where one names a server that is not registered."""
        await self._database.read(lambda session: require_servers(session, drafts))
        stored: list[TestCase] = []
        for piece in chunks(drafts):
            stored += await self._add(piece)
        return tuple(stored)

    async def _add(self, drafts: Sequence[CaseDraft]) -> tuple[TestCase, ...]:
        return await self._database.write(lambda session: add(session, drafts))

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
                after.append(update(session, case_id, draft, seen.get(case_id), imported=imported))
                step(done := done + 1, whole)
            before: list[TestCase] = []
            for piece, wanted in zip_longest(chunks(added), chunks(ids), fillvalue=()):
                before += add(session, piece, wanted, imported=imported)
                step(done := done + len(piece), whole)
            return (*before, *after)

        return await self._database.write(work)

    async def update(self, case_id: CaseId, draft: CaseDraft, seen: CaseDraft | None = None) -> TestCase:
        """Change a case; its past runs keep the query and the expectation that they were judged by."""
        return await self._database.write(lambda session: update(session, case_id, draft, seen))

    async def get(self, case_id: CaseId) -> TestCase:
        """One case. NotFoundError."""
        return await self._database.read(lambda session: get(session, case_id))

    async def all(self) -> tuple[TestCase, ...]:
        """Every case, in the order they were added."""
        return await self.select()

    async def select(
        self, *, ids: Sequence[CaseId] = (), suites: Sequence[str] = (), tags: Sequence[str] = ()
    ) -> tuple[TestCase, ...]:
        """Cases with one of the ids, in one of the suites, or with one of the tags; all where nothing is given."""
        selection = Selection(tuple(ids), tuple(suites), tuple(tags))
        return await self._database.read(lambda session: select_cases(session, selection))

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
            set_removed(session, ids, removed=removed)

        await self._database.write(work)

    async def count_openings(self, ids: Sequence[CaseId]) -> None:
        """Count one more opening of those cases that are held back, since a trial asks them."""
        await self._database.write(lambda session: count_openings(session, ids))

    async def suites(self) -> tuple[str, ...]:
        """The names of suites that have a case, in order."""
        return await self._database.read(suites)

    async def rename_suite(self, name: str, wanted: str) -> None:
        """Give a suite another name; its cases stay as they are. NotFoundError; ConflictError where it is taken."""
        await self._database.write(lambda session: rename_suite(session, name, wanted))

    async def recent(self, limit: int = 5) -> Mapping[CaseId, tuple[RunSummary, ...]]:
        """The last finished runs of every case, newest last."""
        from mcp_tef.storage.run_queries import recent

        return await self._database.read(lambda session: recent(session, limit))
