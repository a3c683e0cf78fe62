"""How much of a server is put up with: every limit in one place, each with its reason."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mcp_tef.errors import InputError

_KB, _MB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one visit to a server, or one tools file, may cost. Those that `VARIABLES` names can be set by users."""

    seconds: float = 30.0
    """For a whole listing. A first start downloads its packages; who waits longer than this thinks that we hang."""

    discover_seconds: float = 5.0
    """For a server that refused the handshake to tell that it needs none. Some never answer what they do not know."""

    exit_seconds: float = 0.5
    """For a program's exit code and last words, once its output has ended."""

    leave_seconds: float = 1.0
    """For a program to leave by itself after its input was closed."""

    terminate_seconds: float = 1.0
    """For its process group to leave after it was told to, before it is killed."""

    part_seconds: float = 3.0
    """For an HTTP server to hear that we leave; it is told as a courtesy only."""

    sign_in_seconds: float = 300.0
    """For somebody to sign in with a browser: time to look up a password, and not so long that it is forgotten."""

    pages: int = 200
    """Pages of a listing. Servers send 10 to 1,000 tools a page, so this holds every catalogue that we know of."""

    tools: int = 20_000
    """Tools of a listing: ten times the largest set for which matrices are drawn."""

    message_bytes: int = 16 * _MB
    """One message. The largest honest tool lists are about 1 MB; 16 MB still parses in a fraction of a second."""

    answer_bytes: int = 64 * _MB
    """All that a server sends in one visit, so that a flood of small messages ends as well."""

    values: int = 500_000
    """JSON values among them: 5,000 tools of a hundred. Each takes up to 400 bytes while a message is read, however few
    letters it has, so that bytes alone would not bound the memory."""

    messages: int = 2_000
    """Messages in one visit. An answer a page, and some reports beside each; more is a flood, which keeps us busy."""

    junk_lines: int = 1_000
    """Lines of a program that are no messages. A banner or a stray log is put up with; a flood is not."""

    redirects: int = 5
    """How often a server may send us on within its own address. Honest ones do it once, for a missing slash."""

    reply_characters: int = 256 * _KB
    """Texts in a tool's reply that are kept: beyond what anybody reads, and fifty of them fit a workspace."""

    file_bytes: int = 32 * _MB
    """A tools file: more than the 20,000 tools that are read of it take."""

    file_values: int = 2_000_000
    """JSON values in it: a hundred for each tool. Files are read in a quarter of the memory that messages need."""

    definition_bytes: int = 256 * _KB
    """One definition. Honest ones stay under 64 KB; no model is given more, and a larger schema takes long to check."""

    definition_values: int = 10_000
    """JSON values in one definition: what walks it takes time and memory for each. Honest ones stay under 3,000."""

    depth: int = 64
    """How deeply a definition may nest. Honest ones stay under 20; walking 64 is safe in every recursion after it."""

    name_characters: int = 512
    """A tool's name. The protocol advises 128; beyond this it is no name."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Limits":
        """The limits that the environment sets, and the usual ones; InputError where a value cannot be meant."""
        whole = {name: _whole(environment, variable, most) for name, (variable, most) in VARIABLES.items()}
        given = {name: value for name, value in whole.items() if value is not None}
        return cls(seconds=_seconds(environment, "TOOL_INGESTION_TIMEOUT_SECONDS"), **given)


USUAL: Final = Limits()
VARIABLES: Final[Mapping[str, tuple[str, int]]] = {
    "pages": ("MCP_TEF_MAX_PAGES", 100_000),
    "tools": ("MCP_TEF_MAX_TOOLS", 1_000_000),
    "message_bytes": ("MCP_TEF_MAX_MESSAGE_BYTES", 1024 * _MB),
    "answer_bytes": ("MCP_TEF_MAX_ANSWER_BYTES", 4096 * _MB),
    "values": ("MCP_TEF_MAX_VALUES", 100_000_000),
    "messages": ("MCP_TEF_MAX_MESSAGES", 1_000_000),
    "file_bytes": ("MCP_TEF_MAX_FILE_BYTES", 4096 * _MB),
    "file_values": ("MCP_TEF_MAX_FILE_VALUES", 100_000_000),
    "definition_bytes": ("MCP_TEF_MAX_DEFINITION_BYTES", 64 * _MB),
    "depth": ("MCP_TEF_MAX_DEPTH", 100),
}
"""Which variable sets a limit, and how far. Beyond 100 levels, what walks definitions would run out of stack."""


def _seconds(environment: Mapping[str, str], name: str) -> float:
    text = environment.get(name, "")
    try:
        value = float(text) if text else USUAL.seconds
    except ValueError:
        value = 0.0
    if not 0 < value <= 3600:
        raise InputError(f"{name} is “{text}”, not a number of seconds.", hint=f"Set {name} from 1 to 3600.")
    return value


def _whole(environment: Mapping[str, str], name: str, most: int) -> int | None:
    text = environment.get(name, "").strip()
    if not text:
        return None
    value = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0
    if not 1 <= value <= most:
        raise InputError(f"{name} is “{text}”, which is no such limit.", hint=f"Set {name} from 1 to {most}.")
    return value
