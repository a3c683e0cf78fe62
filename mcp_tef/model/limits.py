"""Limits on server responses, each with its default, reason and environment variable."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Protocol

from mcp_tef.model.files import LARGEST_FILE_BYTES
from mcp_tef.model.variables import KB, MB, Variable, number, size, size_words, whole

_HOUR = 3600.0
_OWN_NAMES = {"seconds": "TOOL_INGESTION_TIMEOUT_SECONDS"}


def _time(default: float, title: str, reason: str) -> Any:
    about = (title, reason, "s", "a number of seconds from 0.1 to 3600")
    return field(default=default, metadata={"about": about, "read": number(0.1, _HOUR)})


def _most(default: int, most: int, title: str, reason: str, unit: str = "") -> Any:
    about = (title, reason, unit, f"a whole number from 1 to {most}")
    return field(default=default, metadata={"about": about, "read": whole(1, most)})


def _bytes(default: int, most: int, title: str, reason: str) -> Any:
    about = (title, reason, "", f"a size up to {size_words(most)}, such as {size_words(default)}")
    return field(default=default, metadata={"about": about, "read": size(most), "words": size_words(default)})


class LimitsSource(Protocol):
    """Limits that are in force: read at each use, since the user can change them meanwhile."""

    @property
    def limits(self) -> "Limits":
        """The limits of now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one session with a server, or of one tools file. `VARIABLES` describes each of them for users."""

    seconds: float = _time(
        30.0,
        "Time to list its tools",
        "For a whole listing. A first start downloads its packages; who waits longer than this thinks that we hang.",
    )
    discover_seconds: float = _time(
        5.0,
        "Time to tell that it needs no handshake",
        "For a server that refused the handshake to tell that it needs none. Some never answer what they do not know.",
    )
    exit_seconds: float = _time(
        0.5,
        "Time for a program's last words",
        "For a program's exit code and last words, once its output has ended.",
    )
    leave_seconds: float = _time(
        1.0, "Time to leave by itself", "For a program to leave by itself after its input was closed."
    )
    terminate_seconds: float = _time(
        1.0,
        "Time to leave when told to",
        "For its process group to leave after it was told to, before it is killed.",
    )
    part_seconds: float = _time(
        3.0,
        "Time to hear that we leave",
        "For an HTTP server to hear that we leave; it is told as a courtesy only.",
    )
    sign_in_seconds: float = _time(
        300.0,
        "Time to sign in with a browser",
        "For somebody to sign in with a browser: time to look up a password, and not so long that it is forgotten.",
    )
    pages: int = _most(
        200,
        100_000,
        "Pages of a listing",
        "Servers send 10 to 1,000 tools a page, so this holds every catalogue that we know of.",
    )
    tools: int = _most(
        20_000,
        1_000_000,
        "Tools of a listing",
        "Ten times the largest set for which matrices are drawn.",
    )
    message_bytes: int = _bytes(
        16 * MB,
        1024 * MB,
        "One message",
        "The largest honest tool lists are about 1 MB; 16 MB still parses in a fraction of a second.",
    )
    answer_bytes: int = _bytes(
        64 * MB,
        4096 * MB,
        "All that it sends in one visit",
        "So that a flood of small messages ends as well.",
    )
    values: int = _most(
        500_000,
        100_000_000,
        "JSON values that it sends in one visit",
        "5,000 tools of a hundred. Each takes up to 400 bytes while a message is read, however few letters it"
        " has, so that bytes alone would not bound the memory.",
    )
    messages: int = _most(
        2_000,
        1_000_000,
        "Messages in one visit",
        "An answer a page, and some reports beside each; more is a flood, which keeps us busy.",
    )
    junk_lines: int = _most(
        1_000,
        1_000_000,
        "Lines of a program that are no messages",
        "A banner or a stray log is put up with; a flood is not.",
    )
    redirects: int = _most(
        5,
        20,
        "Redirects within its own address",
        "Honest servers send us on once, for a missing slash.",
    )
    reply_characters: int = _most(
        256 * KB,
        64 * MB,
        "Text of a tool's reply that is kept",
        "Beyond what anybody reads, and fifty of them fit a workspace.",
        "characters",
    )
    file_bytes: int = _bytes(
        LARGEST_FILE_BYTES,
        4096 * MB,
        "A tools file",
        "As for every file that is read as a whole; more than the 20,000 tools that are read of it take.",
    )
    file_values: int = _most(
        2_000_000,
        100_000_000,
        "JSON values in a tools file",
        "A hundred for each tool. Files are read in a quarter of the memory that messages need.",
    )
    definition_bytes: int = _bytes(
        256 * KB,
        64 * MB,
        "One tool's definition",
        "Honest ones stay under 64 KB; no model is given more, and a larger schema takes long to check.",
    )
    definition_values: int = _most(
        10_000,
        1_000_000,
        "JSON values in one definition",
        "What walks it takes time and memory for each. Honest ones stay under 3,000.",
    )
    depth: int = _most(
        64,
        100,
        "Levels that a definition nests",
        "Honest ones stay under 20; walking 64 is safe in every recursion after it, and beyond 100 we would "
        "run out of stack.",
    )
    name_characters: int = _most(
        512,
        10_000,
        "Characters of a tool's name",
        "The protocol advises 128; beyond this it is no name.",
    )

    model_answer_bytes: int = _bytes(
        16 * MB,
        1024 * MB,
        "One answer of a model",
        "For models and embedding services, after decompression; the rest is dropped. Honest answers are a few KB,"
        " and 64 embeddings a few MB.",
    )

    @property
    def limits(self) -> "Limits":
        """These limits, so that fixed limits are a `LimitsSource` as well."""
        return self

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Limits":
        """Return the limits that the environment sets, and the usual ones; InputError where a value cannot be meant."""
        return cls(**{name: one.value(environment, getattr(USUAL, name)) for name, one in VARIABLES.items()})


def _variable(name: str, default: float, about: Mapping[str, Any]) -> Variable[Any]:
    title, reason, unit, allowed = about["about"]
    return Variable(
        name=_OWN_NAMES.get(name, f"MCP_TEF_MAX_{name.upper()}"),
        title=title,
        reason=reason,
        allowed=allowed,
        read=about["read"],
        default=about.get("words", f"{default:.10g}"),
        unit=unit,
    )


USUAL: Final = Limits()
CALL_SECONDS: Final = 60.0
"""How long a tool that is called by hand may take, where nothing else is asked for."""
VARIABLES: Final[Mapping[str, Variable[Any]]] = {
    one.name: _variable(one.name, getattr(USUAL, one.name), one.metadata) for one in fields(Limits)
}
"""By field, which variable sets it and how far."""
