"""Dialog that asks for a new name of a workspace."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from app.widgets import Action, Dialog, Field, LineEdit
from mcp_tef import InputError

NOTE = "The workspace stays in its folder with all its content."


class RenameWorkspaceDialog(Dialog):
    """Field for the new name; `check` raises InputError for a name that cannot be used.

    `name` is the new one once the dialog is accepted.
    """

    def __init__(self, path: Path, check: Callable[[Path, str], object], parent: QWidget) -> None:
        super().__init__("Rename workspace", parent, width=420)
        self.name = path.stem
        self._path, self._check = path, check
        self.edit = LineEdit()
        self.edit.setText(path.stem)
        self.edit.selectAll()
        self.field = Field("Name", self.edit, note=NOTE)
        self.body.addWidget(self.field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Rename", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self.field.tell(self._fault()))
        self.edit.setFocus()

    def _agree(self) -> None:
        fault = self._fault()
        self.field.set_error(fault)
        if not fault:
            self.name = self.edit.text().strip()
            self.accept()

    def _fault(self) -> str:
        try:
            self._check(self._path, self.edit.text().strip())
        except InputError as error:
            return error.message
        return ""


async def ask_for_workspace_name(parent: QWidget, path: Path) -> str | None:
    """Ask for a new name of a workspace; return None if the user cancels."""
    from mcp_tef import renamed_path

    dialog = RenameWorkspaceDialog(path, renamed_path, parent)
    return dialog.name if await dialog.done_with() else None
