"""The tool that a wrong run selected, as it was offered then; knows no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.core_link.model_requests import CoreCall
from mcp_tef import NotFoundError, RunDetail, RunId


@dataclass(frozen=True, slots=True)
class RivalTool:
    """A tool that was selected in place of another: its texts, and its parameters with their descriptions."""

    name: str
    server: str
    description: str
    parameters: tuple[tuple[str, str], ...]


async def read_rival(ask: CoreCall, run_id: RunId | None) -> RivalTool | None:
    """Return the tool that a run selected; None for no tool, an invented one, and a run that is gone."""
    if run_id is None:
        return None
    try:
        return _rival(await ask(lambda core: core.runs.detail(run_id)))
    except NotFoundError:
        return None


def _rival(detail: RunDetail) -> RivalTool | None:
    wanted = (detail.summary.selected_server, detail.summary.selected_tool)
    offered = detail.snapshot.tools if detail.snapshot else ()
    tool = next((one.tool for one in offered if (one.tool.server, one.tool.name) == wanted), None)
    if tool is None:
        return None
    properties = tool.input_schema.get("properties")
    known = properties.items() if isinstance(properties, Mapping) else ()
    parameters = tuple((str(name), _text(schema)) for name, schema in known)
    return RivalTool(tool.name, tool.server, tool.description, parameters)


def _text(schema: object) -> str:
    return str(schema.get("description", "")) if isinstance(schema, Mapping) else ""
