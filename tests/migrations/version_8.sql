BEGIN TRANSACTION;
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
, removed_at TIMESTAMP);
INSERT INTO "batches" VALUES('690d1eeb-e898-4f71-babb-3c1731000f13','First','running','{"cases":[],"suites":[],"tags":[],"models":[{"provider":"offline","model":"retrieval","timeout":30,"temperature":0.4,"max_retries":3,"base_url":null,"system_prompt":null,"mode":"auto"},{"provider":"openai","model":"gpt-4.1-mini","timeout":30,"temperature":0.4,"max_retries":3,"base_url":null,"system_prompt":"Be brief.","mode":"json"}],"repeats":2,"concurrency":4,"max_cost_usd":null,"name":"First"}',2,4,NULL,'2abb205b-19ba-4638-90e4-903787a06270','2026-11-21 23:01:20.383962',NULL,NULL);
CREATE TABLE being_judged (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES test_runs (id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE consents (
    fingerprint TEXT NOT NULL PRIMARY KEY,
    launch TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "consents" VALUES('8271fb5f3f131e1bb037d769660ed602120f7fbe548a26f299afb594d2cee5c4','npx -y server-files','2026-11-21 23:01:20.354804');
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
INSERT INTO "evaluation_results" VALUES('43adee65-597b-43c7-b0be-d7acf24fb305','6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','TP',1,1.0,1.0,1,NULL,'robust','Picked search on docs, as expected.','[]','2026-11-21 23:01:20.456878','match',0,1,'[{"expected":0,"actual":0,"completeness":1.0,"correctness":1.0,"type_conformance":true}]');
INSERT INTO "evaluation_results" VALUES('9c29794b-429f-47ec-859f-8e28ec7e7dc4','50b83eab-886f-4df3-a050-4c5cc1603757','TP',1,1.0,1.0,1,NULL,'robust','Picked search on docs, as expected.','[]','2026-11-21 23:01:20.456911','match',0,1,'[{"expected":0,"actual":0,"completeness":1.0,"correctness":1.0,"type_conformance":true}]');
INSERT INTO "evaluation_results" VALUES('62d7a649-4b9a-4f91-8db5-66c003769aa8','95862887-1f4c-4136-934d-c098027e86df','TP',1,1.0,1.0,1,NULL,'robust','Picked search on docs, as expected.','[]','2026-11-21 23:01:20.456926','match',0,1,'[{"expected":0,"actual":0,"completeness":1.0,"correctness":1.0,"type_conformance":true}]');
INSERT INTO "evaluation_results" VALUES('c629293d-1997-434e-9367-cf2ab56db4bd','76c31f74-5ae7-4506-8003-13be4fedc9ae','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked no tool.','[]','2026-11-21 23:01:20.456940','no_tool',0,NULL,'[]');
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
, env_file TEXT, project TEXT, origin TEXT, extra TEXT NOT NULL DEFAULT '{}', oauth TEXT NOT NULL DEFAULT '{}');
INSERT INTO "mcp_servers" VALUES('86f6b193-bef9-4167-92fa-312390861489','docs','http://docs.test/mcp','streamable-http','active','2026-11-22 05:42:15.169374','2026-11-21 23:01:20.340546','2026-11-22 05:42:15.169',NULL,'[]',NULL,'{}',NULL,'{"X-Team":"a"}','bearer','${DOCS_TOKEN}',NULL,'[]','[]',NULL,NULL,NULL,NULL,140,'2025-11-25',2,1,NULL,NULL,NULL,NULL,'{}','{}');
INSERT INTO "mcp_servers" VALUES('d7e47932-5cae-4de0-bbc4-1368f5d08c0b','files',NULL,'stdio','failed',NULL,'2026-11-21 23:01:20.351844','2026-11-21 23:01:20.366','npx','["-y","server-files"]','/srv','{"LEVEL":"debug"}',NULL,'{}','none',NULL,'f','[]','[]','It ended at once.','Look at its log.',3,'boom',NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,'{}','{}');
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
INSERT INTO "model_settings" VALUES('8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','offline','retrieval',30,0.4,3,'2026-11-21 23:01:20.385309',NULL,NULL,'auto','690d1eeb-e898-4f71-babb-3c1731000f13');
INSERT INTO "model_settings" VALUES('22f996ac-3bb8-4c0d-ac04-24be9b6efd36','openai','gpt-4.1-mini',30,0.4,3,'2026-11-21 23:01:20.385360',NULL,'Be brief.','json','690d1eeb-e898-4f71-babb-3c1731000f13');
CREATE TABLE past_verdicts (
    id INTEGER NOT NULL PRIMARY KEY,
    test_run_id TEXT NOT NULL REFERENCES test_runs (id) ON DELETE CASCADE,
    replaced_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    classification TEXT NOT NULL CHECK (classification IN ('TP', 'FP', 'TN', 'FN')),
    kind TEXT NOT NULL,
    verdict TEXT NOT NULL,
    expectation TEXT,
    reason TEXT NOT NULL CHECK (reason IN ('expectation_changed', 'rules_changed'))
);
INSERT INTO "past_verdicts" VALUES(1,'6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','2026-11-21 23:00:00.000000','FN','wrong_tool','{"classification":"FN","kind":"wrong_tool","explanation":"Picked `search`, expected `read`: a wrong tool.","matches":[{"expected":0},{"actual":0}],"alternative":0,"hallucinated":[]}','[{"tool":"read","server":"docs"}]','expectation_changed');
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
INSERT INTO "run_facts" VALUES('50b83eab-886f-4df3-a050-4c5cc1603757',1,2,6,4,'completed','TP','match',1,1,0,0.9,'2026-11-21 23:01:20.387300',1,'000000020000000100000006000000010000000101010202000001010000000035a4e9003b9aca003b9aca000000019c000000780000000077359400');
INSERT INTO "run_facts" VALUES('5a7f53a9-8e8f-44c2-9d92-90bb1bed6cac',1,3,5,NULL,'pending',NULL,NULL,NULL,NULL,0,NULL,'2026-11-21 23:01:20.387300',6,'0000000300000001000000050000000000000000000000000000000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff');
INSERT INTO "run_facts" VALUES('6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b',1,2,5,4,'completed','TP','match',1,1,0,0.9,'2026-11-21 23:01:20.387300',0,'000000020000000100000005000000010000000101010202000001010000000035a4e9003b9aca003b9aca000000019c000000780000000077359400');
INSERT INTO "run_facts" VALUES('76c31f74-5ae7-4506-8003-13be4fedc9ae',1,3,6,NULL,'completed','FN','no_tool',NULL,NULL,0,0.4,'2026-11-21 23:01:20.387300',3,'000000030000000100000006000000000000000001040000000000000000000017d78400ffffffffffffffff00000005ffffffffffffffffffffffff');
INSERT INTO "run_facts" VALUES('95862887-1f4c-4136-934d-c098027e86df',1,3,5,4,'completed','TP','match',1,1,0,0.9,'2026-11-21 23:01:20.387300',2,'000000030000000100000005000000010000000101010202000001010000000035a4e9003b9aca003b9aca000000019c000000780000000077359400');
INSERT INTO "run_facts" VALUES('bcd3c525-7933-44bd-80c6-0bb6d4b7f7e5',1,2,6,NULL,'cancelled',NULL,NULL,1,NULL,0,NULL,'2026-11-21 23:01:20.387300',5,'0000000200000001000000060000000100000000000000000000000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff');
INSERT INTO "run_facts" VALUES('d0a1b8fd-85df-4a85-a0f2-2076e4fafab6',1,3,6,NULL,'pending',NULL,NULL,NULL,NULL,0,NULL,'2026-11-21 23:01:20.387300',7,'0000000300000001000000060000000000000000000000000000000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff');
INSERT INTO "run_facts" VALUES('e70ab9f8-1368-4234-9fdb-16f398fa5806',1,2,5,NULL,'failed',NULL,NULL,1,NULL,0,NULL,'2026-11-21 23:01:20.387300',4,'0000000200000001000000050000000100000000020000000000000000000000ffffffffffffffffffffffffffffffffffffffffffffffffffffffff');
CREATE TABLE server_listings (
    mcp_server_id TEXT NOT NULL PRIMARY KEY REFERENCES mcp_servers (id) ON DELETE CASCADE,
    listing TEXT NOT NULL,
    seen_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
, accepted TEXT);
INSERT INTO "server_listings" VALUES('86f6b193-bef9-4167-92fa-312390861489','{"protocol":"2025-11-25","latency_ms":140,"tools":[{"name":"search","description":"Looks for words.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"search","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null},{"name":"read","description":"Looks for words.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"read","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null}],"problems":[["odd","Its schema is a list."]]}','2026-11-22 05:42:15.170023','{"protocol":"2025-11-25","latency_ms":140,"tools":[{"name":"search","description":"Looks.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"search","description":"Looks.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null},{"name":"read","description":"Looks for words.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"read","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null}],"problems":[]}');
CREATE TABLE snapshot_tools (
    snapshot_id TEXT NOT NULL REFERENCES snapshots (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tool_id TEXT NOT NULL REFERENCES tool_definitions (id) ON DELETE CASCADE,
    offered_name TEXT NOT NULL,
    PRIMARY KEY (snapshot_id, position)
);
INSERT INTO "snapshot_tools" VALUES('20966661-6823-4b00-93cb-b45dba59a096',0,'dd601fe8-c77c-497b-8f5c-43eeeae136ff','search');
INSERT INTO "snapshot_tools" VALUES('20966661-6823-4b00-93cb-b45dba59a096',1,'b88e5362-5d41-45b3-8a1d-5ecf70b6b134','read');
CREATE TABLE snapshots (
    id TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "snapshots" VALUES('20966661-6823-4b00-93cb-b45dba59a096','225d29a37c35056795b37af9d9c08088860785932cee1821e8a04243cb23c200','2026-11-21 23:01:20.403412');
CREATE TABLE suite_test_cases (
    suite_id TEXT NOT NULL REFERENCES suites (id) ON DELETE CASCADE,
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    PRIMARY KEY (suite_id, test_case_id)
);
INSERT INTO "suite_test_cases" VALUES('4043d808-5872-4c00-85bf-3580af70589f','85507d89-4714-4deb-9f64-027919c2ac6c');
INSERT INTO "suite_test_cases" VALUES('4043d808-5872-4c00-85bf-3580af70589f','4bcd9943-b99f-419c-8612-fe0f5e3afbab');
INSERT INTO "suite_test_cases" VALUES('be4404b2-96fd-4bc9-b155-45b7aa03e1e3','4bcd9943-b99f-419c-8612-fe0f5e3afbab');
CREATE TABLE suites (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "suites" VALUES('4043d808-5872-4c00-85bf-3580af70589f','Everyday','2026-11-21 23:01:20.373156');
INSERT INTO "suites" VALUES('be4404b2-96fd-4bc9-b155-45b7aa03e1e3','Nightly','2026-11-21 23:01:20.373169');
CREATE TABLE test_case_mcp_servers (
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    PRIMARY KEY (test_case_id, mcp_server_id)
);
INSERT INTO "test_case_mcp_servers" VALUES('85507d89-4714-4deb-9f64-027919c2ac6c','86f6b193-bef9-4167-92fa-312390861489');
INSERT INTO "test_case_mcp_servers" VALUES('4bcd9943-b99f-419c-8612-fe0f5e3afbab','86f6b193-bef9-4167-92fa-312390861489');
CREATE TABLE test_case_tags (
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (test_case_id, tag)
);
INSERT INTO "test_case_tags" VALUES('85507d89-4714-4deb-9f64-027919c2ac6c','smoke');
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
INSERT INTO "test_cases" VALUES('85507d89-4714-4deb-9f64-027919c2ac6c','find words','Please find words','docs','search',NULL,'2026-11-21 23:01:20.370676','2026-11-21 23:01:20.370676','[{"tool":"search","server":"docs"}]',NULL);
INSERT INTO "test_cases" VALUES('4bcd9943-b99f-419c-8612-fe0f5e3afbab','chat','Please chat',NULL,NULL,NULL,'2026-11-21 23:01:20.370676','2026-11-21 23:01:20.370676',NULL,NULL);
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
INSERT INTO "test_runs" VALUES('6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','85507d89-4714-4deb-9f64-027919c2ac6c','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.9,'TP',412,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453315','690d1eeb-e898-4f71-babb-3c1731000f13',0,0,1,'20966661-6823-4b00-93cb-b45dba59a096','Please find words','docs / search','docs','search','docs / search','docs','search','self-reported',NULL,100,20,0.002,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{"query":"retry"}','[{"tool":"search","arguments":{"query":"retry"},"server":"docs"}]','I will look for it.','[[0,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}');
INSERT INTO "test_runs" VALUES('50b83eab-886f-4df3-a050-4c5cc1603757','85507d89-4714-4deb-9f64-027919c2ac6c','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.9,'TP',412,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453344','690d1eeb-e898-4f71-babb-3c1731000f13',1,0,1,'20966661-6823-4b00-93cb-b45dba59a096','Please find words','docs / search','docs','search','docs / search','docs','search','self-reported',NULL,100,20,0.002,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{"query":"retry"}','[{"tool":"search","arguments":{"query":"retry"},"server":"docs"}]','I will look for it.','[[0,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}');
INSERT INTO "test_runs" VALUES('95862887-1f4c-4136-934d-c098027e86df','4bcd9943-b99f-419c-8612-fe0f5e3afbab','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.9,'TP',412,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453361','690d1eeb-e898-4f71-babb-3c1731000f13',2,0,1,'20966661-6823-4b00-93cb-b45dba59a096','Please chat','no tool',NULL,NULL,'docs / search','docs','search','self-reported',NULL,100,20,0.002,NULL,NULL,'native',NULL,'{"query":"retry"}','[{"tool":"search","arguments":{"query":"retry"},"server":"docs"}]','I will look for it.','[[0,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}');
INSERT INTO "test_runs" VALUES('76c31f74-5ae7-4506-8003-13be4fedc9ae','4bcd9943-b99f-419c-8612-fe0f5e3afbab','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','completed',NULL,0.4,'FN',5,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453376','690d1eeb-e898-4f71-babb-3c1731000f13',3,0,1,NULL,'Please chat','no tool',NULL,NULL,'no tool',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'native',NULL,NULL,'[]',NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('e70ab9f8-1368-4234-9fdb-16f398fa5806','85507d89-4714-4deb-9f64-027919c2ac6c','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','failed',NULL,NULL,NULL,NULL,'The model did not answer within 30 seconds.','2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453385','690d1eeb-e898-4f71-babb-3c1731000f13',4,1,1,NULL,'Please find words','docs / search','docs','search',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'model_timeout','Try again.',NULL,'[{"tool":"search","server":"docs"}]',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('bcd3c525-7933-44bd-80c6-0bb6d4b7f7e5','85507d89-4714-4deb-9f64-027919c2ac6c','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','cancelled',NULL,NULL,NULL,NULL,NULL,'2026-11-21 23:01:20.387300',NULL,'690d1eeb-e898-4f71-babb-3c1731000f13',5,1,1,NULL,'Please find words','docs / search','docs','search',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[{"tool":"search","server":"docs"}]',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('5a7f53a9-8e8f-44c2-9d92-90bb1bed6cac','4bcd9943-b99f-419c-8612-fe0f5e3afbab','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','pending',NULL,NULL,NULL,NULL,NULL,'2026-11-21 23:01:20.387300',NULL,'690d1eeb-e898-4f71-babb-3c1731000f13',6,1,1,NULL,'Please chat','no tool',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('d0a1b8fd-85df-4a85-a0f2-2076e4fafab6','4bcd9943-b99f-419c-8612-fe0f5e3afbab','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','pending',NULL,NULL,NULL,NULL,NULL,'2026-11-21 23:01:20.387300',NULL,'690d1eeb-e898-4f71-babb-3c1731000f13',7,1,1,NULL,'Please chat','no tool',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE tool_calls (
    id TEXT NOT NULL PRIMARY KEY,
    mcp_server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
    tool_name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('sent', 'answered', 'tool_error', 'failed', 'cancelled')),
    asked_at TIMESTAMP NOT NULL,
    execution_time_ms INTEGER,
    reply TEXT,
    error_code TEXT,
    error_message TEXT,
    error_hint TEXT
);
INSERT INTO "tool_calls" VALUES('c0ffee00-0000-4000-8000-000000000001','86f6b193-bef9-4167-92fa-312390861489','search','{"query":"retry"}','tool_error','2026-11-22 06:00:00.000000',140,'{"content":[{"type":"text","text":"Nothing found."}],"structured":null,"is_error":true,"execution_time_ms":12,"cut":false}',NULL,NULL,NULL);
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
INSERT INTO "tool_definitions" VALUES('dd601fe8-c77c-497b-8f5c-43eeeae136ff','search','Looks for words.','{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}',NULL,'86f6b193-bef9-4167-92fa-312390861489','6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','2026-11-21 23:01:20.399173','2026-11-21 23:01:20.399173','docs','{"name":"search","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}}','c16627a9f4878b3ced5b225edc2bcb2e014f98835bf710ad4cff50b6de85bf8b');
INSERT INTO "tool_definitions" VALUES('b88e5362-5d41-45b3-8a1d-5ecf70b6b134','read','Looks for words.','{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}',NULL,'86f6b193-bef9-4167-92fa-312390861489','6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','2026-11-21 23:01:20.399205','2026-11-21 23:01:20.399205','docs','{"name":"read","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}}','fef469b2c3befa08af132a7dd0c93d97deecb62c514b74545c2bb57354ed0934');
CREATE TABLE tool_names (
    id INTEGER NOT NULL PRIMARY KEY,
    server TEXT NOT NULL DEFAULT '',
    tool TEXT NOT NULL
);
INSERT INTO "tool_names" VALUES(1,'docs','search');
CREATE TABLE words (
    id INTEGER NOT NULL PRIMARY KEY,
    word TEXT NOT NULL UNIQUE
);
INSERT INTO "words" VALUES(1,'690d1eeb-e898-4f71-babb-3c1731000f13');
INSERT INTO "words" VALUES(2,'85507d89-4714-4deb-9f64-027919c2ac6c');
INSERT INTO "words" VALUES(3,'4bcd9943-b99f-419c-8612-fe0f5e3afbab');
INSERT INTO "words" VALUES(4,'20966661-6823-4b00-93cb-b45dba59a096');
INSERT INTO "words" VALUES(5,'offline/retrieval');
INSERT INTO "words" VALUES(6,'openai/gpt-4.1-mini');
CREATE UNIQUE INDEX ux_mcp_servers_name ON mcp_servers (name) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX ux_mcp_servers_url ON mcp_servers (url) WHERE removed_at IS NULL;
CREATE TRIGGER mcp_servers_updated_at AFTER UPDATE ON mcp_servers
WHEN NEW.updated_at IS OLD.updated_at AND NEW.updated_at <> strftime('%Y-%m-%d %H:%M:%f', 'now')
BEGIN
    UPDATE mcp_servers SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = NEW.id;
END;
CREATE INDEX ix_test_cases_expected_mcp_server_name ON test_cases (expected_mcp_server_name);
CREATE INDEX ix_test_cases_expected_tool_name ON test_cases (expected_tool_name);
CREATE TRIGGER test_cases_updated_at AFTER UPDATE ON test_cases
WHEN NEW.updated_at IS OLD.updated_at AND NEW.updated_at <> strftime('%Y-%m-%d %H:%M:%f', 'now')
BEGIN
    UPDATE test_cases SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = NEW.id;
END;
CREATE INDEX ix_test_case_mcp_servers_mcp_server_id ON test_case_mcp_servers (mcp_server_id);
CREATE INDEX ix_suite_test_cases_test_case_id ON suite_test_cases (test_case_id);
CREATE INDEX ix_batches_created_at ON batches (created_at);
CREATE INDEX ix_model_settings_batch_id ON model_settings (batch_id);
CREATE INDEX ix_test_runs_test_case_id ON test_runs (test_case_id, completed_at DESC);
CREATE INDEX ix_test_runs_status ON test_runs (status);
CREATE INDEX ix_test_runs_created_at ON test_runs (created_at DESC, batch_id DESC, position);
CREATE INDEX ix_test_runs_model_settings_id ON test_runs (model_settings_id);
CREATE INDEX ix_test_runs_batch_id ON test_runs (batch_id, position, status, classification, cost_usd, test_case_id);
CREATE INDEX ix_test_runs_snapshot_id ON test_runs (snapshot_id);
CREATE INDEX ix_test_runs_selected_tool_id ON test_runs (selected_tool_id);
CREATE INDEX ix_tool_definitions_name ON tool_definitions (name);
CREATE INDEX ix_tool_definitions_test_run_id ON tool_definitions (test_run_id);
CREATE UNIQUE INDEX ux_tool_definitions_fingerprint ON tool_definitions (mcp_server_id, fingerprint);
CREATE TRIGGER tool_definitions_updated_at AFTER UPDATE ON tool_definitions
WHEN NEW.updated_at IS OLD.updated_at AND NEW.updated_at <> strftime('%Y-%m-%d %H:%M:%f', 'now')
BEGIN
    UPDATE tool_definitions SET updated_at = strftime('%Y-%m-%d %H:%M:%f', 'now') WHERE id = NEW.id;
END;
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
CREATE UNIQUE INDEX ux_tool_names_tool ON tool_names (tool, server);
CREATE INDEX ix_run_facts_created_at ON run_facts (
    created_at DESC, batch DESC, position, test_case, model, snapshot, status, classification, kind,
    expected, selected, invented, confidence
);
CREATE INDEX ix_run_facts_batch ON run_facts (batch, position);
CREATE VIEW run_tools_now AS
SELECT
    run.id AS run_id,
    CASE
        WHEN result.kind IN ('no_call_expected', 'unexpected_call') THEN NULL
        WHEN run.classification = 'TP' AND run.selected_tool_name IS NOT NULL
            THEN coalesce(run.selected_server_name, (
            SELECT CASE WHEN min(tool.server_name) = max(tool.server_name) THEN min(tool.server_name) END
            FROM tool_definitions AS tool CROSS JOIN snapshot_tools AS place ON place.tool_id = tool.id
            WHERE tool.name = run.selected_tool_name AND place.snapshot_id = run.snapshot_id
                ), '')
        WHEN run.expected_tool_name IS NOT NULL THEN coalesce(run.expected_server_name, (
            SELECT CASE WHEN min(tool.server_name) = max(tool.server_name) THEN min(tool.server_name) END
            FROM tool_definitions AS tool CROSS JOIN snapshot_tools AS place ON place.tool_id = tool.id
            WHERE tool.name = run.expected_tool_name AND place.snapshot_id = run.snapshot_id
                ), '')
    END AS expected_server,
    CASE
        WHEN result.kind IN ('no_call_expected', 'unexpected_call') THEN NULL
        WHEN run.classification = 'TP' THEN coalesce(run.selected_tool_name, run.expected_tool_name)
        ELSE run.expected_tool_name
    END AS expected_tool,
    CASE
        WHEN run.selected_tool_name IS NOT NULL THEN coalesce(run.selected_server_name, (
            SELECT CASE WHEN min(tool.server_name) = max(tool.server_name) THEN min(tool.server_name) END
            FROM tool_definitions AS tool CROSS JOIN snapshot_tools AS place ON place.tool_id = tool.id
            WHERE tool.name = run.selected_tool_name AND place.snapshot_id = run.snapshot_id
                ), '')
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
CREATE TRIGGER test_runs_facts_begun AFTER UPDATE ON test_runs WHEN NEW.status = 'running' AND OLD.status = 'pending'
BEGIN
    UPDATE run_facts SET status = 'running' WHERE run_id = NEW.id;
END;
CREATE TRIGGER test_runs_facts_added AFTER INSERT ON test_runs
BEGIN
    INSERT INTO words (word)
    SELECT DISTINCT named.word
    FROM (
        SELECT id, batch_id AS word FROM test_runs
        UNION ALL SELECT id, test_case_id FROM test_runs
        UNION ALL SELECT id, snapshot_id FROM test_runs
        UNION ALL SELECT run.id, settings.provider || '/' || settings.model
        FROM test_runs AS run JOIN model_settings AS settings ON settings.id = run.model_settings_id
    ) AS named
    WHERE named.id = NEW.id AND named.word IS NOT NULL AND NOT EXISTS (SELECT 1 FROM words WHERE words.word = named.word);
    INSERT INTO tool_names (server, tool)
    SELECT DISTINCT named.server, named.tool
    FROM (
        SELECT run_id AS id, expected_server AS server, expected_tool AS tool FROM run_tools_now
        UNION ALL SELECT run_id, selected_server, selected_tool FROM run_tools_now
    ) AS named
    WHERE named.id = NEW.id AND named.tool IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM tool_names WHERE tool_names.tool = named.tool AND tool_names.server = named.server
    );

    DELETE FROM run_facts WHERE run_id = NEW.id;
    INSERT INTO run_facts SELECT * FROM run_facts_now WHERE run_id = NEW.id;
END;
CREATE TRIGGER evaluation_results_facts_added AFTER INSERT ON evaluation_results
BEGIN
    INSERT INTO words (word)
    SELECT DISTINCT named.word
    FROM (
        SELECT id, batch_id AS word FROM test_runs
        UNION ALL SELECT id, test_case_id FROM test_runs
        UNION ALL SELECT id, snapshot_id FROM test_runs
        UNION ALL SELECT run.id, settings.provider || '/' || settings.model
        FROM test_runs AS run JOIN model_settings AS settings ON settings.id = run.model_settings_id
    ) AS named
    WHERE named.id = NEW.test_run_id AND named.word IS NOT NULL AND NOT EXISTS (SELECT 1 FROM words WHERE words.word = named.word);
    INSERT INTO tool_names (server, tool)
    SELECT DISTINCT named.server, named.tool
    FROM (
        SELECT run_id AS id, expected_server AS server, expected_tool AS tool FROM run_tools_now
        UNION ALL SELECT run_id, selected_server, selected_tool FROM run_tools_now
    ) AS named
    WHERE named.id = NEW.test_run_id AND named.tool IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM tool_names WHERE tool_names.tool = named.tool AND tool_names.server = named.server
    );

    DELETE FROM run_facts WHERE run_id = NEW.test_run_id;
    INSERT INTO run_facts SELECT * FROM run_facts_now WHERE run_id = NEW.test_run_id;
END;
CREATE TRIGGER evaluation_results_facts_removed AFTER DELETE ON evaluation_results
BEGIN
    INSERT INTO words (word)
    SELECT DISTINCT named.word
    FROM (
        SELECT id, batch_id AS word FROM test_runs
        UNION ALL SELECT id, test_case_id FROM test_runs
        UNION ALL SELECT id, snapshot_id FROM test_runs
        UNION ALL SELECT run.id, settings.provider || '/' || settings.model
        FROM test_runs AS run JOIN model_settings AS settings ON settings.id = run.model_settings_id
    ) AS named
    WHERE named.id = OLD.test_run_id AND named.word IS NOT NULL AND NOT EXISTS (SELECT 1 FROM words WHERE words.word = named.word);
    INSERT INTO tool_names (server, tool)
    SELECT DISTINCT named.server, named.tool
    FROM (
        SELECT run_id AS id, expected_server AS server, expected_tool AS tool FROM run_tools_now
        UNION ALL SELECT run_id, selected_server, selected_tool FROM run_tools_now
    ) AS named
    WHERE named.id = OLD.test_run_id AND named.tool IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM tool_names WHERE tool_names.tool = named.tool AND tool_names.server = named.server
    );

    DELETE FROM run_facts WHERE run_id = OLD.test_run_id;
    INSERT INTO run_facts SELECT * FROM run_facts_now WHERE run_id = OLD.test_run_id;
END;
CREATE INDEX ix_past_verdicts_test_run_id ON past_verdicts (test_run_id);
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
CREATE INDEX ix_tool_calls_tool ON tool_calls (mcp_server_id, tool_name, asked_at DESC);
COMMIT;
PRAGMA application_id = 1297368390;
PRAGMA user_version = 8;
