"""The operations of seed 002 with the fields of seed 000, each asked by the line of curl that its callers type."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mcp_tef import Engine
from tests.support.model_stub import ModelStub
from tests.support.rest_service import RestAnswer, curl, http_sample_server, rest_service

JSON = '-H "Content-Type: application/json"'
HOST = "http://localhost:8000"
TWO_TOOLS = """[{"name": "search_documents", "description": "Search through user documents using keywords and filters",
  "parameter": {"query": "Search query string", "filters": "Optional filters"}},
 {"name": "find_files", "description": "Find files in the system by searching with patterns",
  "parameter": {"pattern": "File name pattern to match", "path": "Optional search path"}}]"""


class SeedRow(NamedTuple):
    """A request: its place in the seeds, the line, the status, the fields of the answer and some of their values.

    `keeps` is the name under which later lines find the id of the answer.
    """

    seed: str
    line: str
    status: int
    fields: str = ""
    values: Mapping[str, Any] = {}  # a tuple holds it, which nobody changes
    keeps: str = ""


SERVER = "id name url transport status last_connected_at created_at updated_at"
TOOL = "id name description input_schema output_schema mcp_server_id test_run_id created_at updated_at"
CASE = "id name query expected_mcp_server_name expected_tool_name expected_parameters created_at updated_at"
RUN = (
    "id test_case_id model_settings status confidence_score classification execution_time_ms error_message created_at "
    "completed_at"
)
RESULT = (
    "id test_run_id classification tool_selection_correct parameter_completeness parameter_correctness "
    "parameter_type_conformance hallucinated_parameters confidence_category reasoning recommendations created_at"
)
METRICS = (
    "total_tests true_positives false_positives true_negatives false_negatives precision recall f1_score "
    "parameter_accuracy average_execution_time_ms confidence_distribution"
)
PAGE = "items total offset limit"
ERROR = "error message details hint"
MATRIX = "tool_ids matrix threshold flagged_pairs generated_at"
RUN_BODY = '{"model_settings": {"provider": "ollama", "model": "llama3.2:3b", "base_url": "$MODEL"}}'
CLOUD_BODY = (
    '{"model_config": {"provider": "openai", "model": "gpt-4", "timeout": 30, "temperature": 0.4, "max_retries": 3}}'
)

ROWS = (
    SeedRow(
        "002 MCP Servers: register",
        f"""curl -X POST {HOST}/mcp-servers {JSON} \\
  -d '{{"name": "Bike shop", "url": "$SHOP", "transport": "streamable-http"}}'""",
        201,
        SERVER,
        {"status": "active", "transport": "streamable-http", "consent_needed": False},
        keeps="SERVER",
    ),
    SeedRow(
        "000 MCP Server: name and url are unique",
        f"""curl -X POST {HOST}/mcp-servers {JSON} -d '{{"name": "Other", "url": "$SHOP"}}'""",
        409,
        ERROR,
    ),
    SeedRow(
        "002 Unreachable server created with status FAILED",
        f"""curl -X POST {HOST}/mcp-servers {JSON} -d '{{"name": "dead", "url": "http://127.0.0.1:9/mcp"}}'""",
        201,
        SERVER,
        {"status": "failed"},
        keeps="DEAD",
    ),
    SeedRow("002 MCP Servers: list", f"curl '{HOST}/mcp-servers?limit=100'", 200, PAGE, {"total": 2, "limit": 100}),
    SeedRow("002 MCP Servers: get", f"curl {HOST}/mcp-servers/$SERVER", 200, SERVER, {"name": "Bike shop"}),
    SeedRow(
        "002 MCP Servers: update",
        f"""curl -X PATCH {HOST}/mcp-servers/$DEAD {JSON} -d '{{"name": "gone"}}'""",
        200,
        SERVER,
        {"name": "gone", "status": "failed"},
    ),
    SeedRow("002 MCP Servers: delete", f"curl -X DELETE {HOST}/mcp-servers/$DEAD", 204),
    SeedRow("002 MCP Servers: deleted", f"curl {HOST}/mcp-servers/$DEAD", 404, ERROR),
    SeedRow(
        "002 Tools: create",
        f"""curl -X POST {HOST}/tools {JSON} -d '{{"name": "get_weather",
  "description": "Get current weather for a location", "input_schema": {{"type": "object"}}}}'""",
        201,
        TOOL,
        {"status": "draft", "test_run_id": None},
        keeps="TOOL",
    ),
    SeedRow("002 Tools: list", f"curl {HOST}/tools", 200, PAGE),
    SeedRow("002 Tools: get", f"curl {HOST}/tools/$TOOL", 200, TOOL, {"name": "get_weather"}),
    SeedRow("002 Tools: delete", f"curl -X DELETE {HOST}/tools/$TOOL", 204),
    SeedRow("002 Tools: deleted", f"curl {HOST}/tools/$TOOL", 404, ERROR),
    SeedRow(
        "002 Test Cases: create without model_id",
        f"""curl -X POST {HOST}/test-cases {JSON} -d '{{
  "name": "A flat tyre", "query": "My tyre is flat, can I bring the city bike in?",
  "expected_mcp_server_name": "Bike shop", "expected_tool_name": "book_repair",
  "expected_parameters": {{"work": {{"$contains": "tyre"}}}}}}'""",
        201,
        CASE,
        {"expected_tool_name": "book_repair", "servers": ["Bike shop"]},
        keeps="CASE",
    ),
    SeedRow(
        "002 Test Cases: model_id is no field",
        f"""curl -X POST {HOST}/test-cases {JSON} -d '{{"name": "x", "query": "y", "model_id": "z"}}'""",
        422,
        ERROR,
        {"error": "invalid_request"},
    ),
    SeedRow(
        "000 Test Case: query is not empty",
        f"""curl -X POST {HOST}/test-cases {JSON} -d '{{"name": "x", "query": ""}}'""",
        422,
        ERROR,
    ),
    SeedRow("002 Test Cases: list", f"curl {HOST}/test-cases", 200, PAGE, {"total": 1, "offset": 0}),
    SeedRow("002 Test Cases: get", f"curl {HOST}/test-cases/$CASE", 200, CASE, {"name": "A flat tyre"}),
    SeedRow(
        "DOORS 1: update a case",
        f"""curl -X PATCH {HOST}/test-cases/$CASE {JSON} -d '{{"name": "Flat"}}'""",
        200,
        CASE,
        {"name": "Flat", "expected_tool_name": "book_repair"},
    ),
    SeedRow(
        "002 Test Runs: execute; optional key for local providers",
        f"curl -X POST {HOST}/test-cases/$CASE/run {JSON} -d '{RUN_BODY}'",
        200,
        RUN,
        {"status": "completed", "error_message": None},
        keeps="RUN",
    ),
    SeedRow(
        "002 Test Runs: missing API key returns 401",
        f"curl -X POST {HOST}/test-cases/$CASE/run {JSON} -d '{CLOUD_BODY}'",
        401,
        ERROR,
        {"error": "key_missing"},
    ),
    SeedRow(
        "000 Model Settings: timeout 1-300",
        f"""curl -X POST {HOST}/test-cases/$CASE/run {JSON} \\
  -d '{{"model_settings": {{"provider": "ollama", "model": "m", "timeout": 301}}}}'""",
        422,
        ERROR,
    ),
    SeedRow(
        "000 Model Settings: temperature 0.0-2.0",
        f"""curl -X POST {HOST}/test-cases/$CASE/run {JSON} \\
  -d '{{"model_settings": {{"provider": "ollama", "model": "m", "temperature": 2.1}}}}'""",
        422,
        ERROR,
    ),
    SeedRow(
        "000 Model Settings: max_retries 0-10",
        f"""curl -X POST {HOST}/test-cases/$CASE/run {JSON} \\
  -d '{{"model_settings": {{"provider": "ollama", "model": "m", "max_retries": 11}}}}'""",
        422,
        ERROR,
    ),
    SeedRow("002 Test Runs: get", f"curl {HOST}/test-runs/$RUN", 200, RUN, {"status": "completed"}),
    SeedRow("002 Test Runs: result", f"curl {HOST}/test-runs/$RUN/result", 200, RESULT),
    SeedRow("DOORS 1: list runs", f"curl '{HOST}/test-runs?test_case_id=$CASE'", 200, PAGE, {"total": 1}),
    SeedRow("002 Tool History per Test Run", f"curl '{HOST}/tools?test_run_id=$RUN'", 200, PAGE),
    SeedRow("002 Metrics: summary", f"curl {HOST}/metrics/summary", 200, METRICS, {"total_tests": 1}),
    SeedRow(
        "002 Similarity: analyze",
        f"""curl -X POST {HOST}/similarity/analyze {JSON} -d '{{"tool_list": {TWO_TOOLS},
  "similarity_threshold": 0.85, "include_recommendations": true, "embedding_model": "tfidf"}}'""",
        200,
        MATRIX + " recommendations",
        {"tool_ids": ["search_documents", "find_files"], "threshold": 0.85},
    ),
    SeedRow(
        "002 Similarity: url_list",
        f"""curl -X POST {HOST}/similarity/matrix {JSON} \\
  -d '{{"url_list": ["$SHOP:streamable-http"], "similarity_threshold": 0.7, "embedding_model": "tfidf"}}'""",
        200,
        MATRIX,
        {"threshold": 0.7},
    ),
    SeedRow(
        "002 Similarity: overlap-matrix, weights of seed 000",
        f"""curl -X POST {HOST}/similarity/overlap-matrix {JSON} \\
  -d '{{"tool_list": {TWO_TOOLS}, "embedding_model": "tfidf"}}'""",
        200,
        "tool_ids matrix dimensions generated_at",
        {"dimensions": {"semantic": 0.5, "parameters": 0.3, "description": 0.2}},
    ),
    SeedRow(
        "002 Similarity: recommendations for exactly two",
        f"""curl -X POST {HOST}/similarity/recommendations {JSON} \\
  -d '{{"server_list": [{{"name": "files", "tools": {TWO_TOOLS}}}], "embedding_model": "tfidf"}}'""",
        200,
        "tool_pair similarity_score issues recommendations",
        {"tool_pair": ["files/find_files", "files/search_documents"]},
    ),
    SeedRow(
        "000 Similarity: exactly one source",
        f"curl -X POST {HOST}/similarity/analyze {JSON} -d '{{}}'",
        422,
        ERROR,
    ),
    SeedRow(
        "000 Similarity: at least two tools",
        f"""curl -X POST {HOST}/similarity/analyze {JSON} -d '{{"tool_list": [{{"name": "one"}}]}}'""",
        400,
        ERROR,
    ),
    SeedRow(
        "002 Tool quality",
        f"curl -X POST {HOST}/mcp-servers/$SERVER/analyze-tool-quality",
        200,
        "server_id server_name analysis",
        {"server_name": "Bike shop"},
    ),
    SeedRow("002 Test Cases: delete", f"curl -X DELETE {HOST}/test-cases/$CASE", 204),
    SeedRow("002 /providers returns 404", f"curl {HOST}/providers", 404, ERROR),
    SeedRow("002 /models returns 404", f"curl {HOST}/models", 404, ERROR),
    SeedRow("DOORS 1: health", f"curl {HOST}/health", 200, "status version", {"status": "healthy"}),
    SeedRow("DOORS 1: OpenAPI page", f"curl {HOST}/docs", 200),
)


async def test_every_operation_of_the_seed_answers_as_it_says(engine: Engine) -> None:
    wrong = []
    with ModelStub() as stub:
        async with (
            http_sample_server() as shop,
            rest_service(engine, allowed=[shop, stub.url, "http://127.0.0.1:9"]) as (address, _),
        ):
            places = {"SHOP": shop, "MODEL": stub.url}
            for row in ROWS:
                answer = await curl(row.line.replace("localhost:8000", address.removeprefix("http://")), places)
                wrong += [f"{row.seed}: {problem}" for problem in problems(row, answer)]
                if row.keeps and "id" in answer.text:
                    places[row.keeps] = answer.json["id"]
    assert not wrong, "\n".join(wrong)


def problems(row: SeedRow, answer: RestAnswer) -> list[str]:
    """Differences from the row."""
    if answer.status != row.status:
        return [f"{answer.status} instead of {row.status}: {answer.text[:300]}"]
    body = answer.json if row.fields else {}
    missing = [f"no {name}" for name in row.fields.split() if name not in body]
    return missing + [f"{name} is {body.get(name)!r}" for name, value in row.values.items() if body.get(name) != value]
