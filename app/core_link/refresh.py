"""Urgency with which an event makes a screen read its data again."""

from enum import IntEnum
from typing import Final

LATER_MS: Final = 2_000


class Refresh(IntEnum):
    """Urgency of a refresh; a presenter decides it for each event in `handle`.

    LATER is for events that come many times a second: the page then reads once every `LATER_MS`.
    """

    NONE = 0
    LATER = 1
    NOW = 2
