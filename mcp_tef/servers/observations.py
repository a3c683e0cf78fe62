"""Observations of a server during one session; when it fails, they say why."""

import re
from asyncio import Timeout, get_running_loop, timeout
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from mcp_tef.model.limits import USUAL, Limits
from mcp_tef.model.secrets import Secret

TAIL_LINES = 20
TAIL_BYTES = 16 * 1024
SAMPLE_CHARACTERS = 120

_ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)|[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f]"
)


class FloodError(Exception):
    """A server sent more than a limit allows."""


class Stage(StrEnum):
    """Stage that a session has reached."""

    OPENING = "opening"
    GREETING = "greeting"
    LISTING = "listing"
    CALLING = "calling"


@dataclass(frozen=True, slots=True)
class HttpReply:
    """The head of one HTTP answer."""

    status: int
    content_type: str = ""
    location: str = ""

    @property
    def web_page(self) -> bool:
        """Return whether it is a page for people."""
        return self.content_type.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there was no sign-in, to be said after the server's name, and what to do."""

    what: str
    hint: str


class Tail:
    """The last lines of a stream, however long the stream is."""

    def __init__(self) -> None:
        self._kept = b""

    def feed(self, data: bytes) -> None:
        """Take in more of the stream."""
        self._kept = (self._kept + data)[-TAIL_BYTES:]

    @property
    def text(self) -> str:
        """The last lines as plain text, without colours and control characters."""
        plain = _ESCAPES.sub("", self._kept.decode("utf-8", "replace").replace("\r\n", "\n"))
        return "\n".join(line.rstrip() for line in plain.strip().splitlines()[-TAIL_LINES:])


@dataclass(slots=True)
class Observations:
    """Filled in during a session, and held to its limits. `secrets` are the values that no text may repeat.

    `waiting` is true while somebody signs in, and `asking` is the host that is asked about the sign-in.
    """

    limits: Limits = USUAL
    stage: Stage = Stage.OPENING
    reply: HttpReply | None = None
    stderr: Tail = field(default_factory=Tail)
    exit_code: int | None = None
    junk_lines: int = 0
    junk_sample: str = ""
    flooded: bool = False
    compressed: bool = False
    stray: str = ""
    redirects: int = 0
    secrets: tuple[Secret, ...] = ()
    refusal: Refusal | None = None
    waiting: bool = False
    asking: str = ""
    _clocks: list[tuple[Timeout, float]] = field(default_factory=list)
    _bytes: int = 0
    _values: int = 0
    _messages: int = 0

    def take(self, data: bytes) -> None:
        """Count what arrives; FloodError beyond a limit."""
        self._bytes += len(data)
        self._values += data.count(b",") + data.count(b"{") + data.count(b"[")
        self.require(self._bytes <= self.limits.answer_bytes and self._values <= self.limits.values)

    def count_messages(self, number: int) -> None:
        """Count what may be messages; FloodError beyond the limit."""
        self._messages += number
        self.require(self._messages <= self.limits.messages)

    def require(self, bearable: bool) -> None:
        """FloodError where what arrived is no more to be borne."""
        if not bearable:
            self.flooded = True
            raise FloodError

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[None]:
        """TimeoutError after so many seconds; while somebody signs in, they do not count."""
        async with timeout(seconds) as clock:
            self._clocks.append((clock, seconds))
            try:
                yield
            finally:
                self._clocks.remove((clock, seconds))

    def wait_for_person(self, waiting: bool) -> None:
        """Give a person the time that people get, or from now on the server its own again."""
        self.waiting = waiting
        now = get_running_loop().time()
        for clock, seconds in self._clocks:
            clock.reschedule(now + (self.limits.sign_in_seconds if waiting else seconds))

    def note_junk(self, line: bytes) -> None:
        """Remember that something arrived that is no message."""
        self.junk_lines += 1
        if not self.junk_sample:
            self.junk_sample = quoted(line[: 4 * SAMPLE_CHARACTERS].decode("utf-8", "replace"))

    def redact(self, text: str) -> str:
        """`text` without any of the secrets."""
        for secret in self.secrets:
            text = secret.redact(text)
        return text

    @property
    def context(self) -> Mapping[str, object]:
        """The plain values that go with an error."""
        return {
            "exit_code": self.exit_code,
            "stderr_tail": self.redact(self.stderr.text) or None,
            "http_status": self.reply.status if self.reply else None,
        }


def quoted(text: str) -> str:
    """Foreign text made fit for the inside of a sentence: one line, no control characters, cut short."""
    plain = " ".join(_ESCAPES.sub("", text).split())
    return plain if len(plain) <= SAMPLE_CHARACTERS else plain[: SAMPLE_CHARACTERS - 1] + "…"
