"""Errors as answers: one shape, and the status of each kind of error."""

import logging
from collections.abc import Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from mcp_tef import (
    ConflictError,
    ConsentError,
    ConsentRequest,
    InputError,
    ModelFault,
    NotFoundError,
    ReachError,
    ServerError,
    ServerFault,
    TefError,
    consent_rows,
    without_keys,
)

_LOG = logging.getLogger(__name__)
_PLAIN: Final = (str, int, float, bool, type(None))
_STATUS_OF_FAULT: Final = {
    ServerFault.SILENT: 504,
    ModelFault.TIMEOUT: 504,
    ModelFault.KEY_MISSING: 401,
    ModelFault.KEY_WRONG: 401,
}
_STATUS_OF_CLASS: Final[dict[type[TefError], int]] = {
    NotFoundError: 404,
    ConflictError: 409,
    ConsentError: 403,
    InputError: 400,
    ReachError: 502,
}
CONSENT_HINT: Final = "Allow it at the machine that serves: in the window, or with mcp-tef servers check NAME."
_OF_THIS_MACHINE: Final = frozenset({"Runs as", "Listed in", "Folder", "Project"})
_ANSWERED: Final = frozenset({"detail", "body", "answer", "reply"})
"""Fields of an error that hold what a model or server answered."""
_SEE: Final = "See /docs for the operations."
KEY_HINT: Final = "Send the provider's key in the header X-Model-API-Key; it is kept for this request only."


class ErrorAnswer(BaseModel):
    """Every error: a stable code, one sentence, what it is about, and what to do."""

    error: str
    message: str
    details: Any = None
    hint: str = ""


STATUSES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": ErrorAnswer, "description": "The request cannot be done as it is."},
    401: {"model": ErrorAnswer, "description": "A token, or the key of a provider, is missing or wrong."},
    403: {"model": ErrorAnswer, "description": "The host or origin is foreign, or nobody agreed at the machine."},
    404: {"model": ErrorAnswer, "description": "Nothing has that id."},
    405: {"model": ErrorAnswer, "description": "The path has no such method."},
    408: {"model": ErrorAnswer, "description": "The body did not arrive in time."},
    409: {"model": ErrorAnswer, "description": "Something else has that name, or the state does not allow it."},
    413: {"model": ErrorAnswer, "description": "The body is larger than 16 MB."},
    415: {"model": ErrorAnswer, "description": "The body is not application/json."},
    422: {"model": ErrorAnswer, "description": "A field is unknown, missing or out of bounds."},
    502: {"model": ErrorAnswer, "description": "A server or model failed or could not be reached."},
    503: {"model": ErrorAnswer, "description": "The workspace file cannot be used."},
    504: {"model": ErrorAnswer, "description": "A server or model did not answer in time."},
}


def status_of(error: TefError) -> int:
    """Return the status of an error: that of its fault, else that of the first class that it belongs to."""
    fault = getattr(error, "fault", None)
    if fault in _STATUS_OF_FAULT:
        return _STATUS_OF_FAULT[fault]
    if error.code == "address_not_allowed":
        return 403
    return next((status for kind, status in _STATUS_OF_CLASS.items() if isinstance(error, kind)), 503)


def without_answer(message: str) -> str:
    """Return what went wrong, without what a model or server answered: callers would read inner services by it."""
    return message.partition(" It says: ")[0]


def without_server_words(message: str) -> str:
    """Return why a server could not be used, without its own words."""
    return f"{without_answer(message).partition(': ')[0].rstrip('.')}."


def error_answer(error: TefError) -> ErrorAnswer:
    """Return an error in its shape, without keys, and without the answer of what was asked."""
    hint, message = error.hint, without_answer(error.message)
    if isinstance(error, ServerError):
        message = without_server_words(message)
    if isinstance(error, ConsentError):
        hint = CONSENT_HINT
    elif error.code == ModelFault.KEY_MISSING:
        hint = KEY_HINT
    return ErrorAnswer(
        error=error.code, message=without_keys(message), details=_clean(_details(error)), hint=without_keys(hint)
    )


def _details(error: TefError) -> Any:
    if isinstance(error, ConsentError) and error.requests:
        return {"asked": [_asked(request) for request in error.requests]}
    told = {name: value for name, value in error.context.items() if isinstance(value, _PLAIN) and name not in _ANSWERED}
    return told or None


def _asked(request: ConsentRequest) -> dict[str, Any]:
    """Return what would be done, without names of folders and people of this machine."""
    rows = {label: lines for label, lines in consent_rows(request) if label not in _OF_THIS_MACHINE}
    return dict(_clean(rows))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return without_keys(value)
    if isinstance(value, dict):
        return {name: _clean(inner) for name, inner in value.items()}
    return [_clean(inner) for inner in value] if isinstance(value, list | tuple) else value


def answer(status: int, body: ErrorAnswer, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return an error as a response."""
    return JSONResponse(body.model_dump(), status, headers)


def add_error_handlers(app: FastAPI) -> None:
    """Have every error of an app take the one shape."""

    async def known(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, TefError)
        return answer(status_of(error), error_answer(error))

    async def invalid(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return answer(422, _invalid(error.errors()))

    async def no_path(_: Request, __: Exception) -> JSONResponse:
        body = ErrorAnswer(error="not_found", message="There is nothing at this path.", hint=_SEE)
        return answer(404, body)

    async def no_method(request: Request, error: Exception) -> JSONResponse:
        message = f"There is no {request.method[:20]} at this path."
        body = ErrorAnswer(error="method_not_allowed", message=message, hint=_SEE)
        return answer(405, body, getattr(error, "headers", None))

    async def crashed(_: Request, error: Exception) -> JSONResponse:
        _LOG.error("A request ended in an error", exc_info=error)
        return answer(500, ErrorAnswer(error="internal", message="mcp-tef itself failed.", hint="Its log says where."))

    app.add_exception_handler(TefError, known)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(404, no_path)
    app.add_exception_handler(405, no_method)
    app.add_exception_handler(Exception, crashed)


def _invalid(errors: Sequence[Any]) -> ErrorAnswer:
    """Name each field that is wrong, and never its value, which may be a secret."""
    details = [{"place": ".".join(map(str, one["loc"])), "message": str(one["msg"])} for one in errors]
    first = f"{details[0]['place']}: {details[0]['message']}" if details else "A field is wrong."
    hint = "Correct the fields; /docs lists them with their bounds."
    return ErrorAnswer(error="invalid_request", message=first, details=details, hint=hint)
