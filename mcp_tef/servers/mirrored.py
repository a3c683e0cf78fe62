"""Arguments that a modern server wants mirrored into headers, so that what stands before it can route by them."""

from collections.abc import Iterator, Mapping, Sequence

from mcp.shared.inbound import find_invalid_x_mcp_header, mcp_param_headers, x_mcp_header_map
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_tef.model.json import Json, JsonObject, deeper_than
from mcp_tef.model.servers import Transport
from mcp_tef.model.tools import Tool, ToolProblem
from mcp_tef.servers.visit import Talk


def mirrors(talk: Talk) -> bool:
    """Whether arguments are mirrored here at all: over HTTP, by the modern protocol."""
    over_http = talk.spec.transport is Transport.STREAMABLE_HTTP
    return over_http and talk.session.protocol_version in MODERN_PROTOCOL_VERSIONS


def unmirrorable(tools: Sequence[Tool]) -> Iterator[ToolProblem]:
    """The tools that ask for headers which cannot be; the protocol forbids to offer them."""
    for tool in tools:
        reason = find_invalid_x_mcp_header(tool.input_schema)
        if reason is not None:
            yield ToolProblem(tool.name, f"It asks for a header that cannot be sent: {reason}.")


def headers_of(definitions: Sequence[Json], tool: str, arguments: JsonObject, depth: int) -> Mapping[str, str]:
    """The headers of a call, by what the server says of the tool; none where it says nothing sound."""
    named = (raw for raw in definitions if isinstance(raw, dict) and raw.get("name") == tool)
    schema = next((raw.get("inputSchema") for raw in named), None)
    if not isinstance(schema, dict) or deeper_than(schema, depth) or find_invalid_x_mcp_header(schema) is not None:
        return {}
    return mcp_param_headers(x_mcp_header_map(schema), arguments)
