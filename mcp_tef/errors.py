"""The tree of errors that a user can read and act on.

TefError
├── InputError           what was given is wrong: change it                        (exit 2)
│   ├── NotFoundError    nothing here has that name or id
│   ├── ConflictError    something else has that name already
│   │   └── ChangedMeanwhileError   somebody else changed the same field since it was read
│   └── ConsentError     something would start or be sent that is not allowed (in trust/consents.py)
│       └── ConsentDeclinedError   the user said no (in api/consent.py)
├── ReachError           something outside did not answer: repair it or try again  (exit 3)
│   ├── ServerError      an MCP server or a tools file
│   ├── ModelError       a language model's provider
│   ├── EmbeddingError   an embedding model
│   └── UnexpectedAddressError  a name leads to another machine than it says (in trust/addresses.py)
└── StoreError           the workspace file cannot be used                         (exit 3)

Every error has a stable `code`, one sentence for the user (`message`: what, to what), a `hint`
(what to do) and a `context` of plain values. Adapters translate foreign errors at their edge.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import ClassVar, Final


class ServerFault(StrEnum):
    """Why a server could not be used."""

    PROGRAM_NOT_FOUND = "program_not_found"
    EXITED = "server_exited"
    SILENT = "server_silent"
    REFUSED = "server_refused"
    HTTP_STATUS = "server_http_status"
    UNAUTHORIZED = "server_unauthorized"
    NOT_MCP = "server_not_mcp"
    PROTOCOL = "server_protocol"
    TOOLS_FILE = "tools_file_unreadable"
    SETTINGS = "server_settings"


class ModelFault(StrEnum):
    """Why a model gave no answer."""

    KEY_MISSING = "key_missing"
    KEY_WRONG = "key_wrong"
    FORBIDDEN = "forbidden"
    QUOTA = "quota_used_up"
    RATE = "rate_limited"
    TIMEOUT = "model_timeout"
    CONTEXT = "context_too_long"
    NOT_FOUND = "model_not_found"
    DOWN = "model_server_down"
    NOT_AN_API = "not_an_api"
    PROVIDER = "provider_error"
    REJECTED = "request_rejected"
    NO_TOOLS = "tool_calling_unsupported"
    ADDRESS_UNKNOWN = "address_unknown"
    ADDRESS_REFUSED = "address_refused"
    ANSWER_TOO_LARGE = "answer_too_large"


RETRYABLE = frozenset({ModelFault.RATE, ModelFault.TIMEOUT, ModelFault.PROVIDER})
LASTING = frozenset(
    {
        *(ModelFault.DOWN, ModelFault.TIMEOUT, ModelFault.NOT_AN_API, ModelFault.NOT_FOUND, ModelFault.QUOTA),
        *(ModelFault.KEY_MISSING, ModelFault.KEY_WRONG, ModelFault.FORBIDDEN),
        *(ModelFault.ADDRESS_UNKNOWN, ModelFault.ADDRESS_REFUSED),
    }
)
"""Faults of an address or a key: the next run will most likely meet the same one."""
MOST_EQUAL_FAILURES: Final = 5
GAVE_UP: Final = f"{MOST_EQUAL_FAILURES} runs in a row failed with the same error"


class TefError(Exception):
    """The root: one sentence, a hint, and a context of plain values."""

    exit_code: ClassVar[int] = 1
    default_code: ClassVar[str] = "error"

    def __init__(
        self, message: str, *, hint: str = "", code: str | None = None, context: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code
        self.context = dict(context or {})


class InputError(TefError):
    """Invalid input: change what was given."""

    exit_code = 2
    default_code = "bad_input"


class NotFoundError(InputError):
    """Nothing here has that name or id."""

    default_code = "not_found"


class ConflictError(InputError):
    """Something else has that name already."""

    default_code = "conflict"


@dataclass(frozen=True, slots=True)
class FieldConflict:
    """A field that was changed elsewhere since it was read: its name, and the two values as text for people."""

    field: str
    stored: str
    wanted: str


class ChangedMeanwhileError(ConflictError):
    """Somebody else changed the same fields since they were read; nothing was stored, and `conflicts` has both."""

    default_code = "changed_meanwhile"

    def __init__(self, what: str, conflicts: Sequence[FieldConflict]) -> None:
        first = conflicts[0]
        said = f"The field “{first.field}” of {what} was changed meanwhile."
        said += f" It is now “{first.stored}”; you wanted “{first.wanted}”."
        hint = "Nothing was overwritten. Look at it again, and repeat your change if you still want it."
        super().__init__(said, hint=hint, context={"what": what, **asdict(first)})
        self.conflicts = tuple(conflicts)


class ReachError(TefError):
    """Something outside did not answer: repair it or try again."""

    exit_code = 3
    default_code = "unreachable"


class ServerError(ReachError):
    """An MCP server or a tools file could not be used; `fault` says why."""

    def __init__(
        self, fault: ServerFault, message: str, *, hint: str = "", context: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message, hint=hint, code=fault.value, context=context)
        self.fault = fault


class ModelError(ReachError):
    """A model's provider gave no answer; `fault` says why, `retry_after` (seconds) when to try again."""

    def __init__(
        self,
        fault: ModelFault,
        message: str,
        *,
        hint: str = "",
        retry_after: float | None = None,
        context: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, code=fault.value, context=context)
        self.fault = fault
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """True if the same request may succeed a little later."""
        return self.fault in RETRYABLE


class EmbeddingError(ReachError):
    """An embedding model cannot be had."""

    default_code = "embedder_unavailable"


class StoreError(TefError):
    """The workspace file cannot be used."""

    exit_code = 3
    default_code = "workspace_unusable"
