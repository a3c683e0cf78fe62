"""The tables of run facts as SQLModel classes; their SQL is in `schema` like that of all tables."""

from datetime import datetime

from sqlalchemy import BLOB, REAL, Index, Integer, Text
from sqlalchemy import text as sql
from sqlmodel import Field

from mcp_tef.storage.columns import Moment, StoredRow, Words, table_of


class FactKeyRow(StoredRow, table=True):
    """A number for an id or a label that facts refer to."""

    __tablename__ = "fact_keys"

    id: int = Field(primary_key=True)
    value: str = Field(sa_type=Words, unique=True)


class ToolNameRow(StoredRow, table=True):
    """A number for a tool of a server; the server is empty where none is known."""

    __tablename__ = "tool_names"
    __table_args__ = (Index("ux_tool_names_tool", "tool", "server", unique=True),)

    id: int = Field(primary_key=True)
    server: str = Field(default="", sa_type=Words)
    tool: str = Field(sa_type=Words)


class FactsRow(StoredRow, table=True):
    """A narrow copy of a run, by which runs are filtered, ordered and counted; `run_facts` writes it."""

    __tablename__ = "run_facts"
    __table_args__ = (
        Index(
            "ix_run_facts_created_at",
            *(sql("created_at DESC"), sql("batch_key DESC"), "position", "case_key", "model_key", "snapshot_key"),
            *("status", "classification", "kind", "expected_tool_key", "selected_tool_key", "invented_tool"),
            *("confidence_score", "mark", "unreadable", "failure_code"),
        ),
        Index("ix_run_facts_batch", "batch_key", "position", "case_key", "mark", "unreadable", "failure_code"),
        {"sqlite_with_rowid": False},
    )

    run_id: str = Field(primary_key=True, foreign_key="test_runs.id", ondelete="CASCADE", sa_type=Text)
    batch_key: int | None = None
    case_key: int
    model_key: int | None = None
    snapshot_key: int | None = None
    status: str = Field(sa_type=Text)
    classification: str | None = Field(default=None, sa_type=Text)
    kind: str | None = Field(default=None, sa_type=Text)
    expected_tool_key: int | None = None
    selected_tool_key: int | None = None
    invented_tool: int = Field(sa_type=Integer)
    confidence_score: float | None = Field(default=None, sa_type=REAL)
    created_at: datetime = Field(sa_type=Moment)
    position: int
    mark: str | None = Field(default=None, sa_type=Text)
    unreadable: int = Field(sa_type=Integer)
    failure_code: str | None = Field(default=None, sa_type=Words)
    metrics: bytes = Field(sa_type=BLOB)


FACT_KEYS = table_of(FactKeyRow)
TOOL_NAMES = table_of(ToolNameRow)
FACTS = table_of(FactsRow)
