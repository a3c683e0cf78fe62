"""JSON shapes of library tools, their versions and executions, and of the health of servers."""

from datetime import datetime

from mcp_tef.model.health import ServerHealth
from mcp_tef.model.json import Json
from mcp_tef.model.library import Execution, ExecutionFigures, LibraryTool, ToolVersion, design_to_json


def library_tool_to_json(tool: LibraryTool) -> dict[str, Json]:
    """Return a tool of the library."""
    design = tool.design
    return {
        "id": tool.id,
        "name": tool.name,
        "display_name": design.display_name,
        "description": design.description,
        "status": tool.status.value,
        "category": design.category,
        "tags": list(design.tags),
        "input_schema": dict(design.input_schema),
        "output_schema": dict(design.output_schema) if design.output_schema else None,
        "script_content": design.script,
        "executor_type": design.executor.value,
        "executor_config": dict(design.config),
        "version": tool.version,
        "created_at": tool.created_at.isoformat(),
        "updated_at": tool.updated_at.isoformat(),
    }


def tool_version_to_json(version: ToolVersion) -> dict[str, Json]:
    """Return one version of a tool."""
    return {
        "version": version.version,
        "changelog": version.changelog,
        "is_latest": version.is_latest,
        "created_at": version.created_at.isoformat(),
        "definition": design_to_json(version.design),
    }


def execution_to_json(execution: Execution) -> dict[str, Json]:
    """Return one execution."""
    return {
        "id": execution.id,
        "tool": execution.tool,
        "version": execution.version,
        "status": execution.status.value,
        "input": dict(execution.input),
        "output": execution.output,
        "error": execution.error_message,
        "started_at": _moment(execution.started_at),
        "completed_at": _moment(execution.completed_at),
        "duration_ms": execution.duration_ms,
        "caller_id": execution.caller_id,
        "trace_id": execution.trace_id,
    }


def execution_figures_to_json(figures: ExecutionFigures) -> dict[str, Json]:
    """Return the figures of some executions."""
    return {
        "count": figures.count,
        "error_rate": figures.error_rate,
        "p50_ms": figures.p50_ms,
        "p95_ms": figures.p95_ms,
    }


def server_health_to_json(health: ServerHealth) -> dict[str, Json]:
    """Return the health of one server, or of all."""
    return {
        "server": health.server or None,
        "status": health.state.value,
        "reason": health.reason or None,
        "last_success": _moment(health.last_success),
        "last_error": health.last_error,
        "error_rate": health.error_rate,
        "average_response_time_ms": health.p50_ms,
        "p95_response_time_ms": health.p95_ms,
        "queries_per_minute": round(health.calls_per_minute, 2),
        "last_updated": _moment(health.last_updated),
    }


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
