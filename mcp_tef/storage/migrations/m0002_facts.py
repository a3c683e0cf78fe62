"""Version 2: a narrow row for each run, so that filters, counts and figures over all runs read no wide one.

The file itself keeps those rows: triggers write them whenever a run or its verdict changes. Ids and labels are
numbers there (`words`, `tool_names`). `figures` holds all that metrics need of a run as hexadecimal digits of fixed
width, so that those of every run are read as one string; `mcp_tef.storage.metrics_store` reads them.
"""

import sqlite3
from string import Template

from mcp_tef.storage.migrations.script import run_script

_TABLES = """
CREATE TABLE words (
    id INTEGER NOT NULL PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
);

CREATE TABLE tool_names (
    id INTEGER NOT NULL PRIMARY KEY,
    server TEXT NOT NULL DEFAULT '',
    tool TEXT NOT NULL
);
CREATE UNIQUE INDEX ux_tool_names_tool ON tool_names (tool, server);

CREATE TABLE run_facts (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES test_runs (id) ON DELETE CASCADE,
    batch INTEGER,
    test_case INTEGER NOT NULL,
    model INTEGER,
    snapshot INTEGER,
    status TEXT NOT NULL,
    classification TEXT,
    kind TEXT,
    expected INTEGER,
    selected INTEGER,
    invented INTEGER NOT NULL,
    confidence REAL,
    created_at TIMESTAMP NOT NULL,
    position INTEGER NOT NULL,
    figures TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX ix_run_facts_created_at ON run_facts (
    created_at DESC, batch DESC, position, test_case, model, snapshot, status, classification, kind,
    expected, selected, invented, confidence
);
CREATE INDEX ix_run_facts_batch ON run_facts (batch, position);
"""

_ONLY_SERVER = Template(
    """(
            SELECT CASE WHEN min(tool.server_name) = max(tool.server_name) THEN min(tool.server_name) END
            FROM tool_definitions AS tool CROSS JOIN snapshot_tools AS place ON place.tool_id = tool.id
            WHERE tool.name = run.${side}_tool_name AND place.snapshot_id = run.snapshot_id
                )"""
)
_VIEWS = Template(
    """
CREATE VIEW run_tools_now AS
SELECT
    run.id AS run_id,
    CASE
        WHEN result.kind IN ('no_call_expected', 'unexpected_call') THEN NULL
        WHEN run.classification = 'TP' AND run.selected_tool_name IS NOT NULL
            THEN coalesce(run.selected_server_name, $selected_by, '')
        WHEN run.expected_tool_name IS NOT NULL THEN coalesce(run.expected_server_name, $expected_by, '')
    END AS expected_server,
    CASE
        WHEN result.kind IN ('no_call_expected', 'unexpected_call') THEN NULL
        WHEN run.classification = 'TP' THEN coalesce(run.selected_tool_name, run.expected_tool_name)
        ELSE run.expected_tool_name
    END AS expected_tool,
    CASE
        WHEN run.selected_tool_name IS NOT NULL THEN coalesce(run.selected_server_name, $selected_by, '')
    END AS selected_server,
    run.selected_tool_name AS selected_tool,
    CASE
        WHEN run.selected_tool_name IS NULL THEN 0
        WHEN run.snapshot_id IS NULL THEN coalesce(result.kind = 'invented_tool', 0)
        ELSE NOT EXISTS (
            SELECT 1
            FROM tool_definitions AS tool CROSS JOIN snapshot_tools AS place ON place.tool_id = tool.id
            WHERE tool.name = run.selected_tool_name
                AND place.snapshot_id = run.snapshot_id
                AND tool.server_name = coalesce(run.selected_server_name, tool.server_name)
        )
    END AS invented
FROM test_runs AS run LEFT JOIN evaluation_results AS result ON result.test_run_id = run.id;

CREATE VIEW run_facts_numbered AS
SELECT
    run.id AS run_id,
    batch.id AS batch,
    test_case.id AS test_case,
    model.id AS model,
    snapshot.id AS snapshot,
    expected.id AS expected,
    selected.id AS selected,
    tools.invented AS invented
FROM test_runs AS run
    JOIN run_tools_now AS tools ON tools.run_id = run.id
    JOIN words AS test_case ON test_case.word = run.test_case_id
    LEFT JOIN words AS batch ON batch.word = run.batch_id
    LEFT JOIN words AS snapshot ON snapshot.word = run.snapshot_id
    LEFT JOIN model_settings AS settings ON settings.id = run.model_settings_id
    LEFT JOIN words AS model ON model.word = settings.provider || '/' || settings.model
    LEFT JOIN tool_names AS expected ON expected.tool = tools.expected_tool AND expected.server = tools.expected_server
    LEFT JOIN tool_names AS selected ON selected.tool = tools.selected_tool AND selected.server = tools.selected_server;

CREATE VIEW run_facts_now AS
SELECT
    run.id AS run_id,
    number.batch,
    number.test_case,
    number.model,
    number.snapshot,
    run.status,
    run.classification,
    result.kind,
    number.expected,
    number.selected,
    number.invented,
    run.confidence_score AS confidence,
    run.created_at,
    run.position,
    printf(
        '%08x%08x%08x%08x%08x%02x%02x%02x%02x%02x%02x%02x%02x%08x%08x%08x%08x%08x%08x%016x',
        number.test_case,
        coalesce(number.batch, 0),
        coalesce(number.model, 0),
        coalesce(number.expected, 0),
        coalesce(number.selected, 0),
        CASE run.status WHEN 'completed' THEN 1 WHEN 'failed' THEN 2 ELSE 0 END,
        CASE run.classification WHEN 'TP' THEN 1 WHEN 'FP' THEN 2 WHEN 'TN' THEN 3 WHEN 'FN' THEN 4 ELSE 0 END,
        coalesce(result.parameters_ok + 1, 0),
        coalesce(result.parameter_type_conformance + 1, 0),
        coalesce(result.hallucinated_parameters, '[]') <> '[]',
        number.invented,
        CASE result.confidence_category
            WHEN 'robust' THEN 1 WHEN 'needs_clarity' THEN 2 WHEN 'misleading' THEN 3 ELSE 0
        END,
        CASE run.confidence_source
            WHEN 'self-reported' THEN 1 WHEN 'agreement' THEN 2 WHEN 'logprob' THEN 3 WHEN 'margin' THEN 4 ELSE 0
        END,
        min(max(coalesce(run.expected_rank, 0), 0), 4294967295),
        coalesce(CAST(round(run.confidence_score * 1e9) AS INTEGER), 4294967295),
        coalesce(CAST(round(result.parameter_correctness * 1e9) AS INTEGER), 4294967295),
        coalesce(CAST(round(result.parameter_completeness * 1e9) AS INTEGER), 4294967295),
        coalesce(min(run.execution_time_ms, 4294967294), 4294967295),
        CASE
            WHEN run.tokens_in IS NULL AND run.tokens_out IS NULL THEN 4294967295
            ELSE min(max(coalesce(run.tokens_in, 0) + coalesce(run.tokens_out, 0), 0), 4294967294)
        END,
        coalesce(CAST(round(min(max(run.cost_usd, 0.0), 9000000.0) * 1e12) AS INTEGER), -1)
    ) AS figures
FROM test_runs AS run
    JOIN run_facts_numbered AS number ON number.run_id = run.id
    LEFT JOIN evaluation_results AS result ON result.test_run_id = run.id;
"""
)

