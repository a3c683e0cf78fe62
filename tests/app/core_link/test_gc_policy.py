"""Garbage is collected on the window's thread, and completely only while nobody uses the window."""

import gc
import threading
import weakref

import pytest

from app.core_link.gc_policy import LONGEST_WITHOUT_FULL_S, GarbageCollection

pytestmark = pytest.mark.usefixtures("qapp")


class Clock:
    """A clock that stands until it is set, and a window that may be in use."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.used = True

    def collection(self) -> GarbageCollection:
        return GarbageCollection(is_used=lambda: self.used, clock=lambda: self.now_s)


class Cycle:
    """An object that only the garbage collection can destroy."""

    def __init__(self) -> None:
        self.itself = self


def lost_cycle() -> "weakref.ref[Cycle]":
    return weakref.ref(Cycle())


def make_old_garbage_due() -> None:
    for _ in range(12):
        gc.collect(1)


def test_no_other_thread_collects_garbage() -> None:
    collection = GarbageCollection()
    collection.collect_what_is_due()  # freezes what stands
    collection.start()
    collected_by: list[threading.Thread] = []
    gc.callbacks.append(lambda _phase, _info: collected_by.append(threading.current_thread()))
    try:
        worker = threading.Thread(target=lambda: [Cycle() for _ in range(50_000)])
        worker.start()
        worker.join()
        assert collected_by == []
        collection.collect_what_is_due()
        assert set(collected_by) == {threading.current_thread()}
    finally:
        gc.callbacks.pop()
        collection.stop()


def test_young_garbage_is_collected_while_the_window_is_used() -> None:
    collection = Clock().collection()
    collection.collect_what_is_due()  # freezes what stands
    gc.disable()
    lost = lost_cycle()
    garbage = [Cycle() for _ in range(1_000)]
    assert collection.collect_what_is_due() is not None
    assert lost() is None
    assert len(garbage) == 1_000


def test_everything_is_collected_only_while_nobody_uses_the_window_or_after_a_long_time() -> None:
    clock = Clock()
    collection = clock.collection()
    make_old_garbage_due()
    assert collection.collect_what_is_due() != 2
    clock.used = False
    make_old_garbage_due()
    assert collection.collect_what_is_due() == 2
    clock.used = True
    clock.now_s = LONGEST_WITHOUT_FULL_S - 1
    make_old_garbage_due()
    assert collection.collect_what_is_due() != 2
    clock.now_s = LONGEST_WITHOUT_FULL_S
    assert collection.collect_what_is_due() == 2


def test_what_libraries_leave_behind_is_frozen_once() -> None:
    collection = Clock().collection()
    collection.collect_what_is_due()
    frozen = gc.get_freeze_count()
    assert frozen > 0
    later: list[list[int]] = [[] for _ in range(1_000)]
    collection.collect_what_is_due()
    assert gc.get_freeze_count() < frozen + len(later)


def test_python_collects_again_when_the_window_has_ended() -> None:
    collection = GarbageCollection()
    collection.start()
    assert not gc.isenabled()
    collection.stop()
    assert gc.isenabled()
