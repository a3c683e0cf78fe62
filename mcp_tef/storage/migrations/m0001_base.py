"""Version 1: the tables of the data model, with batches, suites, tags, snapshots and consents beside them.

Equal tool definitions are one row, which belongs to one of the runs that saw it; a trigger hands the row on
when that run is deleted, so that no run loses the tools it saw because another one goes.
"""

import sqlite3

from mcp_tef.storage.migrations.script import run_script

SCHEMA = """
PRAGMA application_id = 1297368390;

CREATE TABLE mcp_servers (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    url TEXT,
    transport TEXT NOT NULL CHECK (transport IN ('stdio', 'sse', 'streamable-http', 'file')),
    status TEXT NOT NULL DEFAULT 'inactive' CHECK (status IN ('active', 'failed', 'inactive')),
    last_connected_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    command TEXT,
    args TEXT NOT NULL DEFAULT '[]',
    cwd TEXT,
    env TEXT NOT NULL DEFAULT '{}',
    path TEXT,
    headers TEXT NOT NULL DEFAULT '{}',
    auth_type TEXT NOT NULL DEFAULT 'none' CHECK (auth_type IN ('none', 'api_key', 'bearer', 'basic', 'oauth2')),
    secret TEXT CHECK (secret GLOB '${?*}'),
    alias TEXT,
    allowed_tools TEXT NOT NULL DEFAULT '[]',
    disallowed_tools TEXT NOT NULL DEFAULT '[]',
    status_reason TEXT,
    status_hint TEXT,
    exit_code INTEGER,
    stderr_tail TEXT,
    latency_ms INTEGER,
    protocol TEXT,
    tool_count INTEGER,
    problem_count INTEGER NOT NULL DEFAULT 0,
    removed_at TIMESTAMP
);
CREATE UNIQUE INDEX ux_mcp_servers_name ON mcp_servers (name) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX ux_mcp_servers_url ON mcp_servers (url) WHERE removed_at IS NULL;
CREATE TRIGGER mcp_servers_updated_at AFTER UPDATE ON mcp_servers
WHEN NEW.updated_at IS OLD.updated_at AND NEW.updated_at <> strftime('%Y-%m-%d %H:%M:%f', 'now')
BEGIN
    UPDATE mcp_servers SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = NEW.id;
END;

CREATE TABLE server_listings (
    mcp_server_id TEXT NOT NULL PRIMARY KEY REFERENCES mcp_servers (id) ON DELETE CASCADE,
    listing TEXT NOT NULL,
    seen_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE consents (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    launch TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE test_cases (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    expected_mcp_server_name TEXT,
    expected_tool_name TEXT,
    expected_parameters TEXT,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expected_calls TEXT,
    removed_at TIMESTAMP
);
CREATE INDEX ix_test_cases_expected_mcp_server_name ON test_cases (expected_mcp_server_name);
CREATE INDEX ix_test_cases_expected_tool_name ON test_cases (expected_tool_name);
CREATE TRIGGER test_cases_updated_at AFTER UPDATE ON test_cases
WHEN NEW.updated_at IS OLD.updated_at AND NEW.updated_at <> strftime('%Y-%m-%d %H:%M:%f', 'now')
BEGIN
    UPDATE test_cases SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = NEW.id;
END;

CREATE TABLE test_case_mcp_servers (
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    PRIMARY KEY (test_case_id, mcp_server_id)
);
CREATE INDEX ix_test_case_mcp_servers_mcp_server_id ON test_case_mcp_servers (mcp_server_id);

CREATE TABLE test_case_tags (
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (test_case_id, tag)
);

CREATE TABLE suites (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE suite_test_cases (
    suite_id TEXT NOT NULL REFERENCES suites (id) ON DELETE CASCADE,
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    PRIMARY KEY (suite_id, test_case_id)
);
CREATE INDEX ix_suite_test_cases_test_case_id ON suite_test_cases (test_case_id);

CREATE TABLE batches (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'paused', 'completed', 'cancelled', 'interrupted')),
    request TEXT NOT NULL,
    repeats INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    max_cost_usd REAL,
    owner TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    completed_at TIMESTAMP
);
CREATE INDEX ix_batches_created_at ON batches (created_at);

CREATE TABLE model_settings (
    id TEXT NOT NULL PRIMARY KEY,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    timeout INTEGER NOT NULL CHECK (timeout BETWEEN 1 AND 300),
    temperature REAL NOT NULL CHECK (temperature BETWEEN 0.0 AND 2.0),
    max_retries INTEGER NOT NULL CHECK (max_retries BETWEEN 0 AND 10),
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    base_url TEXT,
    system_prompt TEXT,
    mode TEXT NOT NULL DEFAULT 'auto' CHECK (mode IN ('auto', 'native', 'json')),
    batch_id TEXT REFERENCES batches (id) ON DELETE CASCADE
);
CREATE INDEX ix_model_settings_batch_id ON model_settings (batch_id);

CREATE TABLE snapshots (
    id TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE test_runs (
    id TEXT NOT NULL PRIMARY KEY,
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    model_settings_id TEXT REFERENCES model_settings (id) ON DELETE SET NULL,
    status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'running', 'completed', 'failed', 'cancelled')),
    selected_tool_id TEXT REFERENCES tool_definitions (id) ON DELETE SET NULL,
    confidence_score REAL CHECK (confidence_score BETWEEN 0.0 AND 1.0),
    classification TEXT CHECK (classification IN ('TP', 'FP', 'TN', 'FN')),
    execution_time_ms INTEGER CHECK (execution_time_ms > 0),
    error_message TEXT,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    completed_at TIMESTAMP,
    batch_id TEXT REFERENCES batches (id) ON DELETE CASCADE,
    position INTEGER NOT NULL DEFAULT 0,
    repeat_index INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 1,
    snapshot_id TEXT REFERENCES snapshots (id) ON DELETE SET NULL,
    query TEXT NOT NULL DEFAULT '',
    expected_label TEXT NOT NULL DEFAULT 'no tool',
    expected_server_name TEXT,
    expected_tool_name TEXT,
    selected_label TEXT,
    selected_server_name TEXT,
    selected_tool_name TEXT,
    confidence_source TEXT CHECK (confidence_source IN ('self-reported', 'agreement', 'logprob', 'margin')),
    expected_rank INTEGER,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_usd REAL,
    error_code TEXT,
    error_hint TEXT,
    mode TEXT CHECK (mode IN ('auto', 'native', 'json')),
    expectation TEXT,
    extracted_parameters TEXT,
    calls TEXT,
    words TEXT,
    ranking TEXT,
    llm_request_raw TEXT,
    llm_response_raw TEXT
);
CREATE INDEX ix_test_runs_test_case_id ON test_runs (test_case_id, completed_at DESC);
CREATE INDEX ix_test_runs_status ON test_runs (status);
CREATE INDEX ix_test_runs_created_at ON test_runs (created_at DESC, batch_id DESC, position);
CREATE INDEX ix_test_runs_model_settings_id ON test_runs (model_settings_id);
CREATE INDEX ix_test_runs_batch_id ON test_runs (batch_id, position, status, classification, cost_usd, test_case_id);
CREATE INDEX ix_test_runs_snapshot_id ON test_runs (snapshot_id);
CREATE INDEX ix_test_runs_selected_tool_id ON test_runs (selected_tool_id);

CREATE TABLE tool_definitions (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    input_schema TEXT NOT NULL,
    output_schema TEXT,
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    test_run_id TEXT NOT NULL REFERENCES test_runs (id) ON DELETE CASCADE,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    server_name TEXT NOT NULL,
    raw TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
CREATE INDEX ix_tool_definitions_name ON tool_definitions (name);
CREATE INDEX ix_tool_definitions_test_run_id ON tool_definitions (test_run_id);
CREATE UNIQUE INDEX ux_tool_definitions_fingerprint ON tool_definitions (mcp_server_id, fingerprint);
CREATE TRIGGER tool_definitions_updated_at AFTER UPDATE ON tool_definitions
WHEN NEW.updated_at IS OLD.updated_at AND NEW.updated_at <> strftime('%Y-%m-%d %H:%M:%f', 'now')
BEGIN
    UPDATE tool_definitions SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = NEW.id;
END;

CREATE TABLE snapshot_tools (
    snapshot_id TEXT NOT NULL REFERENCES snapshots (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tool_id TEXT NOT NULL REFERENCES tool_definitions (id) ON DELETE CASCADE,
    offered_name TEXT NOT NULL,
    PRIMARY KEY (snapshot_id, position)
);
CREATE INDEX ix_snapshot_tools_tool_id ON snapshot_tools (tool_id);

CREATE TRIGGER test_runs_hand_over_tools BEFORE DELETE ON test_runs
BEGIN
    UPDATE tool_definitions
    SET test_run_id = coalesce(
        (
            SELECT heir.id
            FROM snapshot_tools JOIN test_runs AS heir ON heir.snapshot_id = snapshot_tools.snapshot_id
            WHERE snapshot_tools.tool_id = tool_definitions.id AND heir.id <> OLD.id
            LIMIT 1
        ),
        test_run_id
    )
    WHERE test_run_id = OLD.id;
END;
CREATE TRIGGER test_runs_drop_snapshot AFTER DELETE ON test_runs WHEN OLD.snapshot_id IS NOT NULL
BEGIN
    DELETE FROM snapshots
    WHERE id = OLD.snapshot_id AND NOT EXISTS (SELECT 1 FROM test_runs WHERE snapshot_id = OLD.snapshot_id);
END;

CREATE TABLE evaluation_results (
    id TEXT NOT NULL PRIMARY KEY,
    test_run_id TEXT NOT NULL UNIQUE REFERENCES test_runs (id) ON DELETE CASCADE,
    classification TEXT NOT NULL CHECK (classification IN ('TP', 'FP', 'TN', 'FN')),
    tool_selection_correct INTEGER NOT NULL,
    parameter_completeness REAL CHECK (parameter_completeness BETWEEN 0.0 AND 1.0),
    parameter_correctness REAL CHECK (parameter_correctness BETWEEN 0.0 AND 1.0),
    parameter_type_conformance INTEGER,
    hallucinated_parameters TEXT,
    confidence_category TEXT CHECK (confidence_category IN ('robust', 'needs_clarity', 'misleading')),
    reasoning TEXT NOT NULL,
    recommendations TEXT NOT NULL DEFAULT '[]',
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    kind TEXT NOT NULL,
    alternative INTEGER NOT NULL DEFAULT 0,
    parameters_ok INTEGER,
    matches TEXT NOT NULL DEFAULT '[]'
);
"""


def upgrade(connection: sqlite3.Connection) -> None:
    """Make an empty file a workspace of version 1."""
    run_script(connection, SCHEMA)
