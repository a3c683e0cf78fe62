"""The tables of batches, runs, verdicts, snapshots and run facts as SQLModel classes; only runs load them."""

from datetime import datetime
from typing import Any

from sqlalchemy import BLOB, REAL, Index, Integer, Text, case, literal
from sqlalchemy import text as sql
from sqlmodel import Field

from mcp_tef.model.ids import new_id
from mcp_tef.storage.columns import Document, Moment, SafeText, StoredRow, now, table_of


class BatchRow(StoredRow, table=True):
    """Runs that were started together; `owner_token` is that of the process that works through them."""

    __tablename__ = "batches"

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    name: str = Field(sa_type=SafeText)
    status: str = Field(sa_type=Text)
    request: Any = Field(sa_type=Document)
    repeats: int
    concurrency: int
    max_cost_usd: float | None = Field(default=None, sa_type=REAL)
    owner_token: str = Field(sa_type=Text)
    created_at: datetime = Field(default_factory=now, sa_type=Moment, index=True)
    completed_at: datetime | None = Field(default=None, sa_type=Moment)
    removed_at: datetime | None = Field(default=None, sa_type=Moment)
    stopped: str | None = Field(default=None, sa_type=SafeText)
    trial: Any = Field(default=None, sa_type=Document, nullable=True)


class ModelSettingsRow(StoredRow, table=True):
    """Settings that a batch calls one model with; never changed, and never with a key."""

    __tablename__ = "model_settings"

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    provider: str = Field(sa_type=SafeText)
    model: str = Field(sa_type=SafeText)
    timeout: int
    temperature: float = Field(sa_type=REAL)
    max_retries: int
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    base_url: str | None = Field(default=None, sa_type=SafeText)
    system_prompt: str | None = Field(default=None, sa_type=SafeText)
    mode: str = Field(default="auto", sa_type=Text)
    batch_id: str | None = Field(default=None, foreign_key="batches.id", ondelete="CASCADE", sa_type=Text, index=True)
    tool_choice: str = Field(default="auto", sa_type=Text)
    seed: int | None = None
    max_tokens: int | None = None
    input_price: float | None = Field(default=None, sa_type=REAL)
    output_price: float | None = Field(default=None, sa_type=REAL)
    client: str = Field(default="", sa_type=Text)
    prompt: str = Field(default="", sa_type=SafeText)
    variables: Any = Field(default_factory=list, sa_type=Document)


class SnapshotRow(StoredRow, table=True):
    """Tools as they were for some runs; the fingerprint is over their ids and offered names."""

    __tablename__ = "snapshots"

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    fingerprint: str = Field(sa_type=Text, unique=True)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)


