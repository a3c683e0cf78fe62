"""Dialogs for what a run still needs: consent to start a program or to send something, and API keys."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QWidget

from app.core_link.model_requests import ApiKeys, ModelKeys
from app.core_link.session import Session
from app.dialogs.consent_presenter import ConsentPresenter
from app.text.formatting import error_text
from app.theme import Role, sized, theme
from app.widgets import (
    Action,
    Dialog,
    Field,
    FittingPane,
    FlowText,
    KeyValues,
    Span,
    Spoken,
    button,
    column_layout,
    one_line,
    row_layout,
)
from mcp_tef import ConsentAnswer, ConsentKind, ConsentRequest, ModelError, ModelFault, Secret, consent_rows

T = TypeVar("T")
MOST_HEIGHT = 230
LABELS = 80
CONNECTION_HEIGHT = 330
WARNINGS = ("Check these", "Unencrypted")
WHY = {
    ConsentKind.PROGRAM: "It runs with your rights, and you have not allowed this command yet. "
    "You are asked again if it changes.",
    ConsentKind.CONNECTION: "You have not allowed this address yet. "
    "You are asked again if the address or the sent data changes.",
    ConsentKind.KEY: "The operator of this address can read and use your key.",
    ConsentKind.TOOL_CALL: "You have not allowed this tool yet. You are asked again if anything of this changes.",
    ConsentKind.PATH: "Somebody else wrote this path into the workspace, and you have not allowed it yet.",
}
ALLOW = {
    ConsentKind.PROGRAM: "Allow and start",
    ConsentKind.CONNECTION: "Allow and connect",
    ConsentKind.KEY: "Send the key",
    ConsentKind.TOOL_CALL: "Allow and execute",
    ConsentKind.PATH: "Allow and read",
}
CASES_NEED = {
    ConsentKind.PROGRAM: "These cases need a server that is a program on this computer.",
    ConsentKind.CONNECTION: "These cases need a server at this address.",
    ConsentKind.KEY: "The model uses an address that does not belong to the provider.",
    ConsentKind.TOOL_CALL: "This tool of the library acts outside this window.",
    ConsentKind.PATH: "These cases need tools from a file on this computer.",
}
MODEL_NEEDS = "Queries and tool definitions go to this address, which the workspace names."
READING_NEEDS = {
    ConsentKind.PROGRAM: "Its tools can only be read by starting this program on your computer.",
    ConsentKind.CONNECTION: "Its tools can only be read by connecting to this address.",
    ConsentKind.PATH: "Its tools can only be read from this file on your computer.",
}
Rows = list[tuple[str, str | list[Span]]]


class ConsentView(QWidget):
    """Everything that a consent covers; warnings stand apart, so that a long command cannot hide them."""

    def __init__(self) -> None:
        super().__init__()
        self._rows, self._warnings = KeyValues(label_width=sized(LABELS)), KeyValues(label_width=sized(LABELS))
        column = column_layout(self, spacing=4)
        for part, name in ((self._rows, "What you would allow"), (self._warnings, "Check these")):
            column.addWidget(FittingPane(part, name, lambda: MOST_HEIGHT))

    def show_request(self, request: ConsentRequest) -> None:
        """Show the facts and warnings of a request."""
        self._rows.set_rows(fact_rows(request))
        self._warnings.set_rows(warning_rows(request))


class ConsentDialog(Dialog):
    """Question about one consent; accepted if the user allows it.

    `without_key` is True if the user chose to go on without sending the key. `need` is the sentence about its
    purpose, `no` the text of the button that declines.
    """

    def __init__(self, request: ConsentRequest, parent: QWidget, need: str | None = None, no: str = "Cancel") -> None:
        super().__init__(one_line(request.title, 80), parent, width=620)
        self.request = request
        self.without_key = False
        self.body.addWidget(FlowText(purpose(request) if need is None else need, strong=True))
        self.body.addWidget(FlowText(why_text(request), role=Role.DIM))
        view = ConsentView()
        view.show_request(request)
        self.body.addWidget(view)
        if request.kind is ConsentKind.CONNECTION:
            self.need(height=CONNECTION_HEIGHT)
        actions = [Action(text=no, do=self.reject)]
        if request.kind is ConsentKind.KEY:
            actions.append(Action(text="Run without a key", do=self._go_without))
        if not request.obstacle:
            actions.append(Action(text=ALLOW[request.kind], do=self.accept, kind="primary"))
        self.set_buttons(actions)

    def _go_without(self) -> None:
        self.without_key = True
        self.accept()


def purpose(request: ConsentRequest) -> str:
    """Return what a batch needs an action for; addresses that belong to no server are those of models."""
    asks_model = request.kind is ConsentKind.CONNECTION and request.spec is None
    return MODEL_NEEDS if asks_model else CASES_NEED[request.kind]


async def with_consent(session: Session, parent: QWidget, work: Callable[[], Awaitable[T]]) -> T | None:
    """Do the work, asking for consent as needed; return None if the user cancels."""
    return await ConsentPresenter(session.call).ensure(work, partial(ask, parent))


async def ask(parent: QWidget, request: ConsentRequest, need: str | None = None, no: str = "Cancel") -> ConsentAnswer:
    """Ask one question and return the answer."""
    dialog = ConsentDialog(request, parent, need, no)
    if not await dialog.done_with():
        return ConsentAnswer.DECLINE
    return ConsentAnswer.WITHOUT_KEY if dialog.without_key else ConsentAnswer.ALLOW


async def ask_for_servers(session: Session, parent: QWidget) -> None:
    """Ask about each server that is not allowed yet, before all are read; a declined one is left out."""
    presenter = ConsentPresenter(session.call)
    for request in await presenter.open_questions():
        await presenter.settle(request, await ask(parent, request, READING_NEEDS[request.kind], "Leave it out"))


def fact_rows(request: ConsentRequest) -> Rows:
    """Return the facts of a request, each value on lines of its own."""
    rows = (row for row in consent_rows(request) if row[0] not in WARNINGS)
    return [(label, [Span("\n".join(lines), mono=True)]) for label, lines in rows]


def warning_rows(request: ConsentRequest) -> Rows:
    """Return the warnings of a request."""
    rows = (row for row in consent_rows(request) if row[0] in WARNINGS)
    return [(label, [Span("\n".join(_listed(lines)), Role.WARN)]) for label, lines in rows]


def _listed(lines: Sequence[str]) -> Sequence[str]:
    return lines if len(lines) == 1 else [f"• {line}" for line in lines]


QUESTIONS = {
    ConsentKind.PROGRAM: "This server is a program. Start it on this computer?",
    ConsentKind.CONNECTION: "Connect to this server?",
}


def why_text(request: ConsentRequest) -> str:
    """Return why a question is asked, or why only the command line can answer it."""
    if request.obstacle:
        return f"{request.obstacle} Only its hash allows it, on the command line: {request.by_hash}"
    return WHY[request.kind]


class ConsentBar(QFrame):
    """A question about one server inside a page or dialog; `agreed` and `postponed` are its answers."""

    agreed = Signal()
    postponed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._view = ConsentView()
        self._question, self._why = FlowText(strong=True), FlowText(role=Role.DIM)
        column = column_layout(self, self._question, self._why, self._view, margins=(16, 12, 16, 12), spacing=8)
        row = row_layout(spacing=8)
        self._start = button(Action(text=ALLOW[ConsentKind.PROGRAM], do=self.agreed.emit, kind="primary"))
        row.addWidget(self._start)
        row.addWidget(button(Action(text="Not now", do=self.postponed.emit)))
        row.addStretch(1)
        column.addLayout(row)
        self.hide()

    def ask(self, request: ConsentRequest, question: str = "") -> None:
        """Ask a question about consent; `question` stands instead of the one about a server."""
        self._question.set_text(question or QUESTIONS[request.kind])
        self._why.set_text(why_text(request))
        self._start.setVisible(not request.obstacle)
        self._start.setText(ALLOW[request.kind])
        self._view.show_request(request)
        self.show()

    def put_away(self, focus: QWidget | None) -> None:
        """Hide the question; the focus goes to this widget, not to what stands first in the window."""
        if focus is not None:
            focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().colour(Role.WARN_TINT))
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))


class Preflight:
    """Start of a batch that asks for a missing consent or key and tries again; other errors are raised."""

    def __init__(self, session: Session, parent: QWidget) -> None:
        self._session = session
        self._parent = parent

    async def run(self, work: Callable[[ApiKeys], Awaitable[T]], provider: str) -> T | None:
        """Start the batch, asking for missing consents and one key; return None if the user cancels."""
        keys: dict[str, Secret] = {}
        while True:
            try:
                return await with_consent(self._session, self._parent, lambda: work(keys))
            except ModelError as error:
                provider = str(error.context.get("provider") or provider)  # a group asks several providers
                wanted = str(error.context.get("given_as") or provider)
                if error.fault is not ModelFault.KEY_MISSING or wanted in keys:
                    raise
                key = await self._key(provider, wanted.partition("@")[2], error)
                if key is None:
                    return None
                keys[wanted] = key

    async def _key(self, provider: str, address: str, error: ModelError) -> Secret | None:
        dialog = ApiKeyDialog(provider, error_text(error).hint, self._parent, address)
        if not await dialog.done_with() or not dialog.key:
            return None
        key, remember = dialog.key, dialog.kept
        await ModelKeys(self._session.call).hold(provider, key, address=address, remember=remember)
        return key


class ApiKeyDialog(Dialog):
    """Field for one key; once accepted, `key` is the key and `kept` True if the keychain should remember it.

    `address` is where the key goes; empty for the provider's own.
    """

    def __init__(self, provider: str, hint: str, parent: QWidget, address: str = "") -> None:
        super().__init__(f"A key for {provider} is needed", parent, width=440)
        self.key: Secret | None = None
        self.kept = False
        # The keychain holds keys by provider, so one for another address would later go to the provider's own.
        self.input = ApiKeyField(can_remember=not address)
        self.edit = self.input.edit
        if address:
            self.body.addWidget(FlowText(f"It goes to {address} only. {WHY[ConsentKind.KEY]}"))
        self.body.addWidget(Field("Key", self.input, note=hint or "Kept in memory until you quit."))
        self.set_buttons(
            [Action(text="Cancel", do=self.reject), Action(text="Use this key", do=self._take, kind="primary")]
        )
        self.edit.setFocus()

    def _take(self) -> None:
        self.key = self.input.take()
        self.kept = self.input.remember.isChecked()
        self.accept()


class ApiKeyField(QWidget):
    """Hidden input for a key, with a choice to remember it; `take` returns the key once and clears the input."""

    SPOKEN_AS = Spoken.Grouping

    def __init__(self, *, can_remember: bool = True) -> None:
        super().__init__()
        self.edit = QLineEdit()
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setAccessibleName("Key")
        self.remember = QCheckBox("Remember in the system keychain")
        self.remember.setVisible(can_remember)
        self._provider = ""
        self.setAccessibleName("Key")
        self.setFocusProxy(self.edit)
        column_layout(self, self.edit, self.remember, spacing=6)

    def set_provider(self, provider: str, *, can_remember: bool = True) -> None:
        """Ask for a key of this provider; a key typed for another one is cleared, so that it is not sent there.

        An empty provider changes nothing else.
        """
        self.remember.setVisible(can_remember)
        if provider and self._provider not in ("", provider):
            self.edit.clear()
        self._provider = provider or self._provider

    def take(self) -> Secret | None:
        """Return the typed key, if any, and clear the input."""
        text = self.edit.text().strip()
        self.edit.clear()
        return Secret(text) if text else None
