"""Mapping of the errors that end a session to the ServerError that says what the server did."""

import re

import httpx2
import mcp_types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.servers import Transport
from mcp_tef.servers.error_messages import ServerErrors
from mcp_tef.servers.observations import Stage
from mcp_tef.trust.addresses import UnexpectedAddressError

_STAND_INS = ("Server returned an error response", "Not Found", "Session terminated")
_CLOSED = ("Connection closed", "SSE stream")
_TOO_LARGE = "byte limit."
_BROKEN_JSON = re.compile(r"Invalid JSON: (.{1,300}?) at line \d+")
_REASONS = (
    (("certificate", "ssl"), "its certificate is not trusted"),
    (("name or service", "nodename", "getaddrinfo", "name resolution"), "there is no host of that name"),
    (("refused", "all connection attempts"), "the connection was refused"),
)
_TAKEN = "server answered a request with 202 Accepted"


def server_error_of(error: BaseException, errors: ServerErrors) -> ServerError:
    """Return the ServerError for the error that ended a session; of a group, for its first cause."""
    observations = errors.observations
    cause = _leaves(error)[0]
    if isinstance(cause, ServerError):
        return cause
    if isinstance(cause, UnexpectedAddressError):
        what = f"is not where its address says: {cause.message.rstrip('.')}"
        return errors.error(ServerFault.REFUSED, what, cause.hint)
    if observations.refusal:
        return errors.not_signed_in(observations.refusal)
    if observations.flooded:
        return errors.flooded()
    if observations.compressed:
        return errors.compressed()
    if observations.reply is not None and (observations.reply.status >= 300 or observations.reply.web_page):
        return errors.http(observations.reply, _own_words(cause))
    return _by_kind(cause, errors)


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for item in error.exceptions for leaf in _leaves(item)]
    return [error]


def _own_words(cause: BaseException) -> str:
    return cause.message if isinstance(cause, MCPError) and cause.message not in _STAND_INS else ""


def _by_kind(cause: BaseException, errors: ServerErrors) -> ServerError:
    match cause:
        case MCPError():
            return _rpc(cause, errors)
        case httpx2.ConnectError() | httpx2.ConnectTimeout() | httpx2.ProxyError():
            return errors.refused(_why_refused(cause))
        case httpx2.SSEError():
            if str(cause).endswith(_TOO_LARGE):
                return errors.flooded()
            return errors.not_mcp("it answers with something other than events")
        case httpx2.LocalProtocolError():
            return errors.error(ServerFault.SETTINGS, "has a header that cannot be sent", "Correct its headers.")
        case httpx2.TransportError():
            return errors.gone()
        case OSError() if errors.spec.transport is Transport.STDIO:
            return errors.not_startable(cause)
        case ValidationError():
            return errors.nonsense(_first_fault(cause))
        case _:
            return errors.nonsense(str(cause) or type(cause).__name__)


def is_closed(error: Exception) -> bool:
    """Return whether the SDK says that the connection ended; servers use the same code for errors of their own."""
    return (
        isinstance(error, MCPError) and error.code == mcp_types.CONNECTION_CLOSED and error.message.startswith(_CLOSED)
    )


def _rpc(error: MCPError, errors: ServerErrors) -> ServerError:
    if is_closed(error):
        return errors.flooded() if error.message.endswith(_TOO_LARGE) else errors.gone()
    made_by_sdk = _http_error_of_sdk(error, errors) if errors.spec.transport is Transport.STREAMABLE_HTTP else None
    return made_by_sdk or errors.said(error.message)


def _http_error_of_sdk(error: MCPError, errors: ServerErrors) -> ServerError | None:
    """Return the error behind one that the SDK makes of an unfit HTTP answer; None for one of the server's own."""
    if error.code == mcp_types.PARSE_ERROR and error.message.startswith("Failed to parse"):
        return _unreadable(error.message, errors)
    if error.message.startswith("Unexpected content type"):
        return errors.not_mcp("its answer is no MCP message")
    return errors.nonsense("it took the request and sent no message") if error.message == _TAKEN else None


def _unreadable(words: str, errors: ServerErrors) -> ServerError:
    broken = _BROKEN_JSON.search(words)
    if errors.observations.stage is Stage.GREETING:
        return errors.not_mcp("its answer is no MCP message")
    return errors.nonsense(f"it is no JSON that can be read: {broken[1]}" if broken else "it is no MCP message")


def _why_refused(cause: httpx2.TransportError) -> str:
    text = str(cause).lower()
    return next((reason for marks, reason in _REASONS if any(mark in text for mark in marks)), "no connection")


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return f"{'.'.join(str(part) for part in first['loc']) or 'the answer'}: {first['msg'].lower()}"
