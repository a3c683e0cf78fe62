"""Keys of the JSON that scripts rely on, as the description of the command line promises them."""

from datetime import UTC, datetime

from mcp_tef import (
    BatchId,
    CaseId,
    Classification,
    FailureInfo,
    Listing,
    RunId,
    RunStatus,
    RunSummary,
    Server,
    ServerId,
    ServerSpec,
    ServerStatus,
    Tool,
    ToolProblem,
    Transport,
    VerdictKind,
    listing_to_json,
    run_to_json,
    server_check_to_json,
    server_to_json,
)

RUN_KEYS = [
    "id",
    "case",
    "query",
    "model",
    "status",
    "classification",
    "mark",
    "unreadable",
    "read_from_text",
    "kind",
    "expected",
    "selected",
    "parameters_ok",
    "completeness",
    "correctness",
    "type_conformance",
    "hallucinated",
    "findings",
    "confidence",
    "confidence_source",
    "confidence_category",
    "explanation",
    "execution_time_ms",
    "tokens",
    "cost_usd",
    "error",
]
NOW = datetime(2026, 1, 2, tzinfo=UTC)
RUN = RunSummary(
    id=RunId("r"),
    batch_id=BatchId("b"),
    case_id=CaseId("c"),
    case_name="Late",
    query="How late is it?",
    model="offline/retrieval",
    repeat=0,
    status=RunStatus.COMPLETED,
    classification=Classification.TN,
    kind=VerdictKind.NO_CALL_EXPECTED,
    expected="no tool",
    selected="no tool",
)
SERVER = Server(
    id=ServerId("s"),
    spec=ServerSpec(
        name="clock", transport=Transport.STDIO, command="clock", env={"TOKEN": "geheim"}, headers={"X-Key": "geheim"}
    ),
    status=ServerStatus.FAILED,
    reason="It ended.",
    created_at=NOW,
    updated_at=NOW,
)


def test_a_run_has_the_keys_that_are_promised() -> None:
    assert list(run_to_json(RUN)) == RUN_KEYS


def test_no_tool_is_null_on_both_sides() -> None:
    shape = run_to_json(RUN)
    assert (shape["expected"], shape["selected"]) == (None, None)


def test_a_failed_run_tells_code_message_and_hint() -> None:
    failed = RunSummary(
        id=RunId("r"),
        batch_id=None,
        case_id=CaseId("c"),
        case_name="",
        query="",
        model="",
        repeat=0,
        status=RunStatus.FAILED,
        failure=FailureInfo("model_timeout", "It took too long.", "Try again."),
    )
    assert run_to_json(failed)["error"] == {
        "code": "model_timeout",
        "message": "It took too long.",
        "hint": "Try again.",
    }


def test_a_check_has_the_keys_that_are_promised() -> None:
    assert list(server_check_to_json(SERVER)) == ["name", "status", "reason", "latency_ms", "protocol"]


def test_a_server_shows_names_of_its_variables_and_headers_never_values() -> None:
    assert "geheim" not in str(server_to_json(SERVER))
    assert server_to_json(SERVER)["env"] == ["TOKEN"]


def test_tools_are_the_raw_definitions_beside_what_was_set_aside() -> None:
    raw = {"name": "now", "inputSchema": {}, "x-vendor": 1}
    tool = Tool(server="clock", name="now", description="", input_schema={}, raw=raw)
    listing = Listing(server="clock", tools=(tool,), problems=(ToolProblem(None, "It has no name."),))
    assert listing_to_json(listing) == {
        "server": "clock",
        "tools": [raw],
        "problems": [{"tool": None, "reason": "It has no name."}],
        "instructions": None,
    }
