"""Why there was no sign-in, in words for the user."""

from collections.abc import Callable

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from pydantic import ValidationError

from mcp_tef.servers.evidence import Refusal, quoted
from mcp_tef.servers.web import is_here


class RefusedError(OAuthFlowError):
    """There will be no sign-in; `refusal` says why."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.refusal = Refusal(what, hint)


def mark(request: httpx2.Request) -> None:
    """Tell a request of the sign-in from those to the server, and hold it back where it would go unprotected."""
    if request.method == "POST":
        require_private(request.url)
    request.extensions = {**request.extensions, "sign_in": True}


def require_private(url: httpx2.URL) -> None:
    """Codes and tokens travel encrypted, or not beyond this machine."""
    if url.scheme != "https" and not is_here(url.host):
        raise RefusedError(
            f"wants the sign-in sent unprotected to {quoted(url.host)}",
            "Ask who runs it to offer it at https.",
        )


def refusal_of(error: OAuthFlowError | ValidationError, redact: Callable[[str], str] = str) -> Refusal:
    """The words for what stopped a sign-in; secrets go before the text is cut short, which could leave half of one."""
    match error:
        case RefusedError():
            return error.refusal
        case ValidationError():
            return Refusal("answered the sign-in in a way that OAuth does not allow", "Its service has to be mended.")
    detail = quoted(redact(str(error))).rstrip(".")
    match error:
        case OAuthRegistrationError():
            hint = "Enter the client id that the service gave you, or ask for one."
            return Refusal(f"would not register us as a client: {detail}", hint)
        case OAuthTokenError():
            return Refusal(f"gave no token for the sign-in: {detail}", "Sign in again; check the client's secret.")
        case _:
            return Refusal(f"could not be signed in to: {detail}", "Sign in again; its service may have to be mended.")
