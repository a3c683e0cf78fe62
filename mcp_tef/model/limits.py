"""Limits on servers, tools files and responses of models: default, reason and environment variable of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Protocol

from mcp_tef.model.variables import KB, MB, Variable, number, size, size_words, whole

LARGEST_FILE_BYTES: Final = 50 * MB
"""Files that are read as a whole: cases, configs, pairs, and tools files unless a setting says otherwise."""
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
    """Source of the present limits; read at each use, since the user can change them meanwhile."""

    @property
    def limits(self) -> "Limits":
        """The present limits."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of one session with a server, or of one tools file. `VARIABLES` describes them for users."""

    seconds: float = _time(
        30.0,
        "Time to list its tools",
        "For one complete listing. The first start downloads packages; longer waits look like a freeze.",
    )
    discover_seconds: float = _time(
        5.0,
        "Time to answer without a handshake",
        "For a server that refused the handshake. Some never answer requests that they do not know.",
    )
    exit_seconds: float = _time(
        0.5,
        "Time for a program's last output",
        "For the exit code and the last error output, after the output has ended.",
    )
    leave_seconds: float = _time(1.0, "Time to exit after its input closes", "For a program to exit by itself.")
    terminate_seconds: float = _time(
        1.0,
        "Time to exit after a signal",
        "For the process group to exit before it is killed.",
    )
    part_seconds: float = _time(
        3.0,
        "Time to end a session",
        "For an HTTP server to confirm the end of the session.",
    )
    sign_in_seconds: float = _time(
        300.0,
        "Time to sign in with a browser",
        "For you to sign in with a browser, with time to look up a password.",
    )
    pages: int = _most(
        200,
        100_000,
        "Pages per listing",
        "Servers send 10 to 1,000 tools per page, so this fits every known catalogue.",
    )
    tools: int = _most(
        20_000,
        1_000_000,
        "Tools per listing",
        "Ten times the largest set for which matrices are drawn.",
    )
    message_bytes: int = _bytes(
        16 * MB,
        1024 * MB,
        "Size of a message",
        "The largest real tool lists are about 1 MB; 16 MB still parses in a fraction of a second.",
    )
    answer_bytes: int = _bytes(
        64 * MB,
        4096 * MB,
        "Size of all messages in a session",
        "Ends a flood of small messages.",
    )
    values: int = _most(
        500_000,
        100_000_000,
        "JSON values in a session",
        "Enough for 5,000 tools with 100 values each. A value takes up to 400 bytes while a message is read, so a"
        " limit on bytes alone would not bound the memory.",
    )
    messages: int = _most(
        2_000,
        1_000_000,
        "Messages in a session",
        "One response per page and some notifications; more is a flood.",
    )
    junk_lines: int = _most(
        1_000,
        1_000_000,
        "Lines that are not messages",
        "A banner or a stray log line is accepted; a flood is not.",
    )
    redirects: int = _most(
        5,
        20,
        "Redirects within the server's address",
        "Servers redirect once, for a missing slash.",
    )
    reply_characters: int = _most(
        256 * KB,
        64 * MB,
        "Saved text of a tool's reply",
        "More than anybody reads; fifty replies fit in a workspace.",
        "characters",
    )
    file_bytes: int = _bytes(
        LARGEST_FILE_BYTES,
        4096 * MB,
        "Size of a tools file",
        "The same limit as for every file; 20,000 tools take less.",
    )
    file_values: int = _most(
        2_000_000,
        100_000_000,
        "JSON values in a tools file",
        "Enough for 20,000 tools with 100 values each.",
    )
    definition_bytes: int = _bytes(
        256 * KB,
        64 * MB,
        "Size of a tool's definition",
        "Real definitions stay under 64 KB; larger schemas take long to check.",
    )
    definition_values: int = _most(
        10_000,
        1_000_000,
        "JSON values in a definition",
        "Each takes time and memory. Real definitions stay under 3,000.",
    )
    depth: int = _most(
        64,
        100,
        "Nesting levels in a definition",
        "Real definitions stay under 20. 64 levels are safe in every recursion; above 100 the program would "
        "run out of stack.",
    )
    name_characters: int = _most(
        512,
        10_000,
        "Characters in a tool's name",
        "The protocol recommends at most 128.",
    )

    model_answer_bytes: int = _bytes(
        16 * MB,
        1024 * MB,
        "Size of a model's response",
        "For models and embedding services, after decompression; the rest is dropped. Chat responses are a few KB,"
        " and 64 embeddings a few MB.",
    )

    @property
    def limits(self) -> "Limits":
        """These limits, so that fixed limits satisfy `LimitsSource`."""
        return self

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Limits":
        """Return the limits of the environment, else the defaults; raise InputError for an invalid value."""
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
"""Default timeout in seconds for a tool that the user calls."""
VARIABLES: Final[Mapping[str, Variable[Any]]] = {
    one.name: _variable(one.name, getattr(USUAL, one.name), one.metadata) for one in fields(Limits)
}
"""The variable that sets each field, by environment name."""