class RunRow(StoredRow, table=True):
    """One case, one model, once; expectation and query are as they were judged."""

    __tablename__ = "test_runs"
    __table_args__ = (
        Index("ix_test_runs_test_case_id", "test_case_id", sql("completed_at DESC")),
        Index("ix_test_runs_created_at", sql("created_at DESC"), sql("batch_id DESC"), "position"),
        Index("ix_test_runs_batch_id", "batch_id", "position", "status", "classification", "cost_usd", "test_case_id"),
        Index(
            "ix_test_runs_answered_model",
            *("batch_id", "model_settings_id", "answered_model", "answered_fingerprint"),
            sqlite_where=sql("answered_model IS NOT NULL"),
        ),
        Index("ix_test_runs_read_from_text", "batch_id", sqlite_where=sql("read_from_text = 1")),
        Index("ix_test_runs_texts", "id", "query", "expected_label", "selected_label"),
    )

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    test_case_id: str = Field(foreign_key="test_cases.id", ondelete="CASCADE", sa_type=Text)
    model_settings_id: str | None = Field(
        default=None, foreign_key="model_settings.id", ondelete="SET NULL", sa_type=Text, index=True
    )
    status: str = Field(default="pending", sa_type=Text, index=True)
    selected_tool_id: str | None = Field(
        default=None, foreign_key="tool_definitions.id", ondelete="SET NULL", sa_type=Text, index=True
    )
    confidence_score: float | None = Field(default=None, sa_type=REAL)
    classification: str | None = Field(default=None, sa_type=Text)
    execution_time_ms: int | None = None
    error_message: str | None = Field(default=None, sa_type=SafeText)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    completed_at: datetime | None = Field(default=None, sa_type=Moment)
    batch_id: str | None = Field(default=None, foreign_key="batches.id", ondelete="CASCADE", sa_type=Text)
    position: int = 0
    repeat_index: int = 0
    attempts: int = 1
    snapshot_id: str | None = Field(
        default=None, foreign_key="snapshots.id", ondelete="SET NULL", sa_type=Text, index=True
    )
    query: str = Field(default="", sa_type=SafeText)
    expected_label: str = Field(default="no tool", sa_type=SafeText)
    expected_server_name: str | None = Field(default=None, sa_type=SafeText)
    expected_tool_name: str | None = Field(default=None, sa_type=SafeText)
    selected_label: str | None = Field(default=None, sa_type=SafeText)
    selected_server_name: str | None = Field(default=None, sa_type=SafeText)
    selected_tool_name: str | None = Field(default=None, sa_type=SafeText)
    confidence_source: str | None = Field(default=None, sa_type=Text)
    expected_rank: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = Field(default=None, sa_type=REAL)
    error_code: str | None = Field(default=None, sa_type=SafeText)
    error_hint: str | None = Field(default=None, sa_type=SafeText)
    mode: str | None = Field(default=None, sa_type=Text)
    expectation: Any = Field(default=None, sa_type=Document, nullable=True)
    extracted_parameters: Any = Field(default=None, sa_type=Document, nullable=True)
    calls: Any = Field(default=None, sa_type=Document, nullable=True)
    answer_text: str | None = Field(default=None, sa_type=SafeText)
    ranking: Any = Field(default=None, sa_type=Document, nullable=True)
    llm_request_raw: Any = Field(default=None, sa_type=Document, nullable=True)
    llm_response_raw: Any = Field(default=None, sa_type=Document, nullable=True)
    before: Any = Field(default=None, sa_type=Document, nullable=True)
    read_from_text: int = 0
    answered_model: str | None = Field(default=None, sa_type=SafeText)
    answered_fingerprint: str | None = Field(default=None, sa_type=SafeText)
    base_url: str | None = Field(default=None, sa_type=SafeText)
    seed: int | None = None
    answer_limit: int | None = None
    arm: str | None = Field(default=None, sa_type=Text)
    place: int | None = None
    routing: Any = Field(default=None, sa_type=Document, nullable=True)


class ToolRow(StoredRow, table=True):
    """A tool definition, once for all runs that saw it; `test_run_id` is one of those."""

    __tablename__ = "tool_definitions"
    __table_args__ = (Index("ux_tool_definitions_fingerprint", "mcp_server_id", "fingerprint", unique=True),)

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    name: str = Field(sa_type=SafeText, index=True)
    description: str = Field(sa_type=SafeText)
    input_schema: Any = Field(sa_type=Document)
    output_schema: Any = Field(default=None, sa_type=Document, nullable=True)
    mcp_server_id: str = Field(foreign_key="mcp_servers.id", ondelete="CASCADE", sa_type=Text)
    test_run_id: str = Field(foreign_key="test_runs.id", ondelete="CASCADE", sa_type=Text, index=True)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    updated_at: datetime = Field(default_factory=now, sa_type=Moment, sa_column_kwargs={"onupdate": now})
    server_name: str = Field(sa_type=SafeText)
    raw_definition: Any = Field(sa_type=Document)
    fingerprint: str = Field(sa_type=Text)


