BEGIN TRANSACTION;
CREATE TABLE batches (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'paused', 'completed', 'cancelled', 'interrupted')),
    request TEXT NOT NULL,
    repeats INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    max_cost_usd REAL,
    owner_token TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    completed_at TIMESTAMP,
    removed_at TIMESTAMP
, stopped TEXT, trial TEXT);
INSERT INTO "batches" VALUES('690d1eeb-e898-4f71-babb-3c1731000f13','First','running','{"cases":[],"suites":[],"tags":[],"models":[{"provider":"offline","model":"retrieval","timeout":30,"temperature":0.4,"max_retries":3,"base_url":null,"system_prompt":null,"mode":"auto"},{"provider":"openai","model":"gpt-4.1-mini","timeout":30,"temperature":0.4,"max_retries":3,"base_url":null,"system_prompt":"Be brief.","mode":"json"}],"repeats":2,"concurrency":4,"max_cost_usd":null,"name":"First"}',2,4,NULL,'2abb205b-19ba-4638-90e4-903787a06270','2026-11-21 23:01:20.383962',NULL,NULL,NULL,NULL);
INSERT INTO "batches" VALUES('eb6c1449-63be-4aa6-a8f2-491275de0227','Second','completed','{"cases":[],"suites":[],"tags":[],"models":[{"provider":"offline","model":"retrieval","timeout":30,"temperature":0.4,"max_retries":3,"base_url":null,"system_prompt":null,"mode":"auto"},{"provider":"openai","model":"gpt-4.1-mini","timeout":30,"temperature":0.4,"max_retries":3,"base_url":null,"system_prompt":null,"mode":"auto"}],"repeats":3,"concurrency":4,"max_cost_usd":2.5,"name":"Second"}',3,4,2.5,'68a9d13d-450d-450a-b198-deeccb55d7ac','2026-11-23 12:34:54.731873','2026-11-23 12:34:54.763275',NULL,NULL,NULL);
INSERT INTO "batches" VALUES('85909aa8-44a3-4c80-9cf0-8e677c4380a2','Removed','running','{"cases":[],"suites":[],"tags":[],"models":[{"provider":"openai","model":"gpt-4.1-mini","timeout":30,"temperature":0.4,"max_retries":3,"base_url":null,"system_prompt":null,"mode":"auto"}],"repeats":1,"concurrency":4,"max_cost_usd":null,"name":"Removed"}',1,4,NULL,'68a9d13d-450d-450a-b198-deeccb55d7ac','2026-11-23 12:34:54.766265',NULL,'2026-11-23 12:34:54.771279',NULL,NULL);
CREATE TABLE definitions (
    kind TEXT NOT NULL CHECK (kind IN ('prompt', 'group', 'route', 'search')),
    name TEXT NOT NULL,
    version INTEGER NOT NULL,
    document TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    removed_at TIMESTAMP,
    PRIMARY KEY (kind, name, version)
);
CREATE TABLE draft_steps (
    draft_id TEXT NOT NULL REFERENCES drafts (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    operations TEXT NOT NULL,
    made_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (draft_id, number)
);
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
    matched_alternative INTEGER NOT NULL DEFAULT 0,
    parameters_ok INTEGER,
    matches TEXT NOT NULL DEFAULT '[]'
, unreadable INTEGER NOT NULL DEFAULT 0);
INSERT INTO "evaluation_results" VALUES('43adee65-597b-43c7-b0be-d7acf24fb305','6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','TP',1,1.0,1.0,1,NULL,'robust','Picked search on docs, as expected.','[]','2026-11-21 23:01:20.456878','match',0,1,'[{"expected":0,"actual":0,"completeness":1.0,"correctness":1.0,"type_conformance":true}]',0);
INSERT INTO "evaluation_results" VALUES('9c29794b-429f-47ec-859f-8e28ec7e7dc4','50b83eab-886f-4df3-a050-4c5cc1603757','TP',1,1.0,1.0,1,NULL,'robust','Picked search on docs, as expected.','[]','2026-11-21 23:01:20.456911','match',0,1,'[{"expected":0,"actual":0,"completeness":1.0,"correctness":1.0,"type_conformance":true}]',0);
INSERT INTO "evaluation_results" VALUES('62d7a649-4b9a-4f91-8db5-66c003769aa8','95862887-1f4c-4136-934d-c098027e86df','TP',1,1.0,1.0,1,NULL,'robust','Picked search on docs, as expected.','[]','2026-11-21 23:01:20.456926','match',0,1,'[{"expected":0,"actual":0,"completeness":1.0,"correctness":1.0,"type_conformance":true}]',0);
INSERT INTO "evaluation_results" VALUES('c629293d-1997-434e-9367-cf2ab56db4bd','76c31f74-5ae7-4506-8003-13be4fedc9ae','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked no tool.','[]','2026-11-21 23:01:20.456940','no_tool',0,NULL,'[]',0);
INSERT INTO "evaluation_results" VALUES('43dfd9d1-4248-4c71-9699-5b3eb0c8a01c','9a86d0b1-85b0-4937-8c10-fb2ccac9c2bc','TP',1,0.0,NULL,1,NULL,NULL,'Picked `search` on docs, as expected, with low confidence (0.00); 1 parameter missing.','[]','2026-11-23 12:34:54.789341','match',0,0,'[{"expected":0,"actual":0,"completeness":0.0,"type_conformance":true,"findings":[{"parameter":"query","reason":"missing","sentence":"`query` is missing, though the schema requires it."}]}]',0);
INSERT INTO "evaluation_results" VALUES('f879629d-b1af-4093-be72-8fc8969fd9c7','21924f11-ce06-4887-9393-56ed1ff45161','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked `search` on wiki, expected `search` on docs: a wrong tool, chosen with low confidence (0.10).','[]','2026-11-23 12:34:54.789309','wrong_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('5100ace8-8a49-42a9-a4d1-4fc10693dff7','7286633d-8694-4464-a60a-a7b9067415db','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked `read` on docs, expected `search`: a wrong tool, chosen with low confidence (0.20).','[]','2026-11-23 12:34:54.756163','wrong_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('10704077-cee1-4414-baea-8493f2e10ab5','8ac6b27c-e466-4f93-99ef-45d7331dfbc7','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked `frobnicate`, expected `search`: a tool that was not offered, chosen with low confidence (0.30).','[]','2026-11-23 12:34:54.756170','invented_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('5cee778f-caf3-4300-b313-b66977a19c6d','15b9c38c-6a09-497c-9fb8-53bcfc69580d','TN',1,NULL,NULL,NULL,NULL,'needs_clarity','Picked no tool, as expected, with low confidence (0.40).','[]','2026-11-23 12:34:54.756178','no_call_expected',0,NULL,'[]',0);
INSERT INTO "evaluation_results" VALUES('73d50c6e-7257-48c6-807e-fd6f9075c3c0','2436dba9-64f8-4712-a4b3-bb7517f8e52e','FP',0,NULL,NULL,NULL,NULL,NULL,'Picked `search`, expected no tool: an unexpected call, chosen with low confidence (0.50).','[]','2026-11-23 12:34:54.756183','unexpected_call',0,NULL,'[{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('a90c0fe7-c250-4037-ab16-5c5bb3d96193','472d2a46-0d18-4f07-ac0e-964e8d82da8c','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked `search` on docs, expected `read`: a wrong tool, chosen with low confidence (0.60).','[]','2026-11-23 12:34:54.756189','wrong_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('44017a14-38cb-422f-b632-085669c20805','29262008-e484-42e0-b4fe-3c1b08b2fc87','TP',1,0.0,NULL,1,NULL,'misleading','Picked `search` on wiki, as expected; 1 parameter missing.','[]','2026-11-23 12:34:54.756196','match',1,0,'[{"expected":0,"actual":0,"completeness":0.0,"type_conformance":true,"findings":[{"parameter":"query","reason":"missing","sentence":"`query` is missing, though the schema requires it."}]}]',0);
INSERT INTO "evaluation_results" VALUES('1facb55f-1e70-425c-bca7-4e4d07a5154a','dc46c964-c317-44fc-a4c8-e3e262bdda20','FN',0,NULL,NULL,NULL,NULL,'misleading','Picked `read` on docs, expected `search`: a wrong tool, chosen with high confidence (0.80).','[]','2026-11-23 12:34:54.789357','wrong_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('7e4641aa-4abc-422c-bda1-4a0b0c1db194','af37469e-464b-4abd-81c6-6dda1825ad00','FN',0,NULL,NULL,NULL,NULL,'misleading','Picked `frobnicate`, expected `search` on docs: a tool that was not offered, chosen with high confidence (0.90).','[]','2026-11-23 12:34:54.789350','invented_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('579f8b0c-2f37-44f7-8c4f-9622e5ef3e2e','97f885d0-b9bb-4d59-9706-08446ceced3c','FN',0,NULL,NULL,NULL,NULL,'misleading','Picked no tool, expected `search`, with high confidence (1.00).','[]','2026-11-23 12:34:54.756217','no_tool',0,NULL,'[{"expected":0}]',0);
INSERT INTO "evaluation_results" VALUES('36c59030-1702-4e65-bb0b-09014d1f40cc','37e59d14-7d8c-4f5b-acc1-977b094b87c1','TP',1,0.0,NULL,1,NULL,NULL,'Picked `search`, as expected, with low confidence (0.00); 1 parameter missing.','[]','2026-11-23 12:34:54.756223','match',0,0,'[{"expected":0,"actual":0,"completeness":0.0,"type_conformance":true,"findings":[{"parameter":"query","reason":"missing","sentence":"`query` is missing, though the schema requires it."}]}]',0);
INSERT INTO "evaluation_results" VALUES('a3d4a0fc-1b65-44a5-ae32-09c2fdfa9958','f390b394-f8a7-4660-ba3f-5216a42b0296','FP',0,NULL,NULL,NULL,NULL,NULL,'Picked `search` on docs, expected no tool: an unexpected call, chosen with low confidence (0.10).','[]','2026-11-23 12:34:54.756228','unexpected_call',0,NULL,'[{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('3f8a1df9-baf8-48f4-acbe-e35fd8325eb8','e56a1ee8-c22f-4e8b-8fef-b85a439bb2b4','FP',0,NULL,NULL,NULL,NULL,NULL,'Picked `search` on wiki, expected no tool: an unexpected call, chosen with low confidence (0.20).','[]','2026-11-23 12:34:54.756232','unexpected_call',0,NULL,'[{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('31c55179-0e48-4ce0-9468-4876a6e3bfc9','88af3497-641c-493c-a8e9-1a11b47509ea','TP',1,0.0,1.0,1,NULL,NULL,'Picked `read` on docs, as expected, with low confidence (0.30); 1 parameter missing.','[]','2026-11-23 12:34:54.756237','match',0,0,'[{"expected":0,"actual":0,"completeness":0.0,"correctness":1.0,"type_conformance":true,"findings":[{"parameter":"query","reason":"missing","sentence":"`query` is missing, though the schema requires it.","expected":{"$any":true}}]}]',0);
INSERT INTO "evaluation_results" VALUES('3419243b-55cc-49e8-b296-2f8b5038f0be','1769947e-5869-426e-86ed-170b76494ac9','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked `frobnicate`, expected `read` on docs: a tool that was not offered, chosen with low confidence (0.40).','[]','2026-11-23 12:34:54.756242','invented_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('3a55cc41-0736-46dc-9146-af3e8757b0bd','8ccde5d9-7c40-4e5a-84e0-6cbf5e5072cf','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked no tool, expected `search` on docs, with low confidence (0.50).','[]','2026-11-23 12:34:54.789335','no_tool',0,NULL,'[{"expected":0}]',0);
INSERT INTO "evaluation_results" VALUES('91b71a87-7e6a-4213-beb2-2905db29aef2','70436b1f-6611-4ca3-92c7-dcbca013897d','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked `search`, expected `search` on docs: a wrong tool, chosen with low confidence (0.60).','[]','2026-11-23 12:34:54.789328','wrong_tool',0,NULL,'[{"expected":0},{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('3897a7f4-9588-458b-9fc6-bd21a1240a65','c048b849-a23c-4154-94b3-d251eec09554','TP',1,0.0,NULL,1,NULL,'misleading','Picked `search` on docs, as expected; 1 parameter missing.','[]','2026-11-23 12:34:54.756256','match',0,0,'[{"expected":0,"actual":0,"completeness":0.0,"type_conformance":true,"findings":[{"parameter":"query","reason":"missing","sentence":"`query` is missing, though the schema requires it."}]}]',0);
INSERT INTO "evaluation_results" VALUES('1c59f3b5-9169-4e4f-8342-abcf3ed60f6b','6e789308-11f8-4c6f-ab0c-5f3fc49a094f','TP',1,0.0,NULL,1,NULL,'misleading','Picked `search` on wiki, as expected; 1 parameter missing.','[]','2026-11-23 12:34:54.756261','match',0,0,'[{"expected":0,"actual":0,"completeness":0.0,"type_conformance":true,"findings":[{"parameter":"query","reason":"missing","sentence":"`query` is missing, though the schema requires it."}]}]',0);
INSERT INTO "evaluation_results" VALUES('8bf9311a-e967-4b30-8354-f816826f593e','b63543c1-ab31-413a-a74c-93d746eb757a','FP',0,NULL,NULL,NULL,NULL,'misleading','Picked `read` on docs, expected no tool: an unexpected call, chosen with high confidence (0.90).','[]','2026-11-23 12:34:54.756266','unexpected_call',0,NULL,'[{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('71453608-3cc3-4e2e-8e7f-55f8dcdd9c76','220ec837-a024-4b64-b2d3-8291f8ff756d','FP',0,NULL,NULL,NULL,NULL,'misleading','Picked `frobnicate`, expected no tool: an unexpected call, chosen with high confidence (1.00).','[]','2026-11-23 12:34:54.756270','unexpected_call',0,NULL,'[{"actual":0}]',0);
INSERT INTO "evaluation_results" VALUES('7346174a-411d-4e4f-96fd-94d8b9ab330c','0d4ed0c6-11b5-426a-919f-d61df2e99159','FN',0,NULL,NULL,NULL,NULL,NULL,'Picked no tool.','[]','2026-11-23 12:34:54.756274','no_tool',0,NULL,'[]',0);
CREATE TABLE fact_keys (
    id INTEGER NOT NULL PRIMARY KEY,
    value TEXT NOT NULL UNIQUE
);
INSERT INTO "fact_keys" VALUES(1,'690d1eeb-e898-4f71-babb-3c1731000f13');
INSERT INTO "fact_keys" VALUES(2,'85507d89-4714-4deb-9f64-027919c2ac6c');
INSERT INTO "fact_keys" VALUES(3,'4bcd9943-b99f-419c-8612-fe0f5e3afbab');
INSERT INTO "fact_keys" VALUES(4,'20966661-6823-4b00-93cb-b45dba59a096');
INSERT INTO "fact_keys" VALUES(5,'offline/retrieval');
INSERT INTO "fact_keys" VALUES(6,'openai/gpt-4.1-mini');
INSERT INTO "fact_keys" VALUES(7,'eb6c1449-63be-4aa6-a8f2-491275de0227');
INSERT INTO "fact_keys" VALUES(8,'a2e44634-d245-4eda-9220-e9013057eef5');
INSERT INTO "fact_keys" VALUES(9,'77651d8f-ea43-4946-b352-37e24a6530e0');
INSERT INTO "fact_keys" VALUES(10,'4c1ac567-c91f-452f-8a36-dfe7efc20c97');
INSERT INTO "fact_keys" VALUES(11,'d2286c74-3ad7-4ff0-b2c9-112401d2bb15');
INSERT INTO "fact_keys" VALUES(12,'171258da-a890-45eb-97e0-2909cfb5ef77');
INSERT INTO "fact_keys" VALUES(13,'85909aa8-44a3-4c80-9cf0-8e677c4380a2');
CREATE TABLE library_categories (
    name TEXT NOT NULL PRIMARY KEY,
    description TEXT NOT NULL DEFAULT '',
    parent TEXT REFERENCES library_categories (name) ON DELETE SET NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE library_executions (
    id TEXT NOT NULL PRIMARY KEY,
    tool_id TEXT NOT NULL REFERENCES library_tools (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'success', 'failed', 'timeout', 'cancelled')),
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
CREATE TABLE library_tools (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'active', 'disabled', 'deprecated')),
    version INTEGER NOT NULL DEFAULT 1,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    removed_at TIMESTAMP
);
CREATE TABLE library_versions (
    tool_id TEXT NOT NULL REFERENCES library_tools (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    changelog TEXT NOT NULL DEFAULT '',
    design TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (tool_id, version)
);
CREATE TABLE mcp_servers (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    url TEXT,
    transport TEXT NOT NULL CHECK (transport IN ('stdio', 'sse', 'streamable-http', 'file')),
    status TEXT NOT NULL DEFAULT 'inactive' CHECK (status IN ('inactive', 'active', 'failed')),
    last_connected_at TIMESTAMP,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    command TEXT,
    args TEXT NOT NULL DEFAULT '[]',
    cwd TEXT,
    env TEXT NOT NULL DEFAULT '{}',
    env_file TEXT,
    path TEXT,
    headers TEXT NOT NULL DEFAULT '{}',
    auth_type TEXT NOT NULL DEFAULT 'none' CHECK (auth_type IN ('none', 'api_key', 'bearer', 'basic', 'oauth2', 'client_credentials')),
    secret TEXT CHECK (secret GLOB '${?*}'),
    oauth TEXT NOT NULL DEFAULT '{}',
    alias TEXT,
    allowed_tools TEXT NOT NULL DEFAULT '[]',
    disallowed_tools TEXT NOT NULL DEFAULT '[]',
    project TEXT,
    origin TEXT,
    extra TEXT NOT NULL DEFAULT '{}',
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
INSERT INTO "mcp_servers" VALUES('86f6b193-bef9-4167-92fa-312390861489','docs','http://docs.test/mcp','streamable-http','active','2026-11-22 05:42:15.169374','2026-11-21 23:01:20.340546','2026-11-22 05:42:15.169',NULL,'[]',NULL,'{}',NULL,NULL,'{"X-Team":"a"}','bearer','${DOCS_TOKEN}','{}',NULL,'[]','[]',NULL,NULL,'{}',NULL,NULL,NULL,NULL,140,'2025-11-25',2,1,NULL);
INSERT INTO "mcp_servers" VALUES('d7e47932-5cae-4de0-bbc4-1368f5d08c0b','files',NULL,'stdio','failed',NULL,'2026-11-21 23:01:20.351844','2026-11-21 23:01:20.366','npx','["-y","server-files"]','/srv','{"LEVEL":"debug"}',NULL,NULL,'{}','none',NULL,'{}','f','[]','[]',NULL,NULL,'{}','It ended at once.','Look at its log.',3,'boom',NULL,NULL,NULL,0,NULL);
INSERT INTO "mcp_servers" VALUES('a5496d19-1659-4fd3-aac1-3644890079a3','wiki','http://wiki.test/mcp','streamable-http','inactive',NULL,'2026-11-23 12:34:54.709212','2026-11-23 12:34:54.709229',NULL,'[]',NULL,'{}',NULL,NULL,'{}','client_credentials','${WIKI_SECRET}','{"client_id":"mcp-tef"}',NULL,'[]','[]',NULL,NULL,'{}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL);
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
, tool_choice TEXT NOT NULL DEFAULT 'auto' CHECK (tool_choice IN ('auto', 'required')), seed INTEGER, max_tokens INTEGER, input_price REAL, output_price REAL, client TEXT NOT NULL DEFAULT '', prompt TEXT NOT NULL DEFAULT '', variables TEXT NOT NULL DEFAULT '[]');
INSERT INTO "model_settings" VALUES('8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','offline','retrieval',30,0.4,3,'2026-11-21 23:01:20.385309',NULL,NULL,'auto','690d1eeb-e898-4f71-babb-3c1731000f13','auto',NULL,NULL,NULL,NULL,'','','[]');
INSERT INTO "model_settings" VALUES('22f996ac-3bb8-4c0d-ac04-24be9b6efd36','openai','gpt-4.1-mini',30,0.4,3,'2026-11-21 23:01:20.385360',NULL,'Be brief.','json','690d1eeb-e898-4f71-babb-3c1731000f13','auto',NULL,NULL,NULL,NULL,'','','[]');
INSERT INTO "model_settings" VALUES('56b2bbd2-2159-4957-81fb-ca65dd74dbd2','offline','retrieval',30,0.4,3,'2026-11-23 12:34:54.732434',NULL,NULL,'auto','eb6c1449-63be-4aa6-a8f2-491275de0227','auto',NULL,NULL,NULL,NULL,'','','[]');
INSERT INTO "model_settings" VALUES('6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','openai','gpt-4.1-mini',30,0.4,3,'2026-11-23 12:34:54.732454',NULL,NULL,'auto','eb6c1449-63be-4aa6-a8f2-491275de0227','auto',NULL,NULL,NULL,NULL,'','','[]');
INSERT INTO "model_settings" VALUES('19538fa3-e623-4729-a850-34b42c0808a0','openai','gpt-4.1-mini',30,0.4,3,'2026-11-23 12:34:54.766430',NULL,NULL,'auto','85909aa8-44a3-4c80-9cf0-8e677c4380a2','auto',NULL,NULL,NULL,NULL,'','','[]');
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
INSERT INTO "past_verdicts" VALUES(2,'21924f11-ce06-4887-9393-56ed1ff45161','2026-11-22 08:00:00.000000','FN','wrong_tool','{"classification":"FN","kind":"wrong_tool","explanation":"Picked `search` on wiki, expected `read` on docs: a wrong tool, chosen with low confidence (0.10).","matches":[{"expected":0},{"actual":0}],"alternative":0,"hallucinated":[]}','[{"tool":"read","server":"docs"}]','expectation_changed');
INSERT INTO "past_verdicts" VALUES(3,'70436b1f-6611-4ca3-92c7-dcbca013897d','2026-11-22 08:00:00.000000','FN','wrong_tool','{"classification":"FN","kind":"wrong_tool","explanation":"Picked `search`, expected `read` on docs: a wrong tool, chosen with low confidence (0.60).","matches":[{"expected":0},{"actual":0}],"alternative":0,"hallucinated":[]}','[{"tool":"read","server":"docs"}]','expectation_changed');
INSERT INTO "past_verdicts" VALUES(4,'8ccde5d9-7c40-4e5a-84e0-6cbf5e5072cf','2026-11-22 08:00:00.000000','FN','no_tool','{"classification":"FN","kind":"no_tool","explanation":"Picked no tool, expected `read` on docs, with low confidence (0.50).","matches":[{"expected":0}],"alternative":0,"hallucinated":[]}','[{"tool":"read","server":"docs"}]','expectation_changed');
INSERT INTO "past_verdicts" VALUES(5,'9a86d0b1-85b0-4937-8c10-fb2ccac9c2bc','2026-11-22 08:00:00.000000','FN','wrong_tool','{"classification":"FN","kind":"wrong_tool","explanation":"Picked `search` on docs, expected `read`: a wrong tool, chosen with low confidence (0.00).","matches":[{"expected":0},{"actual":0}],"alternative":0,"hallucinated":[]}','[{"tool":"read","server":"docs"}]','expectation_changed');
INSERT INTO "past_verdicts" VALUES(6,'af37469e-464b-4abd-81c6-6dda1825ad00','2026-11-22 08:00:00.000000','FN','invented_tool','{"classification":"FN","kind":"invented_tool","explanation":"Picked `frobnicate`, expected `read` on docs: a tool that was not offered, chosen with high confidence (0.90).","matches":[{"expected":0},{"actual":0}],"alternative":0,"hallucinated":[],"confidence_category":"misleading"}','[{"tool":"read","server":"docs"}]','expectation_changed');
INSERT INTO "past_verdicts" VALUES(7,'dc46c964-c317-44fc-a4c8-e3e262bdda20','2026-11-22 08:00:00.000000','TP','match','{"classification":"TP","kind":"match","explanation":"Picked `read` on docs, as expected; 1 parameter missing.","matches":[{"expected":0,"actual":0,"completeness":0.0,"type_conformance":true,"findings":[{"parameter":"query","reason":"missing","sentence":"`query` is missing, though the schema requires it."}]}],"alternative":0,"completeness":0.0,"type_conformance":true,"hallucinated":[],"parameters_ok":false,"confidence_category":"robust"}','[{"tool":"read","server":"docs"}]','expectation_changed');
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
    mark TEXT CHECK (mark IN ('correct_call', 'wrong_arguments', 'wrong')),
    unreadable INTEGER NOT NULL,
    failure_code TEXT,
    metrics BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "run_facts" VALUES('0d4ed0c6-11b5-426a-919f-d61df2e99159',7,11,6,NULL,'completed','FN','no_tool',2,NULL,0,0.3,'2026-11-23 12:34:54.733040',23,'wrong',0,NULL,X'0000000B0000000700000006000000020000000001040000000000000000000011E1A300FFFFFFFFFFFFFFFF00000005FFFFFFFFFFFFFFFFFFFFFFFF030000');
INSERT INTO "run_facts" VALUES('15b9c38c-6a09-497c-9fb8-53bcfc69580d',7,10,5,12,'completed','TN','no_call_expected',NULL,NULL,0,0.4,'2026-11-23 12:34:54.733040',4,'correct_call',0,NULL,X'0000000A0000000700000005000000000000000001030000000002010000000017D78400FFFFFFFFFFFFFFFF0000001D0000007800000000EE6B2800010000');
INSERT INTO "run_facts" VALUES('1769947e-5869-426e-86ed-170b76494ac9',7,11,6,12,'completed','FN','invented_tool',2,5,1,0.4,'2026-11-23 12:34:54.733040',15,'wrong',0,NULL,X'0000000B0000000700000006000000020000000501040000000100010000000317D78400FFFFFFFFFFFFFFFF0000006A00000078000000037E11D600030000');
INSERT INTO "run_facts" VALUES('21924f11-ce06-4887-9393-56ed1ff45161',7,8,6,12,'completed','FN','wrong_tool',1,4,0,0.1,'2026-11-23 12:34:54.733040',1,'wrong',0,NULL,X'000000080000000700000006000000010000000401040000000000010000000105F5E100FFFFFFFFFFFFFFFF0000000800000078000000003B9ACA00030000');
INSERT INTO "run_facts" VALUES('220ec837-a024-4b64-b2d3-8291f8ff756d',7,10,6,12,'completed','FP','unexpected_call',NULL,5,1,1.0,'2026-11-23 12:34:54.733040',21,'wrong',0,NULL,X'0000000A000000070000000600000000000000050102000000010301000000013B9ACA00FFFFFFFFFFFFFFFF000000940000007800000004E3B29200030000');
INSERT INTO "run_facts" VALUES('2436dba9-64f8-4712-a4b3-bb7517f8e52e',7,10,6,12,'completed','FP','unexpected_call',NULL,3,0,0.5,'2026-11-23 12:34:54.733040',5,'wrong',0,NULL,X'0000000A000000070000000600000000000000030102000000000001000000011DCD6500FFFFFFFFFFFFFFFF0000002400000078000000012A05F200030000');
INSERT INTO "run_facts" VALUES('29262008-e484-42e0-b4fe-3c1b08b2fc87',7,11,6,12,'completed','TP','match',4,4,0,0.7,'2026-11-23 12:34:54.733040',7,'wrong_arguments',0,NULL,X'0000000B0000000700000006000000040000000401010102000001010000000329B92700FFFFFFFF00000000000000320000007800000001A13B8600020000');
INSERT INTO "run_facts" VALUES('37e59d14-7d8c-4f5b-acc1-977b094b87c1',7,9,6,12,'completed','TP','match',3,3,0,0.0,'2026-11-23 12:34:54.733040',11,'wrong_arguments',0,NULL,X'000000090000000700000006000000030000000301010102000002010000000300000000FFFFFFFF000000000000004E00000078000000028FA6AE00020000');
INSERT INTO "run_facts" VALUES('472d2a46-0d18-4f07-ac0e-964e8d82da8c',7,11,5,12,'completed','FN','wrong_tool',2,1,0,0.6,'2026-11-23 12:34:54.733040',6,'wrong',0,NULL,X'0000000B0000000700000005000000020000000101040000000000010000000223C34600FFFFFFFFFFFFFFFF0000002B000000780000000165A0BC00030000');
INSERT INTO "run_facts" VALUES('50b83eab-886f-4df3-a050-4c5cc1603757',1,2,6,4,'completed','TP','match',1,1,0,0.9,'2026-11-21 23:01:20.387300',1,'correct_call',0,NULL,X'000000020000000100000006000000010000000101010202000001010000000035A4E9003B9ACA003B9ACA000000019C000000780000000077359400010000');
INSERT INTO "run_facts" VALUES('5a7f53a9-8e8f-44c2-9d92-90bb1bed6cac',1,3,5,NULL,'pending',NULL,NULL,NULL,NULL,0,NULL,'2026-11-21 23:01:20.387300',6,NULL,0,NULL,X'0000000300000001000000050000000000000000000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF000000');
INSERT INTO "run_facts" VALUES('5f4aac74-1dbb-4d1e-b6b0-420dbafe1589',7,11,5,NULL,'failed',NULL,NULL,2,NULL,0,NULL,'2026-11-23 12:34:54.733040',22,NULL,0,'model_timeout',X'0000000B00000007000000050000000200000000020000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF000001');
INSERT INTO "run_facts" VALUES('6e789308-11f8-4c6f-ab0c-5f3fc49a094f',7,9,6,12,'completed','TP','match',4,4,0,0.8,'2026-11-23 12:34:54.733040',19,'wrong_arguments',0,NULL,X'00000009000000070000000600000004000000040101010200000101000000032FAF0800FFFFFFFF000000000000008600000078000000046C7CFE00020000');
INSERT INTO "run_facts" VALUES('6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b',1,2,5,4,'completed','TP','match',1,1,0,0.9,'2026-11-21 23:01:20.387300',0,'correct_call',0,NULL,X'000000020000000100000005000000010000000101010202000001010000000035A4E9003B9ACA003B9ACA000000019C000000780000000077359400010000');
INSERT INTO "run_facts" VALUES('70436b1f-6611-4ca3-92c7-dcbca013897d',7,8,6,12,'completed','FN','wrong_tool',1,3,0,0.6,'2026-11-23 12:34:54.733040',17,'wrong',0,NULL,X'000000080000000700000006000000010000000301040000000000010000000123C34600FFFFFFFFFFFFFFFF000000780000007800000003F5476A00030000');
INSERT INTO "run_facts" VALUES('7286633d-8694-4464-a60a-a7b9067415db',7,9,5,12,'completed','FN','wrong_tool',3,2,0,0.2,'2026-11-23 12:34:54.733040',2,'wrong',0,NULL,X'00000009000000070000000500000003000000020104000000000001000000020BEBC200FFFFFFFFFFFFFFFF0000000F000000780000000077359400030000');
INSERT INTO "run_facts" VALUES('76c31f74-5ae7-4506-8003-13be4fedc9ae',1,3,6,NULL,'completed','FN','no_tool',NULL,NULL,0,0.4,'2026-11-21 23:01:20.387300',3,'wrong',0,NULL,X'000000030000000100000006000000000000000001040000000000000000000017D78400FFFFFFFFFFFFFFFF00000005FFFFFFFFFFFFFFFFFFFFFFFF030000');
INSERT INTO "run_facts" VALUES('88af3497-641c-493c-a8e9-1a11b47509ea',7,11,5,12,'completed','TP','match',2,2,0,0.3,'2026-11-23 12:34:54.733040',14,'wrong_arguments',0,NULL,X'0000000B0000000700000005000000020000000201010102000002010000000211E1A3003B9ACA000000000000000063000000780000000342770C00020000');
INSERT INTO "run_facts" VALUES('8ac6b27c-e466-4f93-99ef-45d7331dfbc7',7,9,6,12,'completed','FN','invented_tool',3,5,1,0.3,'2026-11-23 12:34:54.733040',3,'wrong',0,NULL,X'000000090000000700000006000000030000000501040000000100010000000311E1A300FFFFFFFFFFFFFFFF000000160000007800000000B2D05E00030000');
INSERT INTO "run_facts" VALUES('8ccde5d9-7c40-4e5a-84e0-6cbf5e5072cf',7,8,5,12,'completed','FN','no_tool',1,NULL,0,0.5,'2026-11-23 12:34:54.733040',16,'wrong',0,NULL,X'00000008000000070000000500000001000000000104000000000001000000011DCD6500FFFFFFFFFFFFFFFF000000710000007800000003B9ACA000030000');
INSERT INTO "run_facts" VALUES('95862887-1f4c-4136-934d-c098027e86df',1,3,5,4,'completed','TP','match',1,1,0,0.9,'2026-11-21 23:01:20.387300',2,'correct_call',0,NULL,X'000000030000000100000005000000010000000101010202000001010000000035A4E9003B9ACA003B9ACA000000019C000000780000000077359400010000');
INSERT INTO "run_facts" VALUES('97f885d0-b9bb-4d59-9706-08446ceced3c',7,9,5,12,'completed','FN','no_tool',3,NULL,0,1.0,'2026-11-23 12:34:54.733040',10,'wrong',0,NULL,X'00000009000000070000000500000003000000000104000000000301000000023B9ACA00FFFFFFFFFFFFFFFF000000470000007800000002540BE400030000');
INSERT INTO "run_facts" VALUES('9a86d0b1-85b0-4937-8c10-fb2ccac9c2bc',7,8,5,12,'completed','TP','match',1,1,0,0.0,'2026-11-23 12:34:54.733040',0,'wrong_arguments',0,NULL,X'000000080000000700000005000000010000000101010102000002010000000100000000FFFFFFFF0000000000000001000000780000000000000000020000');
INSERT INTO "run_facts" VALUES('a7210fe3-5988-4891-bd01-75bb1710acbd',13,8,6,NULL,'pending',NULL,NULL,2,NULL,0,NULL,'2026-11-23 12:34:54.766744',0,NULL,0,NULL,X'000000080000000D000000060000000200000000000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF000000');
INSERT INTO "run_facts" VALUES('af37469e-464b-4abd-81c6-6dda1825ad00',7,8,6,12,'completed','FN','invented_tool',1,5,1,0.9,'2026-11-23 12:34:54.733040',9,'wrong',0,NULL,X'000000080000000700000006000000010000000501040000000103010000000135A4E900FFFFFFFFFFFFFFFF00000040000000780000000218711A00030000');
INSERT INTO "run_facts" VALUES('b63543c1-ab31-413a-a74c-93d746eb757a',7,10,5,12,'completed','FP','unexpected_call',NULL,2,0,0.9,'2026-11-23 12:34:54.733040',20,'wrong',0,NULL,X'0000000A0000000700000005000000000000000201020000000003010000000035A4E900FFFFFFFFFFFFFFFF0000008D0000007800000004A817C800030000');
INSERT INTO "run_facts" VALUES('bcd3c525-7933-44bd-80c6-0bb6d4b7f7e5',1,2,6,NULL,'cancelled',NULL,NULL,1,NULL,0,NULL,'2026-11-21 23:01:20.387300',5,NULL,0,NULL,X'0000000200000001000000060000000100000000000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF000000');
INSERT INTO "run_facts" VALUES('c048b849-a23c-4154-94b3-d251eec09554',7,9,5,12,'completed','TP','match',1,1,0,0.7,'2026-11-23 12:34:54.733040',18,'wrong_arguments',0,NULL,X'000000090000000700000005000000010000000101010102000001010000000229B92700FFFFFFFF000000000000007F000000780000000430E23400020000');
INSERT INTO "run_facts" VALUES('d0a1b8fd-85df-4a85-a0f2-2076e4fafab6',1,3,6,NULL,'pending',NULL,NULL,NULL,NULL,0,NULL,'2026-11-21 23:01:20.387300',7,NULL,0,NULL,X'0000000300000001000000060000000000000000000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF000000');
INSERT INTO "run_facts" VALUES('dc46c964-c317-44fc-a4c8-e3e262bdda20',7,8,5,12,'completed','FN','wrong_tool',1,2,0,0.8,'2026-11-23 12:34:54.733040',8,'wrong',0,NULL,X'00000008000000070000000500000001000000020104000000000301000000012FAF0800FFFFFFFFFFFFFFFF000000390000007800000001DCD65000030000');
INSERT INTO "run_facts" VALUES('e56a1ee8-c22f-4e8b-8fef-b85a439bb2b4',7,10,6,12,'completed','FP','unexpected_call',NULL,4,0,0.2,'2026-11-23 12:34:54.733040',13,'wrong',0,NULL,X'0000000A000000070000000600000000000000040102000000000001000000010BEBC200FFFFFFFFFFFFFFFF0000005C000000780000000306DC4200030000');
INSERT INTO "run_facts" VALUES('e70ab9f8-1368-4234-9fdb-16f398fa5806',1,2,5,NULL,'failed',NULL,NULL,1,NULL,0,NULL,'2026-11-21 23:01:20.387300',4,NULL,0,'model_timeout',X'0000000200000001000000050000000100000000020000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF000001');
INSERT INTO "run_facts" VALUES('f390b394-f8a7-4660-ba3f-5216a42b0296',7,10,5,12,'completed','FP','unexpected_call',NULL,1,0,0.1,'2026-11-23 12:34:54.733040',12,'wrong',0,NULL,X'0000000A0000000700000005000000000000000101020000000000010000000005F5E100FFFFFFFFFFFFFFFF000000550000007800000002CB417800030000');
CREATE TABLE server_contacts (
    id INTEGER NOT NULL PRIMARY KEY,
    server TEXT NOT NULL,
    kind TEXT CHECK (kind IN ('listing', 'call', 'execution')),
    at TIMESTAMP NOT NULL,
    contacts INTEGER NOT NULL DEFAULT 1,
    failures INTEGER NOT NULL DEFAULT 0,
    duration_ms INTEGER NOT NULL,
    error TEXT
);
CREATE TABLE server_listings (
    mcp_server_id TEXT NOT NULL PRIMARY KEY REFERENCES mcp_servers (id) ON DELETE CASCADE,
    listing TEXT NOT NULL,
    accepted_listing TEXT,
    seen_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "server_listings" VALUES('86f6b193-bef9-4167-92fa-312390861489','{"protocol":"2025-11-25","latency_ms":140,"tools":[{"name":"search","description":"Looks for words.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"search","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null},{"name":"read","description":"Looks for words.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"read","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null}],"problems":[["odd","Its schema is a list."]]}','{"protocol":"2025-11-25","latency_ms":140,"tools":[{"name":"search","description":"Looks.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"search","description":"Looks.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null},{"name":"read","description":"Looks for words.","input_schema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"output_schema":null,"raw":{"name":"read","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}},"place":null}],"problems":[]}','2026-11-22 05:42:15.170023');
CREATE TABLE snapshot_tools (
    snapshot_id TEXT NOT NULL REFERENCES snapshots (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tool_id TEXT NOT NULL REFERENCES tool_definitions (id) ON DELETE CASCADE,
    offered_name TEXT NOT NULL,
    PRIMARY KEY (snapshot_id, position)
);
INSERT INTO "snapshot_tools" VALUES('20966661-6823-4b00-93cb-b45dba59a096',0,'dd601fe8-c77c-497b-8f5c-43eeeae136ff','search');
INSERT INTO "snapshot_tools" VALUES('20966661-6823-4b00-93cb-b45dba59a096',1,'b88e5362-5d41-45b3-8a1d-5ecf70b6b134','read');
INSERT INTO "snapshot_tools" VALUES('171258da-a890-45eb-97e0-2909cfb5ef77',0,'dd601fe8-c77c-497b-8f5c-43eeeae136ff','search');
INSERT INTO "snapshot_tools" VALUES('171258da-a890-45eb-97e0-2909cfb5ef77',1,'b88e5362-5d41-45b3-8a1d-5ecf70b6b134','read');
INSERT INTO "snapshot_tools" VALUES('171258da-a890-45eb-97e0-2909cfb5ef77',2,'ef10c1c5-e4b2-48b0-9341-52b270457365','search');
CREATE TABLE snapshots (
    id TEXT NOT NULL PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
);
INSERT INTO "snapshots" VALUES('20966661-6823-4b00-93cb-b45dba59a096','225d29a37c35056795b37af9d9c08088860785932cee1821e8a04243cb23c200','2026-11-21 23:01:20.403412');
INSERT INTO "snapshots" VALUES('171258da-a890-45eb-97e0-2909cfb5ef77','5365d2704ee0e4d261657ca8666dc59fa37957d01b2880cd8a7a574bf1ffee50','2026-11-23 12:34:54.743589');
CREATE TABLE suite_test_cases (
    suite_id TEXT NOT NULL REFERENCES suites (id) ON DELETE CASCADE,
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    PRIMARY KEY (suite_id, test_case_id)
);
INSERT INTO "suite_test_cases" VALUES('4043d808-5872-4c00-85bf-3580af70589f','85507d89-4714-4deb-9f64-027919c2ac6c');
INSERT INTO "suite_test_cases" VALUES('4043d808-5872-4c00-85bf-3580af70589f','4bcd9943-b99f-419c-8612-fe0f5e3afbab');
INSERT INTO "suite_test_cases" VALUES('be4404b2-96fd-4bc9-b155-45b7aa03e1e3','4bcd9943-b99f-419c-8612-fe0f5e3afbab');
INSERT INTO "suite_test_cases" VALUES('4043d808-5872-4c00-85bf-3580af70589f','a2e44634-d245-4eda-9220-e9013057eef5');
INSERT INTO "suite_test_cases" VALUES('be4404b2-96fd-4bc9-b155-45b7aa03e1e3','a2e44634-d245-4eda-9220-e9013057eef5');
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
INSERT INTO "test_case_mcp_servers" VALUES('77651d8f-ea43-4946-b352-37e24a6530e0','86f6b193-bef9-4167-92fa-312390861489');
INSERT INTO "test_case_mcp_servers" VALUES('77651d8f-ea43-4946-b352-37e24a6530e0','a5496d19-1659-4fd3-aac1-3644890079a3');
INSERT INTO "test_case_mcp_servers" VALUES('4c1ac567-c91f-452f-8a36-dfe7efc20c97','86f6b193-bef9-4167-92fa-312390861489');
INSERT INTO "test_case_mcp_servers" VALUES('4c1ac567-c91f-452f-8a36-dfe7efc20c97','a5496d19-1659-4fd3-aac1-3644890079a3');
INSERT INTO "test_case_mcp_servers" VALUES('d2286c74-3ad7-4ff0-b2c9-112401d2bb15','86f6b193-bef9-4167-92fa-312390861489');
INSERT INTO "test_case_mcp_servers" VALUES('d2286c74-3ad7-4ff0-b2c9-112401d2bb15','a5496d19-1659-4fd3-aac1-3644890079a3');
INSERT INTO "test_case_mcp_servers" VALUES('a2e44634-d245-4eda-9220-e9013057eef5','86f6b193-bef9-4167-92fa-312390861489');
INSERT INTO "test_case_mcp_servers" VALUES('a2e44634-d245-4eda-9220-e9013057eef5','a5496d19-1659-4fd3-aac1-3644890079a3');
CREATE TABLE test_case_tags (
    test_case_id TEXT NOT NULL REFERENCES test_cases (id) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (test_case_id, tag)
);
INSERT INTO "test_case_tags" VALUES('85507d89-4714-4deb-9f64-027919c2ac6c','smoke');
INSERT INTO "test_case_tags" VALUES('a2e44634-d245-4eda-9220-e9013057eef5','smoke');
INSERT INTO "test_case_tags" VALUES('a2e44634-d245-4eda-9220-e9013057eef5','long');
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
, family TEXT, before TEXT, origin TEXT NOT NULL DEFAULT 'written' CHECK (origin IN ('written', 'generated')), held_back INTEGER NOT NULL DEFAULT 0, openings INTEGER NOT NULL DEFAULT 0);
INSERT INTO "test_cases" VALUES('85507d89-4714-4deb-9f64-027919c2ac6c','find words','Please find words','docs','search',NULL,'2026-11-21 23:01:20.370676','2026-11-21 23:01:20.370676','[{"tool":"search","server":"docs"}]',NULL,NULL,NULL,'written',0,0);
INSERT INTO "test_cases" VALUES('4bcd9943-b99f-419c-8612-fe0f5e3afbab','chat','Please chat',NULL,NULL,NULL,'2026-11-21 23:01:20.370676','2026-11-21 23:01:20.370676',NULL,NULL,NULL,NULL,'written',0,0);
INSERT INTO "test_cases" VALUES('a2e44634-d245-4eda-9220-e9013057eef5','look it up','Please look it up','docs','search',NULL,'2026-11-23 12:34:54.721281','2026-11-23 12:34:54.773','[{"tool":"search","server":"docs"}]',NULL,NULL,NULL,'written',0,0);
INSERT INTO "test_cases" VALUES('77651d8f-ea43-4946-b352-37e24a6530e0','open question','Please open question',NULL,'search',NULL,'2026-11-23 12:34:54.721281','2026-11-23 12:34:54.721281','[{"tool":"search"}]',NULL,NULL,NULL,'written',0,0);
INSERT INTO "test_cases" VALUES('4c1ac567-c91f-452f-8a36-dfe7efc20c97','say hello','Please say hello',NULL,NULL,NULL,'2026-11-23 12:34:54.721281','2026-11-23 12:34:54.721281',NULL,NULL,NULL,NULL,'written',0,0);
INSERT INTO "test_cases" VALUES('d2286c74-3ad7-4ff0-b2c9-112401d2bb15','either','Please either','docs','read','{"query":{"$any":true}}','2026-11-23 12:34:54.721281','2026-11-23 12:34:54.721281','{"any_of":[[{"tool":"read","server":"docs","parameters":{"query":{"$any":true}}}],[{"tool":"search","server":"wiki"}]]}',NULL,NULL,NULL,'written',0,0);
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
    answer_text TEXT,
    ranking TEXT,
    llm_request_raw TEXT,
    llm_response_raw TEXT
, before TEXT, read_from_text INTEGER NOT NULL DEFAULT 0, answered_model TEXT, answered_fingerprint TEXT, base_url TEXT, seed INTEGER, answer_limit INTEGER, arm TEXT CHECK (arm IN ('original', 'draft')), place INTEGER, routing TEXT);
INSERT INTO "test_runs" VALUES('6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','85507d89-4714-4deb-9f64-027919c2ac6c','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.9,'TP',412,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453315','690d1eeb-e898-4f71-babb-3c1731000f13',0,0,1,'20966661-6823-4b00-93cb-b45dba59a096','Please find words','docs / search','docs','search','docs / search','docs','search','self-reported',NULL,100,20,0.002,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{"query":"retry"}','[{"tool":"search","arguments":{"query":"retry"},"server":"docs"}]','I will look for it.','[[0,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('50b83eab-886f-4df3-a050-4c5cc1603757','85507d89-4714-4deb-9f64-027919c2ac6c','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.9,'TP',412,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453344','690d1eeb-e898-4f71-babb-3c1731000f13',1,0,1,'20966661-6823-4b00-93cb-b45dba59a096','Please find words','docs / search','docs','search','docs / search','docs','search','self-reported',NULL,100,20,0.002,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{"query":"retry"}','[{"tool":"search","arguments":{"query":"retry"},"server":"docs"}]','I will look for it.','[[0,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('95862887-1f4c-4136-934d-c098027e86df','4bcd9943-b99f-419c-8612-fe0f5e3afbab','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.9,'TP',412,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453361','690d1eeb-e898-4f71-babb-3c1731000f13',2,0,1,'20966661-6823-4b00-93cb-b45dba59a096','Please chat','no tool',NULL,NULL,'docs / search','docs','search','self-reported',NULL,100,20,0.002,NULL,NULL,'native',NULL,'{"query":"retry"}','[{"tool":"search","arguments":{"query":"retry"},"server":"docs"}]','I will look for it.','[[0,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('76c31f74-5ae7-4506-8003-13be4fedc9ae','4bcd9943-b99f-419c-8612-fe0f5e3afbab','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','completed',NULL,0.4,'FN',5,NULL,'2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453376','690d1eeb-e898-4f71-babb-3c1731000f13',3,0,1,NULL,'Please chat','no tool',NULL,NULL,'no tool',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'native',NULL,NULL,'[]',NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('e70ab9f8-1368-4234-9fdb-16f398fa5806','85507d89-4714-4deb-9f64-027919c2ac6c','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','failed',NULL,NULL,NULL,NULL,'The model did not answer within 30 seconds.','2026-11-21 23:01:20.387300','2026-11-21 23:01:20.453385','690d1eeb-e898-4f71-babb-3c1731000f13',4,1,1,NULL,'Please find words','docs / search','docs','search',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'model_timeout','Try again.',NULL,'[{"tool":"search","server":"docs"}]',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('bcd3c525-7933-44bd-80c6-0bb6d4b7f7e5','85507d89-4714-4deb-9f64-027919c2ac6c','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','cancelled',NULL,NULL,NULL,NULL,NULL,'2026-11-21 23:01:20.387300',NULL,'690d1eeb-e898-4f71-babb-3c1731000f13',5,1,1,NULL,'Please find words','docs / search','docs','search',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[{"tool":"search","server":"docs"}]',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('5a7f53a9-8e8f-44c2-9d92-90bb1bed6cac','4bcd9943-b99f-419c-8612-fe0f5e3afbab','8d2b8fa2-d01a-44a3-b7a4-9b307098df4d','pending',NULL,NULL,NULL,NULL,NULL,'2026-11-21 23:01:20.387300',NULL,'690d1eeb-e898-4f71-babb-3c1731000f13',6,1,1,NULL,'Please chat','no tool',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('d0a1b8fd-85df-4a85-a0f2-2076e4fafab6','4bcd9943-b99f-419c-8612-fe0f5e3afbab','22f996ac-3bb8-4c0d-ac04-24be9b6efd36','pending',NULL,NULL,NULL,NULL,NULL,'2026-11-21 23:01:20.387300',NULL,'690d1eeb-e898-4f71-babb-3c1731000f13',7,1,1,NULL,'Please chat','no tool',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('9a86d0b1-85b0-4937-8c10-fb2ccac9c2bc','a2e44634-d245-4eda-9220-e9013057eef5','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.0,'TP',1,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751296','eb6c1449-63be-4aa6-a8f2-491275de0227',0,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please look it up','docs / search','docs','search','docs / search','docs','search','self-reported',1,100,20,0.0,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{}','[{"tool":"search","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('21924f11-ce06-4887-9393-56ed1ff45161','a2e44634-d245-4eda-9220-e9013057eef5','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed','ef10c1c5-e4b2-48b0-9341-52b270457365',0.1,'FN',8,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751308','eb6c1449-63be-4aa6-a8f2-491275de0227',1,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please look it up','docs / search','docs','search','wiki / search','wiki','search','self-reported',1,100,20,0.001,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{}','[{"tool":"search","arguments":{},"server":"wiki"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('7286633d-8694-4464-a60a-a7b9067415db','77651d8f-ea43-4946-b352-37e24a6530e0','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','b88e5362-5d41-45b3-8a1d-5ecf70b6b134',0.2,'FN',15,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751315','eb6c1449-63be-4aa6-a8f2-491275de0227',2,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please open question','search',NULL,'search','docs / read','docs','read','self-reported',2,100,20,0.002,NULL,NULL,'native','[{"tool":"search"}]','{}','[{"tool":"read","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('8ac6b27c-e466-4f93-99ef-45d7331dfbc7','77651d8f-ea43-4946-b352-37e24a6530e0','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,0.3,'FN',22,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751322','eb6c1449-63be-4aa6-a8f2-491275de0227',3,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please open question','search',NULL,'search','frobnicate',NULL,'frobnicate','self-reported',3,100,20,0.003,NULL,NULL,'native','[{"tool":"search"}]','{}','[{"tool":"frobnicate","arguments":{}}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('15b9c38c-6a09-497c-9fb8-53bcfc69580d','4c1ac567-c91f-452f-8a36-dfe7efc20c97','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed',NULL,0.4,'TN',29,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751329','eb6c1449-63be-4aa6-a8f2-491275de0227',4,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please say hello','no tool',NULL,NULL,'no tool',NULL,NULL,'self-reported',NULL,100,20,0.004,NULL,NULL,'native',NULL,NULL,'[]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('2436dba9-64f8-4712-a4b3-bb7517f8e52e','4c1ac567-c91f-452f-8a36-dfe7efc20c97','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,0.5,'FP',36,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751335','eb6c1449-63be-4aa6-a8f2-491275de0227',5,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please say hello','no tool',NULL,NULL,'search',NULL,'search','self-reported',1,100,20,0.005,NULL,NULL,'native',NULL,'{}','[{"tool":"search","arguments":{}}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('472d2a46-0d18-4f07-ac0e-964e8d82da8c','d2286c74-3ad7-4ff0-b2c9-112401d2bb15','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.6,'FN',43,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751341','eb6c1449-63be-4aa6-a8f2-491275de0227',6,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please either','docs / read or wiki / search','docs','read','docs / search','docs','search','self-reported',2,100,20,0.006,NULL,NULL,'native','{"any_of":[[{"tool":"read","server":"docs","parameters":{"query":{"$any":true}}}],[{"tool":"search","server":"wiki"}]]}','{}','[{"tool":"search","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('29262008-e484-42e0-b4fe-3c1b08b2fc87','d2286c74-3ad7-4ff0-b2c9-112401d2bb15','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed','ef10c1c5-e4b2-48b0-9341-52b270457365',0.7,'TP',50,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751354','eb6c1449-63be-4aa6-a8f2-491275de0227',7,0,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please either','docs / read or wiki / search','docs','read','wiki / search','wiki','search','self-reported',3,100,20,0.007,NULL,NULL,'native','{"any_of":[[{"tool":"read","server":"docs","parameters":{"query":{"$any":true}}}],[{"tool":"search","server":"wiki"}]]}','{}','[{"tool":"search","arguments":{},"server":"wiki"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('dc46c964-c317-44fc-a4c8-e3e262bdda20','a2e44634-d245-4eda-9220-e9013057eef5','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','b88e5362-5d41-45b3-8a1d-5ecf70b6b134',0.8,'FN',57,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751362','eb6c1449-63be-4aa6-a8f2-491275de0227',8,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please look it up','docs / search','docs','search','docs / read','docs','read','self-reported',1,100,20,0.008,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{}','[{"tool":"read","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('af37469e-464b-4abd-81c6-6dda1825ad00','a2e44634-d245-4eda-9220-e9013057eef5','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,0.9,'FN',64,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751368','eb6c1449-63be-4aa6-a8f2-491275de0227',9,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please look it up','docs / search','docs','search','frobnicate',NULL,'frobnicate','self-reported',1,100,20,0.009,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{}','[{"tool":"frobnicate","arguments":{}}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('97f885d0-b9bb-4d59-9706-08446ceced3c','77651d8f-ea43-4946-b352-37e24a6530e0','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed',NULL,1.0,'FN',71,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751372','eb6c1449-63be-4aa6-a8f2-491275de0227',10,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please open question','search',NULL,'search','no tool',NULL,NULL,'self-reported',2,100,20,0.01,NULL,NULL,'native','[{"tool":"search"}]',NULL,'[]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('37e59d14-7d8c-4f5b-acc1-977b094b87c1','77651d8f-ea43-4946-b352-37e24a6530e0','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,0.0,'TP',78,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751377','eb6c1449-63be-4aa6-a8f2-491275de0227',11,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please open question','search',NULL,'search','search',NULL,'search','self-reported',3,100,20,0.011,NULL,NULL,'native','[{"tool":"search"}]','{}','[{"tool":"search","arguments":{}}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('f390b394-f8a7-4660-ba3f-5216a42b0296','4c1ac567-c91f-452f-8a36-dfe7efc20c97','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.1,'FP',85,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751382','eb6c1449-63be-4aa6-a8f2-491275de0227',12,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please say hello','no tool',NULL,NULL,'docs / search','docs','search','self-reported',NULL,100,20,0.012,NULL,NULL,'native',NULL,'{}','[{"tool":"search","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('e56a1ee8-c22f-4e8b-8fef-b85a439bb2b4','4c1ac567-c91f-452f-8a36-dfe7efc20c97','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed','ef10c1c5-e4b2-48b0-9341-52b270457365',0.2,'FP',92,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751387','eb6c1449-63be-4aa6-a8f2-491275de0227',13,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please say hello','no tool',NULL,NULL,'wiki / search','wiki','search','self-reported',1,100,20,0.013,NULL,NULL,'native',NULL,'{}','[{"tool":"search","arguments":{},"server":"wiki"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('88af3497-641c-493c-a8e9-1a11b47509ea','d2286c74-3ad7-4ff0-b2c9-112401d2bb15','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','b88e5362-5d41-45b3-8a1d-5ecf70b6b134',0.3,'TP',99,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751391','eb6c1449-63be-4aa6-a8f2-491275de0227',14,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please either','docs / read or wiki / search','docs','read','docs / read','docs','read','self-reported',2,100,20,0.014,NULL,NULL,'native','{"any_of":[[{"tool":"read","server":"docs","parameters":{"query":{"$any":true}}}],[{"tool":"search","server":"wiki"}]]}','{}','[{"tool":"read","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('1769947e-5869-426e-86ed-170b76494ac9','d2286c74-3ad7-4ff0-b2c9-112401d2bb15','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,0.4,'FN',106,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751396','eb6c1449-63be-4aa6-a8f2-491275de0227',15,1,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please either','docs / read or wiki / search','docs','read','frobnicate',NULL,'frobnicate','self-reported',3,100,20,0.015,NULL,NULL,'native','{"any_of":[[{"tool":"read","server":"docs","parameters":{"query":{"$any":true}}}],[{"tool":"search","server":"wiki"}]]}','{}','[{"tool":"frobnicate","arguments":{}}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('8ccde5d9-7c40-4e5a-84e0-6cbf5e5072cf','a2e44634-d245-4eda-9220-e9013057eef5','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed',NULL,0.5,'FN',113,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751400','eb6c1449-63be-4aa6-a8f2-491275de0227',16,2,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please look it up','docs / search','docs','search','no tool',NULL,NULL,'self-reported',1,100,20,0.016,NULL,NULL,'native','[{"tool":"search","server":"docs"}]',NULL,'[]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('70436b1f-6611-4ca3-92c7-dcbca013897d','a2e44634-d245-4eda-9220-e9013057eef5','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,0.6,'FN',120,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751404','eb6c1449-63be-4aa6-a8f2-491275de0227',17,2,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please look it up','docs / search','docs','search','search',NULL,'search','self-reported',1,100,20,0.017,NULL,NULL,'native','[{"tool":"search","server":"docs"}]','{}','[{"tool":"search","arguments":{}}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('c048b849-a23c-4154-94b3-d251eec09554','77651d8f-ea43-4946-b352-37e24a6530e0','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','dd601fe8-c77c-497b-8f5c-43eeeae136ff',0.7,'TP',127,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751408','eb6c1449-63be-4aa6-a8f2-491275de0227',18,2,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please open question','search',NULL,'search','docs / search','docs','search','self-reported',2,100,20,0.018,NULL,NULL,'native','[{"tool":"search"}]','{}','[{"tool":"search","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('6e789308-11f8-4c6f-ab0c-5f3fc49a094f','77651d8f-ea43-4946-b352-37e24a6530e0','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed','ef10c1c5-e4b2-48b0-9341-52b270457365',0.8,'TP',134,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751416','eb6c1449-63be-4aa6-a8f2-491275de0227',19,2,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please open question','search',NULL,'search','wiki / search','wiki','search','self-reported',3,100,20,0.019,NULL,NULL,'native','[{"tool":"search"}]','{}','[{"tool":"search","arguments":{},"server":"wiki"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('b63543c1-ab31-413a-a74c-93d746eb757a','4c1ac567-c91f-452f-8a36-dfe7efc20c97','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','completed','b88e5362-5d41-45b3-8a1d-5ecf70b6b134',0.9,'FP',141,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751420','eb6c1449-63be-4aa6-a8f2-491275de0227',20,2,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please say hello','no tool',NULL,NULL,'docs / read','docs','read','self-reported',NULL,100,20,0.02,NULL,NULL,'native',NULL,'{}','[{"tool":"read","arguments":{},"server":"docs"}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('220ec837-a024-4b64-b2d3-8291f8ff756d','4c1ac567-c91f-452f-8a36-dfe7efc20c97','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,1.0,'FP',148,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751424','eb6c1449-63be-4aa6-a8f2-491275de0227',21,2,1,'171258da-a890-45eb-97e0-2909cfb5ef77','Please say hello','no tool',NULL,NULL,'frobnicate',NULL,'frobnicate','self-reported',1,100,20,0.021,NULL,NULL,'native',NULL,'{}','[{"tool":"frobnicate","arguments":{}}]','I will look for it.','[[2,0.8125]]','{"messages":[{"role":"user","content":"Please find it"}]}','{"id":"chatcmpl-1"}',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('5f4aac74-1dbb-4d1e-b6b0-420dbafe1589','d2286c74-3ad7-4ff0-b2c9-112401d2bb15','56b2bbd2-2159-4957-81fb-ca65dd74dbd2','failed',NULL,NULL,NULL,NULL,'The model did not answer within 30 seconds.','2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751428','eb6c1449-63be-4aa6-a8f2-491275de0227',22,2,1,NULL,'Please either','docs / read or wiki / search','docs','read',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'model_timeout','Try again.',NULL,'{"any_of":[[{"tool":"read","server":"docs","parameters":{"query":{"$any":true}}}],[{"tool":"search","server":"wiki"}]]}',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('0d4ed0c6-11b5-426a-919f-d61df2e99159','d2286c74-3ad7-4ff0-b2c9-112401d2bb15','6dcdfcb0-7ae0-4fbe-9bff-dedb448fe251','completed',NULL,0.3,'FN',5,NULL,'2026-11-23 12:34:54.733040','2026-11-23 12:34:54.751433','eb6c1449-63be-4aa6-a8f2-491275de0227',23,2,1,NULL,'Please either','docs / read or wiki / search','docs','read','no tool',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'native','{"any_of":[[{"tool":"read","server":"docs","parameters":{"query":{"$any":true}}}],[{"tool":"search","server":"wiki"}]]}',NULL,'[]',NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "test_runs" VALUES('a7210fe3-5988-4891-bd01-75bb1710acbd','a2e44634-d245-4eda-9220-e9013057eef5','19538fa3-e623-4729-a850-34b42c0808a0','pending',NULL,NULL,NULL,NULL,NULL,'2026-11-23 12:34:54.766744',NULL,'85909aa8-44a3-4c80-9cf0-8e677c4380a2',0,0,1,NULL,'Please look it up','docs / read','docs','read',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[{"tool":"read","server":"docs"}]',NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
    raw_definition TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
INSERT INTO "tool_definitions" VALUES('dd601fe8-c77c-497b-8f5c-43eeeae136ff','search','Looks for words.','{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}',NULL,'86f6b193-bef9-4167-92fa-312390861489','6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','2026-11-21 23:01:20.399173','2026-11-21 23:01:20.399173','docs','{"name":"search","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}}','c16627a9f4878b3ced5b225edc2bcb2e014f98835bf710ad4cff50b6de85bf8b');
INSERT INTO "tool_definitions" VALUES('b88e5362-5d41-45b3-8a1d-5ecf70b6b134','read','Looks for words.','{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}',NULL,'86f6b193-bef9-4167-92fa-312390861489','6e7c9cb0-9f68-44a8-8b48-64dc30feeb6b','2026-11-21 23:01:20.399205','2026-11-21 23:01:20.399205','docs','{"name":"read","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}}','fef469b2c3befa08af132a7dd0c93d97deecb62c514b74545c2bb57354ed0934');
INSERT INTO "tool_definitions" VALUES('ef10c1c5-e4b2-48b0-9341-52b270457365','search','Looks for words.','{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}',NULL,'a5496d19-1659-4fd3-aac1-3644890079a3','9a86d0b1-85b0-4937-8c10-fb2ccac9c2bc','2026-11-23 12:34:54.742220','2026-11-23 12:34:54.742220','wiki','{"name":"search","description":"Looks for words.","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]},"x-vendor":{"cost":1}}','cb386f325936ee5ddbfa1f6d97b390f9ae08c8cee43c288b1fc884c5f60e6dba');
CREATE TABLE tool_names (
    id INTEGER NOT NULL PRIMARY KEY,
    server TEXT NOT NULL DEFAULT '',
    tool TEXT NOT NULL
);
INSERT INTO "tool_names" VALUES(1,'docs','search');
INSERT INTO "tool_names" VALUES(2,'docs','read');
INSERT INTO "tool_names" VALUES(3,'','search');
INSERT INTO "tool_names" VALUES(4,'wiki','search');
INSERT INTO "tool_names" VALUES(5,'','frobnicate');
CREATE INDEX ix_test_cases_expected_mcp_server_name ON test_cases (expected_mcp_server_name);
CREATE INDEX ix_test_cases_expected_tool_name ON test_cases (expected_tool_name);
CREATE INDEX ix_test_case_mcp_servers_mcp_server_id ON test_case_mcp_servers (mcp_server_id);
CREATE INDEX ix_suite_test_cases_test_case_id ON suite_test_cases (test_case_id);
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
CREATE INDEX ix_snapshot_tools_tool_id ON snapshot_tools (tool_id);
CREATE UNIQUE INDEX ux_tool_names_tool ON tool_names (tool, server);
CREATE INDEX ix_past_verdicts_test_run_id ON past_verdicts (test_run_id);
CREATE INDEX ix_tool_calls_tool ON tool_calls (mcp_server_id, tool_name, asked_at DESC);
CREATE UNIQUE INDEX ux_mcp_servers_name ON mcp_servers (name) WHERE removed_at IS NULL;
CREATE UNIQUE INDEX ux_mcp_servers_url ON mcp_servers (url) WHERE removed_at IS NULL;
CREATE INDEX ix_batches_created_at ON batches (created_at);
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
CREATE INDEX ix_test_runs_read_from_text ON test_runs (batch_id) WHERE read_from_text = 1;
CREATE INDEX ix_test_runs_answered_model ON test_runs (
    batch_id, model_settings_id, answered_model, answered_fingerprint
) WHERE answered_model IS NOT NULL;
CREATE INDEX ix_run_facts_created_at ON run_facts (
    created_at DESC, batch_key DESC, position, case_key, model_key, snapshot_key, status, classification, kind,
    expected_tool_key, selected_tool_key, invented_tool, confidence_score, mark, unreadable, failure_code
);
CREATE INDEX ix_run_facts_batch ON run_facts (batch_key, position, case_key, mark, unreadable, failure_code);
CREATE UNIQUE INDEX ux_drafts_name ON drafts (name COLLATE NOCASE);
CREATE INDEX ix_test_runs_texts ON test_runs (id, query, expected_label, selected_label);
CREATE UNIQUE INDEX ux_library_tools_name ON library_tools (name) WHERE removed_at IS NULL;
CREATE INDEX ix_library_executions_tool ON library_executions (tool_id, created_at DESC);
CREATE INDEX ix_server_contacts_at ON server_contacts (at);
COMMIT;
PRAGMA application_id = 1297368390;
PRAGMA user_version = 14;
