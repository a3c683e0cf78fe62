"""Result of asking a model hello: each step with its mark, and one sentence."""

from typing import Final

from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import ModelKeys
from app.core_link.session import Session
from app.dialogs.consent import ApiKeyDialog
from app.screens.models.catalogue_presenter import check_text, step_texts
from app.theme import Role
from app.widgets import FlowText, Label, Mark, MarkLabel, clear_layout, column_layout, row_layout
from mcp_tef import CheckState, ModelCheck, ModelFault

MARKS: Final = {CheckState.OK: Mark.CHECK, CheckState.FAILED: Mark.CROSS, CheckState.UNCHECKED: Mark.RING}


class CheckPane(QWidget):
    """The steps of a check, or what is said before there is one."""

    def __init__(self, before: str) -> None:
        super().__init__()
        self._before = before
        self.sentence = FlowText(before, role=Role.DIM)
        self._steps = column_layout(spacing=4)
        column_layout(self, self._steps, self.sentence, spacing=8)

    def show_check(self, check: ModelCheck | None, *, asking: bool = False) -> None:
        """Show a check, that one is under way, or that there is none."""
        clear_layout(self._steps)
        if check is None or asking:
            self.sentence.set_text("Asking hello…" if asking else self._before, Role.DIM)
            return
        for state, text in step_texts(check):
            self._steps.addWidget(_step(state, text))
        self.sentence.set_text(check_text(check), Role.BAD if check.failed else Role.TEXT)


def needs_key(check: ModelCheck | None) -> bool:
    """Return True for a check that another key may get further."""
    return check is not None and check.code in (ModelFault.KEY_MISSING, ModelFault.KEY_WRONG)


async def ask_for_key(session: Session, parent: QWidget, provider: str, address: str | None) -> bool:
    """Ask for a key and keep it for the session; return False if the user cancels."""
    dialog = ApiKeyDialog(provider, "Kept in memory until you quit.", parent, address or "")
    if not await dialog.done_with() or dialog.key is None:
        return False
    await ModelKeys(session.call).hold(provider, dialog.key, address=address, remember=dialog.kept)
    return True


def _step(state: CheckState, text: str) -> QWidget:
    made = QWidget()
    row = row_layout(made, MarkLabel(MARKS[state], state.value), spacing=8)
    row.addWidget(Label(text, role=Role.DIM if state is CheckState.UNCHECKED else Role.TEXT), 1)
    return made