class SnapshotToolRow(StoredRow, table=True):
    """A tool in a snapshot, under the name it was offered by."""

    __tablename__ = "snapshot_tools"

    snapshot_id: str = Field(primary_key=True, foreign_key="snapshots.id", ondelete="CASCADE", sa_type=Text)
    position: int = Field(primary_key=True)
    tool_id: str = Field(foreign_key="tool_definitions.id", ondelete="CASCADE", sa_type=Text, index=True)
    offered_name: str = Field(sa_type=SafeText)


class ResultRow(StoredRow, table=True):
    """The verdict on one run."""

    __tablename__ = "evaluation_results"

    id: str = Field(default_factory=new_id, primary_key=True, sa_type=Text)
    test_run_id: str = Field(foreign_key="test_runs.id", ondelete="CASCADE", sa_type=Text, unique=True)
    classification: str = Field(sa_type=Text)
    tool_selection_correct: int = Field(sa_type=Integer)
    parameter_completeness: float | None = Field(default=None, sa_type=REAL)
    parameter_correctness: float | None = Field(default=None, sa_type=REAL)
    parameter_type_conformance: int | None = None
    hallucinated_parameters: Any = Field(default=None, sa_type=Document, nullable=True)
    confidence_category: str | None = Field(default=None, sa_type=Text)
    reasoning: str = Field(sa_type=SafeText)
    recommendations: Any = Field(default_factory=list, sa_type=Document)
    created_at: datetime = Field(default_factory=now, sa_type=Moment)
    kind: str = Field(sa_type=Text)
    matched_alternative: int = 0
    parameters_ok: int | None = None
    matches: Any = Field(default_factory=list, sa_type=Document)
    unreadable: int = 0


class PastVerdictRow(StoredRow, table=True):
    """A verdict that was replaced when its run was judged again."""

    __tablename__ = "past_verdicts"

    id: int = Field(primary_key=True)
    test_run_id: str = Field(foreign_key="test_runs.id", ondelete="CASCADE", sa_type=Text, index=True)
    replaced_at: datetime = Field(default_factory=now, sa_type=Moment)
    classification: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    verdict: Any = Field(sa_type=Document)
    expectation: Any = Field(default=None, sa_type=Document, nullable=True)
    reason: str = Field(sa_type=Text)


BATCHES = table_of(BatchRow)
MODEL_SETTINGS = table_of(ModelSettingsRow)
_VIA = case((MODEL_SETTINGS.c.client == "", ""), else_=literal(" via ") + MODEL_SETTINGS.c.client)
_WITH = case((MODEL_SETTINGS.c.prompt == "", ""), else_=literal(" with ") + MODEL_SETTINGS.c.prompt)
ASKED_MODEL = MODEL_SETTINGS.c.model + _VIA + _WITH
"""The model's name, with the client whose tools it is shown and the prompt that it is asked with."""
ASKED_LABEL = MODEL_SETTINGS.c.provider + "/" + ASKED_MODEL
RESULTS = table_of(ResultRow)
RUNS = table_of(RunRow)
SNAPSHOTS = table_of(SnapshotRow)
SNAPSHOT_TOOLS = table_of(SnapshotToolRow)
TOOLS = table_of(ToolRow)
PAST_VERDICTS = table_of(PastVerdictRow)


class FactKeyRow(StoredRow, table=True):
    """A number for an id or a label that facts refer to."""

    __tablename__ = "fact_keys"

    id: int = Field(primary_key=True)
    value: str = Field(sa_type=SafeText, unique=True)


class ToolNameRow(StoredRow, table=True):
    """A number for a tool of a server; the server is empty where none is known."""

    __tablename__ = "tool_names"
    __table_args__ = (Index("ux_tool_names_tool", "tool", "server", unique=True),)

    id: int = Field(primary_key=True)
    server: str = Field(default="", sa_type=SafeText)
    tool: str = Field(sa_type=SafeText)


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
    failure_code: str | None = Field(default=None, sa_type=SafeText)
    metrics: bytes = Field(sa_type=BLOB)


FACT_KEYS = table_of(FactKeyRow)
TOOL_NAMES = table_of(ToolNameRow)
FACTS = table_of(FactsRow)
