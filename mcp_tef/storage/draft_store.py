"""Drafts in SQLite, and their tables; the SQL of the tables is in `schema` like that of all."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Index, Text, delete, insert, select, update
from sqlalchemy import text as sql
from sqlmodel import Field, Session

from mcp_tef.errors import ChangedMeanwhileError, ConflictError, FieldConflict, NotFoundError
from mcp_tef.model.drafts import Draft, DraftStep, steps_text
from mcp_tef.model.ids import DraftId
from mcp_tef.storage.columns import Document, Moment, SafeText, StoredRow, now, one_of, row_of, storable, table_of
from mcp_tef.storage.database import Database, chunks
from mcp_tef.trust.field_changes import merged_fields
from mcp_tef.trust.name_keys import stored_name


class DraftRow(StoredRow, table=True):
    """A draft: the listing of tools that it starts from, and as `step` the number of its steps that apply."""

    __tablename__ = "drafts"
    __table_args__ = (Index("ux_drafts_name", sql("name COLLATE NOCASE"), unique=True),)

    id: str = Field(primary_key=True, sa_type=Text)
    name: str = Field(sa_type=SafeText)
    listing: Any = Field(sa_type=Document)
    listing_hash: str = Field(sa_type=Text)
    server: str | None = Field(default=None, sa_type=SafeText)
    step: int = 0
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    updated_at: datetime = Field(default_factory=now, sa_type=Moment)


class DraftStepRow(StoredRow, table=True):
    """One step of a draft: RFC 6902 operations over the state of the step before."""

    __tablename__ = "draft_steps"

    draft_id: str = Field(primary_key=True, foreign_key="drafts.id", ondelete="CASCADE", sa_type=Text)
    number: int = Field(primary_key=True)
    operations: Any = Field(sa_type=Document)
    made_at: datetime = Field(default_factory=now, sa_type=Moment)


DRAFTS = table_of(DraftRow)
DRAFT_STEPS = table_of(DraftStepRow)


class SqliteDrafts:
    """Satisfies `DraftStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, draft: Draft) -> Draft:
        """Store a draft with its steps. ConflictError where its name is taken."""

        def work(session: Session) -> Draft:
            _require_free(session, draft)
            session.execute(insert(DRAFTS), [{"id": draft.id, "created_at": draft.created_at, **_cells(draft)}])
            _add_steps(session, draft.id, draft.steps)
            return _get(session, draft.id)

        return await self._database.write(work)

    async def all(self) -> tuple[Draft, ...]:
        """Every draft, oldest first."""
        return await self._database.read(_all)

    async def get(self, draft_id: DraftId) -> Draft:
        """One draft. NotFoundError."""
        return await self._database.read(lambda session: _get(session, draft_id))

    async def append(self, seen: Draft, step: DraftStep) -> Draft:
        """Add a step in the place of those that were undone. ChangedMeanwhileError where the draft is another now."""

        def work(session: Session) -> Draft:
            _require_seen(session, seen, f"step {step.number}")
            undone = (DRAFT_STEPS.c.draft_id == seen.id) & (DRAFT_STEPS.c.number >= step.number)
            session.execute(delete(DRAFT_STEPS).where(undone))
            _add_steps(session, seen.id, [step])
            return _moved(session, seen.id, step.number)

        return await self._database.write(work)

    async def move(self, seen: Draft, step: int) -> Draft:
        """Let so many steps apply. NotFoundError; ChangedMeanwhileError."""

        def work(session: Session) -> Draft:
            _require_seen(session, seen, steps_text(step, len(seen.steps)))
            return _moved(session, seen.id, step)

        return await self._database.write(work)

    async def rename(self, seen: Draft, name: str) -> Draft:
        """Give a draft another name. NotFoundError; ConflictError where it is taken, or was changed meanwhile."""

        def work(session: Session) -> Draft:
            stored = _get(session, seen.id)
            named = merged_fields(replace(stored, name=seen.name), replace(stored, name=name), stored, "the draft")
            _require_free(session, named)
            session.execute(update(DRAFTS).where(DRAFTS.c.id == seen.id).values(name=named.name, updated_at=now()))
            return _get(session, seen.id)

        return await self._database.write(work)

    async def replace(self, seen: Draft, draft: Draft) -> Draft:
        """Put another listing and other steps in the place of those seen. NotFoundError; ChangedMeanwhileError."""

        def work(session: Session) -> Draft:
            _require_seen(session, seen, "another listing")
            cells = {name: value for name, value in _cells(draft).items() if name != "name"}
            session.execute(update(DRAFTS).where(DRAFTS.c.id == draft.id).values(cells))
            session.execute(delete(DRAFT_STEPS).where(DRAFT_STEPS.c.draft_id == draft.id))
            _add_steps(session, draft.id, draft.steps)
            return _get(session, draft.id)

        return await self._database.write(work)

    async def remove(self, ids: Sequence[DraftId]) -> None:
        """Delete drafts; `add` brings one back."""
        await self._database.write(lambda session: session.execute(delete(DRAFTS).where(DRAFTS.c.id.in_(one_of(ids)))))


def _cells(draft: Draft) -> dict[str, Any]:
    return {
        "name": draft.name,
        "listing": draft.listing,
        "listing_hash": draft.listing_hash,
        "server": draft.server,
        "step": draft.step,
        "updated_at": now(),
    }


def _add_steps(session: Session, draft_id: DraftId, steps: Sequence[DraftStep]) -> None:
    for piece in chunks(steps):
        rows = [
            {"draft_id": draft_id, "number": step.number, "operations": list(step.operations), "made_at": step.made_at}
            for step in piece
        ]
        session.execute(insert(DRAFT_STEPS), rows)


def _require_free(session: Session, draft: Draft) -> None:
    names = session.execute(select(DRAFTS.c.name).where(DRAFTS.c.id != draft.id)).scalars()
    if stored_name(storable(draft.name), names) is not None:
        raise ConflictError(f"There is a draft named “{draft.name}” already.", hint="Use another name.")


def _require_seen(session: Session, seen: Draft, wanted: str) -> None:
    """Raise ChangedMeanwhileError where a draft has another listing or other steps than were seen."""
    stored = _get(session, seen.id)
    if (stored.step, stored.steps, stored.listing_hash) != (seen.step, seen.steps, seen.listing_hash):
        conflict = FieldConflict("steps", steps_text(stored.step, len(stored.steps)), wanted)
        raise ChangedMeanwhileError(f"the draft “{stored.name}”", [conflict])


def _moved(session: Session, draft_id: DraftId, step: int) -> Draft:
    session.execute(update(DRAFTS).where(DRAFTS.c.id == draft_id).values(step=step, updated_at=now()))
    return _get(session, draft_id)


def _get(session: Session, draft_id: DraftId) -> Draft:
    found = _all(session, (draft_id,))
    if not found:
        raise NotFoundError("That draft is not here any more.", hint="It may have been removed.")
    return found[0]


def _all(session: Session, ids: Iterable[DraftId] = ()) -> tuple[Draft, ...]:
    drafts = select(DRAFTS).order_by(DRAFTS.c.created_at, sql("drafts.rowid"))
    steps = select(DRAFT_STEPS).order_by(DRAFT_STEPS.c.number)
    if ids:
        drafts = drafts.where(DRAFTS.c.id.in_(one_of(ids)))
        steps = steps.where(DRAFT_STEPS.c.draft_id.in_(one_of(ids)))
    of_draft: defaultdict[str, list[DraftStep]] = defaultdict(list)
    for row in session.execute(steps):
        of_draft[row.draft_id].append(_step(row))
    return tuple(_draft(row, of_draft) for row in session.execute(drafts))


@row_of("draft_steps", "draft_id")
def _step(row: Any) -> DraftStep:
    if not isinstance(row.operations, list) or not all(isinstance(one, dict) for one in row.operations):
        raise TypeError("The operations are not a list of objects.")
    return DraftStep(row.number, tuple(row.operations), row.made_at)


@row_of("drafts")
def _draft(row: Any, steps: Mapping[str, Sequence[DraftStep]]) -> Draft:
    if not all(isinstance(raw, dict) for raw in row.listing["tools"]):
        raise TypeError("The listing is not a list of objects.")
    return Draft(
        id=DraftId(row.id),
        name=row.name,
        listing=row.listing,
        server=row.server,
        steps=tuple(steps.get(row.id, ())),
        step=row.step,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
