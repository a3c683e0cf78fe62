"""What an import of cases would do is shown as a table: sorted, searched, each case told in full."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.screens.cases.import_export import CaseImportDialog
from app.screens.cases.import_export_presenter import CaseFilesPresenter
from app.widgets import Button, FlowText
from mcp_tef import CaseDraft, CaseFileFormat, CaseImportPreview, FieldChange, ImportedCase, ImportStatus, InputError
from tests.support.cases_page import Bench

CHAIN = "<b>Chain</b>⟨U+202E⟩"
DRAFT = CaseDraft(name="Tandem", query="I want a tandem")
CHANGE = FieldChange("query", "A bike", "I want a tandem")
CASES = (
    ImportedCase(label="Tandem", place="case 1", fate=ImportStatus.ADDED, draft=DRAFT),
    ImportedCase(label="Bell", place="case 2", fate=ImportStatus.CHANGED, draft=DRAFT, changes=(CHANGE,)),
    ImportedCase(label="<b>Chain</b>\u202e", place="case 3", fate=ImportStatus.REFUSED, reason="It has no query."),
    ImportedCase(label="Lamp", place="case 4", fate=ImportStatus.UNCHANGED, draft=DRAFT),
)
PREVIEW = CaseImportPreview(source="cases.yaml", form=CaseFileFormat.TEF, cases=CASES, servers=())


@pytest.fixture
def sheet(qtbot: QtBot) -> CaseImportDialog:
    return shown(qtbot, PREVIEW)


def shown(qtbot: QtBot, preview: CaseImportPreview) -> CaseImportDialog:
    """The sheet over a window, which takes it along when it goes."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1100, 800)
    window.show()
    made = CaseImportDialog(preview, window)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    made.show()
    return made


def labels(sheet: CaseImportDialog) -> list[str]:
    return [sheet.table.rows.row(place).cells[1].text for place in range(sheet.table.rows.rowCount())]


def said(sheet: CaseImportDialog) -> str:
    return "\n".join(text.text() for text in sheet.findChildren(FlowText) if text.isVisible())


def buttons(sheet: CaseImportDialog) -> list[str]:
    return [made.text() for made in sheet.findChildren(Button) if made.isVisible()]


def test_what_is_refused_comes_first_and_is_told_in_full(sheet: CaseImportDialog, qtbot: QtBot) -> None:
    assert labels(sheet) == [CHAIN, "Bell", "Tandem", "Lamp"]
    qtbot.waitUntil(lambda: "It has no query." in said(sheet), timeout=30_000)
    for words in ("1 added, 1 changed, 1 unchanged, 1 refused.", CHAIN, "It has no query.", "case 3"):
        assert words in said(sheet)
    assert buttons(sheet) == ["Cancel", "Import 2 cases"]


def test_a_change_is_told_from_what_to_what(sheet: CaseImportDialog, qtbot: QtBot) -> None:
    sheet.table.setFocus()
    QTest.keyClick(sheet.table, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: "A bike → I want a tandem" in said(sheet), timeout=30_000)


def test_cases_are_searched_by_name_fate_and_reason(sheet: CaseImportDialog, qtbot: QtBot) -> None:
    QTest.keyClicks(sheet.search, "no QUERY")
    qtbot.waitUntil(lambda: labels(sheet) == [CHAIN], timeout=30_000)
    sheet.search.clear()
    QTest.keyClicks(sheet.search, "changed tandem")
    qtbot.waitUntil(lambda: labels(sheet) == ["Bell"], timeout=30_000)


def test_cases_are_sorted_by_a_column(sheet: CaseImportDialog) -> None:
    sheet.table.sort_by(1)
    assert labels(sheet) == [CHAIN, "Bell", "Lamp", "Tandem"]


def test_a_file_without_cases_can_only_be_closed(qtbot: QtBot) -> None:
    made = shown(qtbot, replace(PREVIEW, cases=()))
    assert "The file holds no cases" in said(made)
    assert buttons(made) == ["Close"]
    assert not made.table.isVisible()


def test_enter_in_the_search_imports_nothing_and_on_the_button_it_does(sheet: CaseImportDialog, qtbot: QtBot) -> None:
    ended: list[int] = []
    sheet.finished.connect(ended.append)
    sheet.search.setFocus()
    QTest.keyClicks(sheet.search, "tandem")
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        QTest.keyClick(sheet.search, key)
    assert (sheet.isVisible(), ended) == (True, [])
    (button,) = [one for one in sheet.findChildren(Button) if one.text().startswith("Import ")]
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Return)
    assert ended == [CaseImportDialog.DialogCode.Accepted]


async def test_the_preview_notes_an_expected_tool_that_no_server_offers(bench: Bench) -> None:
    files = CaseFilesPresenter(bench.page.presenter, lambda _, work: bench.session.call(work), _never)
    text = "cases: [{query: A bell?, servers: [Bike shop], expected: [{tool: serch_bikes}]}]"
    (case,) = (await files.preview_text(text)).cases
    assert case.fate is ImportStatus.ADDED
    assert "has a tool named serch_bikes." in case.notes[0]


async def test_a_recording_is_reviewed_on_a_terminal(bench: Bench, tmp_path: Path) -> None:
    files = CaseFilesPresenter(bench.page.presenter, lambda _, work: bench.session.call(work), _never)
    messages = [{"role": "user", "content": "A bell?"}, {"role": "assistant", "content": "Yes"}]
    (tmp_path / "trace.jsonl").write_text(json.dumps({"messages": messages}), "utf-8")
    with pytest.raises(InputError, match="each row has to be reviewed") as refused:
        await files.preview_file(tmp_path / "trace.jsonl", None)
    assert "mcp-tef cases import" in refused.value.hint


async def _never(_title: str, _work: object) -> object:
    raise AssertionError("nothing is imported")