_NAMES = Template(
    """
    INSERT INTO words (word)
    SELECT DISTINCT named.word
    FROM (
        SELECT id, batch_id AS word FROM test_runs
        UNION ALL SELECT id, test_case_id FROM test_runs
        UNION ALL SELECT id, snapshot_id FROM test_runs
        UNION ALL SELECT run.id, settings.provider || '/' || settings.model
        FROM test_runs AS run JOIN model_settings AS settings ON settings.id = run.model_settings_id
    ) AS named
    WHERE $only named.word IS NOT NULL AND NOT EXISTS (SELECT 1 FROM words WHERE words.word = named.word);
    INSERT INTO tool_names (server, tool)
    SELECT DISTINCT named.server, named.tool
    FROM (
        SELECT run_id AS id, expected_server AS server, expected_tool AS tool FROM run_tools_now
        UNION ALL SELECT run_id, selected_server, selected_tool FROM run_tools_now
    ) AS named
    WHERE $only named.tool IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM tool_names WHERE tool_names.tool = named.tool AND tool_names.server = named.server
    );
"""
)

_BEGUN = """
CREATE TRIGGER test_runs_facts_begun AFTER UPDATE ON test_runs WHEN NEW.status = 'running' AND OLD.status = 'pending'
BEGIN
    UPDATE run_facts SET status = 'running' WHERE run_id = NEW.id;
END;
"""
_KEEPING = Template(
    """
CREATE TRIGGER $name AFTER $moment
BEGIN$names
    DELETE FROM run_facts WHERE run_id = $run;
    INSERT INTO run_facts SELECT * FROM run_facts_now WHERE run_id = $run;
END;
"""
)
_MOMENTS = (
    ("test_runs_facts_added", "INSERT ON test_runs", "NEW.id"),
    (
        "test_runs_facts_changed",
        "UPDATE ON test_runs WHEN NOT (NEW.status = 'running' AND OLD.status = 'pending')",
        "NEW.id",
    ),
    ("evaluation_results_facts_added", "INSERT ON evaluation_results", "NEW.test_run_id"),
    ("evaluation_results_facts_changed", "UPDATE ON evaluation_results", "NEW.test_run_id"),
    ("evaluation_results_facts_removed", "DELETE ON evaluation_results", "OLD.test_run_id"),
)


def _keeping(name: str, moment: str, run: str) -> str:
    """A trigger that writes the facts of one run anew; no `OR …` in it, since that of the outer statement would win."""
    names = _NAMES.substitute(only=f"named.id = {run} AND")
    return _KEEPING.substitute(name=name, moment=moment, names=names, run=run)


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the tables, fill them from the runs that are there, and keep them from then on."""
    servers = {f"{side}_by": _ONLY_SERVER.substitute(side=side) for side in ("expected", "selected")}
    run_script(connection, _TABLES + _VIEWS.substitute(servers))
    run_script(connection, _NAMES.substitute(only=""))
    run_script(connection, "INSERT INTO run_facts SELECT * FROM run_facts_now;\n")
    run_script(connection, _BEGUN)
    for moment in _MOMENTS:
        run_script(connection, _keeping(*moment))
