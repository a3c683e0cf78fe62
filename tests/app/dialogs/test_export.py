"""Export dialog: the format of a file, its name, and files that cannot be written."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from app.dialogs.export import (
    FORMAT_PURPOSES,
    MAX_NAME,
    REPORT_FORMATS,
    Writer,
    ask_file,
    ask_format,
    file_name,
    save,
    text_writer,
    writer_of,
)
from mcp_tef import ReportFormat, TefError
from tests.support.windows import session_for, until
from tests.support.workspace_files import a_workspace


def writers() -> dict[str, Writer]:
    """A writer for each ending, which writes the ending."""
    return {ending: text_writer(ending) for ending in ("html", "pdf", "csv", "json", "xml")}


@pytest.mark.parametrize(("name", "ending"), [("a.html", "html"), ("a.CSV", "csv"), ("a.pdf", "pdf"), ("a.xml", "xml")])
def test_the_ending_decides_the_format(name: str, ending: str) -> None:
    known = writers()
    assert writer_of(Path(name), "json", known) is known[ending]


def test_the_selected_format_decides_for_an_unknown_ending() -> None:
    known = writers()
    assert writer_of(Path("a.txt"), "csv", known) is known["csv"]
    assert writer_of(Path("a"), "html", known) is known["html"]


def test_every_report_format_has_an_ending() -> None:
    assert set(REPORT_FORMATS.values()) == set(ReportFormat)


def test_a_title_becomes_a_name_that_every_system_takes() -> None:
    assert file_name("Expected on docs: “a/b” \\ …") == "expected-on-docs-a-b"
    assert file_name("../..") == "results"
    assert len(file_name("x" * 500)) == MAX_NAME


async def test_a_selected_file_is_written_and_named_in_a_message(qapp: QApplication, tmp_path: Path) -> None:
    said: list[str] = []
    async with session_for() as (session, _):
        session.toasted.connect(lambda text, _: said.append(text))
        parent = QWidget()
        dialog = ask_file(parent, session, "Export the report", "report", writers())
        assert Path(dialog.selectedFiles()[0]).name == "report.html"
        assert len(dialog.nameFilters()) == 5
        dialog.fileSelected.emit(str(tmp_path / "a.csv"))
        dialog.reject()
        await until(lambda: said == ["Saved a.csv"])
    assert (tmp_path / "a.csv").read_text() == "csv"


def test_every_format_of_results_says_what_it_is_for() -> None:
    assert set(FORMAT_PURPOSES) == {*REPORT_FORMATS, "pdf"}
    assert len(set(FORMAT_PURPOSES.values())) == len(FORMAT_PURPOSES)


async def test_the_selected_format_is_the_one_that_the_file_dialog_proposes(qapp: QApplication, tmp_path: Path) -> None:
    said: list[str] = []
    async with session_for() as (session, _):
        session.toasted.connect(lambda text, _: said.append(text))
        parent = QWidget()
        formats = ask_format(parent, session, "Export the report", "report", writers())
        rows = formats.table.rows
        assert [rows.row(number).id for number in range(rows.rowCount())] == list(writers())
        formats.table.select("csv")
        QTest.keyClick(formats.table, Qt.Key.Key_Return)
        (dialog,) = parent.findChildren(QFileDialog)
        assert Path(dialog.selectedFiles()[0]).name == "report.csv"
        dialog.fileSelected.emit(str(tmp_path / "a.csv"))
        dialog.reject()
        await until(lambda: said == ["Saved a.csv"])
        ask_format(parent, session, "Export the report", "report", writers()).reject()
        assert not [one for one in parent.findChildren(QFileDialog) if one.isVisible()]


async def test_a_file_that_cannot_be_written_is_named(qapp: QApplication, tmp_path: Path) -> None:
    failed: list[str] = []
    async with session_for() as (session, _):
        session.failed.connect(lambda message, _hint, _details: failed.append(message))
        await save(session, tmp_path / "missing" / "a.csv", text_writer("text"))
    assert failed == ["a.csv could not be written."]


async def test_no_export_replaces_a_workspace(qapp: QApplication, tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path)
    before = workspace.read_bytes()
    async with session_for() as (session, _):
        with pytest.raises(TefError, match="which is never replaced"):
            await save(session, workspace, text_writer("text"))
    assert workspace.read_bytes() == before
