"""From what carries a message to the message, read leniently enough that one odd tool does not cost the rest."""

import json

import mcp_types
from mcp.shared.message import SessionMessage


class TooDeepError(Exception):
    """A message nests too deep to be read."""


def message_in(line: bytes) -> SessionMessage | None:
    """The message in a line, if it holds one; TooDeepError where nobody can tell.

    Half characters and bytes that are no UTF-8 stay in its texts, so that only the tool that has them is bad. The
    SDK's own way from bytes to a message takes four times the memory.
    """
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        content = json.loads(line.decode("utf-8", "surrogateescape"))
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(content, by_name=False))
    except RecursionError:
        raise TooDeepError from None
    except ValueError:
        return None
