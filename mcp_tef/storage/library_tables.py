"""The tables of the tool library and of contacts as SQLModel classes; their SQL is in `library_schema`."""

from datetime import datetime
from typing import Any

from sqlalchemy import Index, Text
from sqlalchemy import text as sql
from sqlmodel import Field

from mcp_tef.storage.columns import VISIBLE, Document, Moment, SafeText, StoredRow, now, table_of


class LibraryCategoryRow(StoredRow, table=True):
    """A category of library tools."""

    __tablename__ = "library_categories"

    name: str = Field(primary_key=True, sa_type=SafeText)
    description: str = Field(default="", sa_type=SafeText)
    parent: str | None = Field(
        default=None, foreign_key="library_categories.name", ondelete="SET NULL", sa_type=SafeText
    )
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    updated_at: datetime = Field(default_factory=now, sa_type=Moment)


class LibraryToolRow(StoredRow, table=True):
    """A tool of the library; what it is stands in its versions."""

    __tablename__ = "library_tools"
    __table_args__ = (Index("ux_library_tools_name", "name", unique=True, sqlite_where=VISIBLE),)

    id: str = Field(primary_key=True, sa_type=Text)
    name: str = Field(sa_type=SafeText)
    status: str = Field(default="draft", sa_type=Text)
    version: int = 1
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    updated_at: datetime = Field(default_factory=now, sa_type=Moment)
    removed_at: datetime | None = Field(default=None, sa_type=Moment)


class LibraryVersionRow(StoredRow, table=True):
    """One version of a tool; the one that the tool names is the latest."""

    __tablename__ = "library_versions"

    tool_id: str = Field(primary_key=True, foreign_key="library_tools.id", ondelete="CASCADE", sa_type=Text)
    version: int = Field(primary_key=True)
    changelog: str = Field(default="", sa_type=SafeText)
    design: Any = Field(sa_type=Document)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)


class LibraryExecutionRow(StoredRow, table=True):
    """One execution of a tool."""

    __tablename__ = "library_executions"
    __table_args__ = (Index("ix_library_executions_tool", "tool_id", sql("created_at DESC")),)

    id: str = Field(primary_key=True, sa_type=Text)
    tool_id: str = Field(foreign_key="library_tools.id", ondelete="CASCADE", sa_type=Text)
    version: int
    status: str = Field(sa_type=Text)
    input: Any = Field(sa_type=Document)
    output: Any = Field(default=None, sa_type=Document, nullable=True)
    error_message: str | None = Field(default=None, sa_type=SafeText)
    created_at: datetime = Field(sa_type=Moment)
    started_at: datetime | None = Field(default=None, sa_type=Moment)
    completed_at: datetime | None = Field(default=None, sa_type=Moment)
    duration_ms: int | None = None
    caller_id: str | None = Field(default=None, sa_type=SafeText)
    trace_id: str | None = Field(default=None, sa_type=SafeText)


class ServerContactRow(StoredRow, table=True):
    """One contact with a server, or those of one hour."""

    __tablename__ = "server_contacts"
    __table_args__ = (Index("ix_server_contacts_at", "at"),)

    id: int | None = Field(default=None, primary_key=True)
    server: str = Field(sa_type=SafeText)
    kind: str | None = Field(default=None, sa_type=Text)
    at: datetime = Field(sa_type=Moment)
    contacts: int = 1
    failures: int = 0
    duration_ms: int
    error: str | None = Field(default=None, sa_type=SafeText)


LIBRARY_CATEGORIES = table_of(LibraryCategoryRow)
LIBRARY_TOOLS = table_of(LibraryToolRow)
LIBRARY_VERSIONS = table_of(LibraryVersionRow)
LIBRARY_EXECUTIONS = table_of(LibraryExecutionRow)
SERVER_CONTACTS = table_of(ServerContactRow)
