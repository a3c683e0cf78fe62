"""Which batches the rail shows, and in which order: found by words, sorted as the user likes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from app.screens.runs.batches import BatchCard, right
from mcp_tef import Batch


class BatchOrder(StrEnum):
    """What the rail is sorted by."""

    NEWEST = "newest"
    OLDEST = "oldest"
    NAME = "name"
    WORST = "worst"
    BEST = "best"


ORDERS: Final[Mapping[BatchOrder, str]] = {
    BatchOrder.NEWEST: "Newest first",
    BatchOrder.OLDEST: "Oldest first",
    BatchOrder.NAME: "By name",
    BatchOrder.WORST: "Least right first",
    BatchOrder.BEST: "Most right first",
}


@dataclass(frozen=True, slots=True)
class Shelf:
    """Words that must all stand in a batch's card or among its models, and the order."""

    text: str = ""
    order: BatchOrder = BatchOrder.NEWEST

    def fits(self, card: BatchCard, batch: Batch) -> bool:
        """Whether a batch is wanted."""
        told = " ".join((card.title, card.when, card.model, card.result, *batch.models)).casefold()
        return all(word in told for word in self.text.casefold().split())

    def sorted(self, batches: Iterable[Batch]) -> list[Batch]:
        """Batches that come newest first in the order that is wanted; those without a verdict come last."""
        newest = list(batches)
        match self.order:
            case BatchOrder.OLDEST:
                return newest[::-1]
            case BatchOrder.NAME:
                return sorted(newest, key=lambda batch: batch.name.casefold())
            case BatchOrder.WORST:
                return sorted(newest, key=lambda batch: _share(batch, unknown=2.0))
            case BatchOrder.BEST:
                return sorted(newest, key=lambda batch: -_share(batch, unknown=-1.0))
        return newest


def _share(batch: Batch, *, unknown: float) -> float:
    value = right(batch).value
    return unknown if value is None else value


def order_of(kept: str) -> BatchOrder:
    """The order that was kept, else the newest first."""
    return next((order for order in BatchOrder if order.value == kept), BatchOrder.NEWEST)
