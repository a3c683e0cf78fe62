"""From a program's lines to messages, read leniently enough that one odd tool does not cost the rest."""

import json

import mcp_types
from mcp.shared.message import SessionMessage


class TooDeepError(Exception):
    """A message nests too deep to be read."""


def message_in(line: bytes) -> SessionMessage | None:
    """The message in a line, if it holds one; TooDeepError where nobody can tell."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return _lenient(line)


def _lenient(line: bytes) -> SessionMessage | None:
    """Half characters and bytes that are no UTF-8 stay in the texts, so that only the tool that has them is bad."""
    try:
        content = json.loads(line.decode("utf-8", "surrogateescape"))
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_python(content, by_name=False))
    except RecursionError:
        raise TooDeepError from None
    except ValueError:
        return None
