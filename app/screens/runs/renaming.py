"""Another name for a batch, so that it is found again among many."""

from functools import partial

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.screens.runs.presenter import RunsPresenter
from app.widgets import Action, Field, LineEdit, Sheet, one_line
from mcp_tef import Batch

EMPTY = "Write a name."


class RenameSheet(Sheet):
    """`name` is the new one, once the sheet was accepted."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__("Rename the batch", parent, width=420)
        self.name = name
        self.edit = LineEdit()
        self.edit.setText(name)
        self.edit.selectAll()
        self._field = Field("Name", self.edit)
        self.body.addWidget(self._field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Rename", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self._field.tell("" if self.edit.text().strip() else EMPTY))
        self.edit.setFocus()

    def _agree(self) -> None:
        name = self.edit.text().strip()
        if not name:
            self._field.set_error(EMPTY)
        elif name == self.name:
            self.reject()
        else:
            self.name = name
            self.accept()


async def rename_batch(session: Session, presenter: RunsPresenter, batch: Batch, parent: QWidget) -> None:
    """Ask, and rename, with a way back."""
    sheet = RenameSheet(batch.name, parent)
    if await sheet.done_with():
        await presenter.rename(batch.id, sheet.name)
        back, again = (partial(presenter.rename, batch.id, name) for name in (batch.name, sheet.name))
        deed = f"rename “{one_line(batch.name, 40)}”"
        session.toast(f"Renamed to {one_line(sheet.name, 60)}", back, again, deed=deed)
