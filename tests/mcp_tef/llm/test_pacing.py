"""Pace of requests: within the limits that a server states, slower after a refusal, never faster than asked."""

import asyncio
import itertools
import time

import pytest

from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.llm.pacing import FIRST_WAVE, RequestPacer, duration
from tests.support.model_questions import question
from tests.support.model_stub import ModelStub
from tests.support.token_bucket import TokenBucket


async def test_a_server_that_states_its_rate_is_asked_at_that_rate() -> None:
    bucket, count = TokenBucket(50, 10), 200
    selector = LitellmSelector(LitellmCatalogue())
    with ModelStub(bucket) as stub:
        asked, numbers = question(stub.url), iter(range(count))

        async def worker() -> int:
            done = 0
            for _ in numbers:
                await selector.prepare(asked)
                try:
                    await selector.select(asked)
                    done += 1
                except Exception:  # noqa: BLE001  # a refused request is counted by the server
                    pass
            return done

        started = time.monotonic()
        done = sum(await asyncio.gather(*(worker() for _ in range(64))))
        seconds, ideal = time.monotonic() - started, (count - bucket.size) / bucket.rate
    await selector.close()
    print(f"{seconds:.2f} s, {seconds / ideal:.2f} × ideal, {bucket.refused} of {count} refused")
    assert done + bucket.refused == count
    assert bucket.refused <= count * 0.02
    assert seconds < 2 * ideal


class Clock:
    """A clock that goes by itself only where it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


async def admitted(pacer: RequestPacer, most: int) -> int:
    """Return the number of requests that may be sent now."""
    for number in range(most):
        turn = asyncio.ensure_future(pacer.turn())
        for _ in range(5):
            await asyncio.sleep(0)
        if not turn.done():
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
            return number
        pacer.sent()
    return most


async def test_the_first_answer_opens_the_way_and_a_refusal_halves_it() -> None:
    clock = Clock()
    pacer = RequestPacer(clock)
    assert await admitted(pacer, 100) == FIRST_WAVE
    pacer.answered(0.0, 200, {}, 0, None)
    assert await admitted(pacer, 57) == 57
    clock.now = 1.0
    for _ in range(10):
        pacer.answered(0.0, 429, {}, 0, None)
    for _ in itertools.repeat(None, 54):
        pacer.answered(0.0, 200, {}, 0, None)
    left = await admitted(pacer, 100)
    assert 20 <= left <= 40


async def test_nothing_is_sent_before_the_wait_that_a_server_asks_for() -> None:
    clock = Clock()
    pacer = RequestPacer(clock)
    await pacer.turn()
    pacer.answered(pacer.sent(), 429, {}, 0, 7.0)
    assert await admitted(pacer, 1) == 0
    clock.now = 7.0
    assert await admitted(pacer, 1) == 1


async def test_a_budget_of_tokens_counts_the_tokens_of_a_request() -> None:
    clock = Clock()
    pacer = RequestPacer(clock)
    await pacer.turn()
    stated = {
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "400",
        "x-ratelimit-reset-tokens": "6s",
    }
    pacer.answered(pacer.sent(), 200, stated, 150, None)
    assert await admitted(pacer, 10) == 2
    clock.now = 0.6
    assert await admitted(pacer, 10) == 1


async def test_a_budget_that_is_used_up_for_days_ends_in_a_refusal_and_not_in_a_wait_of_days() -> None:
    clock = Clock()
    pacer = RequestPacer(clock)
    await pacer.turn()
    stated = {
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2d",
    }
    pacer.answered(pacer.sent(), 200, stated, 0, None)
    waiting = asyncio.ensure_future(pacer.turn())
    await asyncio.sleep(0)
    assert not waiting.done()
    clock.now = 60.0
    pacer.answered(pacer.sent(), 200, stated, 0, None)
    await waiting


async def answered_after(pacer: RequestPacer, clock: Clock, seconds: float) -> int:
    """Send up to 64 requests that are all answered after some seconds; return their number."""
    sent_at, count = clock.now, await admitted(pacer, 64)
    clock.now += seconds
    for _ in range(count):
        pacer.answered(sent_at, 200, {}, 0, None)
    return count


async def test_a_server_that_gets_slower_with_many_requests_is_asked_fewer_at_once() -> None:
    clock = Clock()
    pacer = RequestPacer(clock)
    assert [await answered_after(pacer, clock, 1.0) for _ in range(3)] == [FIRST_WAVE, 64, 64]
    assert [await answered_after(pacer, clock, 2.5), await answered_after(pacer, clock, 8.0)] == [64, 64]
    slowed = await answered_after(pacer, clock, 4.0)
    assert FIRST_WAVE <= slowed <= 32
    assert await answered_after(pacer, clock, 1.0) >= FIRST_WAVE
    later = [await answered_after(pacer, clock, 1.0) for _ in range(60)]
    assert later[-1] == 64


async def test_a_server_that_stays_slower_is_asked_as_often_as_the_user_wants_in_the_end() -> None:
    clock = Clock()
    pacer = RequestPacer(clock)
    for _ in range(3):
        await answered_after(pacer, clock, 0.5)
    slow = [await answered_after(pacer, clock, 4.0) for _ in range(150)]
    assert FIRST_WAVE <= min(slow) < 16
    assert slow[-1] == 64


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6m0s", 360.0), ("120ms", 0.12), ("7.66", 7.66), ("1h2m3.5s", 3723.5), ("", None), ("soon", None), ("-1s", None)],
)
def test_durations_of_headers_are_read(text: str, seconds: float | None) -> None:
    assert duration(text) == (seconds if seconds is None else pytest.approx(seconds))
