"""The SQL of the tool library and of contacts with servers, which version 13 added."""

from typing import Final

from mcp_tef.model.health import ContactKind
from mcp_tef.model.library import ExecutionStatus, ToolStatus
from mcp_tef.storage.schema_columns import codes

LIBRARY_SCHEMA: Final = f"""
CREATE TABLE library_categories (
    name TEXT NOT NULL PRIMARY KEY,
    description TEXT NOT NULL DEFAULT '',
    parent TEXT REFERENCES library_categories (name) ON DELETE SET NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE library_tools (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'draft' CHECK (status IN ({codes(ToolStatus)})),
    version INTEGER NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    removed_at TIMESTAMP
);
CREATE UNIQUE INDEX ux_library_tools_name ON library_tools (name) WHERE removed_at IS NULL;

CREATE TABLE library_versions (
    tool_id TEXT NOT NULL REFERENCES library_tools (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    changelog TEXT NOT NULL DEFAULT '',
    design TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tool_id, version)
);

CREATE TABLE library_executions (
    id TEXT NOT NULL PRIMARY KEY,
    tool_id TEXT NOT NULL REFERENCES library_tools (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ({codes(ExecutionStatus)})),
    input TEXT NOT NULL,
    output TEXT,
    error_message TEXT,
    created_at TIMESTAMP NOT NULL,
    started_at TIMESTAMP,
    completed_at TIMESTAMP,
    duration_ms INTEGER,
    caller_id TEXT,
    trace_id TEXT
);
CREATE INDEX ix_library_executions_tool ON library_executions (tool_id, created_at DESC);

-- One row for each contact of the last seven days; those before are folded into one row for each server and hour.
CREATE TABLE server_contacts (
    id INTEGER NOT NULL PRIMARY KEY,
    server TEXT NOT NULL,
    kind TEXT CHECK (kind IN ({codes(ContactKind)})),
    at TIMESTAMP NOT NULL,
    contacts INTEGER NOT NULL DEFAULT 1,
    failures INTEGER NOT NULL DEFAULT 0,
    duration_ms INTEGER NOT NULL,
    error TEXT
);
CREATE INDEX ix_server_contacts_at ON server_contacts (at);
"""  # the codes are those of enums
