"""What was done is taken back, and done again, in order: one turn after the other, and told once it is done."""

import asyncio
from functools import partial

from PySide6.QtWidgets import QApplication

from app.core_link.session import Session
from mcp_tef import NotFoundError
from tests.support.windows import session_for, until


def hear(session: Session) -> list[str]:
    """Whatever the session says from now on."""
    said: list[str] = []
    session.toasted.connect(lambda text, _undo: said.append(text))
    session.failed.connect(lambda message, _hint, _details: said.append(message))
    return said


async def test_undo_takes_back_the_last_thing_first_and_each_once(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        undone: list[str] = []

        async def later() -> None:
            undone.append("second")

        session.toast("First", undo=lambda: undone.append("first"))
        session.toast("Second", undo=later)
        for _ in range(3):
            session.undo()
        await until(lambda: len(undone) == 2)
        assert undone == ["second", "first"]
        assert not session.can_undo()


async def test_what_was_taken_back_can_be_done_again_until_something_else_is_done(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        there = {"a", "b"}
        for name in sorted(there):
            back, again = partial(there.discard, name), partial(there.add, name)
            session.toast(f"Added {name}", back, again, action=f"add {name}")
        assert session.undo_words() == "Undo add b"
        session.undo()
        session.undo()
        await until(lambda: not there)
        assert session.redo_words() == "Redo add a"
        session.redo()
        await until(lambda: there == {"a"})
        assert session.undo_words() == "Undo add a"
        session.toast("Else", undo=list)
        assert not session.can_redo()
        session.redo()
        await session.undone()
        assert there == {"a"}


async def test_what_cannot_be_done_again_is_not_offered(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        session.toast("Removed", undo=list)
        session.undo()
        assert not session.can_redo()


async def test_the_toast_and_the_key_undo_the_same_thing_once(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        undone: list[int] = []
        offered: list[object] = []
        session.toasted.connect(lambda _, undo: offered.append(undo))
        session.toast("Removed", undo=lambda: undone.append(1))
        session.undo()
        assert callable(offered[0])
        offered[0]()
        await session.undone()
        assert undone == [1]


async def test_steps_pressed_quickly_are_taken_one_after_the_other_and_told_once_each_is_done(
    qapp: QApplication,
) -> None:
    async with session_for() as (session, _):
        done: list[str] = []
        gate = asyncio.Event()

        async def slowly() -> None:
            await gate.wait()
            done.append("slow")

        session.toast("One", undo=lambda: done.append("quick"), action="do one")
        session.toast("Two", undo=slowly, again=lambda: done.append("again"), action="do two")
        said = hear(session)
        session.undo()
        session.redo()
        session.undo()
        assert session.undo_words() == "Undo do one"
        session.undo()
        await asyncio.sleep(0)
        assert (done, said) == ([], [])
        gate.set()
        await session.undone()
        assert done == ["slow", "again", "slow", "quick"]
        assert said == ["Undone: do two", "Done again: do two", "Undone: do two", "Undone: do one"]


async def test_a_step_that_fails_says_so_and_stays_with_those_that_waited_behind_it(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        done: list[str] = []
        servers = ["docs"]

        async def fail() -> None:
            if not servers:
                raise NotFoundError("There is no server named docs.")
            done.append("two")

        session.toast("One", undo=lambda: done.append("one"), action="do one")
        session.toast("Two", undo=fail, again=list, action="do two")
        said = hear(session)
        servers.clear()
        session.undo()
        session.undo()
        await session.undone()
        assert said == ["Could not undo: do two. There is no server named docs."]
        assert (done, session.undo_words(), session.can_redo()) == ([], "Undo do two", False)
        servers.append("docs")
        session.undo()
        session.undo()
        await session.undone()
        assert (done, session.can_undo(), session.redo_words()) == (["two", "one"], False, "Redo do two")


async def test_a_redo_that_fails_can_be_tried_again(qapp: QApplication) -> None:
    async with session_for() as (session, _):

        async def fail() -> None:
            raise NotFoundError("There is no server named docs.")

        session.toast("One", undo=list, again=fail, action="do one")
        session.undo()
        await session.undone()
        said = hear(session)
        session.redo()
        await session.undone()
        assert said == ["Could not redo: do one. There is no server named docs."]
        assert (session.can_undo(), session.redo_words()) == (False, "Redo do one")


async def test_a_failed_step_goes_back_below_what_was_done_meanwhile(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        gate = asyncio.Event()

        async def fail_late() -> None:
            await gate.wait()
            raise NotFoundError("There is no server named docs.")

        session.toast("One", undo=fail_late, action="do one")
        session.undo()
        session.toast("Two", undo=list, action="do two")
        gate.set()
        await session.undone()
        assert session.undo_words() == "Undo do two"
        session.undo()
        assert session.undo_words() == "Undo do one"


async def test_a_step_that_is_stopped_is_still_there(qapp: QApplication) -> None:
    async with session_for() as (session, _):

        async def stop() -> None:
            await session.call_long("Putting back", lambda _: asyncio.Event().wait(), slow_s=0)

        session.toast("One", undo=stop, action="do one")
        said = hear(session)
        session.undo()
        await until(session.activity.shown)
        session.activity.shown()[0].cancel_button.click()
        await session.undone()
        assert (said, session.undo_words()) == (["Stopped: undo do one"], "Undo do one")
