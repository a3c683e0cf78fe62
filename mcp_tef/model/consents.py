"""What a user has agreed to start."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Consent:
    """A launch that the user agreed to: its fingerprint, and what it was, for people; equal whenever it was given.

    `servers` are the names of those that start in this very way now.
    """

    fingerprint: str
    launch: str
    agreed_at: datetime | None = field(default=None, compare=False)
    servers: tuple[str, ...] = field(default=(), compare=False)
