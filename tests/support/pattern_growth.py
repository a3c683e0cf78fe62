"""Time that a pattern takes for bad texts of two sizes."""

import re
import time
from collections.abc import Iterator
from typing import Any

from tests.support.bad_texts import BAD_TEXTS
from tests.support.pattern_texts import pumped
from tests.support.source_patterns import ANCHORED, Written

FIRST, SMALL = 20, 1_000
FLOOR, LONGEST = 0.01, 0.01
"""Seconds of a thread: below the first no growth is measured; no pattern may take the second for 20 characters."""


def why_slow(written: Written, small: int = SMALL, seeds: int = 1) -> Iterator[str]:
    """Say once for each use of a pattern if four times a bad text takes more than ten times as long."""
    pattern = written.pattern
    assert pattern is not None
    texts = sorted({*BAD_TEXTS.values(), *(text for seed in range(seeds) for text in pumped(pattern, seed))})
    for function in written.functions if written.functions <= ANCHORED else ("finditer",):
        for begin, piece in texts:
            text = begin + (piece or "a") * (4 * small // len(piece or "a"))
            if seconds(pattern, function, text[:FIRST]) > LONGEST or _grows(pattern, function, text, small):
                yield f"{written.place} {function}: {begin[:30]!r} + {piece[:30]!r}"
                break


def _grows(pattern: "re.Pattern[Any]", function: str, text: str, small: int) -> bool:
    large = seconds(pattern, function, text)
    return large > FLOOR and large > 10 * seconds(pattern, function, text[:small])


def seconds(pattern: "re.Pattern[Any]", function: str, text: str) -> float:
    """CPU time of this thread for what is found in a text that does not end as it began; the best of three."""
    given: Any = text + "\0"
    if isinstance(pattern.pattern, bytes):
        given = given.encode("utf-8", "replace")
    found = []
    for _ in range(3):
        started = time.thread_time()
        result = getattr(pattern, function)(given)
        if function == "finditer":
            for _found in result:
                pass
        found.append(time.thread_time() - started)
        if found[-1] < FLOOR / 10:
            break
    return min(found)
