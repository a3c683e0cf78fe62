"""The form for asking a language model, for every screen that may ask one: who, with which key, and at what cost."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout, QWidget

from app.core_link.model_requests import (
    KeyNeed,
    ModelForm,
    ModelFormField,
    ParsedModelRequest,
    WritingModels,
    parse_model_form,
)
from app.core_link.session import Session
from app.dialogs.consent import with_consent
from app.text.formatting import error_words
from app.theme import Role, Size
from app.widgets import Action, Button, Dialog, Field, FlowText, Notice, Picker, PickItem
from mcp_tef import ModelInfo, ModelSettings, Secret, TefError

QUIET_MS = 150


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """Texts of a model request: title, explanation, button label and estimated cost."""

    title: str
    what: str
    button: Callable[[], str]
    cost: Callable[[ModelSettings], Awaitable[str]]


class KeyPart(QWidget):
    """A key, and whether to remember it."""

    def __init__(self) -> None:
        super().__init__()
        self.edit = QLineEdit()
        self.edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.edit.setAccessibleName("Key")
        self.remember = QCheckBox("Remember in the system keychain")
        self._provider = ""
        self.setAccessibleName("Key")
        self.setFocusProxy(self.edit)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.edit)
        column.addWidget(self.remember)

    def ask_for(self, provider: str) -> None:
        """From now on it is this provider's; what was typed for another one goes to nobody."""
        if self._provider not in ("", provider):
            self.edit.clear()
        self._provider = provider or self._provider

    def take(self) -> Secret | None:
        """The key, which is forgotten here."""
        text = self.edit.text().strip()
        self.edit.clear()
        return Secret(text) if text else None


class ModelSheet(Dialog):
    """`agreed` is the model to ask, once the sheet was accepted."""

    def __init__(
        self,
        session: Session,
        asking: WritingModels,
        form: ModelForm,
        wanted: AskedFor,
        parent: QWidget,
        above: Sequence[QWidget] = (),
    ) -> None:
        super().__init__(wanted.title, parent, width=520)
        self.agreed: ModelSettings | None = None
        self._session, self._asking, self._wanted = session, asking, wanted
        self._need = KeyNeed()
        self._tried = False
        self._work: asyncio.Task[None] | None = None
        self._quiet = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._quiet.timeout.connect(self._look_up_soon)
        self.model = Picker("Model", "Choose a model")
        self.address = QLineEdit(form.base_url)
        self.key = KeyPart()
        self.estimate = FlowText(size=Size.SMALL, role=Role.DIM)
        self.notice = Notice("bad")
        self.fields = self._lay_out(form, above)
        go = Action(text=wanted.button(), do=lambda: session.spawn(self._agree(), of=self), kind="primary")
        self.ask: Button = self.set_buttons([Action(text="Cancel", do=self.reject), go])[-1]
        self._connect()
        self.look_again()
        session.spawn(self._load(), of=self)

    def _lay_out(self, form: ModelForm, above: Sequence[QWidget]) -> dict[ModelFormField, Field]:
        self.model.allow_other("Use {}")
        self.model.set_current(form.model)
        self.address.setPlaceholderText("Only for a server of your own, such as http://localhost:11434/v1")
        fields = {
            ModelFormField.MODEL: Field("Model", self.model),
            ModelFormField.BASE_URL: Field("Address", self.address),
            ModelFormField.KEY: Field("Key", self.key),
        }
        what = FlowText(self._wanted.what, role=Role.DIM)
        for part in (self.notice, what, *above, *fields.values(), self.estimate):
            self.body.addWidget(part)
        self.body.addStretch(1)
        fields[ModelFormField.KEY].hide()
        return fields

    def _connect(self) -> None:
        self.model.picked.connect(lambda _: self.look_again())
        self.model.other.connect(self._take_other)
        self.address.textEdited.connect(lambda _: self.look_again())
        self.finished.connect(lambda _: self._stop())
        self._session.closing.connect(self._quiet.stop)

    def form(self) -> ModelForm:
        """Return the current input."""
        return ModelForm(model=self.model.current(), base_url=self.address.text())

    def look_again(self) -> None:
        """Something has changed: read the form, and soon tell what asking would cost."""
        self._show(parse_model_form(self.form()))
        self.ask.setText(self._wanted.button())
        self.estimate.set_text("")
        self._quiet.start()

    def _take_other(self, text: str) -> None:
        self.model.set_current(text)
        self.look_again()

    def _show(self, reading: ParsedModelRequest, *, pressed: bool = False) -> None:
        """Everything once the button was pressed; before that not what simply was not typed yet."""
        problems = dict(reading.problems)
        if not self._tried and not self.form().model:
            problems.pop(ModelFormField.MODEL, None)
        if self._tried and (missing := self._need.missing(self.key.edit.text())):
            problems[ModelFormField.KEY] = missing
        for where, field in self.fields.items():
            typing = where is ModelFormField.BASE_URL and not pressed
            (field.tell if typing else field.set_error)(problems.get(where, ""))

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

    async def _look_up(self) -> None:
        model = parse_model_form(self.form()).model
        if model is None:
            return
        await self._show_need(model)
        try:
            self.estimate.set_text(await self._wanted.cost(model))
        except TefError as error:
            self.estimate.set_text(f"No estimate: {error.message}")

    async def _show_need(self, model: ModelSettings) -> None:
        self._need = await self._asking.key_need(model)
        self.key.ask_for(self._need.provider)
        self.fields[ModelFormField.KEY].set_note(self._need.hint)
        self.fields[ModelFormField.KEY].setVisible(self._need.needed)

    async def _agree(self) -> None:
        self._tried = True
        reading = parse_model_form(self.form())
        if reading.model is not None:
            await self._show_need(reading.model)
        self._show(reading, pressed=True)
        if reading.model is None or self._need.missing(self.key.edit.text()):
            return
        try:
            await self._hold_key(reading.model)
            if not await self._may_send_key(reading.model):
                return
        except TefError as error:
            words = error_words(error)
            self.notice.show_message(words.message, words.hint, details=words.details)
            return
        self.agreed = reading.model
        self.accept()

    async def _hold_key(self, model: ModelSettings) -> None:
        key = self.key.take()
        if self._need.needed and key is not None:
            remember = self.key.remember.isChecked()
            await self._asking.hold(self._need.provider, key, address=model.base_url, remember=remember)

    async def _may_send_key(self, model: ModelSettings) -> bool:
        """Ask where a key would go to an address that takes a consent; False where the user cancelled."""
        await self._asking.add_typed_address(model)

        async def check() -> bool:
            await self._asking.check_consents(model)
            return True

        return bool(await with_consent(self._session, self, check))


def _item(info: ModelInfo) -> PickItem:
    price = "" if info.input_price is None else f"${info.input_price * 1_000_000:.2f} per M tokens read"
    return PickItem(id=info.label, title=info.label, right=price)
