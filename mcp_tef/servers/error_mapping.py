"""Errors of servers: what ends a session becomes a ServerError that says what the server did."""

import re
from urllib.parse import urlsplit

import httpx2
import mcp_types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcp_tef.errors import ServerError, ServerFault
from mcp_tef.model.servers import AuthType, ServerSpec, Transport
from mcp_tef.servers.observations import HttpReply, Observations, Refusal, Stage, quoted

_STDIO_HINT = "Run its command in a terminal: it must speak MCP over its standard output, and nothing else."
_FIRST_START_HINT = "A first start can take a while: check it again, or give it more time."
_SILENT_STAGES = {
    Stage.LISTING: ("did not finish listing its tools", "Try again, or give it more time."),
    Stage.CALLING: ("did not answer the call", "It may have done what was asked all the same."),
}
_MEND_HINT = "The server has to be corrected or updated."
_RUNNING_HINT = "Check that the server is running and that the address is right."


class ServerErrors:
    """Errors of one session: each one names the server, and nothing in it repeats a secret."""

    def __init__(self, spec: ServerSpec, observations: Observations) -> None:
        self.spec = spec
        self.observations = observations

    def error(self, fault: ServerFault, what: str, hint: str) -> ServerError:
        """An error that begins with the server's name."""
        message = self.observations.redact(f"{self.spec.name} {what}.")
        return ServerError(fault, message, hint=hint, context=self.observations.context)

    @property
    def place(self) -> str:
        """Host and port of what was asked last, for people."""
        if self.observations.asking:
            return self.observations.asking
        parts = urlsplit(self.spec.url or "")
        return parts.netloc.rpartition("@")[2] or self.spec.address

    def silent(self, seconds: float) -> ServerError:
        """The time is up."""
        if self.observations.refusal:
            return self.not_signed_in(self.observations.refusal)
        if self.observations.waiting:
            what = f"was not signed in to within {self.observations.limits.sign_in_seconds:g} s"
            return self.error(ServerFault.UNAUTHORIZED, what, "Try again, and finish it in the browser.")
        if self.observations.flooded:
            return self.flooded()
        if self.observations.stray:
            what = f"answered {self.observations.stray}, and not ours within {seconds:g} s"
            return self.error(ServerFault.PROTOCOL, what, _MEND_HINT)
        if self.observations.junk_lines:
            return self.junk(f"and no answer within {seconds:g} s")
        greeting_hint = _FIRST_START_HINT if self.spec.transport is Transport.STDIO else _RUNNING_HINT
        what, hint = _SILENT_STAGES.get(self.observations.stage, ("did not answer", greeting_hint))
        return self.error(ServerFault.SILENT, f"{what} within {seconds:g} s", hint)

    def junk(self, then: str) -> ServerError:
        """It wrote lines that are no messages."""
        many = (
            "a line that is no MCP message" if self.observations.junk_lines == 1 else "lines that are no MCP messages"
        )
        what = f"wrote {many}, such as “{self.observations.junk_sample}”, {then}"
        hint = _STDIO_HINT if self.spec.transport is Transport.STDIO else _MEND_HINT
        return self.error(ServerFault.PROTOCOL, what, hint)

    def cut_short(self) -> ServerError:
        """We left before it answered."""
        return self.error(ServerFault.SILENT, "was left before it answered", "Check it again.")

    def flooded(self) -> ServerError:
        """It sent more than is read."""
        called = self.observations.stage is Stage.CALLING
        hint = "Ask the tool for less at once." if called else "Make the server list fewer tools a page."
        return self.error(ServerFault.PROTOCOL, "sent more than is read at once", hint)

    def asks_back(self) -> ServerError:
        """It wants to be answered before it answers."""
        return self.error(
            ServerFault.PROTOCOL,
            "asked for more input before it would answer the call, which cannot be given here",
            "Put all that it needs into the arguments.",
        )

    def compressed(self) -> ServerError:
        """It compressed its answer although it was asked not to."""
        return self.error(
            ServerFault.PROTOCOL,
            "compressed its answer although it was asked not to",
            "Switch compression off in the server, or in the proxy before it.",
        )

    def not_startable(self, error: OSError) -> ServerError:
        """The system refused to start the program."""
        reason = error.strerror or type(error).__name__
        return self.error(
            ServerFault.PROGRAM_NOT_FOUND,
            f"cannot be started: {self.spec.command}: {reason}",
            "Check the command and its arguments.",
        )

    def gone(self) -> ServerError:
        """The connection ended before the answer."""
        if self.spec.transport is not Transport.STDIO:
            return self.error(ServerFault.PROTOCOL, "broke the connection off before it answered", _RUNNING_HINT)
        if self.observations.junk_lines and not self.observations.exit_code:
            return self.junk("and no answer")
        if self.observations.exit_code is None:
            return self.error(ServerFault.EXITED, "closed its output before it answered", _STDIO_HINT)
        lines = self.observations.stderr.text.splitlines()
        last = f": {quoted(lines[-1]).rstrip('.')}" if lines else ""
        return self.error(
            ServerFault.EXITED,
            f"{_ending(self.observations.exit_code)} before it answered{last}",
            "See the last lines of its output." if lines else _STDIO_HINT,
        )

    def refused(self, reason: str) -> ServerError:
        """Nobody answered at that address."""
        return self.error(ServerFault.REFUSED, f"could not be reached at {self.place}: {reason}", _RUNNING_HINT)

    def said(self, words: str) -> ServerError:
        """It answered with an error of its own."""
        return self.error(
            ServerFault.PROTOCOL,
            f"refused {self._asked}: {quoted(words).rstrip('.') or 'it gave no reason'}",
            "Look into the server's own log.",
        )

    def nonsense(self, detail: str) -> ServerError:
        """It answered something that the protocol does not allow."""
        return self.error(
            ServerFault.PROTOCOL,
            f"answered {self._asked} in a way that MCP does not allow: {quoted(detail).rstrip('.')}",
            _MEND_HINT,
        )

    def elsewhere(self, place: str) -> ServerError:
        """It wants our messages on another origin, which would get the user's keys."""
        return self.error(
            ServerFault.PROTOCOL,
            f"wants its messages at {quoted(place)}, which is not where it is itself",
            "Use that address if you trust it.",
        )

    @property
    def _asked(self) -> str:
        return {Stage.LISTING: "to list its tools", Stage.CALLING: "the call"}.get(
            self.observations.stage, "the greeting"
        )

    def http(self, reply: HttpReply, words: str = "") -> ServerError:
        """It answered with an HTTP status that is no success, or with a page for people."""
        if reply.status in (401, 403):
            return self._unauthorized(reply.status)
        if reply.web_page and (reply.status < 500 or reply.status == 501):
            return self.not_mcp("it answers with a web page")
        if self.observations.redirects > self.observations.limits.redirects:
            return self.error(ServerFault.HTTP_STATUS, f"sends us in a circle (HTTP {reply.status})", _MEND_HINT)
        if 300 <= reply.status < 400:
            where = quoted(reply.location.partition("?")[0]) or "nowhere"
            hint = "Use that address if it is the right one."
            return self.error(ServerFault.HTTP_STATUS, f"sends us on to {where} (HTTP {reply.status})", hint)
        return self._no_success(reply.status, words)

    def _no_success(self, status: int, words: str) -> ServerError:
        said = f": {quoted(words).rstrip('.')}" if words else ""
        what = f"answered {_meaning(status)} (HTTP {status}){said}"
        return self.error(ServerFault.HTTP_STATUS, what, self._status_hint(status))

    def not_mcp(self, why: str) -> ServerError:
        """There is something at the address, and it is no MCP server."""
        return self.error(
            ServerFault.NOT_MCP,
            f"is no MCP server at {self.place}: {why}",
            f"Check the path of the url; many servers are at /mcp or /sse. {self._other_transport}",
        )

    def not_signed_in(self, refusal: Refusal) -> ServerError:
        """A sign-in is needed, or did not come about."""
        return self.error(ServerFault.UNAUTHORIZED, refusal.what, refusal.hint)

    def _unauthorized(self, status: int) -> ServerError:
        if self.spec.auth_type is AuthType.OAUTH2:
            what, hint = f"did not accept the sign-in (HTTP {status})", "Sign in again, as somebody who may use it."
            return self.error(ServerFault.UNAUTHORIZED, what, hint)
        if self.spec.auth_type is AuthType.CLIENT_CREDENTIALS:
            what, hint = (
                f"did not accept the client's token (HTTP {status})",
                "Check what the client may do, and its scopes.",
            )
            return self.error(ServerFault.UNAUTHORIZED, what, hint)
        what, hint = "did not accept the key", "Check that its secret is kept where it says, and is still valid."
        if status == 401 and not self.observations.secrets:
            what, hint = "wants a key", "Say where its key or token is kept, or select the sign-in by browser (OAuth)."
        return self.error(ServerFault.UNAUTHORIZED, f"{what} (HTTP {status})", hint)

    def _status_hint(self, status: int) -> str:
        if status in (400, 404, 405, 406):
            return f"Check the path of the url. {self._other_transport}"
        if status == 429:
            return "Wait a moment and try again."
        return "Look into the server's own log, or try again later."

    @property
    def _other_transport(self) -> str:
        other = "streamable-http" if self.spec.transport is Transport.SSE else "sse"
        return f"Or the server may speak the other transport: try {other}."


def _ending(code: int) -> str:
    return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _meaning(status: int) -> str:
    known = {404: "that there is nothing at this path", 429: "that it gets too many requests"}
    if status in known:
        return known[status]
    return "with an error of its own" if status >= 500 else "that it does not take the request"


_STAND_INS = ("Server returned an error response", "Not Found", "Session terminated")
_CLOSED = ("Connection closed", "SSE stream")
_TOO_LARGE = "byte limit."
_BROKEN_JSON = re.compile(r"Invalid JSON: (.+?) at line \d+")
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
