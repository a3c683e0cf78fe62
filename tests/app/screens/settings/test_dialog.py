"""Settings dialog: settings, keys, consents and folders."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from app.core_link.session import Session
from app.core_link.settings import Settings, TextSizeSetting
from app.screens.settings.dialog import SettingRow, SettingsDialog
from app.screens.settings.presenter import SettingsPaths, data_locations, size_text
from app.widgets import Button, FlowText, SearchField, Segmented
from mcp_tef import Engine, Secret, ServerSpec, Transport
from mcp_tef.storage.store import open_store
from tests.support.command_line import run
from tests.support.fake_engine import FakeEngine
from tests.support.windows import session_for, shown, until
from tests.support.workspace_files import http, rows

OLD = ServerSpec(name="old", transport=Transport.STDIO, command="serve", args=("--old",))
NOW = ServerSpec(name="files", transport=Transport.STDIO, command="serve", args=("--all",))


async def test_the_command_that_the_page_of_data_names_takes_recent_work_into_a_backup(tmp_path: Path) -> None:
    """A copy of the file alone would lack what stands in the log beside it."""
    workspace, backup = tmp_path / "work.db", tmp_path / "backup.db"
    paths = SettingsPaths(workspace=workspace, settings=None, log=None, show=lambda _: None)
    store = await open_store(workspace)
    await store.servers.add(http("docs"))
    (advice,) = [one.purpose for one in data_locations(paths) if one.title == "Workspace"]
    words = advice.rpartition("mcp-tef ")[2].removesuffix(".").replace("FILE", str(backup)).split()
    said = await asyncio.to_thread(run, *words, "--workspace", workspace)
    await store.close()
    assert said.code == 0, said.err
    assert rows(backup, "SELECT name FROM mcp_servers") == [("docs",)]


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


@dataclass(frozen=True)
class SettingsBench:
    """An open settings dialog; `applied` lists the appearances and resets that it asked for."""

    session: Session
    window: QWidget
    dialog: SettingsDialog
    applied: list[str]


@pytest.fixture
def engine() -> Callable[[], FakeEngine]:
    """Return the function that makes the engine."""
    return partial(FakeEngine, {"files": []})


@asynccontextmanager
async def settings_over(fake: FakeEngine) -> AsyncIterator[SettingsBench]:
    """Open the dialog, and close it at the end if the test did not."""
    async with session_for(fake) as (session, _):
        window, applied = shown(QWidget()), list[str]()
        dialog = opened(session, window, applied)
        yield SettingsBench(session, window, dialog, applied)
        if isValid(dialog):
            dialog.accept()
        window.close()
        window.deleteLater()


@pytest.fixture
async def bench(qapp: QApplication, fake: FakeEngine) -> AsyncIterator[SettingsBench]:
    """The dialog over an engine."""
    async with settings_over(fake) as made:
        yield made


def read_in(sheet: QWidget) -> list[str]:
    return [part.text() for part in sheet.findChildren(FlowText) if part.isVisible()]


def revokers(sheet: QWidget) -> list[Button]:
    return [one for one in sheet.findChildren(Button) if one.text() == "Revoke" and one.isVisible()]


async def test_consents_are_listed_and_can_be_revoked(bench: SettingsBench) -> None:
    await bench.session.call(lambda core: core.consents.allow_server(OLD))
    await bench.session.call(lambda core: core.consents.allow_server(NOW))
    await bench.session.call(lambda core: core.servers.add(NOW))
    bench.dialog.pane.set_current("consents")
    await until(lambda: len(revokers(bench.dialog)) == 2)
    texts = read_in(bench.dialog)
    assert texts.index("files") < texts.index('"serve" "--all"') < texts.index('"serve" "--old"')
    QTest.mouseClick(revokers(bench.dialog)[0], Qt.MouseButton.LeftButton)
    await until(lambda: len(revokers(bench.dialog)) == 1)
    assert await bench.session.value(lambda core: core.consents.needed(NOW))
    QTest.mouseClick(revokers(bench.dialog)[0], Qt.MouseButton.LeftButton)
    await until(lambda: not revokers(bench.dialog))


async def agreed(core: Engine, spec: ServerSpec) -> None:
    await core.consents.allow_server(spec)


def only(sheet: QWidget, launch: str) -> bool:
    """Return True if only the consent to this program is left."""
    return len(revokers(sheet)) == 1 and launch in read_in(sheet)


async def test_consents_are_found_by_server_or_program(bench: SettingsBench) -> None:
    await bench.session.call(lambda core: core.servers.add(NOW))
    others = [replace(NOW, name=f"other {number}", args=(f"--{number}",)) for number in range(8)]
    for spec in (NOW, *others):
        await bench.session.call(partial(agreed, spec=spec))
    bench.dialog.pane.set_current("consents")
    await until(lambda: len(revokers(bench.dialog)) == 9)
    search = next(
        one for one in bench.dialog.findChildren(SearchField) if one.isVisible() and one is not bench.dialog.search
    )
    for typed, found in (("FILES all", '"serve" "--all"'), ("--5", '"serve" "--5"')):
        search.setText(typed)
        await until(partial(only, bench.dialog, found))
    search.setText("nobody")
    await until(lambda: "No permissions match. Clear the search to show all." in read_in(bench.dialog))
    assert not revokers(bench.dialog)


async def test_a_revocation_can_be_undone_after_the_dialog_is_closed(bench: SettingsBench, fake: FakeEngine) -> None:
    await bench.session.call(lambda core: core.consents.allow_server(NOW))
    bench.dialog.pane.set_current("consents")
    await until(lambda: revokers(bench.dialog))
    QTest.mouseClick(revokers(bench.dialog)[0], Qt.MouseButton.LeftButton)
    bench.dialog.accept()
    await until(bench.session.can_undo)
    assert bench.session.undo_words() == 'Undo revoke the consent to "serve" "--all"'
    assert await bench.session.value(lambda core: core.consents.needed(NOW))
    bench.session.undo()
    await until(lambda: not fake.consents.needed(NOW))
    bench.session.redo()
    await until(lambda: fake.consents.needed(NOW))


async def test_appearance_and_contrast_apply_immediately(
    bench: SettingsBench,
) -> None:
    failures: list[str] = []
    bench.session.failed.connect(lambda message, *_: failures.append(message))
    looks, contrast = bench.dialog.findChildren(Segmented)
    await until(looks.isVisible)
    looks.choose(2)
    contrast.choose(2)
    bench.dialog.accept()
    await bench.session.call(lambda core: core.servers.list())
    await until(lambda: not bench.window.findChildren(SettingsDialog))
    assert (bench.applied, failures) == (["dark", "high contrast"], [])


async def test_closing_the_dialog_does_not_stop_a_revocation(bench: SettingsBench, fake: FakeEngine) -> None:
    failures: list[str] = []
    bench.session.failed.connect(lambda message, *_: failures.append(message))
    await bench.session.call(lambda core: core.consents.allow_server(NOW))
    bench.dialog.pane.set_current("consents")
    await until(lambda: revokers(bench.dialog))
    QTest.mouseClick(revokers(bench.dialog)[0], Qt.MouseButton.LeftButton)
    bench.dialog.accept()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    await until(lambda: fake.consents.needed(NOW))
    await bench.session.call(lambda core: core.servers.consents())
    await bench.session.begun()
    assert failures == []


def write(row: SettingRow, text: str) -> None:
    """Type over what stands there, and go on with Return."""
    row.field.setFocus()
    row.field.selectAll()
    QTest.keyClicks(row.field, text)
    QTest.keyClick(row.field, Qt.Key.Key_Return)


async def test_a_valid_value_applies_immediately_and_an_invalid_one_shows_an_error(
    bench: SettingsBench, fake: FakeEngine
) -> None:
    row = await row_of(bench.dialog, "limits", "MCP_TEF_MAX_MESSAGE_BYTES")
    write(row, "2 MB")
    await until(lambda: fake.config.limits.message_bytes == 2 * 1024 * 1024)
    assert row.source.text() == "Set here, default: 16 MB"
    write(row, "lots")
    assert row.why.text() == "Write a size up to 1024 MB, such as 16 MB."
    assert fake.config.limits.message_bytes == 2 * 1024 * 1024
    row.back.click()
    await until(lambda: fake.config.limits.message_bytes == 16 * 1024 * 1024)
    assert (row.field.text(), row.why.text()) == ("", row.variable.reason)


async def test_a_setting_from_the_environment_is_shown_and_cannot_be_changed(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONFUSABILITY_THRESHOLD", "0.7")
    monkeypatch.setenv("DEFAULT_LLM_MODEL", "ollama/qwen3:8b")
    async with settings_over(FakeEngine()) as bench:
        threshold = await row_of(bench.dialog, "similarity", "CONFUSABILITY_THRESHOLD")
        model = await row_of(bench.dialog, "runs", "model")
        assert (threshold.field.text(), threshold.field.isEnabled()) == ("0.7", False)
        assert threshold.source.text() == "CONFUSABILITY_THRESHOLD, from the environment"
        assert (model.field.text(), model.source.text()) == (
            "ollama/qwen3:8b",
            "DEFAULT_LLM_MODEL, from the environment",
        )


async def test_the_search_finds_settings_of_every_tab(bench: SettingsBench) -> None:
    assert not bench.dialog.findChildren(SettingRow), "a tab is made before anybody turns to it"
    QTest.keyClicks(bench.dialog.search, "look-alikes")
    await until(lambda: [row.variable.title for row in visible_rows(bench.dialog)] == ["Threshold for look-alikes"])
    QTest.keyClicks(bench.dialog.search, " xyzzy")
    await until(lambda: not visible_rows(bench.dialog))
    assert "No settings match. Try other words, or clear the search." in read_in(bench.dialog)


def visible_rows(sheet: SettingsDialog) -> list[SettingRow]:
    return [row for row in sheet.findChildren(SettingRow) if row.isVisible()]


@pytest.mark.parametrize("engine", [partial(FakeEngine, environment={"MISTRAL_API_KEY": "geheim-1"})])
async def test_a_key_is_listed_by_provider_and_can_be_forgotten(bench: SettingsBench, fake: FakeEngine) -> None:
    sheet = bench.dialog
    fake.keys.set("openai", Secret("geheim-2"))
    sheet.pane.set_current("keys")
    await until(lambda: "openai" in read_in(sheet))
    assert "MISTRAL_API_KEY" in read_in(sheet)
    assert "geheim" not in " ".join(read_in(sheet))
    (forget,) = [one for one in sheet.findChildren(Button) if one.text() == "Forget"]
    forget.click()
    await until(lambda: "openai" not in read_in(sheet))
    assert fake.keys.typed("openai") is None


async def test_folders_are_listed_and_a_reset_closes_the_dialog(bench: SettingsBench) -> None:
    bench.dialog.pane.set_current("data")
    await until(lambda: "/srv/mine.db" in read_in(bench.dialog))
    next(one for one in bench.dialog.findChildren(Button) if one.text() == "Reset all settings").click()
    assert bench.applied == ["reset"]
    await until(lambda: not bench.window.findChildren(SettingsDialog))


def test_sizes_have_units() -> None:
    said = [size_text(size) for size in (0, 999, 1_500, 12_345_678, 3 * 10**9)]
    assert said == ["nothing yet", "999 bytes", "1.5 KB", "12 MB", "3.0 GB"]
