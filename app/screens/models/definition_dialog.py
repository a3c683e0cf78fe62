"""Forms of definitions: the core checks and keeps them, and an error leaves everything that was typed in its place."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from PySide6.QtWidgets import QWidget

from app.core_link.session import Session
from app.text.formatting import error_text
from app.widgets import Action, Dialog, Field, FlowText, LineEdit, Notice, Picker, PickItem, TextArea
from mcp_tef import TefError

Keep = Callable[[], Awaitable[object]]


class DefinitionDialog(Dialog):
    """A form that is accepted once `keep` did not raise; opened by `kept`."""

    def __init__(self, session: Session, title: str, button: str, parent: QWidget, *, width: int = 480) -> None:
        super().__init__(title, parent, width=width)
        self._session = session
        self.keep: Keep = _keep_nothing
        self._kept: Any = None
        self.notice = Notice("bad")
        self.body.addWidget(self.notice)
        done = Action(text=button, do=lambda: session.spawn(self.agree(), of=self), kind="primary")
        self.set_buttons([Action(text="Cancel", do=self.reject), done])

    async def agree(self) -> None:
        """Have the form kept and accept it, or show in one sentence why not."""
        self.notice.clear()
        try:
            self._kept = await self.keep()
        except TefError as error:
            words = error_text(error)
            self.notice.show_message(words.message, words.hint, details=words.details)
        else:
            self.accept()

    async def kept(self, keep: Keep) -> Any:
        """Open the form and return what `keep` returned; None if the user cancels."""
        self.keep = keep
        return self._kept if await self.done_with() else None

    def add_line(self, label: str, text: str = "", *, note: str = "", hint: str = "") -> LineEdit:
        """Add a field of one line."""
        edit = LineEdit()
        edit.setText(text)
        edit.setPlaceholderText(hint)
        self.body.addWidget(Field(label, edit, note=note))
        return edit

    def add_model(self, label: str, known: Sequence[PickItem], current: str = "", note: str = "") -> Picker:
        """Add a field for one of the known models, or any other that is typed."""
        made = model_picker(label, known, current)
        self.body.addWidget(Field(label, made, note=note))
        return made


async def _keep_nothing() -> None:
    """Stand in until the form is opened."""


class LinesDialog(DefinitionDialog):
    """Asks for one or several lines of text; `lines` are those that are not empty."""

    def __init__(
        self, session: Session, title: str, button: str, parent: QWidget, *, note: str = "", text: str = ""
    ) -> None:
        super().__init__(session, title, button, parent, width=520)
        self.area = TextArea(lines=4)
        self.area.setPlainText(text)
        self.body.addWidget(FlowText(note)) if note else None
        self.area.setAccessibleName(title)
        self.body.addWidget(self.area)
        self.area.setFocus()

    def lines(self) -> tuple[str, ...]:
        """Return the lines that hold something."""
        return tuple(line.strip() for line in self.area.text().splitlines() if line.strip())


def model_picker(label: str, known: Sequence[PickItem], current: str = "") -> Picker:
    """Return a field for one of the known models, which takes any other name as well."""
    made = Picker(label, "Select a model")
    made.set_items(known)
    made.allow_other("Use {}")
    made.other.connect(made.set_current)
    made.picked.connect(made.set_current)
    made.set_footer("{shown} of {all} known models. You can type any other.")
    made.set_current(current)
    return made


def model_items(labels: Sequence[str]) -> list[PickItem]:
    """Return models as items of a field."""
    return [PickItem(id=label, title=label) for label in labels]
