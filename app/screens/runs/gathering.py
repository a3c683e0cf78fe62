"""What a handful of events did to the runs screen, while they are taken in and when all of them are."""

from dataclasses import dataclass, field
from typing import Final

from app.screens.runs.table import Mended
from mcp_tef import BatchEnded, BatchId, RunId, RunSummary

UNCHANGED: Final = Mended()


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a handful of events did: which parts of the screen no longer show what is known."""

    cards: frozenset[BatchId] = frozenset()
    new_batches: bool = False
    summary: bool = False
    mended: Mended = UNCHANGED
    reload: bool = False
    detail: bool = False
    cases: bool = False
    batches: bool = False
    judged: frozenset[BatchId] = frozenset()
    judging: bool = False
    ended: tuple[BatchEnded, ...] = ()


@dataclass(slots=True)
class Gathered:
    """What has been heard so far."""

    cards: set[BatchId] = field(default_factory=set)
    fresh: bool = False
    reload: bool = False
    cases: bool = False
    batches: bool = False
    runs: dict[RunId, RunSummary] = field(default_factory=dict)
    touched: dict[RunId, RunSummary] = field(default_factory=dict)
    judged: set[BatchId] = field(default_factory=set)
    judging: bool = False
    ended: list[BatchEnded] = field(default_factory=list)
