"""Requests to a language model: the dialog with model, key and estimated cost, the progress, and the summary."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core_link.model_requests import (
    KeyNeed,
    ModelForm,
    ModelFormField,
    ParsedModelRequest,
    WritingModels,
    parse_model_form,
)
from app.core_link.session import Page, Session
from app.core_link.settings import Settings
from app.dialogs.consent import ApiKeyField, with_consent
from app.text.formatting import count, duration, error_text, money, rounded
from app.theme import Role, Size
from app.widgets import Action, Button, Dialog, Field, FlowText, Notice, Picker, PickItem, Segmented
from mcp_tef import Estimate, ModelInfo, ModelSettings, TefError

DEBOUNCE_MS: Final = 150
LAST_MODEL: Final = "model_request"
REPLACED_KEY: Final = "quality.ask"
Items = Sequence[Any]
Scopes = Sequence[tuple[str, Items]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTask:
    """Work that a model does for each of several items.

    Attributes:
        title: title of the dialog.
        explanation: text below the title.
        noun: name of one item, such as "tool".
        activity: text after the model's name while it works: "reviews definitions".
        result: text between the model's name and the number of items in the summary: "reviewed".
        estimate: estimates a request for these items.
        run: sends the request under a cost cap in US dollars; calls back with each answer, on the core's thread.
        cost: cost of an answer in US dollars; None if unknown.
        button: text of the button; empty for "Ask about 12 tools".
        starts_others: True if other dialogs start with the model that was agreed to.
    """

    title: str
    explanation: str
    noun: str
    activity: str
    result: str
    estimate: Callable[[Items, ModelSettings], Awaitable[Estimate]]
    run: Callable[[Items, ModelSettings, Callable[[Any], None], float | None], Awaitable[object]]
    cost: Callable[[Any], float | None]
    button: str = ""
    starts_others: bool = True


def estimate_text(items: int, noun: str, estimate: Estimate) -> str:
    """Return an estimate in one line; an unknown cost is named as such."""
    parts = [count(items, noun)]
    parts += [f"about {count(rounded(estimate.tokens), 'token')}"] if estimate.tokens else []
    parts += [f"about {duration(estimate.seconds)}"] if estimate.seconds else []
    parts.append("cost unknown" if estimate.cost_usd is None else f"about {money(estimate.cost_usd)}")
    return " · ".join(parts)


class ModelRequests(QObject):
    """Requests of a page to a model, one at a time.

    `changed` tells that a request started or ended; `answered` gives each answer, on the window's thread.
    """

    changed = Signal()
    answered = Signal(object)
    _received = Signal(object)

    def __init__(self, page: Page, task: ModelTask) -> None:
        super().__init__(page)
        self.bar = page.session.activity.add()
        self.dialog: ModelRequestDialog | None = None
        self._page, self._task = page, task
        self._progress: RequestProgress | None = None
        self._work: asyncio.Task[None] | None = None
        self._received.connect(self._take)
        self.bar.cancel_wanted.connect(self.stop)

    @property
    def busy(self) -> bool:
        """True while a model works on a request."""
        return self._progress is not None

    def stop(self) -> None:
        """Stop the request; answers received so far are kept."""
        if self._work is not None:
            self._work.cancel()

    def ask(self, scopes: Scopes) -> None:
        """Open the dialog for the items of one of these named scopes, unless a request is open or running."""
        if not self.busy and self.dialog is None and any(items for _, items in scopes):
            self._page.session.spawn(self._ask(scopes))

    async def _ask(self, scopes: Scopes) -> None:
        settings = self._page.session.settings
        self.dialog = ModelRequestDialog(self._page.session, self._task, scopes, last_form(settings), self._page)
        try:
            await self.dialog.done_with()
            model, items, cap = self.dialog.agreed, self.dialog.items(), self.dialog.max_cost_usd
        finally:
            self.dialog = None
        if model is not None:
            self._progress = RequestProgress(task=self._task, model=model.label, total=len(items))
            self._work = self._page.session.spawn(self._run(items, model, cap, self._progress))

    async def _run(self, items: Items, model: ModelSettings, cap: float | None, progress: "RequestProgress") -> None:
        self._show(progress)
        self.changed.emit()
        stopped = True
        try:
            with suppress(asyncio.CancelledError):
                await self._task.run(items, model, self._received.emit, cap)
                stopped = False
        finally:
            self._progress = self._work = None
            self.bar.clear()
            self.changed.emit()
        self._page.session.toast(progress.summary(stopped=stopped))

    def _take(self, answer: Any) -> None:
        if self._progress is not None:
            self._progress.add(answer)
            self._show(self._progress)
        self.answered.emit(answer)

    def _show(self, progress: "RequestProgress") -> None:
        self.bar.set_state(progress.done / max(1, progress.total), progress.lead, progress.parts, can_pause=False)


@dataclass(slots=True, kw_only=True)
class RequestProgress:
    """Answers received so far, failures and cost."""

    task: ModelTask
    model: str
    total: int
    done: int = 0
    failed: int = 0
    spent: float = 0.0
    priced: bool = True

    def add(self, answer: Any) -> None:
        """Count an answer; an answer with a `failure` holds no text."""
        cost = self.task.cost(answer)
        self.done += 1
        self.failed += answer.failure is not None
        self.spent += cost or 0.0
        self.priced = self.priced and (cost is not None or answer.failure is not None)

    @property
    def lead(self) -> str:
        """Number of answers: "3 of 12 tools"."""
        return f"{self.done:,} of {count(self.total, self.task.noun)}"

    @property
    def parts(self) -> list[str]:
        """Failures, cost and activity."""
        failed = [f"{self.failed:,} failed"] if self.failed else []
        return [*failed, *self._cost(), f"{self.model} {self.task.activity}"]

    def summary(self, *, stopped: bool) -> str:
        """Return the result in one sentence."""
        what = f"{self.model} {self.task.result} {count(self.done - self.failed, self.task.noun)}"
        failed = f", {self.failed:,} failed" if self.failed else ""
        cost = "".join(f" · {part}" for part in self._cost())
        return f"{'Stopped: ' if stopped else ''}{what}{failed}{cost}"

    def _cost(self) -> list[str]:
        return [money(self.spent)] if self.priced and self.spent else []


def last_form(settings: Settings, key: str = LAST_MODEL) -> ModelForm:
    """Return the model and address of the last request, or of a last one of its own kind."""
    saved = settings.get(key, {}) or settings.get(LAST_MODEL, {}) or settings.get(REPLACED_KEY, {})
    fields = ("model", "base_url", "price")
    return ModelForm(**{name: text for name in fields if isinstance(text := saved.get(name), str)})


class ModelRequestDialog(Dialog):
    """Model, address, key and cost cap of a request; `agreed` is the model once the dialog was accepted."""

    def __init__(self, session: Session, task: ModelTask, scopes: Scopes, form: ModelForm, parent: QWidget) -> None:
        super().__init__(task.title, parent, width=520)
        self.agreed: ModelSettings | None = None
        self.max_cost_usd: float | None = None
        self._session, self._task, self._models = session, task, WritingModels(session.call)
        self._scopes = [(name, items) for name, items in scopes if items]
        self.scope = Segmented([(str(place), name) for place, (name, _) in enumerate(self._scopes)], "Scope")
        self._need = KeyNeed()
        self._tried = False
        self._work: asyncio.Task[None] | None = None
        self._debounce = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._debounce.timeout.connect(self._look_up_soon)
        self.model = Picker("Model", "Select a model")
        self.address = QLineEdit(form.base_url)
        self.key = ApiKeyField()
        self.cap, self.price = QLineEdit(), QLineEdit(form.price)
        self.cap.setPlaceholderText("No cap")
        self.price.setPlaceholderText("The catalogue's price")
        self.estimate = FlowText(size=Size.SMALL, role=Role.DIM)
        self.notice = Notice("bad")
        self.fields = self._lay_out(form)
        go = Action(text=self._button_text(), do=lambda: session.spawn(self._agree(), of=self), kind="primary")
        self.ask: Button = self.set_buttons([Action(text="Cancel", do=self.reject), go])[-1]
        self._connect()
        self._change()
        session.spawn(self._load(), of=self)

    def _lay_out(self, form: ModelForm) -> dict[ModelFormField, Field]:
        self.model.allow_other("Use {}")
        self.model.set_current(form.model)
        self.address.setPlaceholderText("Only for your own server, such as http://localhost:11434/v1")
        fields = {
            ModelFormField.MODEL: Field("Model", self.model),
            ModelFormField.BASE_URL: Field("Address", self.address),
            ModelFormField.KEY: Field("Key", self.key),
            ModelFormField.COST: Field("Cost cap in $", self.cap),
            ModelFormField.PRICE: Field("Price in, out ($ per million tokens)", self.price),
        }
        scope = [Field("Scope", self.scope)] if len(self._scopes) > 1 else []
        explanation = FlowText(self._task.explanation, role=Role.DIM)
        for part in (self.notice, explanation, *scope, *fields.values(), self.estimate):
            self.body.addWidget(part)
        self.body.addStretch(1)
        fields[ModelFormField.KEY].hide()
        return fields

    def _connect(self) -> None:
        self.scope.changed.connect(lambda _: self._change())
        self.model.picked.connect(lambda _: self._change())
        self.model.other.connect(self._take_other)
        for edit in (self.address, self.cap, self.price):
            edit.textEdited.connect(lambda _: self._change())
        self.finished.connect(lambda _: self._stop())
        self._session.closing.connect(self._debounce.stop)

    def form(self) -> ModelForm:
        """Return the current input."""
        texts = (edit.text() for edit in (self.address, self.cap, self.price))
        return ModelForm(self.model.current(), *texts)

    def items(self) -> Items:
        """Return the items of the selected scope."""
        return self._scopes[int(self.scope.current())][1]

    def _button_text(self) -> str:
        return self._task.button or f"Ask about {count(len(self.items()), self._task.noun)}"

    def _change(self) -> None:
        """Check the form, and estimate the cost soon."""
        self._show(parse_model_form(self.form()))
        self.ask.setText(self._button_text())
        self.estimate.set_text("")
        self._debounce.start()

    def _take_other(self, text: str) -> None:
        self.model.set_current(text)
        self._change()

    def _show(self, parsed: ParsedModelRequest, *, pressed: bool = False) -> None:
        """Show the problems; before the button is pressed, empty fields are none."""
        problems = dict(parsed.problems)
        if not self._tried and not self.form().model:
            problems.pop(ModelFormField.MODEL, None)
        if self._tried and (missing := self._need.missing(self.key.edit.text())):
            problems[ModelFormField.KEY] = missing
        for name, field in self.fields.items():
            typing = name not in (ModelFormField.MODEL, ModelFormField.KEY) and not pressed
            (field.tell if typing else field.set_error)(problems.get(name, ""))

    def _look_up_soon(self) -> None:
        self._stop()
        self._work = self._session.spawn(self._look_up(), of=self)

    def _stop(self) -> None:
        self._debounce.stop()
        if self._work is not None:
            self._work.cancel()

    async def _load(self) -> None:
        self.model.set_items([_item(info) for info in await self._models.models()])
        self.model.set_footer("{shown} of {all} known models. You can type any other.")

    async def _look_up(self) -> None:
        model = parse_model_form(self.form()).model
        if model is None:
            return
        await self._show_need(model)
        try:
            items = self.items()
            estimate = await self._task.estimate(items, model)
            self.estimate.set_text(estimate_text(len(items), self._task.noun, estimate))
        except TefError as error:
            self.estimate.set_text(f"No estimate: {error.message}")

    async def _show_need(self, model: ModelSettings) -> None:
        self._need = await self._models.key_need(model)
        self.key.set_provider(self._need.provider, can_remember=self._need.can_remember)
        self.fields[ModelFormField.KEY].set_note(self._need.hint)
        self.fields[ModelFormField.KEY].setVisible(self._need.needed)

    async def _agree(self) -> None:
        self._tried = True
        parsed = parse_model_form(self.form())
        if parsed.model is not None:
            await self._show_need(parsed.model)
        self._show(parsed, pressed=True)
        if parsed.model is None or self._need.missing(self.key.edit.text()):
            return
        try:
            await self._hold_key(parsed.model)
            if not await self._may_send_key(parsed.model):
                return
        except TefError as error:
            words = error_text(error)
            self.notice.show_message(words.message, words.hint, details=words.details)
            return
        self.agreed, self.max_cost_usd = parsed.model, parsed.max_cost_usd
        if self._task.starts_others:
            remembered = {"model": parsed.model.label, "base_url": parsed.model.base_url or ""}
            self._session.settings.set(LAST_MODEL, remembered)
        self.accept()

    async def _hold_key(self, model: ModelSettings) -> None:
        key = self.key.take()
        if self._need.needed and key is not None:
            remember = self._need.can_remember and self.key.remember.isChecked()
            await self._models.hold(self._need.provider, key, address=model.base_url, remember=remember)

    async def _may_send_key(self, model: ModelSettings) -> bool:
        """Ask for a missing consent to send the key to the address; return False if the user cancels."""
        await self._models.add_typed_address(model)

        async def check() -> bool:
            await self._models.check_consents(model)
            return True

        return bool(await with_consent(self._session, self, check))


def _item(info: ModelInfo) -> PickItem:
    price = "" if info.input_price is None else f"${info.input_price * 1_000_000:.2f} per M input tokens"
    return PickItem(id=info.label, title=info.label, right=price)


async def ask_model(
    page: Page,
    title: str,
    explanation: str,
    estimate: Callable[[ModelSettings], Awaitable[Estimate]],
    cases: Sequence[object],
    form: ModelForm | None = None,
) -> tuple[ModelSettings, float | None] | None:
    """Ask for a model with its key and cost cap in US dollars, the form filled in; None without an answer."""

    async def estimated(_cases: object, model: ModelSettings) -> Estimate:
        return await estimate(model)

    async def run(*_: object) -> None:
        """Do nothing: the test starts with its own button."""

    task = ModelTask(
        title=title,
        explanation=explanation,
        noun="case",
        activity="is asked",
        result="was asked about",
        button="Use this model",
        estimate=estimated,
        run=run,
        cost=lambda _: None,
        starts_others=form is None,
    )
    filled = form or last_form(page.session.settings)
    dialog = ModelRequestDialog(page.session, task, [("Cases", cases)], filled, page)
    if not await dialog.done_with() or dialog.agreed is None:
        return None
    return dialog.agreed, dialog.max_cost_usd
