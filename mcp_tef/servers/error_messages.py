"""Sentences that say why a server could not be used, made from what was observed of it."""

from urllib.parse import urlsplit

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
        """Return an error that begins with the server's name."""
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
        """Return the error for no answer in time."""
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
        """Return the error for lines that are no messages."""
        many = (
            "a line that is no MCP message" if self.observations.junk_lines == 1 else "lines that are no MCP messages"
        )
        what = f"wrote {many}, such as “{self.observations.junk_sample}”, {then}"
        hint = _STDIO_HINT if self.spec.transport is Transport.STDIO else _MEND_HINT
        return self.error(ServerFault.PROTOCOL, what, hint)

    def cut_short(self) -> ServerError:
        """Return the error for a connection that we closed before it answered."""
        return self.error(ServerFault.SILENT, "was disconnected before it answered", "Check it again.")

    def flooded(self) -> ServerError:
        """Return the error for an answer that is larger than what is read."""
        called = self.observations.stage is Stage.CALLING
        hint = "Ask the tool for less at once." if called else "Make the server list fewer tools a page."
        return self.error(ServerFault.PROTOCOL, "sent more than is read at once", hint)

    def asks_back(self) -> ServerError:
        """Return the error for a question in place of an answer."""
        return self.error(
            ServerFault.PROTOCOL,
            "asked for more input before it would answer the call, which cannot be given here",
            "Put all that it needs into the arguments.",
        )

    def compressed(self) -> ServerError:
        """Return the error for an answer that is compressed although that was not asked for."""
        return self.error(
            ServerFault.PROTOCOL,
            "compressed its answer although it was asked not to",
            "Switch compression off in the server, or in the proxy before it.",
        )

    def not_startable(self, error: OSError) -> ServerError:
        """Return the error for a program that the system refused to start."""
        reason = error.strerror or type(error).__name__
        return self.error(
            ServerFault.PROGRAM_NOT_FOUND,
            f"cannot be started: {self.spec.command}: {reason}",
            "Check the command and its arguments.",
        )

    def gone(self) -> ServerError:
        """Return the error for a connection that ended before the answer."""
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
        """Return the error for an address where nothing answers."""
        return self.error(ServerFault.REFUSED, f"could not be reached at {self.place}: {reason}", _RUNNING_HINT)

    def said(self, words: str) -> ServerError:
        """Return the error for an answer that is an error of the server."""
        return self.error(
            ServerFault.PROTOCOL,
            f"refused {self._asked}: {quoted(words).rstrip('.') or 'it gave no reason'}",
            "Look into the server's own log.",
        )

    def nonsense(self, detail: str) -> ServerError:
        """Return the error for an answer that the protocol does not allow."""
        return self.error(
            ServerFault.PROTOCOL,
            f"answered {self._asked} in a way that MCP does not allow: {quoted(detail).rstrip('.')}",
            _MEND_HINT,
        )

    def elsewhere(self, place: str) -> ServerError:
        """Return the error for an endpoint of another origin, which would get the user's keys."""
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
        """Return the error for an HTTP status that is no success, or for a page for people."""
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
        """Return the error for an address that is no MCP server."""
        return self.error(
            ServerFault.NOT_MCP,
            f"is no MCP server at {self.place}: {why}",
            f"Check the path of the url; many servers are at /mcp or /sse. {self._other_transport}",
        )

    def not_signed_in(self, refusal: Refusal) -> ServerError:
        """Return the error for a sign-in that is needed, or that failed."""
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
