"""Pace of a batch that keeps to a server's rate: a token bucket of 10 a second and a burst of 10, 300 runs, 64 at once.

Limits: 1.1 × the ideal 29 s, and less than 2 % of the requests refused. Three repetitions, minimum and median.
"""

import asyncio
import statistics
import sys
import time

from mcp_tef.errors import ModelError
from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from tests.support.model_questions import question
from tests.support.model_stub import ModelStub
from tests.support.token_bucket import TokenBucket

RATE, BURST, RUNS, CONCURRENCY, TRIES = 10, 10, 300, 64, 3
LIMIT, LIMIT_REFUSED = 1.1, 0.02


async def once() -> tuple[float, int]:
    """The seconds that all runs take with a retry for each refusal, and how many requests were refused."""
    bucket, selector = TokenBucket(RATE, BURST), LitellmSelector(LitellmCatalogue())
    with ModelStub(bucket, delay=0.05) as stub:
        asked, numbers = question(stub.url), iter(range(RUNS))

        async def worker() -> None:
            for _ in numbers:
                await selector.prepare(asked)
                try:
                    await selector.select(asked)
                except ModelError:
                    await asyncio.sleep(1)
                    await selector.select(asked)

        started = time.perf_counter()
        await asyncio.gather(*(worker() for _ in range(CONCURRENCY)))
        seconds = time.perf_counter() - started
    await selector.close()
    return seconds, bucket.refused


def main() -> int:
    """Measure, print, and fail where a limit is not kept."""
    found = [asyncio.run(once()) for _ in range(TRIES)]
    ideal, seconds, refused = (RUNS - BURST) / RATE, [one for one, _ in found], [count for _, count in found]
    print(f"{RUNS} runs: {min(seconds):.1f} s, median {statistics.median(seconds):.1f} s; ideal {ideal:.0f} s")
    print(f"{min(seconds) / ideal:.2f} × ideal (limit {LIMIT}); refused {refused} (limit {LIMIT_REFUSED:.0%})")
    return 0 if min(seconds) <= LIMIT * ideal and max(refused) < RUNS * LIMIT_REFUSED else 1


if __name__ == "__main__":
    sys.exit(main())
