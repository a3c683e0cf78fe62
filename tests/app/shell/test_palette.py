"""The palette does commands, says why some cannot be done, and goes to what has the typed name."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.commands import Command
from app.core_link.session import Session
from app.core_link.targets import ShowTool, Target
from app.shell.palette import Palette
from mcp_tef import ToolLabel
from tests.support.fake_engine import FakeEngine
from tests.support.windows import session_for, shown, until


def opened(session: Session) -> tuple[Palette, QWidget]:
    host = QWidget()
    shown(host)
    palette = Palette(session, host)
    palette.open_centred(host)
    return palette, host


def titles(palette: Palette) -> list[str]:
    return [palette.list.rows.row(place).title for place in range(palette.list.rows.rowCount())]


def deeds(done: list[str]) -> list[Command]:
    return [
        Command(id="a", text="Add a server", do=lambda: done.append("a")),
        Command(id="b", text="Compare", do=lambda: done.append("b"), needs=lambda: False, unless="Choose two batches"),
        Command(id="c", text="Copy", do=lambda: done.append("c")),
    ]


async def test_what_was_done_last_comes_first_and_what_cannot_be_done_last_with_the_reason(qapp: QApplication) -> None:
    async with session_for() as (session, _):
        done: list[str] = []
        session.commands.put("page", deeds(done))
        palette, host = opened(session)
        assert titles(palette) == ["Add a server", "Copy", "Compare"]
        assert palette.list.rows.row(2).right == "Choose two batches"
        QTest.keyClicks(palette.search, "compare")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert (done, palette.isVisible()) == ([], True)
        palette.search.setText("copy")
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert done == ["c"]
        palette, host = opened(session)
        assert titles(palette) == ["Copy", "Add a server", "Compare"]
        palette.close()
        host.close()


async def test_a_tool_is_gone_to_by_its_name(qapp: QApplication) -> None:
    fake = FakeEngine()
    await fake.open_sample()
    for server in await fake.servers.list():
        await fake.servers.check(server.id)
    async with session_for(fake) as (session, _):
        session.commands.put("page", deeds([]))
        went: list[Target] = []
        session.navigated.connect(went.append)
        palette, host = opened(session)
        QTest.keyClicks(palette.search, "book_rep")
        await until(lambda: titles(palette) == ["book_repair"])
        QTest.keyClick(palette.search, Qt.Key.Key_Return)
        assert went == [ShowTool(ToolLabel(tool="book_repair", server="Bike shop"))]
        host.close()
