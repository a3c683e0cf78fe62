"""What was found by its name, anywhere in a workspace."""

from dataclasses import dataclass
from enum import StrEnum


class FoundKind(StrEnum):
    """What it is."""

    SERVER = "server"
    TOOL = "tool"
    CASE = "case"
    BATCH = "batch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`id` is the server's, case's or batch's; a tool has its name there, and its server's name in `server`."""

    kind: FoundKind
    id: str
    name: str
    detail: str = ""
    server: str = ""
