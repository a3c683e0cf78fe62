"""Cost caps of paid calls: amounts as users type them, and a higher cap where one is used up.

Batches have a cap. Reviews and rewrites by a model have an estimate only.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields
from math import ceil, isfinite
from typing import Final, TypeVar

from mcp_tef.errors import InputError
from mcp_tef.workflows.estimate import USED_UP

CENTS: Final = 100
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class UsedUpCap:
    """A cost cap that leaves no room for another run: the cap, what was spent, and the cost of the rest, in dollars."""

    cap: float
    spent: float
    left: float

    @property
    def suggestion(self) -> float:
        """A cap that the rest fits under with a tenth to spare: whole cents, or finer where it is less than one."""
        wanted = self.spent + self.left * 1.1
        unit = CENTS if wanted >= 1 / CENTS else CENTS**3
        return ceil(round(wanted * unit, 6)) / unit


async def start_within_cap(
    work: Callable[[float | None], Awaitable[T]], ask: Callable[[UsedUpCap], Awaitable[float | None]]
) -> T | None:
    """Do the work under its own cap; where that is used up, under one that the user names. None if the user cancels."""
    cap: float | None = None
    while True:
        try:
            return await work(cap)
        except InputError as error:
            if error.code != USED_UP:
                raise
            used_up = UsedUpCap(**{one.name: float(str(error.context[one.name])) for one in fields(UsedUpCap)})
        cap = await ask(used_up)
        if cap is None:
            return None


def parse_dollars(text: str) -> float | None:
    """Parse an amount in dollars; None for no amount, and for one that could be read in two ways, such as "1,000"."""
    try:
        number = float(text.strip().lstrip("$"))
    except ValueError:
        return None
    return number if isfinite(number) else None
