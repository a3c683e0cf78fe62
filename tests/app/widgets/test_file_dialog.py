"""Each kind of file dialog lists the folder of an open workspace, and SQLite keeps its locks on it."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QFileDialog, QFileSystemModel, QWidget

from app.widgets.file_dialog import FileChoice, ask_path, ask_paths
from tests.support.windows import until

READ_IT = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT * FROM cases').fetchall()"


def opened(parent: QWidget, choice: FileChoice, folder: Path, chosen: list[Path]) -> QFileDialog:
    if choice is FileChoice.FILES:
        dialog = ask_paths(parent, "Select", chosen.extend, "All files (*)")
        dialog.setDirectory(str(folder))
        return dialog
    return ask_path(parent, "Select", chosen.append, choice, at=folder, filters="All files (*)")


def read_elsewhere(file: Path) -> None:
    """Have another process read a database, and be the last one to close it as far as locks tell."""
    subprocess.run([sys.executable, "-I", "-c", READ_IT, file], check=True)


async def listed(dialog: QFileDialog, names: set[str]) -> None:
    """Wait until a dialog lists these names, each with its type, which Qt looks for last."""
    model = dialog.findChild(QFileSystemModel)
    assert isinstance(model, QFileSystemModel)

    def types() -> dict[str, str]:
        root = model.index(dialog.directory().path())
        rows = [model.index(row, 0, root) for row in range(model.rowCount(root))]
        return {model.fileName(row): model.type(row) for row in rows}

    await until(lambda: {name for name, kind in types().items() if kind} >= names)


@pytest.mark.parametrize("choice", FileChoice)
async def test_another_process_leaves_the_journal_to_the_window(
    qapp: QApplication, choice: FileChoice, tmp_path: Path
) -> None:
    file, parent, chosen = tmp_path / "work.db", QWidget(), list[Path]()
    (tmp_path / "folder").mkdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as workspace:
        workspace.execute("PRAGMA journal_mode = WAL")
        workspace.execute("CREATE TABLE cases (name)")
        dialog = opened(parent, choice, tmp_path, chosen)
        await listed(dialog, {"folder"} if choice is FileChoice.FOLDER else {"folder", "work.db", "work.db-shm"})
        read_elsewhere(file)
        assert file.with_name("work.db-wal").exists()
        dialog.reject()
    parent.deleteLater()
    assert chosen == []


async def test_the_path_that_is_selected_is_handed_over_once(qapp: QApplication, tmp_path: Path) -> None:
    parent, chosen = QWidget(), list[Path]()
    dialog = ask_path(parent, "Save", chosen.append, FileChoice.NEW, at=tmp_path, ending="csv", verb="Save")
    await listed(dialog, set())
    dialog.selectFile("report")
    dialog.accept()
    await until(lambda: chosen)
    assert chosen == [tmp_path / "report.csv"]
    parent.deleteLater()
