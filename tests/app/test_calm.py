"""The window's thread is not kept waiting by turns and garbage collection."""

import gc
import sys
from collections.abc import Iterator

import pytest

from app.core_link.gc_policy import LONG_S, NEVER, TURN_S, GarbageCollectionPolicy


@pytest.fixture(autouse=True)
def settings_of_the_interpreter() -> Iterator[None]:
    turn, thresholds = sys.getswitchinterval(), gc.get_threshold()
    yield
    sys.setswitchinterval(turn)
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_turns_are_short_and_full_rounds_do_not_come_by_themselves() -> None:
    GarbageCollectionPolicy().begin()
    assert sys.getswitchinterval() == pytest.approx(TURN_S)
    assert gc.get_threshold()[2] == NEVER


def test_young_garbage_is_collected_as_ever() -> None:
    before = gc.get_threshold()
    GarbageCollectionPolicy().begin()
    assert gc.get_threshold()[:2] == before[:2]


def test_what_libraries_made_is_set_aside_once() -> None:
    calm = GarbageCollectionPolicy()
    calm.settle()
    frozen = gc.get_freeze_count()
    assert frozen > 0
    later: list[list[int]] = [[] for _ in range(1000)]
    calm.settle()
    assert gc.get_freeze_count() < frozen + len(later)


def test_a_full_round_waits_until_nobody_looks_but_not_for_ever() -> None:
    now = [0.0]
    calm = GarbageCollectionPolicy(lambda: now[0])
    assert not calm.tidy(looked_at=True)
    assert calm.tidy(looked_at=False)
    now[0] = LONG_S - 1
    assert not calm.tidy(looked_at=True)
    now[0] = LONG_S
    assert calm.tidy(looked_at=True)
