"""The settings: what was agreed to is listed and can be taken back; the scheme changes at once."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.screens.settings.general import Places
from app.screens.settings.sheet import SettingsSheet
from app.session import Session
from app.widgets import Button, FlowText, Segmented
from mcp_tef import ServerSpec, Transport
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drive, session_for, shown, until

OLD = ServerSpec(name="old", transport=Transport.STDIO, command="serve", args=("--old",))
NOW = ServerSpec(name="files", transport=Transport.STDIO, command="serve", args=("--all",))


def opened(session: Session, window: QWidget, worn: list[str]) -> SettingsSheet:
    places = Places("/srv/mine.db", None, lambda: None)
    sheet = SettingsSheet(session, window, set_theme=worn.append, places=places)
    sheet.open()
    return sheet


def read_in(sheet: QWidget) -> list[str]:
    return [part.text() for part in sheet.findChildren(FlowText) if part.isVisible()]


def revokers(sheet: QWidget) -> list[Button]:
    return [one for one in sheet.findChildren(Button) if one.text() == "Revoke" and one.isVisible()]


def test_what_was_agreed_to_is_listed_and_asked_about_again_once_it_is_revoked(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine({"files": []})) as (session, _):
            await session.call(lambda core: core.servers.grant_consent(OLD))
            await session.call(lambda core: core.servers.grant_consent(NOW))
            await session.call(lambda core: core.servers.add(NOW))
            window = shown(QWidget())
            sheet = opened(session, window, [])
            sheet.pane.set_current("consents")
            await until(lambda: len(revokers(sheet)) == 2)
            said = read_in(sheet)
            assert said.index("files") < said.index("serve --all") < said.index("serve --old")
            QTest.mouseClick(revokers(sheet)[0], Qt.MouseButton.LeftButton)
            await until(lambda: len(revokers(sheet)) == 1)
            assert await session.call(lambda core: core.servers.needs_consent(NOW))
            QTest.mouseClick(revokers(sheet)[0], Qt.MouseButton.LeftButton)
            await until(lambda: not revokers(sheet))
            sheet.accept()
            window.close()
            window.deleteLater()

    drive(work())


def test_another_scheme_is_worn_at_once_and_a_sheet_that_closes_early_complains_of_nothing(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine()) as (session, _):
            failures: list[str] = []
            session.failed.connect(lambda message, *_: failures.append(message))
            window, worn = shown(QWidget()), list[str]()
            sheet = opened(session, window, worn)
            looks = sheet.findChildren(Segmented)[0]
            await until(looks.isVisible)
            looks.choose(2)
            sheet.accept()
            await session.call(lambda core: core.servers.list())
            await until(lambda: not window.findChildren(SettingsSheet))
            assert (worn, failures) == (["dark"], [])
            window.close()
            window.deleteLater()

    drive(work())


def test_a_sheet_that_closes_while_it_revokes_has_revoked_and_complains_of_nothing(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine({"files": []})) as (session, fake):
            failures: list[str] = []
            session.failed.connect(lambda message, *_: failures.append(message))
            await session.call(lambda core: core.servers.grant_consent(NOW))
            window = shown(QWidget())
            sheet = opened(session, window, [])
            sheet.pane.set_current("consents")
            await until(lambda: revokers(sheet))
            QTest.mouseClick(revokers(sheet)[0], Qt.MouseButton.LeftButton)
            sheet.accept()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            await until(lambda: fake.store.servers._consents == {})
            await session.call(lambda core: core.servers.consents())
            await until(lambda: not session._tasks)
            assert failures == []
            window.close()
            window.deleteLater()

    drive(work())
