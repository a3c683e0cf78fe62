"""Parser from bytes to messages, lenient enough that one odd tool does not cost the whole answer."""

import mcp_types
from mcp.shared.message import SessionMessage

from mcp_tef.model.json import Json, loads_bounded
from mcp_tef.servers.sanitizing import shallow


def message_in(line: bytes) -> SessionMessage | None:
    """The message in a line, if it holds one.

    Half characters and bytes that are no UTF-8 stay in its texts, so that only the tool that has them is bad. The
    SDK's own way from bytes to a message takes four times the memory.
    """
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(_read(line), by_name=False))
    except ValueError:
        return None


def _read(line: bytes) -> Json:
    try:
        return loads_bounded(line.decode("utf-8", "surrogateescape"))
    except RecursionError:
        return loads_bounded(shallow(line).decode("utf-8", "surrogateescape"))
