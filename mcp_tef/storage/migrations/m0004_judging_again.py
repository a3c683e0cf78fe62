"""Version 4: judging a run again writes its narrow row once, and in place, instead of twice and anew.

A verdict lives in two rows: what it says of the run, then the verdict itself. Who writes both announces it in
`being_judged`; the run's row then leaves the facts to the verdict's, which takes the announcement back. The table is
empty between transactions. This took most of the time of judging many runs again.
"""

import sqlite3

from mcp_tef.storage.migrations.script import run_script

_TRIGGERS = """
CREATE TABLE being_judged (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES test_runs (id) ON DELETE CASCADE
) WITHOUT ROWID;

DROP TRIGGER test_runs_facts_changed;
CREATE TRIGGER test_runs_facts_changed AFTER UPDATE ON test_runs
WHEN NOT (NEW.status = 'running' AND OLD.status = 'pending')
    AND NOT EXISTS (SELECT 1 FROM being_judged WHERE run_id = NEW.id)
BEGIN
    INSERT INTO words (word)
    SELECT DISTINCT named.word
    FROM (
        SELECT NEW.batch_id AS word
        UNION ALL SELECT NEW.test_case_id
        UNION ALL SELECT NEW.snapshot_id
        UNION ALL SELECT provider || '/' || model FROM model_settings WHERE id = NEW.model_settings_id
    ) AS named
    WHERE named.word IS NOT NULL AND NOT EXISTS (SELECT 1 FROM words WHERE words.word = named.word);
    INSERT INTO tool_names (server, tool)
    SELECT DISTINCT named.server, named.tool
    FROM (
        SELECT run_id, expected_server AS server, expected_tool AS tool FROM run_tools_now
        UNION ALL SELECT run_id, selected_server, selected_tool FROM run_tools_now
    ) AS named
    WHERE named.run_id = NEW.id AND named.tool IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM tool_names WHERE tool_names.tool = named.tool AND tool_names.server = named.server
    );
    DELETE FROM run_facts WHERE run_id = NEW.id;
    INSERT INTO run_facts SELECT * FROM run_facts_now WHERE run_id = NEW.id;
END;

DROP TRIGGER evaluation_results_facts_changed;
CREATE TRIGGER evaluation_results_facts_changed AFTER UPDATE ON evaluation_results
BEGIN
    INSERT INTO tool_names (server, tool)
    SELECT DISTINCT named.server, named.tool
    FROM (
        SELECT run_id, expected_server AS server, expected_tool AS tool FROM run_tools_now
        UNION ALL SELECT run_id, selected_server, selected_tool FROM run_tools_now
    ) AS named
    WHERE named.run_id = NEW.test_run_id AND named.tool IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM tool_names WHERE tool_names.tool = named.tool AND tool_names.server = named.server
    );
    UPDATE run_facts
    SET (classification, kind, expected, selected, invented, figures) = (
        SELECT now.classification, now.kind, now.expected, now.selected, now.invented, now.figures
        FROM run_facts_now AS now
        WHERE now.run_id = NEW.test_run_id
    )
    WHERE run_id = NEW.test_run_id;
    DELETE FROM being_judged WHERE run_id = NEW.test_run_id;
END;
"""


def upgrade(connection: sqlite3.Connection) -> None:
    """Add the table, and replace two triggers."""
    run_script(connection, _TRIGGERS)
