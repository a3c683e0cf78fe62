"""Runs of all batches that another screen asked for: what they are called, and the figure above them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from app.screens.runs.batches import BatchActions, Summary, Tally
from app.screens.runs.words import MARKS, OUTCOME_HELP
from mcp_tef import Classification, RunFilter

TALLY_ORDER = (Classification.FN, Classification.FP, Classification.TP, Classification.TN)
NO_ACTIONS = BatchActions(resume="", retry="", rename="", delete="", beside="", cancel="", rejudge="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Runs by a filter of their own; `total` and `counts`, by outcome, are there once they were counted."""

    title: str
    where: RunFilter
    total: int | None = None
    counts: tuple[int, ...] = ()


async def counted(count: Callable[[RunFilter], Awaitable[int]], where: RunFilter) -> tuple[int, tuple[int, ...]]:
    """How many runs there are, and how many of each outcome."""
    asked = where.classifications or TALLY_ORDER
    counts = [await count(replace(where, classifications=(item,))) if item in asked else 0 for item in TALLY_ORDER]
    return await count(where), tuple(counts)


def found_summary(found: Found) -> Summary:
    """What stands above such runs: how many, and what they have in common."""
    counts = found.counts or (0,) * len(TALLY_ORDER)
    return Summary(
        figure="…" if found.total is None else f"{found.total:,}",
        caption="run" if found.total == 1 else "runs",
        detail="out of all batches",
        tallies=tuple(
            Tally(mark=MARKS[item], number=number, help=OUTCOME_HELP[item])
            for item, number in zip(TALLY_ORDER, counts, strict=True)
        ),
        note=found.title,
    )
