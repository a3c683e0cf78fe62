"""Settings dialog: settings, keys, consents and folders."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.core_link.session import Session
from app.core_link.settings import Settings
from app.core_link.text_size import TextSizeSetting
from app.screens.settings.dialog import SettingRow, SettingsDialog
from app.screens.settings.presenter import SettingsPaths, size_text
from app.widgets import Button, FlowText, SearchField, Segmented
from mcp_tef import Engine, Secret, ServerSpec, Transport
from tests.support.fake_engine import FakeEngine
from tests.support.windows import drive, session_for, shown, until

OLD = ServerSpec(name="old", transport=Transport.STDIO, command="serve", args=("--old",))
NOW = ServerSpec(name="files", transport=Transport.STDIO, command="serve", args=("--all",))


async def row_of(sheet: SettingsDialog, tab: str, name: str) -> SettingRow:
    """Turn to a tab, and wait for a setting on it."""

    def found() -> list[SettingRow]:
        return [row for row in sheet.pane.findChildren(SettingRow) if row.variable.name == name]

    sheet.pane.set_current(tab)
    await until(found)
    return found()[0]


def opened(session: Session, window: QWidget, worn: list[str]) -> SettingsDialog:
    paths = SettingsPaths(workspace=Path("/srv/mine.db"), settings=None, log=None, show=lambda _: None)
    sizes, reset = TextSizeSetting(Settings(None), lambda: None, window), lambda: worn.append("reset")
    sheet = SettingsDialog(
        session,
        window,
        set_theme=worn.append,
        set_contrast=lambda contrast: worn.append(f"{contrast} contrast"),
        sizes=sizes,
        reset=reset,
        paths=paths,
    )
    sheet.open()
    return sheet


def read_in(sheet: QWidget) -> list[str]:
    return [part.text() for part in sheet.findChildren(FlowText) if part.isVisible()]


def revokers(sheet: QWidget) -> list[Button]:
    return [one for one in sheet.findChildren(Button) if one.text() == "Revoke" and one.isVisible()]


def test_what_was_agreed_to_is_listed_and_asked_about_again_once_it_is_revoked(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine({"files": []})) as (session, _):
            await session.call(lambda core: core.consents.allow_server(OLD))
            await session.call(lambda core: core.consents.allow_server(NOW))
            await session.call(lambda core: core.servers.add(NOW))
            window = shown(QWidget())
            sheet = opened(session, window, [])
            sheet.pane.set_current("consents")
            await until(lambda: len(revokers(sheet)) == 2)
            said = read_in(sheet)
            assert said.index("files") < said.index('"serve" "--all"') < said.index('"serve" "--old"')
            QTest.mouseClick(revokers(sheet)[0], Qt.MouseButton.LeftButton)
            await until(lambda: len(revokers(sheet)) == 1)
            assert await session.value(lambda core: core.consents.needed(NOW))
            QTest.mouseClick(revokers(sheet)[0], Qt.MouseButton.LeftButton)
            await until(lambda: not revokers(sheet))
            sheet.accept()
            window.close()
            window.deleteLater()

    drive(work())


async def agreed(core: Engine, spec: ServerSpec) -> None:
    await core.consents.allow_server(spec)


def only(sheet: QWidget, launch: str) -> bool:
    """Whether one consent is left, that to a program."""
    return len(revokers(sheet)) == 1 and launch in read_in(sheet)


def test_among_many_consents_one_is_found_by_its_server_or_its_program(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine({"files": []})) as (session, _):
            await session.call(lambda core: core.servers.add(NOW))
            others = [replace(NOW, name=f"other {number}", args=(f"--{number}",)) for number in range(8)]
            for spec in (NOW, *others):
                await session.call(partial(agreed, spec=spec))
            window = shown(QWidget())
            sheet = opened(session, window, [])
            sheet.pane.set_current("consents")
            await until(lambda: len(revokers(sheet)) == 9)
            search = next(one for one in sheet.findChildren(SearchField) if one.isVisible() and one is not sheet.search)
            for typed, found in (("FILES all", '"serve" "--all"'), ("--5", '"serve" "--5"')):
                search.setText(typed)
                await until(partial(only, sheet, found))
            search.setText("nobody")
            await until(lambda: "No permissions match. Clear the search to show all." in read_in(sheet))
            assert not revokers(sheet)
            sheet.accept()
            window.close()
            window.deleteLater()

    drive(work())


def test_what_was_revoked_is_agreed_to_again_with_undo_though_the_settings_are_closed(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine({"files": []})) as (session, fake):
            await session.call(lambda core: core.consents.allow_server(NOW))
            window = shown(QWidget())
            sheet = opened(session, window, [])
            sheet.pane.set_current("consents")
            await until(lambda: revokers(sheet))
            QTest.mouseClick(revokers(sheet)[0], Qt.MouseButton.LeftButton)
            sheet.accept()
            await until(session.can_undo)
            assert session.undo_words() == 'Undo revoke the consent to "serve" "--all"'
            assert await session.value(lambda core: core.consents.needed(NOW))
            session.undo()
            await until(lambda: not fake.consents.needed(NOW))
            session.redo()
            await until(lambda: fake.consents.needed(NOW))
            window.close()
            window.deleteLater()

    drive(work())


def test_another_scheme_and_contrast_are_worn_at_once_and_a_sheet_that_closes_early_complains_of_nothing(
    qapp: QApplication,
) -> None:
    async def work() -> None:
        async with session_for(FakeEngine()) as (session, _):
            failures: list[str] = []
            session.failed.connect(lambda message, *_: failures.append(message))
            window, worn = shown(QWidget()), list[str]()
            sheet = opened(session, window, worn)
            looks, contrast = sheet.findChildren(Segmented)
            await until(looks.isVisible)
            looks.choose(2)
            contrast.choose(2)
            sheet.accept()
            await session.call(lambda core: core.servers.list())
            await until(lambda: not window.findChildren(SettingsDialog))
            assert (worn, failures) == (["dark", "high contrast"], [])
            window.close()
            window.deleteLater()

    drive(work())


def test_a_sheet_that_closes_while_it_revokes_has_revoked_and_complains_of_nothing(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine({"files": []})) as (session, fake):
            failures: list[str] = []
            session.failed.connect(lambda message, *_: failures.append(message))
            await session.call(lambda core: core.consents.allow_server(NOW))
            window = shown(QWidget())
            sheet = opened(session, window, [])
            sheet.pane.set_current("consents")
            await until(lambda: revokers(sheet))
            QTest.mouseClick(revokers(sheet)[0], Qt.MouseButton.LeftButton)
            sheet.accept()
            QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
            await until(lambda: fake.consents.needed(NOW))
            await session.call(lambda core: core.servers.consents())
            await session.begun()
            assert failures == []
            window.close()
            window.deleteLater()

    drive(work())


def write(row: SettingRow, text: str) -> None:
    """Type over what stands there, and go on with Return."""
    row.field.setFocus()
    row.field.selectAll()
    QTest.keyClicks(row.field, text)
    QTest.keyClick(row.field, Qt.Key.Key_Return)


def test_a_value_holds_at_once_and_one_that_cannot_be_meant_is_said_below_its_name(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine()) as (session, fake):
            window = shown(QWidget())
            sheet = opened(session, window, [])
            row = await row_of(sheet, "limits", "MCP_TEF_MAX_MESSAGE_BYTES")
            write(row, "2 MB")
            await until(lambda: fake.config.limits.message_bytes == 2 * 1024 * 1024)
            assert row.source.text() == "Set here, default: 16 MB"
            write(row, "lots")
            assert row.why.text() == "Write a size up to 1024 MB, such as 16 MB."
            assert fake.config.limits.message_bytes == 2 * 1024 * 1024
            row.back.click()
            await until(lambda: fake.config.limits.message_bytes == 16 * 1024 * 1024)
            assert (row.field.text(), row.why.text()) == ("", row.variable.reason)
            sheet.accept()
            window.close()
            window.deleteLater()

    drive(work())


def test_what_the_environment_sets_is_shown_with_its_variable_and_cannot_be_typed_over(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMILARITY_THRESHOLD", "0.7")
    monkeypatch.setenv("DEFAULT_LLM_MODEL", "ollama/qwen3:8b")

    async def work() -> None:
        async with session_for(FakeEngine()) as (session, _):
            window = shown(QWidget())
            sheet = opened(session, window, [])
            threshold = await row_of(sheet, "similarity", "SIMILARITY_THRESHOLD")
            model = await row_of(sheet, "runs", "model")
            assert (threshold.field.text(), threshold.field.isEnabled()) == ("0.7", False)
            assert threshold.source.text() == "SIMILARITY_THRESHOLD, from the environment"
            assert (model.field.text(), model.source.text()) == (
                "ollama/qwen3:8b",
                "DEFAULT_LLM_MODEL, from the environment",
            )
            sheet.accept()
            window.close()
            window.deleteLater()

    drive(work())


def test_settings_are_found_by_words_in_every_tab(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine()) as (session, _):
            window = shown(QWidget())
            sheet = opened(session, window, [])
            assert not sheet.findChildren(SettingRow), "a tab is made before anybody turns to it"
            QTest.keyClicks(sheet.search, "look-alikes")
            await until(lambda: [row.variable.title for row in visible_rows(sheet)] == ["Pairs are flagged from"])
            QTest.keyClicks(sheet.search, " xyzzy")
            await until(lambda: not visible_rows(sheet))
            assert "No settings match. Try other words, or clear the search." in read_in(sheet)
            sheet.accept()
            window.close()
            window.deleteLater()

    drive(work())


def visible_rows(sheet: SettingsDialog) -> list[SettingRow]:
    return [row for row in sheet.findChildren(SettingRow) if row.isVisible()]


def test_a_key_is_named_by_its_provider_and_forgotten_and_never_shown(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine(environment={"MISTRAL_API_KEY": "geheim-1"})) as (session, fake):
            fake.keys.set("openai", Secret("geheim-2"))
            window = shown(QWidget())
            sheet = opened(session, window, [])
            sheet.pane.set_current("keys")
            await until(lambda: "openai" in read_in(sheet))
            assert "MISTRAL_API_KEY" in read_in(sheet)
            assert "geheim" not in " ".join(read_in(sheet))
            (forget,) = [one for one in sheet.findChildren(Button) if one.text() == "Forget"]
            forget.click()
            await until(lambda: "openai" not in read_in(sheet))
            assert fake.keys.typed("openai") is None
            sheet.accept()
            window.close()
            window.deleteLater()

    drive(work())


def test_places_are_measured_and_a_reset_closes_the_sheet(qapp: QApplication) -> None:
    async def work() -> None:
        async with session_for(FakeEngine()) as (session, _):
            window, told = shown(QWidget()), list[str]()
            sheet = opened(session, window, told)
            sheet.pane.set_current("data")
            await until(lambda: "/srv/mine.db" in read_in(sheet))
            next(one for one in sheet.findChildren(Button) if one.text() == "Reset all settings").click()
            assert told == ["reset"]
            await until(lambda: not window.findChildren(SettingsDialog))
            window.close()
            window.deleteLater()

    drive(work())


def test_sizes_read_as_people_say_them() -> None:
    said = [size_text(size) for size in (0, 999, 1_500, 12_345_678, 3 * 10**9)]
    assert said == ["nothing yet", "999 bytes", "1.5 KB", "12 MB", "3.0 GB"]
