"""The tables of servers and cases as SQLModel classes; a test compares all tables with the SQL in `schema`."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Text
from sqlalchemy import text as sql
from sqlmodel import Field

from mcp_tef.model.ids import new_id
from mcp_tef.storage.columns import ARRAY, OBJECT, VISIBLE, Document, Moment, SafeText, StoredRow, now, table_of


class ServerRow(StoredRow, table=True):
    """A registered server."""

    __tablename__ = "mcp_servers"
    __table_args__ = (
        Index("ux_mcp_servers_name", "name", unique=True, sqlite_where=VISIBLE),
        Index("ux_mcp_servers_url", "url", unique=True, sqlite_where=VISIBLE),
    )

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    name: str = Field(sa_type=SafeText)
    url: str | None = Field(default=None, sa_type=SafeText)
    transport: str = Field(sa_type=Text)
    status: str = Field(default="inactive", sa_type=Text)
    last_connected_at: datetime | None = Field(default=None, sa_type=Moment)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    updated_at: datetime = Field(default_factory=now, sa_type=Moment, sa_column_kwargs={"onupdate": now})
    command: str | None = Field(default=None, sa_type=SafeText)
    args: list[str] = Field(default_factory=list, sa_type=ARRAY)
    cwd: str | None = Field(default=None, sa_type=SafeText)
    env: dict[str, str] = Field(default_factory=dict, sa_type=OBJECT)
    path: str | None = Field(default=None, sa_type=SafeText)
    headers: dict[str, str] = Field(default_factory=dict, sa_type=OBJECT)
    auth_type: str = Field(default="none", sa_type=Text)
    secret: str | None = Field(default=None, sa_type=SafeText)
    alias: str | None = Field(default=None, sa_type=SafeText)
    allowed_tools: list[str] = Field(default_factory=list, sa_type=ARRAY)
    disallowed_tools: list[str] = Field(default_factory=list, sa_type=ARRAY)
    status_reason: str | None = Field(default=None, sa_type=SafeText)
    status_hint: str | None = Field(default=None, sa_type=SafeText)
    exit_code: int | None = None
    stderr_tail: str | None = Field(default=None, sa_type=SafeText)
    latency_ms: int | None = None
    protocol: str | None = Field(default=None, sa_type=SafeText)
    tool_count: int | None = None
    problem_count: int = 0
    removed_at: datetime | None = Field(default=None, sa_type=Moment)
    env_file: str | None = Field(default=None, sa_type=SafeText)
    project: str | None = Field(default=None, sa_type=SafeText)
    origin: str | None = Field(default=None, sa_type=SafeText)
    extra: dict[str, Any] = Field(default_factory=dict, sa_type=OBJECT)
    oauth: dict[str, Any] = Field(default_factory=dict, sa_type=OBJECT)
    imported: int = 0


class ListingRow(StoredRow, table=True):
    """The last listing of a server; `accepted_listing` is the one that the user saw last, where that is another."""

    __tablename__ = "server_listings"

    mcp_server_id: str = Field(primary_key=True, foreign_key="mcp_servers.id", ondelete="CASCADE", sa_type=Text)
    listing: Any = Field(sa_type=Document)
    seen_at: datetime = Field(default_factory=now, sa_type=Moment)
    accepted_listing: Any = Field(default=None, sa_type=Document, nullable=True)


class ToolCallRow(StoredRow, table=True):
    """A tool that was called by hand; neither its arguments nor its reply hold a key."""

    __tablename__ = "tool_calls"
    __table_args__ = (Index("ix_tool_calls_tool", "mcp_server_id", "tool_name", sql("asked_at DESC")),)

    id: str = Field(primary_key=True, sa_type=Text)
    mcp_server_id: str = Field(foreign_key="mcp_servers.id", ondelete="CASCADE", sa_type=Text)
    tool_name: str = Field(sa_type=SafeText)
    arguments: Any = Field(sa_type=Document)
    status: str = Field(sa_type=Text)
    asked_at: datetime = Field(sa_type=Moment)
    execution_time_ms: int | None = None
    reply: Any = Field(default=None, sa_type=Document, nullable=True)
    error_code: str | None = Field(default=None, sa_type=SafeText)
    error_message: str | None = Field(default=None, sa_type=SafeText)
    error_hint: str | None = Field(default=None, sa_type=SafeText)


class CaseRow(StoredRow, table=True):
    """A test case."""

    __tablename__ = "test_cases"

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    name: str = Field(sa_type=SafeText)
    query: str = Field(sa_type=SafeText)
    expected_mcp_server_name: str | None = Field(default=None, sa_type=SafeText, index=True)
    expected_tool_name: str | None = Field(default=None, sa_type=SafeText, index=True)
    expected_parameters: Any = Field(default=None, sa_type=Document, nullable=True)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    updated_at: datetime = Field(default_factory=now, sa_type=Moment, sa_column_kwargs={"onupdate": now})
    expectation: Any = Field(default=None, sa_type=Document, nullable=True)
    removed_at: datetime | None = Field(default=None, sa_type=Moment)
    family: str | None = Field(default=None, sa_type=SafeText)
    before: Any = Field(default=None, sa_type=Document, nullable=True)
    origin: str = Field(default="written", sa_type=Text)
    held_back: int = 0
    openings: int = 0
    imported: int = 0


class CaseServerRow(StoredRow, table=True):
    """A case asks with the tools of a server."""

    __tablename__ = "test_case_mcp_servers"

    test_case_id: str = Field(primary_key=True, foreign_key="test_cases.id", ondelete="CASCADE", sa_type=Text)
    mcp_server_id: str = Field(
        primary_key=True, foreign_key="mcp_servers.id", ondelete="CASCADE", sa_type=Text, index=True
    )


class CaseTagRow(StoredRow, table=True):
    """A case has a tag."""

    __tablename__ = "test_case_tags"

    test_case_id: str = Field(primary_key=True, foreign_key="test_cases.id", ondelete="CASCADE", sa_type=Text)
    tag: str = Field(primary_key=True, sa_type=SafeText)


class SuiteRow(StoredRow, table=True):
    """A named set of cases."""

    __tablename__ = "suites"

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    name: str = Field(sa_type=SafeText, unique=True)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)


class SuiteCaseRow(StoredRow, table=True):
    """A suite contains a case."""

    __tablename__ = "suite_test_cases"

    suite_id: str = Field(primary_key=True, foreign_key="suites.id", ondelete="CASCADE", sa_type=Text)
    test_case_id: str = Field(
        primary_key=True, foreign_key="test_cases.id", ondelete="CASCADE", sa_type=Text, index=True
    )


CASES = table_of(CaseRow)
SERVERS = table_of(ServerRow)
CASE_SERVERS = table_of(CaseServerRow)
CASE_TAGS = table_of(CaseTagRow)
SUITES = table_of(SuiteRow)
SUITE_CASES = table_of(SuiteCaseRow)
TOOL_CALLS = table_of(ToolCallRow)
LISTINGS = table_of(ListingRow)


class WorkspaceIdentityRow(StoredRow, table=True):
    """The identity of the workspace, which `workspace_identity` reads and writes."""

    __tablename__ = "workspace_identity"

    id: str = Field(primary_key=True, sa_type=Text)
    generation: str = Field(sa_type=Text)
