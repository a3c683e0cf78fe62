"""Dialogs that start a batch, raise its cost cap and rename it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtGui import QKeyEvent, Qt
from PySide6.QtWidgets import QWidget

from app.core_link.model_requests import KeyNeed
from app.core_link.session import Session
from app.dialogs.consent import Preflight
from app.screens.runs.labels import model_summary
from app.screens.runs.own_server import PLACE
from app.screens.runs.presenter import RunsPresenter
from app.screens.runs.start_form import ParsedStartForm, StartField, StartForm, run_button_text
from app.screens.runs.start_panel import StartPanel
from app.screens.runs.start_presenter import StartPresenter
from app.text.formatting import error_text, money
from app.theme import Role, Size
from app.widgets import Action, Button, Dialog, Field, FlowText, LineEdit, Notice, ScrollPane, one_line
from mcp_tef import (
    Batch,
    BatchRequest,
    ModelFault,
    ModelSettings,
    Secret,
    TefError,
    UsedUpCap,
    parse_dollars,
    start_within_cap,
)

TYPING_PAUSE_MS = 150
WIDTH = 640
OFFLINE_HEIGHT = 360
MODEL_HEIGHT = 700


class StartDialog(Dialog):
    """Start form; once accepted, `started` is the form with the batch that it started."""

    def __init__(self, session: Session, starting: StartPresenter, form: StartForm, parent: QWidget) -> None:
        super().__init__("Run test cases", parent, width=WIDTH)
        self.started: tuple[StartForm, Batch] | None = None
        self._session = session
        self._starting = starting
        self._need = KeyNeed()
        self._tried = False
        self._asking: asyncio.Task[None] | None = None
        self._quiet = QTimer(self, singleShot=True, interval=TYPING_PAUSE_MS)
        self._quiet.timeout.connect(self._ask_core)
        self.panel = StartPanel()
        self.notice = Notice("bad")
        self.estimate = FlowText(size=Size.SMALL, role=Role.DIM)
        self.body.addWidget(self.notice)
        self.add_scrolling(ScrollPane(self.panel, "Run"))
        self.body.addWidget(self.estimate)
        self.run: Button = self._make_buttons()
        self.panel.show_form(form)
        self.panel.show_cases(starting.cases, starting.suites, starting.tags)
        self.panel.clients_wanted.connect(lambda: session.spawn(self._show_clients(), of=self))
        self.panel.prompt.wanted.connect(lambda: session.spawn(self._show_prompts(), of=self))
        self.panel.changed.connect(self._changed)
        self.panel.own.check_requested.connect(lambda: session.spawn(self._check_server(), of=self))
        self.finished.connect(lambda _: self._stop_asking())
        session.closing.connect(self._quiet.stop)
        self._changed()
        if form.client:
            self.panel.clients_wanted.emit()
        if form.prompt:
            self.panel.prompt.wanted.emit()
        self.run.setFocus()

    def _make_buttons(self) -> Button:
        made = self.set_buttons(
            [
                Action(text="Cancel", do=self.reject),
                Action(text="Run", do=lambda: self._session.spawn(self._start(), of=self), kind="primary", icon="play"),
            ]
        )
        return made[-1]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if control and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_R):
            self.run.click()
        else:
            super().keyPressEvent(event)

    def _changed(self) -> None:
        reading = self._starting.parse(self.panel.form())
        offline = self.panel.form().offline
        self.need(height=OFFLINE_HEIGHT if offline else MODEL_HEIGHT)
        self.resize(self.width(), self.minimumHeight())
        self.run.setText(run_button_text(reading))
        if self._tried:
            self.panel.show_problems(self._shown(reading))
        self._stop_asking()  # an estimate of the form as it was is of no use
        if reading.problems:
            self.estimate.set_text("")
        self._quiet.start()

    def _shown(self, reading: ParsedStartForm) -> dict[StartField, str]:
        """Return the problems to show after the first attempt to start."""
        problems = dict(reading.problems)
        if missing := self._need.missing(self.panel.key.edit.text()):
            problems[StartField.KEY] = missing
        return problems

    def _ask_core(self) -> None:
        self._stop_asking()
        self._asking = self._session.spawn(self._look_up(), of=self)

    def _stop_asking(self) -> None:
        self._quiet.stop()
        if self._asking is not None:
            self._asking.cancel()

    async def _look_up(self) -> None:
        form = self.panel.form()
        reading = self._starting.parse(form)
        if not form.offline:
            await self._look_up_models(reading.models)
        if reading.request is not None:
            self.estimate.set_text(await self._estimate(reading.request))

    async def _show_clients(self) -> None:
        await self._starting.load_clients()
        self.panel.show_clients(self._starting.clients)
        self._changed()

    async def _show_prompts(self) -> None:
        known = bool(self._starting.prompts)
        await self._starting.load_prompts()
        if not known:
            self.panel.prompt.show_prompts(self._starting.prompts)
            self._changed()

    async def _estimate(self, request: BatchRequest) -> str:
        try:
            return await self._starting.estimate(request)
        except TefError as error:
            return f"No estimate: {error.message}"

    async def _look_up_models(self, models: Sequence[ModelSettings]) -> None:
        if not self._starting.models:
            await self._starting.load_models()
            self.panel.model.show_models(self._starting.models)
            self.panel.model.say(f"{len(self._starting.models):,} known models. You can type any other.")
        elif not self.panel.model.has_models():
            self.panel.model.show_models(self._starting.models)
        self._need = await self._key_need(models)
        self.panel.show_key_need(self._need)
        if len(models) == 1:
            self.panel.model.say(model_summary(await self._starting.info(models[0])))

    async def _key_need(self, models: Sequence[ModelSettings]) -> KeyNeed:
        """Return the first key that is missing, else what the first model needs."""
        needs = [await self._starting.key_need(model) for model in models]
        return next((need for need in needs if need.needed), needs[0] if needs else KeyNeed())

    async def _check_server(self) -> None:
        """Ask the own server for its models."""
        own, address, typed = self.panel.own, self.panel.own.address.text().strip(), self.panel.key.edit.text()
        own.show_checking()
        try:
            names = await self._starting.served(address or PLACE, Secret(typed) if typed.strip() else None)
        except TefError as error:
            words = error_text(error)
            own.show_failure(f"{words.message} {words.hint}".strip(), nobody_answers=error.code == ModelFault.DOWN)
            return
        if not address:
            own.address.setText(PLACE)
        own.show_found(names)

    async def _start(self) -> None:
        self._tried = True
        form = self.panel.form()
        if form.client:
            await self._starting.load_clients()
        if form.prompt:
            await self._starting.load_prompts()
        reading = self._starting.parse(form)
        if reading.models:
            self._need = await self._key_need(reading.models)
            self.panel.show_key_need(self._need)
        problems = self._shown(reading)
        self.panel.show_problems(problems)
        if problems or reading.request is None:
            self.panel.focus_problem(problems)
            return
        self.run.setEnabled(False)
        try:
            await self._begin(form, reading)
        except TefError as error:
            words = error_text(error)
            self.notice.show_message(words.message, words.hint, details=words.details)
            self.run.setEnabled(True)

    async def _begin(self, form: StartForm, reading: ParsedStartForm) -> None:
        request = reading.request
        if request is None:
            return
        provider, key = self._need.provider, self.panel.key.take()
        model = next((one for one in request.models if one.provider == provider), request.models[0])
        for one in request.models:
            await self._starting.add_typed_address(one)
        if key and provider:
            remember = self._need.can_remember and self.panel.key.remember.isChecked()
            await self._starting.hold(provider, key, address=model.base_url, remember=remember)
        preflight = Preflight(self._session, self)
        batch = await preflight.run(lambda keys: self._starting.start(request, keys), provider)
        if batch is not None:
            self.started = (form, batch)
            self.accept()


StartWithCap = Callable[[float | None], Awaitable[Batch | None]]


class CostCapDialog(Dialog):
    """Field for a higher cost cap, with one suggested that the remaining runs fit under; `cap` is the accepted one."""

    def __init__(self, used_up: UsedUpCap, parent: QWidget) -> None:
        super().__init__("Cost cap reached", parent, width=440)
        self.cap: float | None = None
        self._old = used_up.cap
        spent = f"{money(used_up.spent)} of {money(used_up.cap)} was spent."
        self.body.addWidget(FlowText(f"{spent} The remaining runs cost at most {money(used_up.left)}."))
        self.edit = LineEdit()
        self.edit.setText(f"{used_up.suggestion:g}")
        self.edit.selectAll()
        self._field = Field("New cap in US dollars, for the whole batch", self.edit)
        self.body.addWidget(self._field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Resume", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self._field.tell(self._problem()))
        self.edit.setFocus()

    def _agree(self) -> None:
        if problem := self._problem():
            self._field.set_error(problem)
            return
        self.cap = parse_dollars(self.edit.text())
        self.accept()

    def _problem(self) -> str:
        number = parse_dollars(self.edit.text())
        return "" if number is not None and number > self._old else f"Enter a number above {self._old:g}."


async def start_with_higher_cap(work: StartWithCap, parent: QWidget) -> Batch | None:
    """Start a batch, asking for a higher cap if its cap is used up; return None if the user cancels."""

    async def ask(used_up: UsedUpCap) -> float | None:
        dialog = CostCapDialog(used_up, parent)
        return dialog.cap if await dialog.done_with() else None

    return await start_within_cap(work, ask)


class PausedBatchDialog(Dialog):
    """Question about a batch that paused by itself; `stops` is True if it is to end. Esc leaves it paused."""

    def __init__(self, name: str, reason: str, parent: QWidget) -> None:
        super().__init__(f"{name or 'The batch'} is paused", parent, width=480)
        self.stops = False
        self.body.addWidget(FlowText(reason, role=Role.DIM))
        self.body.addWidget(FlowText("Check the model's address and key. Then continue, or stop the batch."))
        stop = Action(text="Stop the batch", do=self._stop)
        self.set_buttons([stop, Action(text="Continue", do=self.accept, kind="primary")])

    def _stop(self) -> None:
        self.stops = True
        self.accept()


NAME_REQUIRED = "Enter a name."


class RenameBatchDialog(Dialog):
    """Field for the new name of a batch; `name` is the accepted one."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__("Rename the batch", parent, width=420)
        self.name = name
        self.edit = LineEdit()
        self.edit.setText(name)
        self.edit.selectAll()
        self._field = Field("Name", self.edit)
        self.body.addWidget(self._field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Rename", do=self._agree, kind="primary")])
        self.edit.typed.connect(lambda _: self._field.tell("" if self.edit.text().strip() else NAME_REQUIRED))
        self.edit.setFocus()

    def _agree(self) -> None:
        name = self.edit.text().strip()
        if not name:
            self._field.set_error(NAME_REQUIRED)
        elif name == self.name:
            self.reject()
        else:
            self.name = name
            self.accept()


async def rename_batch(session: Session, presenter: RunsPresenter, batch: Batch, parent: QWidget) -> None:
    """Ask for a new name and rename the batch; can be undone."""
    dialog = RenameBatchDialog(batch.name, parent)
    if await dialog.done_with():
        await presenter.rename(batch.id, dialog.name, batch.name)
        back = partial(presenter.rename, batch.id, batch.name, dialog.name)
        again = partial(presenter.rename, batch.id, dialog.name, batch.name)
        action = f"rename “{one_line(batch.name, 40)}”"
        session.toast(f"Renamed to {one_line(dialog.name, 60)}", back, again, action=action)
