"""The SQL of a workspace file; a test holds the classes in `tables` against it."""

import re
import sqlite3
from typing import Final

from mcp_tef.model.answers import CallingMode, ConfidenceSource
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.runs import BatchStatus, RunStatus
from mcp_tef.model.servers import AuthType, ServerStatus, Transport
from mcp_tef.model.tool_calls import ToolCallStatus
from mcp_tef.model.verdicts import Classification, ConfidenceCategory, RejudgeReason, RunMark
from mcp_tef.storage.library_schema import LIBRARY_SCHEMA
from mcp_tef.storage.schema_columns import added, codes

APPLICATION_ID: Final = 1297368390
VERSION: Final = 15

SCHEMA: Final = f"""
PRAGMA application_id = {APPLICATION_ID};

CREATE TABLE mcp_servers (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    url TEXT,
    transport TEXT NOT NULL CHECK (transport IN ({codes(Transport)})),
    status TEXT NOT NULL DEFAULT 'inactive' CHECK (status IN ({codes(ServerStatus, without=ServerStatus.STARTING)})),
    last_connected_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    command TEXT,
    args TEXT NOT NULL DEFAULT '[]',
    cwd TEXT,
    env TEXT NOT NULL DEFAULT '{{}}',
    env_file TEXT,
    path TEXT,
    headers TEXT NOT NULL DEFAULT '{{}}',
    auth_type TEXT NOT NULL DEFAULT 'none' CHECK (auth_type IN ({codes(AuthType)})),
    secret TEXT CHECK (secret GLOB '${{?*}}'),
    oauth TEXT NOT NULL DEFAULT '{{}}',
    alias TEXT,
    allowed_tools TEXT NOT NULL DEFAULT '[]',
    disallowed_tools TEXT NOT NULL DEFAULT '[]',
    project TEXT,
    origin TEXT,
    extra TEXT NOT NULL DEFAULT '{{}}',
    status_reason TEXT,
    status_hint TEXT,
    exit_code INTEGER,
    stderr_tail TEXT,
    latency_ms INTEGER,
    protocol TEXT,
    tool_count INTEGER,
    problem_count INTEGER NOT NULL DEFAULT 0,
    removed_at TIMESTAMP
{added("mcp_servers")});
CREATE UNIQUE INDEX ux_mcp_servers_name ON mcp_servers (name) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX ux_mcp_servers_url ON mcp_servers (url) WHERE removed_at IS NULL;

CREATE TABLE server_listings (
    mcp_server_id TEXT NOT NULL PRIMARY KEY REFERENCES mcp_servers (id) ON DELETE CASCADE,
    listing TEXT NOT NULL,
    accepted_listing TEXT,
    seen_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE tool_calls (
    id TEXT NOT NULL PRIMARY KEY,
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    tool_name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ({codes(ToolCallStatus)})),
    asked_at TIMESTAMP NOT NULL,
    execution_time_ms INTEGER,
    reply TEXT,
    error_code TEXT,
    error_message TEXT,
    error_hint TEXT
);
CREATE INDEX ix_tool_calls_tool ON tool_calls (mcp_server_id, tool_name, asked_at DESC);

CREATE TABLE test_cases (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    query TEXT NOT NULL,
    expected_mcp_server_name TEXT,
    expected_tool_name TEXT,
    expected_parameters TEXT,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    expectation TEXT,
    removed_at TIMESTAMP
{added("test_cases")});
CREATE INDEX ix_test_cases_expected_mcp_server_name ON test_cases (expected_mcp_server_name);
CREATE INDEX ix_test_cases_expected_tool_name ON test_cases (expected_tool_name);

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

CREATE TABLE drafts (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    listing TEXT NOT NULL,
    listing_hash TEXT NOT NULL,
    server TEXT,
    step INTEGER NOT NULL DEFAULT 0,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE UNIQUE INDEX ux_drafts_name ON drafts (name COLLATE NOCASE);

CREATE TABLE draft_steps (
    draft_id TEXT NOT NULL REFERENCES drafts (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    operations TEXT NOT NULL,
    made_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (draft_id, number)
);

CREATE TABLE batches (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ({codes(BatchStatus, without=BatchStatus.WAITING)})),
    request TEXT NOT NULL,
    repeats INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    max_cost_usd REAL,
    owner_token TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    completed_at TIMESTAMP,
    removed_at TIMESTAMP
{added("batches")});
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
    mode TEXT NOT NULL DEFAULT 'auto' CHECK (mode IN ({codes(CallingMode)})),
    batch_id TEXT REFERENCES batches (id) ON DELETE CASCADE
{added("model_settings")});
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
        CHECK (status IN ({codes(RunStatus)})),
    selected_tool_id TEXT REFERENCES tool_definitions (id) ON DELETE SET NULL,
    confidence_score REAL CHECK (confidence_score BETWEEN 0.0 AND 1.0),
    classification TEXT CHECK (classification IN ({codes(Classification)})),
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
    confidence_source TEXT CHECK (confidence_source IN ({codes(ConfidenceSource)})),
    expected_rank INTEGER,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_usd REAL,
    error_code TEXT,
    error_hint TEXT,
    mode TEXT CHECK (mode IN ({codes(CallingMode)})),
    expectation TEXT,
    extracted_parameters TEXT,
    calls TEXT,
    answer_text TEXT,
    ranking TEXT,
    llm_request_raw TEXT,
    llm_response_raw TEXT
{added("test_runs")});
CREATE INDEX ix_test_runs_test_case_id ON test_runs (test_case_id, completed_at DESC);
CREATE INDEX ix_test_runs_status ON test_runs (status);
CREATE INDEX ix_test_runs_created_at ON test_runs (created_at DESC, batch_id DESC, position);
CREATE INDEX ix_test_runs_model_settings_id ON test_runs (model_settings_id);
CREATE INDEX ix_test_runs_batch_id ON test_runs (batch_id, position, status, classification, cost_usd, test_case_id);
CREATE INDEX ix_test_runs_read_from_text ON test_runs (batch_id) WHERE read_from_text = 1;
CREATE INDEX ix_test_runs_answered_model ON test_runs (
    batch_id, model_settings_id, answered_model, answered_fingerprint
) WHERE answered_model IS NOT NULL;
CREATE INDEX ix_test_runs_snapshot_id ON test_runs (snapshot_id);
CREATE INDEX ix_test_runs_selected_tool_id ON test_runs (selected_tool_id);
CREATE INDEX ix_test_runs_texts ON test_runs (id, query, expected_label, selected_label);

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
    raw_definition TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
CREATE INDEX ix_tool_definitions_name ON tool_definitions (name);
CREATE INDEX ix_tool_definitions_test_run_id ON tool_definitions (test_run_id);
CREATE UNIQUE INDEX ux_tool_definitions_fingerprint ON tool_definitions (mcp_server_id, fingerprint);

CREATE TABLE snapshot_tools (
    snapshot_id TEXT NOT NULL REFERENCES snapshots (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tool_id TEXT NOT NULL REFERENCES tool_definitions (id) ON DELETE CASCADE,
    offered_name TEXT NOT NULL,
    PRIMARY KEY (snapshot_id, position)
);
CREATE INDEX ix_snapshot_tools_tool_id ON snapshot_tools (tool_id);

-- Equal tool definitions are one row, which belongs to one of the runs that saw it. When that run is deleted, the row
-- goes to another one, so that no run loses its tools.
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
    classification TEXT NOT NULL CHECK (classification IN ({codes(Classification)})),
    tool_selection_correct INTEGER NOT NULL,
    parameter_completeness REAL CHECK (parameter_completeness BETWEEN 0.0 AND 1.0),
    parameter_correctness REAL CHECK (parameter_correctness BETWEEN 0.0 AND 1.0),
    parameter_type_conformance INTEGER,
    hallucinated_parameters TEXT,
    confidence_category TEXT CHECK (confidence_category IN ({codes(ConfidenceCategory)})),
    reasoning TEXT NOT NULL,
    recommendations TEXT NOT NULL DEFAULT '[]',
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    kind TEXT NOT NULL,
    matched_alternative INTEGER NOT NULL DEFAULT 0,
    parameters_ok INTEGER,
    matches TEXT NOT NULL DEFAULT '[]'
{added("evaluation_results")});

CREATE TABLE past_verdicts (
    id INTEGER NOT NULL PRIMARY KEY,
    test_run_id TEXT NOT NULL REFERENCES test_runs (id) ON DELETE CASCADE,
    replaced_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    classification TEXT NOT NULL CHECK (classification IN ({codes(Classification)})),
    kind TEXT NOT NULL,
    verdict TEXT NOT NULL,
    expectation TEXT,
    reason TEXT NOT NULL CHECK (reason IN ({codes(RejudgeReason)}))
);
CREATE INDEX ix_past_verdicts_test_run_id ON past_verdicts (test_run_id);

-- A narrow row for each run, so that filters, counts and metrics over all runs read no wide one. `run_facts` in Python
-- writes it. Ids and labels are numbers there: rows of `fact_keys` and `tool_names`.
CREATE TABLE fact_keys (
    id INTEGER NOT NULL PRIMARY KEY,
    value TEXT NOT NULL UNIQUE
);
CREATE TABLE tool_names (
    id INTEGER NOT NULL PRIMARY KEY,
    server TEXT NOT NULL DEFAULT '',
    tool TEXT NOT NULL
);
CREATE UNIQUE INDEX ux_tool_names_tool ON tool_names (tool, server);
CREATE TABLE run_facts (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES test_runs (id) ON DELETE CASCADE,
    batch_key INTEGER,
    case_key INTEGER NOT NULL,
    model_key INTEGER,
    snapshot_key INTEGER,
    status TEXT NOT NULL,
    classification TEXT,
    kind TEXT,
    expected_tool_key INTEGER,
    selected_tool_key INTEGER,
    invented_tool INTEGER NOT NULL,
    confidence_score REAL,
    created_at TIMESTAMP NOT NULL,
    position INTEGER NOT NULL,
    mark TEXT CHECK (mark IN ({codes(RunMark)})),
    unreadable INTEGER NOT NULL,
    failure_code TEXT,
    metrics BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX ix_run_facts_created_at ON run_facts (
    created_at DESC, batch_key DESC, position, case_key, model_key, snapshot_key, status, classification, kind,
    expected_tool_key, selected_tool_key, invented_tool, confidence_score, mark, unreadable, failure_code
);
CREATE INDEX ix_run_facts_batch ON run_facts (batch_key, position, case_key, mark, unreadable, failure_code);

CREATE TABLE definitions (
    kind TEXT NOT NULL CHECK (kind IN ({codes(DefinitionKind)})),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    document TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    removed_at TIMESTAMP,
    PRIMARY KEY (kind, name, version)
);
{LIBRARY_SCHEMA}
-- One row: which workspace this is, and of which state its main file is (storage/workspace_identity.py).
CREATE TABLE workspace_identity (
    id TEXT NOT NULL PRIMARY KEY,
    generation TEXT NOT NULL
);
"""  # noqa: S608  # the codes are those of enums
"""An empty workspace. The codes come from the enums, so a new code makes a new version: the schema check fails."""


_OBJECT = re.compile(
    r"^CREATE (?:UNIQUE )?(?:TABLE|INDEX|TRIGGER) (\w+).*?(?=;\s*(?:^--|^CREATE |\Z))", re.DOTALL | re.MULTILINE
)


def create_schema(connection: sqlite3.Connection) -> None:
    """Create every object of the schema that is missing, in the transaction that is open, if any."""
    present = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    for created in _OBJECT.finditer(SCHEMA):
        if created[1] not in present:
            connection.execute(created[0])
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def new_database() -> sqlite3.Connection:
    """Return a connection to an empty workspace in memory, which ends with it."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(SCHEMA)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    return connection
