"""The tables of drafts as SQLModel classes; their SQL is in `schema` like that of all tables."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Text
from sqlalchemy import text as sql
from sqlmodel import Field

from mcp_tef.storage.columns import Document, Moment, StoredRow, Words, now, table_of


class DraftRow(StoredRow, table=True):
    """A draft: the listing of tools that it starts from, and as `step` the number of its steps that apply."""

    __tablename__ = "drafts"
    __table_args__ = (Index("ux_drafts_name", sql("name COLLATE NOCASE"), unique=True),)

    id: str = Field(primary_key=True, sa_type=Text)
    name: str = Field(sa_type=Words)
    listing: Any = Field(sa_type=Document)
    listing_hash: str = Field(sa_type=Text)
    server: str | None = Field(default=None, sa_type=Words)
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
