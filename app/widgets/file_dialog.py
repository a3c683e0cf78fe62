"""The one way to ask for a file or folder: a dialog that lists files by their names and opens none of them.

Closing any descriptor of a file takes all POSIX locks of the process on it, and SQLite needs its locks on the workspace
that is open here: without them, another process deletes the journal. Qt's own icon provider opens files to find out
their types, and so do the dialogs of desktops that run in this process (GTK). On Windows and macOS native dialogs are
safe: there, locks belong to handles, or the dialog is another process.
"""

import sys
from collections.abc import Callable
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

from PySide6.QtCore import QDir, QFileInfo
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QFileIconProvider, QStyle, QWidget

from app.theme import theme
from app.theme.current import application

NATIVE_IS_SAFE: Final = sys.platform in ("win32", "darwin")


class FileChoice(Enum):
    """The kind of choice that a file dialog offers."""

    FILE = "a file that exists"
    FILES = "several files that exist"
    NEW = "a file to write; Qt asks before one is replaced"
    NAME = "a file that exists, or the name of a new one"
    FOLDER = "a folder"


_MODES: Final = {
    FileChoice.FILE: QFileDialog.FileMode.ExistingFile,
    FileChoice.FILES: QFileDialog.FileMode.ExistingFiles,
    FileChoice.FOLDER: QFileDialog.FileMode.Directory,
}


class NamedIcons(QFileIconProvider):
    """Icons and types of files by their names alone; also asked on a thread of Qt, so that icons are made before."""

    def __init__(self) -> None:
        super().__init__()
        style, kinds = application().style(), QStyle.StandardPixmap
        self._folder, self._file = (style.standardIcon(kind) for kind in (kinds.SP_DirIcon, kinds.SP_FileIcon))

    def icon(self, what: QFileInfo | QFileIconProvider.IconType) -> QIcon:
        """Return the icon of a file or of a kind of place."""
        if isinstance(what, QFileInfo):
            return self._folder if what.isDir() else self._file
        return self._file if what == QFileIconProvider.IconType.File else self._folder

    def type(self, info: QFileInfo) -> str:
        """Return the text of the column "Type"."""
        return "Folder" if info.isDir() else f"{info.suffix().upper()} file".lstrip()


@cache
def _icons() -> NamedIcons:
    return NamedIcons()


def ask_path(
    parent: QWidget,
    title: str,
    chosen: Callable[[Path], object],
    choice: FileChoice = FileChoice.FILE,
    *,
    at: str | Path = "",
    filters: str = "",
    ending: str = "",
    verb: str = "",
) -> QFileDialog:
    """Open a dialog, and call `chosen` with the path that the user selects.

    `at` is a folder, or the name that is suggested for a new file; `filters` are separated by ";;". `ending` is added
    to names without one, and `verb` is the text of the button.
    """
    dialog = _dialog(parent, title, choice)
    if filters:
        dialog.setNameFilter(filters)
    if ending:
        dialog.setDefaultSuffix(ending)
    if verb:
        dialog.setLabelText(QFileDialog.DialogLabel.Accept, verb)
    if at and Path(at).is_dir():
        dialog.setDirectory(str(at))
    elif at:
        dialog.selectFile(str(at))
    dialog.fileSelected.connect(lambda name: chosen(Path(name)))
    dialog.open()
    return dialog


def ask_paths(parent: QWidget, title: str, chosen: Callable[[list[Path]], object], filters: str) -> QFileDialog:
    """Open a dialog, and call `chosen` with the files that the user selects; hidden ones are listed as well."""
    dialog = _dialog(parent, title, FileChoice.FILES)
    dialog.setNameFilter(filters)
    dialog.setFilter(dialog.filter() | QDir.Filter.Hidden)
    dialog.filesSelected.connect(lambda names: chosen([Path(name) for name in names]))
    dialog.open()
    return dialog


def _dialog(parent: QWidget, title: str, choice: FileChoice) -> QFileDialog:
    dialog = QFileDialog(parent, title)
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog, not NATIVE_IS_SAFE)
    dialog.setIconProvider(_icons())
    theme().apply_to(dialog)
    dialog.setFileMode(_MODES.get(choice, QFileDialog.FileMode.AnyFile))
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, choice is FileChoice.FOLDER)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite, choice is FileChoice.NAME)
    if choice in (FileChoice.NEW, FileChoice.NAME):
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.finished.connect(dialog.deleteLater)
    return dialog
