"""Pace of requests to one server: within what it says of its limits, slower after a refusal and as it gets slower."""

import asyncio
import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from statistics import median

FIRST_WAVE = 8
"""So many requests are sent before the first answer says what the server allows; then as many as the user allows."""
ADMITTED_SECONDS = 1.0
"""A request that was admitted and not sent by then never will be."""
LONGEST_WAIT = 60.0
"""A server that states a longer wait is asked again by then, so that a batch ends with its refusal."""
COMPARED_ANSWERS = 16
"""The time of so many answers is compared with what was usual before."""
SLOWER_BY, SLOWER_SECONDS = 3.0, 1.0
"""A server has got slower if its answers take three times as long as usual, and a second longer; less is chance."""
_EASING = 1.05
_NO_LIMIT = 100_000.0
_UNITS = ("requests", "tokens")
_PART = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class RateBudget:
    """One limit of a server as a bucket that fills up again: `level` of its units are left."""

    def __init__(self, level: float) -> None:
        self._level = level
        self._rate = 0.0
        self._size = level
        self._at = 0.0

    def spend(self, units: float, now: float) -> None:
        """Count units that are about to be sent."""
        self._level = self._now(now) - units
        self._at = now

    def correct(self, size: float, remaining: float, full_in: float, outstanding: float, now: float) -> None:
        """Take over what an answer says, while some units are still under way."""
        # The server rounds, so only more than one unit of difference is one.
        level = min(self._now(now), remaining + 1)
        self._level = max(level, remaining - outstanding)
        self._at, self._size = now, size
        if full_in > 0 and size > remaining:
            self._rate = (size - remaining) / full_in

    def wait(self, units: float, now: float) -> float:
        """Return the seconds until so many units may be sent."""
        missing = min(units, self._size) - self._now(now)
        return missing / self._rate if missing > 0 and self._rate > 0 else 0.0

    def _now(self, now: float) -> float:
        return min(self._size, self._level + self._rate * (now - self._at))


class RequestPacer:
    """Admits requests to one server in order. It belongs to the loop on which it is first used."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._limit = float(FIRST_WAVE)
        self._budgets: dict[str, RateBudget] = {}
        self._units = {"requests": 1.0, "tokens": 0.0}
        self._in_flight = 0
        self._admitted: deque[float] = deque()
        self._not_before = 0.0
        self._slowed = 0.0
        self._times: list[float] = []
        self._usual = float("inf")
        self._queue = asyncio.Lock()
        self._changed = asyncio.Event()

    async def turn(self) -> None:
        """Wait until the next request may be sent, but not longer than `LONGEST_WAIT` for what a server says."""
        async with self._queue:
            latest = self._clock() + LONGEST_WAIT
            while (seconds := self._wait(latest)) > 0:
                self._changed.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), seconds)
            now = self._clock()
            self._admitted.append(now)
            for unit, budget in self._budgets.items():
                budget.spend(self._units[unit], now)

    def sent(self) -> float:
        """Count a request that is sent now, and return the time for `answered`."""
        if self._admitted:
            self._admitted.popleft()
        self._in_flight += 1
        return self._clock()

    def answered(
        self, sent_at: float, status: int | None, headers: Mapping[str, str], tokens: int, retry_after: float | None
    ) -> None:
        """Take over what an answer says of the server's limits."""
        self._in_flight -= 1
        now = self._clock()
        if status == 429:
            self._slow_down(sent_at, now, retry_after)
        elif self._limit == FIRST_WAVE and not self._slowed:
            self._limit = _NO_LIMIT
        else:
            self._limit += 1 / self._limit
            self._compare(sent_at, now)
        if tokens:
            self._units["tokens"] = float(tokens)
        for unit in _UNITS:
            self._correct(unit, headers, now)
        self._changed.set()

    def _slow_down(self, sent_at: float, now: float, retry_after: float | None) -> None:
        """Halve what is asked at once; requests that were sent before that do not count again."""
        self._not_before = max(self._not_before, now + min(retry_after or 0.0, LONGEST_WAIT))
        if sent_at >= self._slowed:
            self._limit = max(1.0, min(self._limit, self._in_flight + 1) / 2)
            self._slowed = now

    def _compare(self, sent_at: float, now: float) -> None:
        """Halve what is asked at once if answers take much longer, but not below the first wave.

        Such a server has a queue of its own, in which requests only come nearer to their timeout.
        """
        if sent_at < self._slowed:
            return
        self._times.append(now - sent_at)
        if len(self._times) < COMPARED_ANSWERS:
            return
        typical = median(self._times)
        self._times.clear()
        # What is usual rises slowly, so that a model that stays slower is not held back for good.
        self._usual = min(typical, self._usual * _EASING)
        if typical > self._usual * SLOWER_BY and typical > self._usual + SLOWER_SECONDS:
            self._limit = max(float(FIRST_WAVE), min(self._limit, self._in_flight + 1) / 2)
            self._slowed = now

    def _correct(self, unit: str, headers: Mapping[str, str], now: float) -> None:
        if (stated := headers.get(f"x-ratelimit-limit-{unit}")) is None:
            return
        size, left = _number(stated), _number(headers.get(f"x-ratelimit-remaining-{unit}"))
        full_in = duration(headers.get(f"x-ratelimit-reset-{unit}", ""))
        if size is None or left is None or full_in is None:
            return
        outstanding = self._units[unit] * (self._in_flight + len(self._admitted))
        budget = self._budgets.setdefault(unit, RateBudget(left - outstanding))
        budget.correct(size, left, full_in, outstanding, now)

    def _wait(self, latest: float) -> float:
        """Return the seconds to wait before looking again; 0 where a request may be sent."""
        now = self._clock()
        while self._admitted and self._admitted[0] < now - ADMITTED_SECONDS:
            self._admitted.popleft()
        if now < self._not_before:
            return self._not_before - now
        if self._in_flight + len(self._admitted) >= self._limit:
            return ADMITTED_SECONDS
        wait = max((budget.wait(self._units[unit], now) for unit, budget in self._budgets.items()), default=0.0)
        return min(wait, latest - now)


def _number(text: str | None) -> float | None:
    return float(text) if text and text.isascii() and text.isdigit() else None


def duration(text: str) -> float | None:
    """Return the seconds of a duration such as 6m0s, 120ms or 7.66; None for any other text."""
    given = text.strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", given):
        return float(given)
    if not given or _PART.sub("", given):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(given))
