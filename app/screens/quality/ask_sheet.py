"""The form for asking a model: who is asked, with which key, about which tools, and what it would cost."""

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout, QWidget

from app.asking import AskForm, Blank, KeyNeed, Reading, read
from app.screens.quality.asking import Asking
from app.session import Session
from app.text import count, error_words
from app.theme import Role, Size
from app.widgets import Action, Button, Field, FlowText, Notice, Picker, PickItem, Segmented, Sheet
from mcp_tef import ModelInfo, ModelSettings, Secret, TefError, ToolQuality

QUIET_MS = 150
WHAT = (
    "A model reads each definition, grades its clarity, completeness and conciseness, and suggests a description. "
    "That is an opinion beside the findings; the score stays as it is."
)


class KeyPart(QWidget):
    """A key, and whether to remember it."""

    def __init__(self) -> None:
        super().__init__()
        self.edit = QLineEdit()
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setAccessibleName("Key")
        self.remember = QCheckBox("Remember in the system keychain")
        self.setAccessibleName("Key")
        self.setFocusProxy(self.edit)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.edit)
        column.addWidget(self.remember)

    def take(self) -> Secret | None:
        """The key, which is forgotten here."""
        text = self.edit.text().strip()
        self.edit.clear()
        return Secret(text) if text else None


class AskSheet(Sheet):
    """`agreed` is the model and the tools to ask about, once the sheet was accepted."""

    def __init__(
        self,
        session: Session,
        asking: Asking,
        form: AskForm,
        scopes: Sequence[tuple[str, Sequence[ToolQuality]]],
        parent: QWidget,
    ) -> None:
        super().__init__("Ask a model", parent, width=520)
        self.agreed: tuple[ModelSettings, tuple[ToolQuality, ...]] | None = None
        self._session = session
        self._asking = asking
        self._scopes = tuple((name, tuple(tools)) for name, tools in scopes)
        self._need = KeyNeed()
        self._tried = False
        self._work: asyncio.Task[None] | None = None
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(self._look_up_soon)
        self.model = Picker("Model", "Choose a model")
        self.address = QLineEdit(form.base_url)
        self.key = KeyPart()
        self.scope = Segmented([(str(n), name) for n, (name, _) in enumerate(self._scopes)], "Tools")
        self.estimate = FlowText(size=Size.SMALL, role=Role.DIM)
        self.notice = Notice("bad")
        self.fields = self._lay_out(form)
        self.ask: Button = self._buttons()
        self._connect()
        self._changed()
        session.spawn(self._load(), of=self)

    def _lay_out(self, form: AskForm) -> dict[Blank, Field]:
        self.model.allow_other("Use {}")
        self.model.set_current(form.model)
        self.address.setPlaceholderText("Only for a server of your own, such as http://localhost:11434/v1")
        fields = {
            Blank.MODEL: Field("Model", self.model),
            Blank.BASE_URL: Field("Address", self.address),
            Blank.KEY: Field("Key", self.key),
        }
        parts = (
            self.notice,
            FlowText(WHAT, role=Role.DIM),
            Field("Tools", self.scope),
            *fields.values(),
            self.estimate,
        )
        for part in parts:
            self.body.addWidget(part)
        self.body.addStretch(1)
        fields[Blank.KEY].hide()
        return fields

    def _buttons(self) -> Button:
        go = Action(text="Ask", do=self._go, kind="primary")
        return self.set_buttons([Action(text="Cancel", do=self.reject), go])[-1]

    def _connect(self) -> None:
        self.model.picked.connect(lambda _: self._changed())
        self.model.other.connect(self._take_other)
        self.address.textEdited.connect(lambda _: self._changed())
        self.scope.changed.connect(lambda _: self._changed())
        self.finished.connect(lambda _: self._stop())
        self._session.closing.connect(self._quiet.stop)

    def form(self) -> AskForm:
        """What is typed now."""
        return AskForm(model=self.model.current(), base_url=self.address.text())

    def tools(self) -> tuple[ToolQuality, ...]:
        """The tools of the chosen scope."""
        return self._scopes[int(self.scope.current())][1]

    def _take_other(self, text: str) -> None:
        self.model.set_current(text)
        self._changed()

    def _changed(self) -> None:
        reading = read(self.form())
        self._show(reading)
        self.ask.setText(f"Ask about {count(len(self.tools()), 'tool')}")
        if reading.model is None:
            self.estimate.set_text("")
        self._quiet.start()

    def _show(self, reading: Reading) -> None:
        problems = dict(reading.problems)
        if not self._tried and not self.form().model:
            problems.pop(Blank.MODEL, None)
        if self._tried and self._need.needed and not self.key.edit.text().strip():
            problems[Blank.KEY] = self._need.missing
        for where, field in self.fields.items():
            field.set_error(problems.get(where, ""))

    def _look_up_soon(self) -> None:
        self._stop()
        self._work = self._session.spawn(self._look_up(), of=self)

    def _stop(self) -> None:
        self._quiet.stop()
        if self._work is not None:
            self._work.cancel()

    async def _load(self) -> None:
        known = await self._asking.models()
        self.model.set_items([_item(info) for info in known])
        self.model.set_footer("{shown} of {all} models, known offline. Any other may be typed.")

    async def _look_up(self) -> None:
        model = read(self.form()).model
        if model is None:
            return
        await self._show_need(model)
        try:
            self.estimate.set_text(await self._asking.estimate(self.tools(), model))
        except TefError as error:
            self.estimate.set_text(f"No estimate: {error.message}")

    async def _show_need(self, model: ModelSettings) -> None:
        self._need = await self._asking.key_need(model)
        self.fields[Blank.KEY].set_note(self._need.hint)
        self.fields[Blank.KEY].setVisible(self._need.needed)

    def _go(self) -> None:
        self._session.spawn(self._agree(), of=self)

    async def _agree(self) -> None:
        self._tried = True
        reading = read(self.form())
        if reading.model is not None:
            await self._show_need(reading.model)
        self._show(reading)
        if reading.model is None or (self._need.needed and not self.key.edit.text().strip()):
            return
        try:
            await self._hold_key()
        except TefError as error:
            words = error_words(error)
            self.notice.show_message(words.message, words.hint, details=words.details)
            return
        self.agreed = (reading.model, self.tools())
        self.accept()

    async def _hold_key(self) -> None:
        if self._need.needed and (key := self.key.take()) is not None:
            await self._asking.hold(self._need.provider, key, remember=self.key.remember.isChecked())


def _item(info: ModelInfo) -> PickItem:
    price = "" if info.input_price is None else f"${info.input_price * 1_000_000:.2f} per M tokens read"
    return PickItem(id=info.label, title=info.label, right=price)
