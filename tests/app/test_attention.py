"""What is told of long work outside the window."""

from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Session
from app.shell.system_notifications import Attention
from mcp_tef import BatchEnded
from tests.support.made_runs import batch
from tests.support.windows import drive, session_for, until


def told(session: Session) -> list[float | None]:
    """What a taskbar is told from now on."""
    heard: list[float | None] = []
    Attention(session, QWidget(), alert=lambda _: None, tell=heard.append)
    return heard


def test_the_taskbar_shows_how_far_all_works_are_and_nothing_afterwards(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            heard = told(session)
            runs, review = session.activity.add(), session.activity.add()
            runs.set_state(0.5, "1 of 2")
            review.set_state(0.0, "0 of 3")
            review.set_state(0.001, "0 of 3")
            runs.clear()
            review.clear()
            assert heard == [0.5, 0.25, 0.0, None]

    drive(work())


def test_progress_goes_from_the_taskbar_with_the_window(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            heard = told(session)
            session.activity.add().set_state(0.5, "1 of 2")
        assert heard == [0.5, None]

    drive(work())


def test_the_end_of_a_batch_asks_for_a_look_only_where_nobody_looks(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for() as (session, _):
            asked: list[QWidget] = []
            window = QWidget()
            Attention(session, window, alert=asked.append, tell=lambda _: None)
            session.events.emit((BatchEnded(batch(), None),))
            assert asked == [window]
            window.show()
            window.activateWindow()
            await until(window.isActiveWindow)
            session.events.emit((BatchEnded(batch(), None),))
            assert asked == [window]
            window.deleteLater()

    drive(work())
