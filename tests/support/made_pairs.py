"""Pairs of tools made ready to be told apart, for tests of differentiation."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_tef.model.similarity import ComparedTool
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.tool_pair import PairedTools, sides


def told(
    name: str, description: str = "", *, server: str = "desk", required: Sequence[str] = (), **parameters: Any
) -> Tool:
    """A tool; a parameter is its schema, or the text that describes it."""
    properties = {
        key: value if isinstance(value, Mapping) else {"type": "string", "description": value}
        for key, value in parameters.items()
    }
    schema = {"type": "object", "properties": properties, "required": list(required)}
    raw = {"name": name, "description": description, "inputSchema": schema}
    return Tool(server=server, name=name, description=description, input_schema=schema, raw=raw)


def compared_as(tool: Tool, suffix: str = "") -> ComparedTool:
    """The tool under the id that gathering gives."""
    return ComparedTool(f"{tool.server}/{tool.name}{suffix}", tool)


def pair_of(one: Tool, other: Tool, similarity: float = 0.9, confusability: float = 0.0) -> PairedTools:
    """The two, side by side."""
    return sides(compared_as(one), compared_as(other), similarity, confusability)


COMMENT = told(
    "jira_add_comment",
    "Add a comment to a Jira issue.",
    required=("issue_key", "body"),
    issue_key="Jira issue key (e.g., 'PROJ-123')",
    body="Comment text in Markdown",
)
PAGE_COMMENT = told(
    "confluence_add_comment",
    "Add a comment to a Confluence page.",
    required=("page_id", "body"),
    page_id="The ID of the page to comment on",
    body="Comment text in Markdown",
)
WEATHER = told("get_weather", "Tell the forecast for a city.", city="Name of the city, e.g. 'Paris'")
BOOKING = told("book_flight", "Reserve seats on an airline.", seat="Which seat, such as '12C window'")
