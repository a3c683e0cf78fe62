"""The form for asking a model to rewrite descriptions: which model, with which key, and what it would cost."""

import asyncio

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout, QWidget

from app.asking import AskForm, Blank, KeyNeed, read
from app.screens.similarity.asking import Asking, Pairs
from app.session import Session
from app.text import count, error_words
from app.theme import Role, Size
from app.widgets import Action, Button, Field, FlowText, Notice, Picker, PickItem, Sheet
from mcp_tef import ModelInfo, ModelSettings, Secret, TefError

QUIET_MS = 150
WHAT = (
    "A model reads both definitions and what makes them hard to tell apart, and writes new descriptions. Nothing is "
    "changed on any server: you copy or save what you like."
)


class AskSheet(Sheet):
    """`agreed` is the model to ask, once the sheet was accepted, and `kept` what to fill in the next time."""

    def __init__(self, session: Session, asking: Asking, pairs: Pairs, kept: tuple[str, str], parent: QWidget) -> None:
        super().__init__("Ask a model for descriptions", parent, width=520)
        self.agreed: ModelSettings | None = None
        self.kept = kept
        self._session, self._asking, self._pairs = session, asking, pairs
        self._need = KeyNeed()
        self._work: asyncio.Task[None] | None = None
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(self._look_up_soon)
        self.model = Picker("Model", "Choose a model")
        self.address = QLineEdit(kept[1])
        self.key = QLineEdit()
        self.remember = QCheckBox("Remember in the system keychain")
        self.estimate = FlowText(size=Size.SMALL, role=Role.DIM)
        self.notice = Notice("bad")
        self.fields = self._lay_out(kept[0])
        self.go = self._buttons()
        self._connect()
        self._changed()
        session.spawn(self._load(), of=self)

    def _lay_out(self, model: str) -> dict[Blank, Field]:
        self.model.allow_other("Use {}")
        self.model.set_current(model)
        self.address.setPlaceholderText("Only for a server of your own, such as http://localhost:11434/v1")
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        key = QWidget()
        column = QVBoxLayout(key)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.key)
        column.addWidget(self.remember)
        key.setFocusProxy(self.key)
        self.key.setAccessibleName("Key")
        fields = {
            Blank.MODEL: Field("Model", self.model),
            Blank.BASE_URL: Field("Address", self.address),
            Blank.KEY: Field("Key", key),
        }
        for part in (self.notice, FlowText(WHAT, role=Role.DIM), *fields.values(), self.estimate):
            self.body.addWidget(part)
        self.body.addStretch(1)
        fields[Blank.KEY].hide()
        return fields

    def _buttons(self) -> Button:
        go = Action(
            text=f"Ask about {count(len(self._pairs), 'pair')}",
            do=lambda: self._session.spawn(self._agree(), of=self),
            kind="primary",
        )
        return self.set_buttons([Action(text="Cancel", do=self.reject), go])[-1]

    def _connect(self) -> None:
        self.model.picked.connect(lambda _: self._changed())
        self.model.other.connect(self._take_other)
        self.address.textEdited.connect(lambda _: self._changed())
        self.finished.connect(lambda _: self._stop())
        self._session.closing.connect(self._quiet.stop)

    def _take_other(self, text: str) -> None:
        self.model.set_current(text)
        self._changed()

    def _changed(self) -> None:
        self._read(complain=False)
        self.estimate.set_text("")
        self._quiet.start()

    def _look_up_soon(self) -> None:
        self._stop()
        self._work = self._session.spawn(self._look_up(), of=self)

    def _stop(self) -> None:
        self._quiet.stop()
        if self._work is not None:
            self._work.cancel()

    async def _load(self) -> None:
        self.model.set_items([_item(info) for info in await self._asking.models()])
        self.model.set_footer("{shown} of {all} models, known offline. Any other may be typed.")

    def _read(self, *, complain: bool) -> ModelSettings | None:
        reading = read(AskForm(model=self.model.current(), base_url=self.address.text()))
        for where in (Blank.MODEL, Blank.BASE_URL):
            told = complain or bool(self.model.current())
            self.fields[where].set_error(reading.problems.get(where, "") if told else "")
        return reading.model

    async def _look_up(self) -> None:
        model = self._read(complain=False)
        if model is None:
            return
        await self._show_need(model)
        try:
            self.estimate.set_text(await self._asking.estimate(self._pairs, model))
        except TefError as error:
            self.estimate.set_text(f"No estimate: {error.message}")

    async def _show_need(self, model: ModelSettings) -> None:
        self._need = await self._asking.key_need(model)
        self.fields[Blank.KEY].set_note(self._need.hint)
        self.fields[Blank.KEY].setVisible(self._need.needed)

    async def _agree(self) -> None:
        model = self._read(complain=True)
        if model is None:
            return
        await self._show_need(model)
        if self._need.needed and not self.key.text().strip():
            self.fields[Blank.KEY].set_error(self._need.missing)
            return
        try:
            await self._hold_key()
        except TefError as error:
            words = error_words(error)
            self.notice.show_message(words.message, words.hint, details=words.details)
            return
        self.agreed, self.kept = model, (self.model.current(), self.address.text())
        self.accept()

    async def _hold_key(self) -> None:
        text = self.key.text().strip()
        self.key.clear()
        if self._need.needed and text:
            await self._asking.hold(self._need.provider, Secret(text), remember=self.remember.isChecked())


def _item(info: ModelInfo) -> PickItem:
    price = "" if info.input_price is None else f"${info.input_price * 1_000_000:.2f} per M tokens read"
    return PickItem(id=info.label, title=info.label, right=price)
