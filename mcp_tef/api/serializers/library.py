"""JSON shapes of library tools, their versions and executions, and of the health of servers."""

from mcp_tef.model.health import ServerHealth
from mcp_tef.model.json import Json, as_json, fields_to_json
from mcp_tef.model.library import Execution, ExecutionFigures, LibraryTool, ToolVersion, design_to_json


def library_tool_to_json(tool: LibraryTool) -> dict[str, Json]:
    """Return a tool of the library."""
    design = tool.design
    return {
        **fields_to_json(tool, "id name"),
        **fields_to_json(design, "display_name description"),
        "status": tool.status.value,
        **fields_to_json(design, "category tags input_schema"),
        "output_schema": as_json(design.output_schema) or None,
        "script_content": design.script,
        "executor_type": design.executor.value,
        "executor_config": as_json(design.config),
        **fields_to_json(tool, "version created_at updated_at"),
    }


def tool_version_to_json(version: ToolVersion) -> dict[str, Json]:
    """Return one version of a tool."""
    return {
        **fields_to_json(version, "version changelog is_latest created_at"),
        "definition": design_to_json(version.design),
    }


def execution_to_json(execution: Execution) -> dict[str, Json]:
    """Return one execution."""
    return {
        **fields_to_json(execution, "id tool version status input output"),
        "error": execution.error_message,
        **fields_to_json(execution, "started_at completed_at duration_ms caller_id trace_id"),
    }


def execution_figures_to_json(figures: ExecutionFigures) -> dict[str, Json]:
    """Return the figures of some executions."""
    return fields_to_json(figures, "count error_rate p50_ms p95_ms")


def server_health_to_json(health: ServerHealth) -> dict[str, Json]:
    """Return the health of one server, or of all."""
    return {
        "server": health.server or None,
        "status": health.state.value,
        "reason": health.reason or None,
        **fields_to_json(health, "last_success last_error error_rate"),
        "average_response_time_ms": health.p50_ms,
        "p95_response_time_ms": health.p95_ms,
        "queries_per_minute": round(health.calls_per_minute, 2),
        "last_updated": as_json(health.last_updated),
    }
